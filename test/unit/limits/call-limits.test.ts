import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkCallLimits, readCallLimits } from '../../../src/limits/call-limits.ts';
import { takeFromRate } from '../../../src/limits/rate-limit.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

let test: TestDatabase;
let database: Database;
const workspaceId = uuidv7();
const agentId = uuidv7();
const lineId = uuidv7();
const otherLineId = uuidv7();

beforeAll(async () => {
  test = await createTestDatabase();
  database = openDatabase({ connectionString: test.connectionString, maxConnections: 20, onIdleError: () => {} });
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
afterAll(async () => {
  await database.close();
  await test.close();
});
beforeEach(async () => {
  await database.query('DELETE FROM calls');
  await database.query('DELETE FROM rate_limits');
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

/** What placement does: check and insert in one transaction. */
function place(line = lineId): Promise<string> {
  return database.transaction(async (tx) => {
    const answer = await checkCallLimits(tx, { workspaceId, lineId: line });
    if (!answer.ok) return `${answer.code} ${answer.retryAfterSeconds}`;
    await tx.query(
      `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, to_number, from_number, name, request_id, status, carrier)
       VALUES ($1, $2, $3, 1, $4, '+14155550123', '+14155550100', 'Asha', 'r', 'dialing', 'plivo')`,
      [uuidv7(), workspaceId, agentId, line],
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

  it('lets exactly 2 of 12 parallel calls through at 2 a second, and says to come again after 1 s', async () => {
    await setLimits({ workspaceConcurrent: 100, workspaceCps: 1000, lineConcurrent: 100, lineCps: 2 });
    const answers = await Promise.all(Array.from({ length: 12 }, () => place()));
    // A loaded machine may take longer than 500 ms for the twelve, which earns one more.
    expect(times(answers, 'placed')).toBeGreaterThanOrEqual(2);
    expect(times(answers, 'placed')).toBeLessThanOrEqual(3);
    expect(answers.find((answer) => answer !== 'placed')).toBe('cps_limit 1');
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
    await place();
    expect(await place()).toBe('concurrency_limit 20');
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
    await expect(database.transaction((tx) => checkCallLimits(tx, { workspaceId: uuidv7(), lineId }))).rejects.toThrow(
      /is not one of workspace/,
    );
  });
});

describe('a rate in the database', () => {
  it('gives 4 of 30 parallel requests at burst 4, then advice of whole seconds', async () => {
    const rate = { perSecond: 1, burst: 4 };
    const answers = await Promise.all(Array.from({ length: 30 }, () => takeFromRate(database, 'api:k1', rate)));
    expect(answers.filter((answer) => answer.ok).length).toBe(4);
    const remaining = answers.flatMap((answer) => (answer.ok ? [answer.remaining] : []));
    expect(remaining.toSorted()).toEqual([0, 1, 2, 3]);
    for (const answer of answers) {
      if (!answer.ok) expect(answer.retryAfterSeconds).toBe(1);
    }
  });

  it('refuses everything at 0 a second', async () => {
    expect(await takeFromRate(database, 'api:k2', { perSecond: 0, burst: 5 })).toEqual({
      ok: false,
      retryAfterSeconds: 60,
    });
  });
});
