/**
 * A call log of a million calls, made inside PostgreSQL: ten workspaces, five years, seeded, so that every run has the
 * same. Goes on where it stopped. Each filter has a value that one call has, one that 1 % have and one that half have;
 * where a filter knows two values only, the three shares lie in three workspaces. Calls without a talk have no
 * transcript, as in life.
 */
import { CALL_PARTS } from '../../src/calls/call-parts.ts';
import { MOST_RETENTION_DAYS } from '../../src/retention/retention-rules.ts';
import type { Database } from '../../src/store/database.ts';

export interface Tenant {
  slug: string;
  workspaceId: string;
  /** What half of the calls have, a hundredth, one, and all others. */
  agents: { half: string; hundredth: string; one: string; others: string };
  lines: { half: string; hundredth: string; one: string; others: string };
  calls: number;
}

export interface GenerateOptions {
  totalCalls: number;
  /** No further chunk is begun after so long; the next run goes on. */
  limitSeconds: number;
  log(line: string): void;
}

/** Shares of all calls. The first three are measured. */
const SHARES = [0.5, 0.2, 0.1, 0.05, 0.05, 0.04, 0.02, 0.02, 0.01, 0.01];
const CHUNK_CALLS = 25_000;
/** A prime step through a thousand: neighbours in time belong to different workspaces. */
const SCATTER = 617;

