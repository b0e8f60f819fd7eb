/**
 * The process of the floor (`floor.ts`): what a call of Parley asks of a database and tells a receiver, done with
 * nothing around it: no rules, no limits, no signatures, no requests that come in, three narrow tables. Forked with the
 * database's address and the receiver's; holds as many calls as it is told to, and says when.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Pool as HttpPool } from 'undici';

/** 20 changes of two statements each, three of which are told of in a webhook whose outcome is a statement more. */
const CHANGES = 20;
const WEBHOOKS_AT: ReadonlySet<number> = new Set([6, 13, 19]);
const CALL_MS = 30_000;
const SPREAD_MS = 10_000;
const POOL_CONNECTIONS = 20;
/** About what a change of a call carries. */
const ROW = { text: 'x'.repeat(600) };
const WEBHOOK = JSON.stringify({ event: 'call.completed', transcript: 'x'.repeat(2_000) });

const TABLES = `
  CREATE TABLE calls (call_uuid uuid PRIMARY KEY, status text, changed_at timestamptz, row jsonb) WITH (fillfactor = 70);
  CREATE TABLE call_events (id bigserial PRIMARY KEY, call_uuid uuid, at timestamptz, kind text, data jsonb);
  CREATE INDEX ON call_events (call_uuid, id);
  CREATE TABLE deliveries (id bigserial PRIMARY KEY, call_uuid uuid, state text, body text)`;
const LOCK = {
  name: 'lock',
  text: 'SELECT call_uuid, status, changed_at, row FROM calls WHERE call_uuid = $1 FOR UPDATE',
};
const CHANGE = {
  name: 'change',
  text: `WITH c AS (INSERT INTO calls VALUES ($1, $2, now(), $3)
           ON CONFLICT (call_uuid) DO UPDATE SET status = EXCLUDED.status, changed_at = EXCLUDED.changed_at, row = EXCLUDED.row),
         e AS (INSERT INTO call_events (call_uuid, at, kind, data) VALUES ($1, now(), $2, $3) RETURNING id),
         d AS (INSERT INTO deliveries (call_uuid, state, body) SELECT $1, 'pending', $4 WHERE $4 <> '' RETURNING id)
         SELECT (SELECT id FROM e) AS event, (SELECT id FROM d) AS delivery`,
};
const SETTLE = { name: 'settle', text: `UPDATE deliveries SET state = 'delivered' WHERE id = $1` };

const [connectionString = '', receiver = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString, max: POOL_CONNECTIONS, idleTimeoutMillis: 120_000 });
// The server is started once more before anything is counted.
pool.on('error', () => {});
const http = new HttpPool(receiver);
await pool.query(TABLES);

async function change(callUuid: string, status: string, webhook: string): Promise<string | null> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query({ ...LOCK, values: [callUuid] });
    const { rows } = await client.query<{ delivery: string | null }>({
      ...CHANGE,
      values: [callUuid, status, JSON.stringify(ROW), webhook],
    });
    await client.query('COMMIT');
    return rows[0]?.delivery ?? null;
  } finally {
    client.release();
  }
}

async function holdOne(): Promise<void> {
  const callUuid = randomUUID();
  for (let at = 0; at < CHANGES; at++) {
    const delivery = await change(callUuid, `status ${at}`, WEBHOOKS_AT.has(at) ? WEBHOOK : '');
    if (delivery !== null) {
      const answer = await http.request({ method: 'POST', path: '/', body: WEBHOOK });
      await answer.body.dump();
      await pool.query({ ...SETTLE, values: [delivery] });
    }
    await pause(CALL_MS / CHANGES);
  }
}

process.on('message', async ({ calls }: { calls: number }) => {
  const held = Array.from({ length: calls }, async (_none, index) => {
    await pause((index * SPREAD_MS) / calls);
    await holdOne();
  });
  await Promise.all(held);
  process.send?.('held');
});
process.send?.('ready');
