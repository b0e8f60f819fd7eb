/**
 * Ceilings of calls and minutes a day, on a real database: exact under 50 placements at once,
 * and what a stop leaves behind.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { judgeDay, NOTHING_USED } from '../../../src/dialling/daily-ceilings.ts';
import { purgeDialUsage } from '../../../src/dialling/daily-usage.ts';
import { readDialOverview } from '../../../src/dialling/dial-overview.ts';
import { changeDialPolicy, type DialPolicy, NEW_DIAL_POLICY } from '../../../src/dialling/dial-policy.ts';
import { createFairQueue } from '../../../src/limits/fair-queue.ts';
import { type PlacementDeps, placeCall } from '../../../src/placement/placement.ts';
import type { NewCall, Placement } from '../../../src/placement/ports.ts';
import type { Database } from '../../../src/store/database.ts';
import { subscribe } from '../../../src/webhooks/endpoint.ts';
import { createHarness, type Harness } from '../lifecycle/harness.ts';
import { answerCall } from '../lifecycle/talk.ts';

const AT_ONCE = 50;
const MOST_OF_A_TEST_SECONDS = 20;
const HALF = 'AaAaAaAa';
const OTHER_HALF = 'BbBbBbBb';

let h: Harness;
let workspaceId: string;
let pools: Database[];
/** Two control processes, each with a pool and queues of its own. */
let nodes: PlacementDeps[];
beforeAll(async () => {
  h = await createHarness();
  ({ workspaceId } = h.newCall());
  await subscribe(h.database, workspaceId, ['workspace.limit_reached']);
  pools = [1, 2].map(() => openPatientDatabase(h.connectionString, 13));
  const turns = (slots: number) =>
    createFairQueue({ clock: h.clock, slots, slotsPerKey: slots, mostWaiting: 100, longestWaitMs: 2_000 });
  nodes = pools.map((database) => ({
    ...h.placement,
    database,
    carrierTurns: turns(AT_ONCE),
    databaseTurns: turns(6),
  }));
});
afterAll(async () => {
  for (const pool of pools) await pool.close();
  await h.close();
});
beforeEach(async () => {
  // A test lies within one day: near its end the next one is waited for.
  const { inSeconds } = await midnight();
  if (inSeconds < MOST_OF_A_TEST_SECONDS) await sleep(1000 * inSeconds + 100);
  h.carrier.outcomes.length = 0;
  h.carrier.placed.length = 0;
  h.dispatched.length = 0;
  await operator(NEW_DIAL_POLICY);
  await h.database.query('DELETE FROM dial_usage');
  await h.database.query(`UPDATE calls SET dial_reserved_seconds = NULL, created_at = created_at - interval '48 hours',
    status = 'failed', ended_reason = 'internal_error', ended_at = now() WHERE ended_at IS NULL`);
  await h.database.query(`UPDATE calls SET created_at = created_at - interval '48 hours'`);
});

const operator = (change: Partial<DialPolicy>): Promise<DialPolicy> =>
  changeDialPolicy(h.database, { slug: 'acme', change });

const place = (changes: Partial<NewCall> = {}, node = 0): Promise<Placement> =>
  placeCall(nodes[node % 2]!, h.newCall(changes));

const lasting = (maxDurationSeconds: number): Pick<NewCall, 'agent'> => {
  const { agent } = h.newCall();
  return { agent: { ...agent, definition: { ...agent.definition, maxDurationSeconds } } };
};

/** All at once, in turn from both nodes. */
const placeAtOnce = (changesOf: (index: number) => Partial<NewCall> = () => ({})): Promise<Placement[]> =>
  Promise.all(Array.from({ length: AT_ONCE }, (_none, index) => place(changesOf(index), index)));