const uuidOf = (kind: string, number: number): string =>
  `${kind}000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

export function tenantsOf(totalCalls: number): Tenant[] {
  return SHARES.map((share, index) => {
    const many = (kind: string) => ({
      half: uuidOf(kind, index * 10),
      hundredth: uuidOf(kind, index * 10 + 1),
      one: uuidOf(kind, index * 10 + 2),
      others: uuidOf(kind, index * 10 + 3),
    });
    const calls = Math.round(totalCalls * share);
    return { slug: `tenant-${index}`, workspaceId: uuidOf('a1', index), agents: many('a2'), lines: many('a3'), calls };
  });
}

/** True once all is there. */
export async function generate(database: Database, options: GenerateOptions): Promise<boolean> {
  const { totalCalls, limitSeconds, log } = options;
  const beganAtMs = performance.now();
  await database.query(`CREATE TABLE IF NOT EXISTS bench_chunks (chunk integer PRIMARY KEY)`);
  await addTenants(database, tenantsOf(totalCalls));
  const chunks = Math.ceil(totalCalls / CHUNK_CALLS);
  const done = new Set((await database.query<{ chunk: number }>('SELECT chunk FROM bench_chunks')).map((r) => r.chunk));
  if (done.size === 0) for (const sql of DROP_INDEXES) await database.query(sql);
  for (let chunk = 0; chunk < chunks; chunk++) {
    if (done.has(chunk)) continue;
    if ((performance.now() - beganAtMs) / 1000 > limitSeconds) return false;
    await addChunk(database, chunk, Math.min(CHUNK_CALLS, totalCalls - chunk * CHUNK_CALLS), totalCalls);
    log(`${(chunk + 1) * CHUNK_CALLS} calls after ${Math.round((performance.now() - beganAtMs) / 1000)} s`);
  }
  if ((performance.now() - beganAtMs) / 1000 > limitSeconds) return false;
  for (const [name, sql] of Object.entries(INDEXES)) {
    const fromMs = performance.now();
    await database.transaction(async (tx) => {
      await tx.query(`SET LOCAL statement_timeout = 0`);
      await tx.query(`SET LOCAL maintenance_work_mem = '1GB'`);
      await tx.query(sql);
    });
    log(`${name}: ${Math.round((performance.now() - fromMs) / 1000)} s`);
  }
  for (const table of ['calls', 'call_search', 'call_turns']) await unhurried(database, `ANALYZE ${table}`);
  return true;
}

/** As migration 0007 has them. */
const INDEXES = {
  call_search_recent:
    'CREATE INDEX IF NOT EXISTS call_search_recent ON call_search (workspace_id, created_at DESC, call_uuid DESC)',
  call_search_talk:
    'CREATE INDEX IF NOT EXISTS call_search_talk ON call_search (workspace_id, talk_ms) WHERE talk_ms IS NOT NULL',
  call_search_mouth_to_ear:
    'CREATE INDEX IF NOT EXISTS call_search_mouth_to_ear ON call_search (workspace_id, mouth_to_ear_p95_ms) WHERE mouth_to_ear_p95_ms IS NOT NULL',
  call_search_document: 'CREATE INDEX IF NOT EXISTS call_search_document ON call_search USING gin (document)',
};
const DROP_INDEXES = Object.keys(INDEXES).map((name) => `DROP INDEX IF EXISTS ${name}`);

async function unhurried(database: Database, sql: string): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query('SET LOCAL statement_timeout = 0');
    await tx.query(sql);
  });
}

async function addTenants(database: Database, tenants: readonly Tenant[]): Promise<void> {
  for (const { slug, workspaceId, agents, lines } of tenants) {
    await database.query('INSERT INTO workspaces (id, slug, name) VALUES ($1, $2, $2) ON CONFLICT DO NOTHING', [
      workspaceId,
      slug,
    ]);
    // The log is older than what is kept of calls by default: a service beside it would purge it.
    await database.query(
      `INSERT INTO retention_rules (workspace_id, kind, days) SELECT $1, kind, $2 FROM unnest($3::text[]) AS kind ON CONFLICT DO NOTHING`,
      [workspaceId, MOST_RETENTION_DAYS, CALL_PARTS],
    );
    for (const id of Object.values(agents)) {
      await database.query(
        `INSERT INTO agents (id, workspace_id, name, direction, current_version) VALUES ($1, $2, 'a', 'any', 1) ON CONFLICT DO NOTHING`,
        [id, workspaceId],
      );
    }
    for (const id of Object.values(lines)) {
      await database.query(
        `INSERT INTO phone_lines (id, workspace_id, number, carrier) VALUES ($1, $2, '+14155550100', 'plivo') ON CONFLICT DO NOTHING`,
        [id, workspaceId],
      );
    }
  }
}

async function addChunk(database: Database, chunk: number, calls: number, totalCalls: number): Promise<void> {
  const first = chunk * CHUNK_CALLS;
  await database.transaction(async (tx) => {
    await tx.query('SET LOCAL statement_timeout = 0');
    // No triggers, no references: the rows are made to fit.
    await tx.query('SET LOCAL session_replication_role = replica');
    await tx.query(`SELECT setseed($1)`, [(chunk % 1000) / 1000]);
    await tx.query(INSERT_CALLS, [first, first + calls - 1, totalCalls]);
    const range = [idFrom(first, totalCalls), idFrom(first + calls, totalCalls)];
    await tx.query(INSERT_TURNS, range);
    await tx.query(
      'INSERT INTO call_search SELECT found.* FROM calls c, LATERAL call_search_of(c) AS found WHERE c.call_uuid >= $1 AND c.call_uuid < $2',
      range,
    );
    await tx.query('INSERT INTO bench_chunks VALUES ($1)', [chunk]);
  });
}

const FIVE_YEARS_SECONDS = 5 * 365 * 86_400;
const BEGAN_AT_EPOCH_MS = Date.UTC(2021, 10, 21);

/** No id of call n or of a later one is less than this, and none of an earlier one is greater. */
function idFrom(n: number, totalCalls: number): string {
  const hex = Math.floor(BEGAN_AT_EPOCH_MS + (n * FIVE_YEARS_SECONDS * 1000) / totalCalls)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The tenant of call n: 0 … 9 by share. */
const TENANT = `CASE WHEN s.place < 500 THEN 0 WHEN s.place < 700 THEN 1 WHEN s.place < 800 THEN 2 WHEN s.place < 850 THEN 3
  WHEN s.place < 900 THEN 4 WHEN s.place < 940 THEN 5 WHEN s.place < 960 THEN 6 WHEN s.place < 980 THEN 7 WHEN s.place < 990 THEN 8 ELSE 9 END`;

/**
 * `is_one`: the one call of its workspace that has the rare values, in the middle of the years; after it one of a
 * second, and one that lives.
 */
const INSERT_CALLS = `
INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, channel, direction, to_number, from_number, name, metadata,
  idempotency_key, request_id, status, ended_reason, hangup_by, fault, carrier, epoch, created_at, dialed_at, answered_at, ended_at,
  answered_by, transcript_status, latency, warnings, lead_id)
