/**
 * The statements that a busy service sends most, each known by a few words of it and not by its text, with what one of
 * them may look at and touch however full the database is. What is not named here may cost as much as `OTHERS`.
 */
import { LIVE_CALLS } from './filled-database.ts';
import type { Most } from './judge-plans.ts';

export interface HotStatement {
  name: string;
  /** Of the text in one line. */
  has: RegExp;
  most: Most;
}

/** A row or a handful, by an index. */
const A_ROW: Most = { rows: 20, buffers: 150 };
/** A call with what hangs on it: its row, lines, turns, events, indexes that are written. */
const A_CALL: Most = { rows: 60, buffers: 1_000 };
/** What was placed within the last minutes: here, all that live. */
const LATELY: Most = { rows: 2 * LIVE_CALLS, buffers: 500 };
/** All calls that live now: no more than there are at once, however many there were. */
const WHAT_LIVES: Most = { rows: 2 * LIVE_CALLS, buffers: 1_500 };
/** A page of fifty calls, with their turns and webhooks. */
const A_PAGE: Most = { rows: 600, buffers: 1_500 };
/** So many rows as one statement may take. */
const A_BATCH: Most = { rows: 6_500, buffers: 30_000 };
/** All that waits for receivers, on a page or a figure of which it is the point. */
const WHAT_WAITS: Most = { rows: 6_500, buffers: 1_500 };
/** A workspace's calls of two days, of which a page shows one. */
const A_DAY: Most = { rows: 12_000, buffers: 4_000 };

export const OTHERS: Most = { rows: 800, buffers: 2_500 };