const outcomes = (placements: Placement[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const placement of placements) {
    const name = 'code' in placement && placement.code !== undefined ? placement.code : placement.kind;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

async function placed(changes: Partial<NewCall> = {}): Promise<string> {
  const placement = await place(changes);
  if (placement.kind !== 'placed') throw new Error(JSON.stringify(placement));
  return placement.callUuid;
}

async function endAfter(callUuid: string, seconds: number): Promise<void> {
  const answered = seconds > 0;
  if (answered) {
    await answerCall(h, callUuid);
    h.clock.advanceMs(seconds * 1000);
  }
  const reason = answered ? 'user_hangup' : 'busy';
  await h.transitions.apply(callUuid, { type: 'finish', reason, hangupBy: 'caller' });
}

const usage = (countedFor = ''): Promise<unknown[]> =>
  h.database.query(
    `SELECT calls, used_seconds::int AS used, reserved_seconds::int AS reserved FROM dial_usage
     WHERE workspace_id = $1 AND counted_for = $2 ORDER BY day DESC LIMIT 1`,
    [workspaceId, countedFor],
  );

async function stops(): Promise<{ target: string; after: Record<string, unknown>; body: Record<string, unknown> }[]> {
  const audit = await h.database.query<{ target: string; after: string }>(
    `SELECT target, after FROM audit_log WHERE action = 'workspace.limit_reached' ORDER BY id`,
  );
  const events = await h.database.query<{ body: string }>(
    `SELECT body FROM webhook_events WHERE event = 'workspace.limit_reached' ORDER BY created_at, id`,
  );
  expect(events).toHaveLength(audit.length);
  return audit.map(({ target, after }, index) => ({
    target,
    after: JSON.parse(after),
    body: JSON.parse(events[index]!.body),
  }));
}

/** When the day ends that the ceilings are counted in: the database's, in UTC. */
async function midnight(): Promise<{ at: string; inSeconds: number }> {
  const [day] = await h.database.query<{ at: Date; inSeconds: number }>(
    `SELECT at, extract(epoch FROM at - clock_timestamp())::float8 AS "inSeconds"
     FROM (SELECT date_trunc('day', clock_timestamp() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' + interval '24 hours' AS at) AS day`,
  );
  return { at: day!.at.toISOString(), inSeconds: day!.inSeconds };
}

describe('50 placements at once, from two control processes', () => {
  it('are let through up to the ceiling of calls, and not one more; the stop is told once, in the audit and by webhook', async () => {
    await operator({ callsPerDay: 20 });
    const before = (await stops()).length;
    const placements = await placeAtOnce();
    expect(outcomes(placements)).toEqual({ placed: 20, daily_limit: 30 });
    expect(h.carrier.placed).toHaveLength(20);
    expect(await usage()).toEqual([{ calls: 20, used: 0, reserved: 20 * 1_800 }]);

    const told = (await stops()).slice(before);
    const { at: resetsAt } = await midnight();
    const limit = { name: 'calls_per_day', value: 20, resetsAt };
    expect(told).toHaveLength(1);
    expect(told[0]!.target).toBe(`workspace:${workspaceId}`);
    expect(told[0]!.after).toMatchObject({ ...limit, calls: 20 });
    expect(told[0]!.body).toMatchObject({
      event: 'workspace.limit_reached',
      callUuid: null,
      to: null,
      enterprise: 'acme',
      limit,
      keyId: null,
    });
    // Its delivery was dispatched, after the commit.
    const [delivery] = await h.database.query<{ id: string }>(
      `SELECT d.id FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event_id
       WHERE e.event = 'workspace.limit_reached' ORDER BY d.created_at DESC, d.id DESC LIMIT 1`,
    );
    expect(h.dispatched).toContain(delivery?.id);

    const refused = await place();
    if (refused.kind !== 'limited' || refused.code !== 'daily_limit') throw new Error(JSON.stringify(refused));
    expect(Math.abs(refused.retryAfterSeconds - (await midnight()).inSeconds)).toBeLessThan(60);
    expect(refused.ceiling).toEqual({ name: 'calls_per_day', value: 20 });
    expect((await stops()).slice(before)).toHaveLength(1);
  });

  it('hold no more minutes together than the ceiling has, each its own longest, the last what is left', async () => {
    await operator({ minutesPerDay: 62 });
    const placements = await placeAtOnce(() => lasting(300));
    expect(outcomes(placements)).toEqual({ placed: 13, daily_limit: 37 });
    const lengths = h.carrier.placed.map(({ maxDurationSeconds }) => maxDurationSeconds).toSorted((a, b) => a - b);
    expect(lengths).toEqual([120, ...Array.from({ length: 12 }, () => 300)]);
    expect(await usage()).toEqual([{ calls: 13, used: 0, reserved: 62 * 60 }]);
    // What active calls hold comes back when they end: that is not the end of the day.
    const refused = placements.find(({ kind }) => kind === 'limited');
    expect(refused).toMatchObject({ retryAfterSeconds: 30, ceiling: { name: 'minutes_per_day', value: 62 } });
  });

  it('of two keys are counted for each of them and for the workspace; who stops one does not stop the other', async () => {
    await operator({ callsPerDay: 30, keyCallsPerDay: 12 });
    const before = (await stops()).length;
    const keyOf = (index: number) => ({ keyId: index % 2 === 0 ? HALF : OTHER_HALF });
    expect(outcomes(await placeAtOnce((index) => keyOf(index >> 1)))).toEqual({ placed: 24, daily_limit: 26 });
    expect([await usage(), await usage(HALF), await usage(OTHER_HALF)]).toMatchObject([
      [{ calls: 24 }],
      [{ calls: 12 }],
      [{ calls: 12 }],
    ]);
    const told = (await stops()).slice(before);
    expect(told.map(({ target }) => target).toSorted()).toEqual([`key:${HALF}`, `key:${OTHER_HALF}`]);
    expect(told.map(({ body }) => body['keyId']).toSorted()).toEqual([HALF, OTHER_HALF]);
    expect(told[0]!.body['limit']).toMatchObject({ name: 'key_calls_per_day', value: 12 });
    const third = 'CcCcCcCc';
    for (let call = 0; call < 6; call++) expect((await place({ keyId: third })).kind).toBe('placed');
    expect(await place({ keyId: third })).toMatchObject({ ceiling: { name: 'calls_per_day' } });
  });

  it('begin and end at random without a minute lost or given twice', async () => {
    await operator({ callsPerDay: 1_000, minutesPerDay: 40 });
    let talked = 0;
    await Promise.all(
      Array.from({ length: 8 }, async (_none, worker) => {
        for (let turn = 0; turn < 4; turn++) {
          const placement = await place(lasting(240), worker);
          if (placement.kind !== 'placed') continue;
          const { callUuid } = placement;
          if ((worker + turn) % 3 === 0) await endAfter(callUuid, 0);
          else {
            await answerCall(h, callUuid);
            await h.transitions.apply(callUuid, { type: 'finish', reason: 'user_hangup', hangupBy: 'caller' });
          }
          const [row] = await h.database.query<{ seconds: number }>(
            `SELECT coalesce(ceil(extract(epoch FROM ended_at - answered_at)), 0)::int AS seconds FROM calls WHERE call_uuid = $1`,
            [callUuid],
          );
          talked += row!.seconds;
          const [now] = (await usage()) as { used: number; reserved: number }[];
          expect(now!.used + now!.reserved).toBeLessThanOrEqual(40 * 60);
          expect(now!.reserved).toBeGreaterThanOrEqual(0);
        }
      }),
    );
    const live = await h.database.query(`SELECT 1 AS one FROM calls WHERE status = 'dialing'`);
    expect(live).toEqual([]);
    expect(await usage()).toMatchObject([{ used: talked, reserved: 0 }]);
  });
});

describe('minutes', () => {
  it('are those of talk: held at placement, settled at the end, and a day that is used up lets no call begin', async () => {
    await operator({ minutesPerDay: 10 });
    const first = await placed(lasting(480));
    expect(await usage()).toEqual([{ calls: 1, used: 0, reserved: 480 }]);
    await endAfter(first, 90);
    expect(await usage()).toEqual([{ calls: 1, used: 90, reserved: 0 }]);
    await endAfter(await placed(lasting(480)), 0);
    expect(await usage()).toEqual([{ calls: 2, used: 90, reserved: 0 }]);
    await endAfter(await placed(lasting(480)), 480);
    expect(await usage()).toEqual([{ calls: 3, used: 570, reserved: 0 }]);
    const before = (await stops()).length;
    const last = await placed();
    expect(h.carrier.placed.at(-1)).toMatchObject({ callUuid: last, maxDurationSeconds: 30 });
    expect((await h.call(last)).maxDurationSeconds).toBe(30);
    await endAfter(last, 30);
    const refused = await place();
    expect(refused).toMatchObject({
      kind: 'limited',
      code: 'daily_limit',
      ceiling: { name: 'minutes_per_day', value: 10 },
    });
    expect((refused as { retryAfterSeconds: number }).retryAfterSeconds).toBeGreaterThan(
      Math.min(30, (await midnight()).inSeconds - 60),
    );
    expect((await stops()).slice(before)).toHaveLength(1);
  });

  it('of a call that runs go on to its own limit when the day is over; a late callback settles nothing twice', async () => {
    await operator({ minutesPerDay: 10, callsPerDay: 1 });
    const callUuid = await placed(lasting(300));
    expect((await place()).kind).toBe('limited');
    expect((await h.call(callUuid)).status).toBe('dialing');
    await endAfter(callUuid, 120);
    await h.transitions.apply(callUuid, { type: 'finish', reason: 'user_hangup', hangupBy: 'caller' });
    expect(await usage()).toEqual([{ calls: 1, used: 120, reserved: 0 }]);
  });
});

describe('a day', () => {
  it('begins anew at midnight in UTC, and a call belongs to the day on which it began', async () => {
    await operator({ callsPerDay: 1 });
    const callUuid = await placed();
    expect((await place()).kind).toBe('limited');
    await h.database.query(`UPDATE dial_usage SET day = day - interval '24 hours'`);
    await h.database.query(`UPDATE calls SET dial_day = dial_day - interval '24 hours' WHERE call_uuid = $1`, [
      callUuid,
    ]);
    await placed();
    await endAfter(callUuid, 60);
    const days = await h.database.query(
      `SELECT calls, used_seconds::int AS used FROM dial_usage WHERE counted_for = '' ORDER BY day`,
    );
    expect(days).toEqual([
      { calls: 1, used: 60 },
      { calls: 1, used: 0 },
    ]);
    await h.database.query(`UPDATE dial_usage SET day = day - interval '100 days' WHERE used_seconds > 0`);
    await purgeDialUsage(h.database);
    expect(await h.database.query('SELECT 1 AS one FROM dial_usage')).toHaveLength(1);
  });

  it('gives back what was no call: the carrier throttled it', async () => {
    await operator({ callsPerDay: 1 });
    h.carrier.outcomes.push({ kind: 'throttled', retryAfterSeconds: 5 });
    expect((await place({ keyId: HALF })).kind).toBe('throttled');
    expect([await usage(), await usage(HALF)]).toEqual([
      [{ calls: 0, used: 0, reserved: 0 }],
      [{ calls: 0, used: 0, reserved: 0 }],
    ]);
    await placed({ keyId: HALF });
  });

  it('holds nothing of a call that a limit refused', async () => {
    await operator({ callsPerDay: 5 });
    await h.database.query('UPDATE workspaces SET max_concurrent_calls = 0');
    expect(await place()).toMatchObject({ code: 'concurrency_limit' });
    await h.database.query('UPDATE workspaces SET max_concurrent_calls = 100000');
    expect(await usage()).toEqual([{ calls: 0, used: 0, reserved: 0 }]);
  });

  it('counts what was called before its first ceiling was set, live calls with their longest', async () => {
    await endAfter(await placed({ keyId: HALF }), 70);
    const live = await placed({ keyId: HALF, ...lasting(600) });
    await endAfter(await placed(), 0);
    expect(await usage()).toEqual([]);
    await operator({ callsPerDay: 3, keyCallsPerDay: 2 });
    expect([await usage(), await usage(HALF)]).toEqual([
      [{ calls: 3, used: 70, reserved: 600 }],
      [{ calls: 2, used: 70, reserved: 600 }],
    ]);
    expect((await place()).kind).toBe('limited');
    await endAfter(live, 50);
    expect(await usage()).toEqual([{ calls: 3, used: 120, reserved: 0 }]);
    const { today } = await readDialOverview(h.database, workspaceId);
    expect(today).toMatchObject({ calls: 3, usedSeconds: 120, keys: [{ keyId: HALF, calls: 2, usedSeconds: 120 }] });
    expect(today?.resetsAt.toISOString()).toBe((await midnight()).at);
  });

  it('goes on when the operator raises the ceiling, and its next stop is told again', async () => {
    await operator({ callsPerDay: 0 });
    const before = (await stops()).length;
    expect(await place()).toMatchObject({ code: 'daily_limit', ceiling: { value: 0 } });
    await operator({ callsPerDay: 1 });
    await placed();
    expect(await place()).toMatchObject({ code: 'daily_limit', ceiling: { value: 1 } });
    expect((await stops()).slice(before).map(({ after }) => after['value'])).toEqual([0, 1]);
    await operator({ callsPerDay: null });
    await placed();
  });
});

it('no call lasts longer than the operator allows, whatever its agent says', async () => {
  await operator({ maxCallSeconds: 60 });
  const callUuid = await placed(lasting(14_400));
  expect(h.carrier.placed.at(-1)?.maxDurationSeconds).toBe(60);
  expect((await h.call(callUuid)).maxDurationSeconds).toBe(60);
});

describe('the judgement of a day', () => {
  const none = { callsPerDay: null, minutesPerDay: null, keyCallsPerDay: null, keyMinutesPerDay: null };

  it('names the ceiling that is spent before one that live calls only hold', () => {
    const workspace = { calls: 0, usedSeconds: 0, reservedSeconds: 600 };
    const key = { calls: 7, usedSeconds: 0, reservedSeconds: 0 };
    const ceilings = { ...none, minutesPerDay: 10, keyCallsPerDay: 7 };
    expect(judgeDay(ceilings, { workspace, key }, 60)).toEqual({
      ok: false,
      reached: { name: 'key_calls_per_day', value: 7, isSpent: true },
    });
    expect(judgeDay(ceilings, { workspace, key: NOTHING_USED }, 60)).toEqual({
      ok: false,
      reached: { name: 'minutes_per_day', value: 10, isSpent: false },
    });
  });

  it('gives a call what is left of the tightest, and none less than the shortest call', () => {
    const workspace = { calls: 3, usedSeconds: 500, reservedSeconds: 0 };
    const key = { calls: 1, usedSeconds: 20, reservedSeconds: 0 };
    const left = (ceilings: object) => judgeDay({ ...none, ...ceilings }, { workspace, key }, 1_800);
    expect(left({})).toEqual({ ok: true, seconds: 1_800 });
    expect(left({ minutesPerDay: 10 })).toEqual({ ok: true, seconds: 100 });
    expect(left({ minutesPerDay: 10, keyMinutesPerDay: 1 })).toEqual({ ok: true, seconds: 40 });
    expect(left({ minutesPerDay: 8 })).toMatchObject({ ok: false, reached: { isSpent: true } });
  });
});
