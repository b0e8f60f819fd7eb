/** What removes old rows: each statement is bounded, and finds them by an index, however many others there are. */

import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BY_OPERATOR } from '../../../src/audit/audit-entry.ts';
import { purgeLimits } from '../../../src/limits/postgres-store.ts';
import { createRetentionPurge } from '../../../src/retention/retention-purge.ts';
import { setRetention } from '../../../src/retention/retention-rules.ts';
import type { Database, Queryable } from '../../../src/store/database.ts';
import { purgeIdempotencyKeys } from '../../../src/store/idempotency-keys.ts';
import { purgeWebhooks } from '../../../src/webhooks/purge.ts';
import { purgePastCredentials } from '../../../src/workspaces/lines.ts';
import { type ApiFixture, createApiFixture } from '../api/api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());

interface Watched extends Queryable {
  /** Rows that each statement gave, in order. */
  rows: number[];
  plans: string[];
}

/** Runs each statement, and asks first how it will be run. */
function watched(database: Queryable): Watched {
  const rows: number[] = [];
  const plans: string[] = [];
  return {
    rows,
    plans,
    async query<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
      const plan = await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, parameters);
      plans.push(plan.map((line) => line['QUERY PLAN']).join('\n'));
      const found = await database.query<Row>(sql, parameters);
      rows.push(found.length);
      return found;
    },
  };
}

