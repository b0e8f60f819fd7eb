import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CallLimits, createCallLimits } from '../../../src/limits/call-limits.ts';
import { readCallLimits } from '../../../src/limits/capacity.ts';
import { createPostgresStore } from '../../../src/limits/postgres-store.ts';
import { PromiseEnded } from '../../../src/limits/slot-admission.ts';
import type { Database } from '../../../src/store/database.ts';
import { writeTogether } from '../../../src/store/joint-write.ts';
import { createMemoryLimitStore } from '../../support/fakes/memory-limit-store.ts';
import { longPromises } from '../../support/long-promises.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

let test: OpenTestDatabase;
let database: Database;
let callLimits: CallLimits;
const clock = new VirtualClock();
const workspaceId = uuidv7();
const agentId = uuidv7();
const lineId = uuidv7();
const otherLineId = uuidv7();

beforeAll(async () => {
  test = await openTestDatabase({ maxConnections: 20 });
  database = test.database;
  const postgres = longPromises(createPostgresStore(database));
  callLimits = createCallLimits({ store: postgres, postgres, database, clock, settingsKeptMs: 0 });
  await database.query(`INSERT INTO workspaces (id, slug, name) VALUES ($1, 'acme', 'Acme')`, [workspaceId]);
  await database.query(
    `INSERT INTO agents (id, workspace_id, name, direction, current_version) VALUES ($1, $2, 'A', 'outbound', 1)`,
    [agentId, workspaceId],
  );
  for (const [id, number] of [
    [lineId, '+14155550100'],
    [otherLineId, '+14155550101'],
  ]) {
    await database.query(`INSERT INTO phone_lines (id, workspace_id, number, carrier) VALUES ($1, $2, $3, 'plivo')`, [
      id,
      workspaceId,
      number,
    ]);
  }
});
afterAll(() => test.close());
beforeEach(async () => {
  await database.query('DELETE FROM calls');
  await database.query('DELETE FROM rate_limits');
  await database.query('DELETE FROM limit_leases');
  // What was read of the last 50 calls is kept for a second.
  clock.advanceMs(1_001);
  await setLimits({ workspaceConcurrent: 10, workspaceCps: 1000, lineConcurrent: 10, lineCps: 1000 });
});

async function setLimits(limits: {
  workspaceConcurrent: number;
  workspaceCps: number;
  lineConcurrent: number;
  lineCps: number;
}): Promise<void> {
  await database.query('UPDATE workspaces SET max_concurrent_calls = $1, max_calls_per_second = $2', [
    limits.workspaceConcurrent,
    limits.workspaceCps,
  ]);
  await database.query('UPDATE phone_lines SET max_concurrent_calls = $1, max_calls_per_second = $2', [
    limits.lineConcurrent,
    limits.lineCps,
  ]);
}

/** What placement does: admit, then settle and insert in one transaction. */
async function place(line = lineId, status = 'dialing', limits = callLimits): Promise<string> {
  const callUuid = uuidv7();
  const answer = await limits.admit({ workspaceId, lineId: line }, callUuid);
  if (!answer.ok) return `${answer.code} ${answer.retryAfterSeconds}`;
  return database.transaction(async (tx) => {
    await writeTogether(tx, [limits.settle(callUuid)]);
    await tx.query(
      `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, to_number, from_number, name, request_id, status, carrier)
       VALUES ($1, $2, $3, 1, $4, '+14155550123', '+14155550100', 'Asha', 'r', $5, 'plivo')`,
      [callUuid, workspaceId, agentId, line, status],
    );
    return 'placed';
  });
}

const times = (answers: string[], what: string): number => answers.filter((answer) => answer.startsWith(what)).length;