export const HOT_STATEMENTS: readonly HotStatement[] = [
  { name: "a key's rate", has: /INSERT INTO rate_limits AS r .* SELECT true AS taken/, most: A_ROW },
  { name: 'idempotency: a key begins', has: /^INSERT INTO idempotency_keys AS k/, most: A_ROW },
  { name: 'idempotency: an answer is replayed', has: /^SELECT body_sha256, state, response_status/, most: A_ROW },
  { name: 'idempotency: a key is answered', has: /^UPDATE idempotency_keys SET state = 'done'/, most: A_ROW },
  {
    name: 'idempotency: a call of a request that broke off',
    has: /^UPDATE idempotency_keys k SET state = 'unknown', call_uuid = c\.call_uuid/,
    most: LATELY,
  },
  {
    name: 'idempotency: what became of a stale request',
    has: /AND c\.idempotency_key = \$3 .* ORDER BY c\.call_uuid DESC LIMIT 1/,
    most: LATELY,
  },
  {
    name: 'idempotency: keys are forgotten',
    has: /^DELETE FROM idempotency_keys WHERE state <> 'unknown'/,
    most: A_BATCH,
  },
  {
    name: 'clearance: the same call twice',
    has: /^SELECT 1 AS one FROM calls WHERE workspace_id = \$1 AND to_number = \$2/,
    most: A_ROW,
  },
  // The first time in a session a function looks up all that it names.
  { name: 'admission', has: /^SELECT \* FROM limits_admit/, most: { rows: 20, buffers: 1_200 } },
  { name: 'admission: slots in use', has: /FROM call_slots WHERE name = slot/, most: { rows: 100, buffers: 150 } },
  {
    name: 'placing: the row, its event, audit and permit',
    has: /INSERT INTO calls \(call_uuid, workspace_id/,
    most: A_CALL,
  },
  { name: "placing: the call's slot", has: /^INSERT INTO call_slots AS s/, most: A_ROW },
  { name: "the call's row for searches", has: /^INSERT INTO call_search \(call_uuid/, most: A_CALL },
  { name: 'the lock of a call', has: /WHERE c\.call_uuid = \$1 FOR UPDATE OF c$/, most: A_ROW },
  { name: 'the change of a call', has: /^WITH w0 AS \(UPDATE calls SET/, most: A_CALL },
  {
    name: 'claiming: the run lives, the call is its own',
    has: /SELECT 1 AS one FROM media_runs WHERE run_id = /,
    most: A_CALL,
  },
  { name: 'live batch', has: /^WITH owned AS MATERIALIZED/, most: A_CALL },
  {
    name: 'reaper: calls that are due',
    has: /^UPDATE calls SET deadline_at = \$2 WHERE call_uuid IN/,
    most: { rows: 60, buffers: 800 },
  },
  { name: 'the look at all that is due', has: /^SELECT \$1::timestamptz AS at/, most: OTHERS },
  { name: 'webhooks: an event and its delivery', has: /INSERT INTO webhook_deliveries \(id, event_id/, most: A_CALL },
  { name: 'webhooks: a claim', has: /^UPDATE webhook_deliveries AS d SET claimed_until = \$3/, most: A_ROW },
  { name: 'webhooks: delivered', has: /^WITH noted AS \( ?UPDATE webhook_deliveries/, most: A_ROW },
  { name: 'webhooks: failed', has: /^WITH judged AS \( ?UPDATE webhook_endpoints/, most: A_ROW },
  { name: 'webhooks: what is due for each lane', has: /^SELECT due\.id, e\.id AS "endpointId"/, most: OTHERS },
  { name: 'webhooks: long backlogs', has: /GROUP BY endpoint_id HAVING count/, most: A_BATCH },
  { name: 'webhooks: old events', has: /^UPDATE webhook_events SET body = '' WHERE id/, most: A_BATCH },
  { name: 'live board: calls', has: /AS "isLost" FROM calls c/, most: { rows: 4 * LIVE_CALLS, buffers: 3_000 } },
  {
    name: 'live board: words',
    has: /^SELECT e\.call_uuid AS "callUuid", e\.id::text AS id, e\.kind/,
    most: { rows: 200, buffers: 3_000 },
  },
  { name: 'event streams: news', has: /END AS "isSettled"/, most: A_CALL },
  { name: 'metrics: live calls', has: /^SELECT status, count\(\*\)::int AS count FROM calls/, most: WHAT_LIVES },
  { name: 'metrics: what waits', has: /AS oldest_seconds FROM webhook_deliveries/, most: WHAT_WAITS },
  { name: 'home: how a day went', has: /AS "answeredOver", percentile_disc/, most: A_DAY },
  { name: 'home: why nothing was dialled', has: /^SELECT c\.ended_reason AS reason/, most: A_DAY },
  { name: 'home: what waits', has: /AS "oldestAt" FROM webhook_endpoints p/, most: WHAT_WAITS },
  { name: 'retention: the next window', has: /WITH seen AS MATERIALIZED/, most: A_BATCH },
  { name: 'retention: calls with rows in a day', has: /^WITH RECURSIVE seen AS/, most: A_BATCH },
  { name: 'retention: turns', has: /^DELETE FROM call_turns WHERE call_uuid = \$1/, most: A_CALL },
  { name: 'retention: events', has: /^DELETE FROM call_events WHERE call_uuid = \$1 RETURNING/, most: A_CALL },
  {
    name: 'call log: the first page',
    has: /FROM \(SELECT \* FROM call_search WHERE workspace_id = \$1 AND true ORDER BY created_at DESC, call_uuid DESC\) AS found/,
    most: A_PAGE,
  },
  {
    name: 'call log: a deep page',
    has: /FROM \(SELECT \* FROM call_search WHERE workspace_id = \$1 AND true AND \(created_at, call_uuid\) </,
    most: A_PAGE,
  },
  {
    name: 'call log: a filter, among the newest',
    has: /FROM \(SELECT \* FROM call_search .* LIMIT 1000\) AS found/,
    most: { rows: 1_100, buffers: 6_000 },
  },
  { name: 'call log: words, by their index', has: /WITH matching AS MATERIALIZED/, most: OTHERS },
  {
    name: 'call log: entries of a page',
    has: /^SELECT c\.call_uuid AS "callUuid".* WHERE c\.workspace_id = \$1 AND c\.call_uuid = ANY/,
    most: A_PAGE,
  },
  {
    name: 'call log: turns of a page',
    has: /FROM call_turns WHERE call_uuid = ANY \(\$1::uuid\[\]\) GROUP BY/,
    most: A_PAGE,
  },
  {
    name: "leads: a lead's call",
    has: /^SELECT 1 AS one FROM calls WHERE workspace_id = \$1 AND lead_id = \$2/,
    most: A_ROW,
  },
];

export function mostOf(text: string): Most {
  return HOT_STATEMENTS.find(({ has }) => has.test(text))?.most ?? OTHERS;
}
