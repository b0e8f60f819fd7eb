/**
 * A database that has been in use for a week: 30,000 calls of four workspaces, with what each left behind, made inside
 * PostgreSQL in seconds. What is over is written past triggers and references, what lives by them. Plans depend on what
 * a table holds, so every table that grows with calls has its part here, or is named below.
 */
import type { Database } from '../../../src/store/database.ts';

export interface FilledWorkspace {
  workspaceId: string;
  agentId: string;
  lineId: string;
  endpointId: string;
}

/** The largest first; the last one's webhook URL is off, and all that it was to get waits. */
export type FilledWorkspaces = readonly [FilledWorkspace, FilledWorkspace, FilledWorkspace, FilledWorkspace];

const CALLS = 30_000;
const DAYS = 7;
/** They ring. */
export const LIVE_CALLS = 300;
/** Of those: what `timersAreOver` says it of. */
const DUE_CALLS = 10;
const LEAST_ROWS = 2_500;

/** With every call, or nearly. */
export const GROWING_TABLES: ReadonlySet<string> = new Set([
  'audit_log',
  'call_connections',
  'call_events',
  'call_recordings',
  'call_search',
  'call_turns',
  'call_usage',
  'calls',
  'carrier_callbacks',
  'dial_permits',
  'embed_tokens_used',
  'idempotency_keys',
  'leads',
  'purge_receipts',
  'rate_limits',
  'suppressions',
  'tool_calls',
  'web_sessions',
  'webhook_deliveries',
  'webhook_events',
]);
/** They name calls, and have few rows: what is owed is deleted when it is done, and a hold is put by a person. */
const OTHERS_THAT_NAME_CALLS = ['analysis_jobs', 'legal_holds'];

/** Resolves when the planner knows it too. */
export async function fillDatabase(database: Database, workspaces: FilledWorkspaces): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query('SET LOCAL statement_timeout = 0');
    await tx.query('SET LOCAL auto_explain.log_min_duration = -1');
    await tx.query('SET LOCAL session_replication_role = replica');
    await tx.query(MADE, [
      workspaces.map(({ workspaceId }) => workspaceId),
      workspaces.map(({ agentId }) => agentId),
      workspaces.map(({ lineId }) => lineId),
      workspaces.map(({ endpointId }) => endpointId),
    ]);
    for (const sql of PAST) await tx.query(sql);
    await tx.query('SET LOCAL session_replication_role = origin');
    const [largest] = workspaces;
    await tx.query(LIVE, [largest.workspaceId, largest.agentId, largest.lineId]);
    await tx.query(
      `UPDATE webhook_endpoints SET disabled_at = now() - interval '1 hour', disabled_reason = 'operator' WHERE id = $1`,
      [workspaces[3].endpointId],
    );
  });
  await database.query('SET auto_explain.log_min_duration = -1');
  // The index of words too has nothing left to be sorted in.
  await database.query('VACUUM (ANALYZE)');
}

/** Of some calls that live, so that they are looked after within seconds. */
export async function timersAreOver(database: Database): Promise<void> {
  await database.query(
    `UPDATE calls SET deadline_at = now() WHERE call_uuid IN (
       SELECT call_uuid FROM calls WHERE status = 'ringing' ORDER BY call_uuid LIMIT ${DUE_CALLS})`,
  );
}

/** What this file has forgotten: a table that grows with calls and is not filled, or is not named here. */
export async function forgottenTables(database: Database): Promise<string[]> {
  const named = await database.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attname = 'call_uuid'`,
  );
  const forgotten = named
    .map(({ name }) => name)
    .filter((name) => !GROWING_TABLES.has(name) && !OTHERS_THAT_NAME_CALLS.includes(name))
    .map((name) => `${name} names calls: fill it, or say here that it has few rows`);
  for (const name of GROWING_TABLES) {
    const [row] = await database.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${name}`);
    if (row!.count < LEAST_ROWS) forgotten.push(`${name} has ${row!.count} rows only`);
  }
  return forgotten;
}

/** A UUIDv7 of a time, whose last digits are `n`. */
const idOf = (at: string, variant: '8' | '9' | 'a'): string =>
  `(lpad(to_hex((extract(epoch FROM ${at}) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0')
    || '${variant}' || lpad(to_hex(n), 15, '0'))::uuid`;