describe('the limits of new calls', () => {
  it('lets exactly 3 of 20 parallel calls through where 3 may be live', async () => {
    await setLimits({ workspaceConcurrent: 3, workspaceCps: 1000, lineConcurrent: 10, lineCps: 1000 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => place()));
    expect(times(answers, 'placed')).toBe(3);
    expect(times(answers, 'concurrency_limit')).toBe(17);
  });

  it('counts a line apart from the workspace, and forgets calls that are over', async () => {
    await setLimits({ workspaceConcurrent: 10, workspaceCps: 1000, lineConcurrent: 1, lineCps: 1000 });
    expect(await place()).toBe('placed');
    expect(await place()).toMatch(/^concurrency_limit /);
    expect(await place(otherLineId)).toBe('placed');
    await database.query(`UPDATE calls SET status = 'completed', ended_reason = 'user_hangup', ended_at = now()`);
    expect(await place()).toBe('placed');
  });

  it.each([
    { lineConcurrent: 0, lineCps: 5 },
    { lineConcurrent: 5, lineCps: 0 },
  ])('says of a line with a limit of 0 that it is switched off, not that it is busy', async (line) => {
    await setLimits({ workspaceConcurrent: 10, workspaceCps: 1000, ...line });
    expect(await place()).toBe('line_switched_off 30');
  });

  it('lets exactly 2 of 12 parallel calls through at 2 a second, and says to come again after 1 s', async () => {
    await setLimits({ workspaceConcurrent: 100, workspaceCps: 1000, lineConcurrent: 100, lineCps: 2 });
    // Rates on a clock that stands still: how long the machine takes earns nobody another one.
    const store = createMemoryLimitStore(clock);
    const standing = createCallLimits({
      store,
      postgres: createPostgresStore(database),
      database,
      clock,
      settingsKeptMs: 0,
    });
    const answers = await Promise.all(Array.from({ length: 12 }, () => place(lineId, 'dialing', standing)));
    expect(times(answers, 'placed')).toBe(2);
    expect(times(answers, 'cps_limit 1')).toBe(10);
  });

  it('takes nothing from the line when the workspace refuses', async () => {
    await setLimits({ workspaceConcurrent: 100, workspaceCps: 0, lineConcurrent: 100, lineCps: 1 });
    expect(await place()).toBe('cps_limit 1');
    await setLimits({ workspaceConcurrent: 0, workspaceCps: 1000, lineConcurrent: 100, lineCps: 1 });
    expect(await place()).toMatch(/^concurrency_limit/);
    await setLimits({ workspaceConcurrent: 100, workspaceCps: 1000, lineConcurrent: 100, lineCps: 1 });
    expect(await place()).toBe('placed');
  });

  it('advises the median remaining time of live calls, between 1 and 30 s', async () => {
    await setLimits({ workspaceConcurrent: 1, workspaceCps: 1000, lineConcurrent: 10, lineCps: 1000 });
    await place();
    await database.query(
      `UPDATE calls SET status = 'completed', ended_reason = 'user_hangup', ended_at = now(), created_at = now() - interval '20 seconds'`,
    );
    const askedAtMs = performance.now();
    await place();
    const answer = await place();
    const [, code, seconds] = /^(concurrency_limit) (\d+)$/.exec(answer) ?? [answer];
    expect(code).toBe('concurrency_limit');
    // As much less as this machine took to ask.
    expect(Number(seconds)).toBeLessThanOrEqual(20);
    expect(Number(seconds)).toBeGreaterThanOrEqual(Math.floor(20 - (performance.now() - askedAtMs) / 1_000));
    clock.advanceMs(1_001);
    await database.query(`UPDATE calls SET created_at = now() - interval '1 hour' WHERE ended_at IS NULL`);
    expect(await place()).toBe('concurrency_limit 1');
  });

  it('shows what is in use', async () => {
    await setLimits({ workspaceConcurrent: 7, workspaceCps: 1000, lineConcurrent: 9, lineCps: 4 });
    await place();
    await place(otherLineId);
    expect(await readCallLimits(database, { workspaceId, lineId })).toEqual({
      concurrencyLimit: 7,
      concurrencyInUse: 2,
      lineCps: 4,
    });
  });

  it('refuses to check a line of another workspace', async () => {
    await expect(callLimits.admit({ workspaceId: uuidv7(), lineId }, uuidv7())).rejects.toThrow(
      /is not one of workspace/,
    );
  });

  it('counts a promise as a call until its row is there, and never both', async () => {
    await setLimits({ workspaceConcurrent: 2, workspaceCps: 1000, lineConcurrent: 10, lineCps: 1000 });
    const promised = uuidv7();
    expect((await callLimits.admit({ workspaceId, lineId }, promised)).ok).toBe(true);
    expect(await place()).toBe('placed');
    expect(await place()).toMatch(/^concurrency_limit/);
    await callLimits.release({ workspaceId, lineId }, promised);
    expect(await place()).toBe('placed');
    expect(await place()).toMatch(/^concurrency_limit/);
    expect(await database.query('SELECT 1 AS one FROM limit_leases')).toEqual([]);
  });

  it('lets no row come of a promise that has ended, and gives its slot to another', async () => {
    await setLimits({ workspaceConcurrent: 1, workspaceCps: 1000, lineConcurrent: 10, lineCps: 1000 });
    const promised = uuidv7();
    await callLimits.admit({ workspaceId, lineId }, promised);
    await database.query(`UPDATE limit_leases SET until = clock_timestamp() - interval '1 millisecond'`);
    expect(await place()).toBe('placed');
    await expect(writeTogether(database, [callLimits.settle(promised)])).rejects.toThrow(PromiseEnded);
  });

  it('gives a turn at the carrier with the admission, and another to a call that has missed its own', async () => {
    await setLimits({ workspaceConcurrent: 9, workspaceCps: 1000, lineConcurrent: 9, lineCps: 2 });
    const clock = new VirtualClock();
    const store = createPostgresStore(database);
    const limits = createCallLimits({ database, clock, store, postgres: store, settingsKeptMs: 0 });
    const scope = { workspaceId, lineId };
    const turnOf = async () => {
      const answer = await limits.admit(scope, uuidv7());
      return answer.ok ? answer.turn : null;
    };
    const [first, second] = [await turnOf(), await turnOf()];
    expect(await limits.turn(scope, first)).toBe(0);
    expect(await limits.turn(scope, second)).toBeGreaterThan(500);
    clock.advanceMs(250);
    expect(await limits.turn(scope, first)).toBeGreaterThan(750);
  });

  it('says what is left of the tighter limit', async () => {
    await setLimits({ workspaceConcurrent: 9, workspaceCps: 6, lineConcurrent: 3, lineCps: 8 });
    await place();
    const answer = await callLimits.admit({ workspaceId, lineId }, uuidv7());
    expect(answer.left.concurrent).toEqual({ limit: 3, remaining: 1 });
    expect(answer.left.perSecond.limit).toBe(6);
  });

  it('never has more live calls than 4 while 300 calls begin and end at random, and loses no slot', async () => {
    await setLimits({ workspaceConcurrent: 4, workspaceCps: 100_000, lineConcurrent: 100, lineCps: 100_000 });
    let most = 0;
    await Promise.all(
      Array.from({ length: 12 }, async (_none, worker) => {
        for (let turn = 0; turn < 25; turn++) {
          if ((await place(worker % 2 === 0 ? lineId : otherLineId)) !== 'placed') continue;
          const [live] = await database.query<{ count: number }>(
            `SELECT count(*)::int AS count FROM calls WHERE status = 'dialing'`,
          );
          most = Math.max(most, live?.count ?? 0);
          await database.query(
            `UPDATE calls SET status = 'completed', ended_reason = 'user_hangup', ended_at = now()
             WHERE call_uuid = (SELECT call_uuid FROM calls WHERE status = 'dialing' LIMIT 1 FOR UPDATE SKIP LOCKED)`,
          );
        }
      }),
    );
    expect(most).toBeLessThanOrEqual(4);
    expect(most).toBeGreaterThanOrEqual(2);
    await database.query(
      `UPDATE calls SET status = 'completed', ended_reason = 'user_hangup', ended_at = now() WHERE status = 'dialing'`,
    );
    for (let turn = 0; turn < 4; turn++) expect(await place()).toBe('placed');
    expect(await place()).toMatch(/^concurrency_limit/);
  });
});