const count = async (what: string): Promise<number> =>
  (await api.database.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${what}`))[0]!.count;

describe('old rows are removed in bounded statements that an index leads to them:', () => {
  it('idempotency keys after 24 h, but those that wait for an outcome', async () => {
    await api.database.query(
      `INSERT INTO idempotency_keys (workspace_id, method_path, key, body_sha256, state, created_at)
       SELECT $1, 'POST /x', 'k' || n, '', CASE WHEN n <= 5 THEN 'unknown' ELSE 'done' END,
              CASE WHEN n <= 2505 THEN now() - interval '25 hours' ELSE now() END FROM generate_series(1, 12505) AS n`,
      [api.acme.workspaceId],
    );
    await api.database.query('ANALYZE idempotency_keys');
    const database = watched(api.database);
    expect(await purgeIdempotencyKeys(database)).toBe(2_500);
    expect(database.rows).toEqual([1_000, 1_000, 500]);
    for (const plan of database.plans) expect(plan).toContain('idempotency_keys_age');
    expect(await count(`idempotency_keys WHERE state = 'unknown'`)).toBe(5);
    expect(await count('idempotency_keys')).toBe(10_005);
  });

  it('and a purge that is told to stop begins no further one', async () => {
    await api.database.query(`UPDATE idempotency_keys SET created_at = now() - interval '25 hours'`);
    const database = watched(api.database);
    expect(await purgeIdempotencyKeys(database, () => database.rows.length === 2)).toBe(2_000);
    expect(database.rows).toEqual([1_000, 1_000]);
  });

  it('rates and leases of limits', async () => {
    await api.database.query(
      `INSERT INTO rate_limits (name, tat)
       SELECT 'r' || n, now() + CASE WHEN n <= 7000 THEN interval '-1 hour' ELSE interval '1 hour' END FROM generate_series(1, 17000) AS n`,
    );
    await api.database.query(
      `INSERT INTO limit_leases (holder, name, until)
       SELECT 'h' || n, 'l' || n, now() + CASE WHEN n <= 6000 THEN interval '-1 hour' ELSE interval '1 hour' END FROM generate_series(1, 16000) AS n`,
    );
    await api.database.query('ANALYZE rate_limits, limit_leases');
    const database = watched(api.database);
    await purgeLimits(database);
    expect(database.rows).toEqual([5_000, 2_000, 5_000, 1_000]);
    expect(database.plans[0]).toContain('rate_limits_tat');
    expect(database.plans[2]).toContain('limit_leases_until');
    expect([await count('rate_limits'), await count('limit_leases')]).toEqual([10_000, 10_000]);
  });

  it('telephony credentials a day after they were replaced', async () => {
    await api.database.query(
      `INSERT INTO past_line_credentials (line_id, version, sealed, replaced_at)
       SELECT $1, n, '', now() - CASE WHEN n <= 1200 THEN interval '25 hours' ELSE interval '1 hour' END FROM generate_series(1, 3000) AS n`,
      [api.acme.lineId],
    );
    await api.database.query('ANALYZE past_line_credentials');
    const database = watched(api.database);
    await purgePastCredentials(database);
    expect(database.rows).toEqual([1_000, 200]);
    expect(database.plans[0]).toContain('past_line_credentials_age');
    expect(await count('past_line_credentials')).toBe(1_800);
  });

  it('webhook deliveries that were given up', async () => {
    await api.database.query(
      `INSERT INTO webhook_endpoints (id, workspace_id, url, secret_sealed) VALUES (gen_random_uuid(), $1, 'https://example.com', '')`,
      [api.acme.workspaceId],
    );
    await api.database.query(
      `INSERT INTO webhook_events (id, workspace_id, event, sequence, body)
       SELECT 'e' || n, $1, 'call.ringing', 1, '' FROM generate_series(1, 12000) AS n`,
      [api.acme.workspaceId],
    );
    await api.database.query(
      `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, state, dead_at)
       SELECT gen_random_uuid(), 'e' || n, (SELECT id FROM webhook_endpoints), 'dead',
              now() - CASE WHEN n <= 1500 THEN interval '31 days' ELSE interval '1 day' END FROM generate_series(1, 12000) AS n`,
    );
    await api.database.query('ANALYZE webhook_deliveries, webhook_events, webhook_endpoints');
    const database = watched(api.database);
    expect(await purgeWebhooks(database as never, Date.now())).toEqual({ removed: 1_500, emptied: 0 });
    expect(database.plans[0]).toContain('webhook_deliveries_given_up');
    expect(Math.max(...database.rows)).toBe(1_000);
    expect(await count('webhook_events')).toBe(10_500);
  });

  it('calls whose days have passed, 2,000 looked at with a statement, however few are due', async () => {
    await api.database.query(
      `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, to_number, from_number, name, request_id, status,
                          ended_reason, carrier, created_at, ended_at)
       SELECT gen_random_uuid(), $1, $2, 1, $3, '+14155550123', '+14155550100', 'Asha', 'r', 'no_answer', 'busy', 'plivo',
              now() - interval '3 days', now() - interval '2 days' - (n % 7) * interval '1 second' FROM generate_series(1, 4500) AS n`,
      [api.acme.workspaceId, api.acme.agentId, api.acme.lineId],
    );
    // Of the other workspace nothing is due; one of acme's, and not the first in the order of their ends.
    await api.database.query('UPDATE calls SET workspace_id = $1', [api.other.workspaceId]);
    const [due] = await api.database.query<{ call_uuid: string }>(
      `UPDATE calls SET workspace_id = $1 WHERE call_uuid = (SELECT call_uuid FROM calls ORDER BY ended_at DESC, call_uuid DESC LIMIT 1)
       RETURNING call_uuid`,
      [api.acme.workspaceId],
    );
    await setRetention(
      api.database,
      { workspaceId: api.acme.workspaceId, agentId: null },
      { metadata: 1 },
      BY_OPERATOR,
    );
    await api.database.query('ANALYZE calls');
    const watching = watched(api.database);
    const database = { ...watching, transaction: api.database.transaction } as unknown as Database;
    const { eraser } = api.recordings;
    const purge = createRetentionPurge({ database, clock: api.clock, log: pino({ level: 'silent' }), eraser });
    expect((await purge.run()).removed).toMatchObject({ metadata: 1, recording: 0 });
    // After them it is asked for days that may be empty: there are none so old, only the two rests, without rows.
    expect(watching.rows).toEqual([1, 1, 1, 2, 0, 0]);
    for (const plan of watching.plans.slice(0, 3)) expect(plan).toContain('calls_to_purge');
    const [call] = await api.database.query<{ name: string }>('SELECT name FROM calls WHERE call_uuid = $1', [
      due!.call_uuid,
    ]);
    expect(call!.name).toBe('');
    expect(await count(`calls WHERE name = 'Asha'`)).toBe(4_499);
  });
});