SELECT
  (lpad(to_hex((extract(epoch FROM g.at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(g.n % 4096), 3, '0') || '8' || lpad(to_hex(g.n), 15, '0'))::uuid,
  ('a1000000-0000-4000-8000-' || lpad(g.tenant::text, 12, '0'))::uuid,
  ('a2000000-0000-4000-8000-' || lpad((g.tenant * 10 + CASE WHEN g.is_one THEN 2 WHEN g.r1 < 0.01 THEN 1 WHEN g.r1 < 0.51 THEN 0 ELSE 3 END)::text, 12, '0'))::uuid,
  1,
  ('a3000000-0000-4000-8000-' || lpad((g.tenant * 10 + CASE WHEN g.is_one THEN 2 WHEN g.r2 < 0.01 THEN 1 WHEN g.r2 < 0.51 THEN 0 ELSE 3 END)::text, 12, '0'))::uuid,
  CASE WHEN (g.tenant = 0 AND g.is_one) OR (g.tenant = 1 AND g.r3 < 0.01) OR (g.tenant > 1 AND g.r3 < 0.5) THEN 'web' ELSE 'phone' END,
  CASE WHEN (g.tenant = 2 AND g.is_one) OR (g.tenant = 0 AND g.r4 < 0.01) OR (g.tenant IN (1, 3, 4, 5) AND g.r4 < 0.5) THEN 'inbound' ELSE 'outbound' END,
  CASE WHEN g.is_one THEN '+14155550001' WHEN g.r5 < 0.01 THEN '+14155550002' WHEN g.r5 < 0.51 THEN '+14155550003'
       ELSE '+1' || (2000000000 + (g.r6 * 4000000000)::bigint)::text END,
  CASE WHEN g.is_one THEN '+14155550011' WHEN g.r2 < 0.01 THEN '+14155550012' WHEN g.r2 < 0.51 THEN '+14155550013' ELSE '+14155550014' END,
  (ARRAY['Asha','Bela','Chen','Dana','Emil','Fatima','Goran','Hana','Ines','Jonas'])[1 + (g.r6 * 9.99)::int % 10] || ' ' || 'family' || (g.r5 * 20000)::int,
  jsonb_build_object('plan', CASE WHEN g.is_one THEN 'one' WHEN g.r7 < 0.01 THEN 'hundredth' WHEN g.r7 < 0.51 THEN 'half' ELSE 'other' END, 'order', 'o-' || g.n),
  CASE WHEN g.is_one THEN 'one' WHEN g.r8 < 0.01 THEN 'hundredth' WHEN g.r8 < 0.51 THEN 'half' END,
  'n' || lpad(g.n::text, 9, '0'),
  g.status,
  CASE g.status WHEN 'completed' THEN CASE WHEN g.is_one THEN 'ivr_reached' WHEN g.r9 < 0.02 THEN 'inactivity' WHEN g.r9 < 0.98 THEN 'agent_hangup' ELSE 'user_hangup' END
    WHEN 'no_answer' THEN 'no_answer' WHEN 'failed' THEN 'carrier_error' END,
  CASE WHEN g.status = 'completed' THEN 'caller' END,
  CASE g.status WHEN 'completed' THEN CASE WHEN g.is_one THEN 'platform' ELSE 'none' END WHEN 'no_answer' THEN 'callee' WHEN 'failed' THEN 'carrier' END,
  'plivo',
  CASE WHEN (g.tenant = 0 AND g.is_one) OR (g.tenant = 1 AND g.r10 < 0.01) OR (g.tenant = 2 AND g.r10 < 0.5) THEN 2 ELSE 1 END,
  g.at, g.at,
  CASE WHEN g.talked THEN g.at + interval '5 seconds' END,
  CASE WHEN g.status <> 'in_progress' THEN g.at + interval '5 seconds' + CASE WHEN g.is_one THEN 9000 WHEN g.is_short THEN 1 WHEN g.r11 < 0.02 THEN 2000 ELSE 10 + 600 * g.r11 END * interval '1 second' END,
  CASE WHEN NOT g.talked THEN NULL WHEN g.is_one THEN 'ivr' WHEN g.r12 < 0.02 THEN 'machine' ELSE 'human' END,
  CASE WHEN g.talked THEN 'ready' ELSE 'none' END,
  CASE WHEN g.talked THEN jsonb_build_object('mouthToEarMs', jsonb_build_object('p50', 600, 'p95', CASE WHEN g.is_one THEN 9000 WHEN g.r12 > 0.98 THEN 4000 ELSE 700 + (g.r12 * 500)::int END)) END,
  CASE WHEN (g.tenant = 2 AND g.is_one) OR (g.tenant = 0 AND g.r10 < 0.01) OR (g.tenant = 1 AND g.r10 < 0.5) THEN '["tool_error"]'::jsonb ELSE '[]' END,
  ('a4000000-0000-4000-8000-' || lpad((g.tenant * 10 + CASE WHEN g.is_one THEN 2 WHEN g.r9 < 0.01 THEN 1 WHEN g.r9 < 0.51 THEN 0 END)::text, 12, '0'))::uuid
FROM (
  SELECT d.*, CASE WHEN d.is_live THEN 'in_progress' WHEN d.is_one OR d.is_short OR d.r0 < 0.5 THEN 'completed' WHEN d.r0 < 0.98 THEN 'no_answer' WHEN d.r0 < 0.99 THEN 'failed' ELSE 'no_answer' END AS status,
         NOT d.is_live AND (d.is_one OR d.is_short OR d.r0 < 0.5) AS talked
    FROM (
      SELECT s.n, timestamptz '2021-11-21' + s.n * interval '1 second' * (157680000.0 / $3::int) AS at, ${TENANT} AS tenant,
             -- One in each workspace: the first of its calls in the second half.
             s.is_first AND s.n / 1000 = $3::int / 2000 AS is_one, s.is_first AND s.n / 1000 = $3::int / 2000 + 1 AS is_short,
             s.is_first AND s.n / 1000 = $3::int / 2000 + 2 AS is_live,
             random() AS r0, random() AS r1, random() AS r2, random() AS r3, random() AS r4, random() AS r5, random() AS r6,
             random() AS r7, random() AS r8, random() AS r9, random() AS r10, random() AS r11, random() AS r12
        FROM (SELECT n, place, place IN (0, 500, 700, 800, 850, 900, 940, 960, 980, 990) AS is_first
                FROM (SELECT n, ((n::bigint * ${SCATTER}) % 1000)::int AS place FROM generate_series($1::int, $2::int) AS n) AS p) AS s
    ) AS d
) AS g`;

/**
 * Four turns of 40 words for each talk, of 5,000 words with the skew of speech. `appointment` is in every second talk's
 * first turn and more, `refund` in 1 % of the calls, `zanzibar` in the one; `oldtimes` in half of the talks of the
 * first year and in none since.
 */
const INSERT_TURNS = `
INSERT INTO call_turns (call_uuid, turn_id, position, turn)
SELECT c.call_uuid, 't' || t, t, jsonb_build_object('turnId', 't' || t, 'role', CASE WHEN t % 2 = 1 THEN 'agent' ELSE 'user' END,
       'startMs', t * 10000, 'endMs', t * 10000 + 9000, 'text', said.words, 'heardText', said.words, 'interrupted', false)
  FROM calls c, generate_series(1, 4) AS t, LATERAL (
    SELECT string_agg('word' || floor(power(5000, random()))::int, ' ')
        || CASE WHEN t = 1 THEN ' appointment' ELSE '' END
        || CASE WHEN t = 2 AND right(c.request_id, 2) IN ('10', '50') THEN ' refund' ELSE '' END
        || CASE WHEN t = 3 AND c.answered_by = 'ivr' THEN ' zanzibar' ELSE '' END
        || CASE WHEN t = 4 AND c.created_at < '2022-11-21' AND right(c.request_id, 1) < '5' THEN ' oldtimes' ELSE '' END AS words
      FROM generate_series(1, 40) WHERE c.call_uuid IS NOT NULL AND t > 0
  ) AS said
 WHERE c.call_uuid >= $1 AND c.call_uuid < $2 AND c.transcript_status = 'ready'`;