/** Six of ten calls are the first workspace's, two the second's; six of ten were answered. */
const MADE = `
  CREATE TEMP TABLE made ON COMMIT DROP AS
  SELECT n, at, ${idOf('at', '8')} AS call_uuid, workspace_id, agent_id, line_id, endpoint_id, place, n % 10 < 6 AS talked,
         CASE WHEN n % 10 < 6 THEN 'completed' WHEN n % 10 < 9 THEN 'no_answer' ELSE 'failed' END AS status,
         ${idOf(`at - interval '1 hour'`, 'a')} AS lead_id
    FROM (SELECT n, now() - interval '${DAYS} days' + n * (interval '${DAYS} days' / ${CALLS + 1}) AS at,
                 CASE WHEN (n / 10) % 10 < 6 THEN 1 WHEN (n / 10) % 10 < 8 THEN 2 WHEN (n / 10) % 10 < 9 THEN 3 ELSE 4 END AS place
            FROM generate_series(0, ${CALLS - 1}) AS n) AS timed
    JOIN unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) WITH ORDINALITY AS w (workspace_id, agent_id, line_id, endpoint_id, place)
   USING (place) ORDER BY n`;

const PAST = [
  `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, channel, to_number, from_number, name, metadata,
     idempotency_key, request_id, status, ended_reason, fault, submission, carrier, carrier_request_id, carrier_call_id, media_token_sha256,
     owner_run, epoch, created_at, dialed_at, answered_at, ended_at, transcript_status, recording_status, lead_id)
   SELECT call_uuid, workspace_id, agent_id, 1, line_id, CASE WHEN n % 10 = 0 THEN 'web' ELSE 'phone' END,
     '+1415' || 2000000 + n, '+14155550100', 'Dana ' || n, jsonb_build_object('order', 'o-' || n),
     CASE WHEN n % 2 = 1 THEN 'k-' || n END, 'r-' || n, status,
     CASE status WHEN 'completed' THEN 'agent_hangup' WHEN 'no_answer' THEN 'no_answer' ELSE 'carrier_error' END,
     CASE status WHEN 'completed' THEN 'none' WHEN 'no_answer' THEN 'callee' ELSE 'carrier' END,
     'accepted', 'plivo', call_uuid::text, call_uuid::text, CASE WHEN talked THEN sha256(call_uuid::text::bytea) END,
     CASE WHEN talked THEN 'run-' || n % 7 END, CASE WHEN talked THEN 1 ELSE 0 END, at, at,
     CASE WHEN talked THEN at + interval '5 seconds' END, at + interval '65 seconds',
     CASE WHEN talked THEN 'ready' ELSE 'none' END, CASE WHEN talked THEN 'ready' ELSE 'none' END,
     CASE WHEN n % 2 = 0 THEN lead_id END
   FROM made`,
  `INSERT INTO call_search (call_uuid, workspace_id, created_at, talk_ms, mouth_to_ear_p95_ms, document)
   SELECT call_uuid, workspace_id, at, CASE WHEN talked THEN 60000 END, CASE WHEN talked THEN 700 + n % 500 END,
     array_to_tsvector(ARRAY[call_facet('w', workspace_id::text), call_facet('status', status), call_facet('agentId', agent_id::text)])
       || to_tsvector('simple', 'Dana ' || n || CASE WHEN n % 400 = 0 THEN ' refund' ELSE '' END)
   FROM made`,
  `INSERT INTO call_events (call_uuid, at, kind, data)
   SELECT call_uuid, at + k * interval '10 seconds', (ARRAY['status', 'media.claimed', 'turn', 'status'])[k], '{"status": "ringing"}'
   FROM made, generate_series(1, 4) AS k WHERE talked OR k < 3`,
  `INSERT INTO call_turns (call_uuid, turn_id, position, turn)
   SELECT call_uuid, 't' || k, k, '{"role": "user", "heardText": "I would like to move my appointment", "startMs": 0, "endMs": 900}'
   FROM made, generate_series(1, 3) AS k WHERE talked`,
  `INSERT INTO webhook_events (id, workspace_id, call_uuid, event, sequence, body, created_at)
   SELECT 'evt_' || n, workspace_id, call_uuid, 'call.' || status, 1, '{"event": "call.completed"}', at + interval '65 seconds' FROM made`,
  // Of the second workspace some wait for a time that comes, of the last one all.
  `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, state, attempts, next_at, delivered_at, dead_at, created_at)
   SELECT ${idOf('at', '9')}, 'evt_' || n, endpoint_id, state, CASE WHEN state = 'pending' THEN 0 ELSE 1 END,
     CASE WHEN state = 'pending' AND place = 2 THEN now() + interval '1 hour' ELSE at END,
     CASE WHEN state = 'delivered' THEN at END, CASE WHEN state = 'dead' THEN at END, at
   FROM (SELECT *, CASE WHEN place = 4 OR place = 2 AND n % 10 = 3 THEN 'pending' WHEN n % 100 = 50 THEN 'dead' ELSE 'delivered' END AS state
           FROM made) AS judged`,
  `INSERT INTO leads (id, workspace_id, phone, agent_id, name, external_id, status, call_count, last_call_uuid, created_at)
   SELECT lead_id, workspace_id, '+1415' || 2000000 + n, agent_id, 'Dana', 'x-' || n, 'contacted', 1, call_uuid, at FROM made WHERE n % 2 = 0`,
  // Whoever is older than a day is forgotten within the hour.
  `INSERT INTO idempotency_keys (workspace_id, method_path, key, body_sha256, state, call_uuid, response_status, response_body, created_at)
   SELECT workspace_id, 'POST /api/outbound-call', 'k-' || n, sha256('body'), 'done', call_uuid, 200, '{"success":true}',
     now() - interval '20 hours' * (1 - n / ${CALLS}.0)
   FROM made WHERE n % 2 = 1`,
  `INSERT INTO carrier_callbacks (call_uuid, signature_sha256) SELECT call_uuid, sha256(n::text::bytea) FROM made`,
  `INSERT INTO call_recordings (call_uuid, epoch, workspace_id, key_sealed, state, store, object_key, created_at, stored_at)
   SELECT call_uuid, 1, workspace_id, '\\x00', 'stored', 'disk', call_uuid::text, at, at FROM made WHERE talked`,
  `INSERT INTO tool_calls (call_uuid, tool_call_id, workspace_id, agent_id, name, started_at, outcome)
   SELECT call_uuid, 'c1', workspace_id, agent_id, 'book', at, 'ok' FROM made WHERE talked AND n % 2 = 0`,
  `INSERT INTO call_usage (call_uuid, usage_id, workspace_id, connection, version, provider, model, unit, quantity, speculative, used_at)
   SELECT call_uuid, 'u1', workspace_id, 'brain', 1, 'openai', 'm', 'input_token', 100, false, at FROM made WHERE talked`,
  `INSERT INTO call_connections (call_uuid, workspace_id, name, version) SELECT call_uuid, workspace_id, 'brain', 1 FROM made WHERE talked`,
  `INSERT INTO dial_permits (id, workspace_id, call_uuid, phone, body, signature, created_at)
   SELECT call_uuid, workspace_id, call_uuid, '+1415' || 2000000 + n, '{}', '\\x00', at FROM made WHERE n % 2 = 0`,
  `INSERT INTO audit_log (id, chain, workspace_id, at, actor, action, target, position, prev_hash, hash)
   SELECT call_uuid, 'past-' || place, workspace_id, at, 'key:past', 'call.placed', 'call:' || call_uuid, n + 1, '\\x00', '\\x00' FROM made`,
  `INSERT INTO purge_receipts (id, workspace_id, call_uuid, kinds, cause, actor, removed, at)
   SELECT call_uuid, workspace_id, call_uuid, '{recording}', 'erase', 'key:past', '{}', at FROM made WHERE n % 8 = 0`,
  `INSERT INTO web_sessions (call_uuid, public_key, origin) SELECT call_uuid, 'past', 'https://example.com' FROM made WHERE n % 10 = 0`,
  `INSERT INTO embed_tokens_used (jti, expires_at) SELECT call_uuid, now() + interval '1 hour' FROM made WHERE n % 10 = 0`,
  `INSERT INTO suppressions (workspace_id, phone, id, source, created_at)
   SELECT workspace_id, '+1416' || 2000000 + n, call_uuid, 'call', at FROM made WHERE n % 10 = 1`,
  `INSERT INTO rate_limits (name, tat) SELECT 'past:' || n, now() + interval '1 hour' FROM made WHERE n % 10 = 2`,
];

const LIVE = `
  INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, to_number, from_number, name, request_id, status,
    submission, submission_at, carrier, carrier_request_id, created_at, dialed_at, ringing_at, ring_timeout_seconds, deadline_at)
  SELECT ${idOf('now()', '8')}, $1, $2, 1, $3, '+1415' || 3000000 + n, '+14155550100', 'Dana', 'r-live', 'ringing',
    'accepted', now(), 'plivo', n::text, now(), now(), now(), 7200,
    now() + interval '2 hours'
    FROM generate_series(${CALLS}, ${CALLS + LIVE_CALLS - 1}) AS n`;
