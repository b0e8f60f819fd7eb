/** What a run that was given up may still do to its calls: nothing. On a real database, with calls that talk. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ToControl } from '../../../media/contract/link-messages.ts';
import { lockCall } from '../../../src/calls/call-row.ts';
import { livingRun, RunIsFenced } from '../../../src/lifecycle/claimed-stream.ts';
import { untilCallsAreOver } from '../../../src/lifecycle/until-calls-are-over.ts';
import { beatRuns, fenceRun, type MediaRun, registerRun } from '../../../src/nodes/media-runs.ts';
import { writeTogether } from '../../../src/store/joint-write.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { createHarness, type Harness } from '../lifecycle/harness.ts';
import { answerCall, claimCall, placedCall } from '../lifecycle/talk.ts';

let h: Harness;
let runId: string;
beforeAll(async () => {
  h = await createHarness();
});
afterAll(() => h.close());

const NODE = { name: 'a', home: 'home-a', address: null, streamBase: null };
const runOf = (name: string): MediaRun => ({
  runId: name,
  slot: 'media-0',
  capacityCalls: 10,
  liveCalls: 0,
  moreCalls: null,
  isDraining: false,
});

async function registered(): Promise<string> {
  const name = randomUUID();
  expect(await registerRun(h.database, NODE, runOf(name), 30_000)).toBe(true);
  return name;
}

async function claimedBy(run: string): Promise<string> {
  const callUuid = await placedCall(h);
  const answer = await claimCall(h, await answerCall(h, callUuid), run);
  if (!answer.ok) throw new Error(answer.why);
  return callUuid;
}

const fence = (run: string): Promise<number | null> =>
  fenceRun(h.database, { runId: run, why: 'test', onlyIfSilent: false }, h.clock.epochMs());

const turn = (callUuid: string, text: string, epoch = 1): Extract<ToControl, { type: 'live' }> => ({
  type: 'live',
  callUuid,
  epoch,
  atEpochMs: h.clock.epochMs(),
  event: {
    type: 'turn',
    turn: { turnId: text, role: 'user', text, startMs: 0, endMs: 10, interrupted: false } as never,
  },
});
const turnsOf = (callUuid: string): Promise<object[]> =>
  h.database.query('SELECT 1 AS one FROM call_turns WHERE call_uuid = $1', [callUuid]);

beforeEach(async () => {
  runId = await registered();
});

test('in one commit all its live calls have no owner; those that are over, and those of others, are left alone', async () => {
  const other = await registered();
  const [one, two, over, others] = [
    await claimedBy(runId),
    await claimedBy(runId),
    await claimedBy(runId),
    await claimedBy(other),
  ];
  await h.transitions.apply(over, { type: 'finish', reason: 'user_hangup', hangupBy: 'caller' });
  expect(await fence(runId)).toBe(2);
  const now = new Date(h.clock.epochMs());
  for (const callUuid of [one, two]) {
    expect(await h.call(callUuid)).toMatchObject({ status: 'in_progress', orphanedAt: now, epoch: 1 });
  }
  for (const callUuid of [over, others]) expect((await h.call(callUuid)).orphanedAt).toBeNull();
  expect(await fence(runId), 'once').toBeNull();
});

test('its calls are due at once, also on a node on which it is a little earlier', async () => {
  await claimedBy(runId);
  await h.reaper.sweep();
  await fence(runId);
  h.clock.setEpochMs(h.clock.epochMs() - 1_900);
  expect(await h.reaper.sweep()).toBe(1);
});

test('nothing that it says of a call is written any more, before anybody else has claimed it', async () => {
  const callUuid = await claimedBy(runId);
  await h.messages.handle([turn(callUuid, 'before')]);
  expect(await turnsOf(callUuid)).toHaveLength(1);
  await fence(runId);
  await h.messages.handle([turn(callUuid, 'after')]);
  await h.messages.handle([
    { type: 'agent.ended', callUuid, epoch: 1, reason: 'agent_hangup', disposition: null, error: null },
    { type: 'media.stopped', callUuid, epoch: 1, why: 'stopped', durationMs: 1, latencies: [] },
  ]);
  expect(await turnsOf(callUuid)).toHaveLength(1);
  expect(await h.call(callUuid)).toMatchObject({ status: 'in_progress', ending: null, mediaStoppedAt: null });
});

test('it claims nothing, and the token that it came with is good for another, which owns the call and writes', async () => {
  const callUuid = await placedCall(h);
  const token = await answerCall(h, callUuid);
  await fence(runId);
  await expect(claimCall(h, token, runId)).rejects.toBeInstanceOf(RunIsFenced);
  await expect(claimCall(h, token, 'never registered')).rejects.toBeInstanceOf(RunIsFenced);
  const next = await registered();
  expect(await claimCall(h, token, next)).toMatchObject({ ok: true, setup: { epoch: 1 } });
  expect(await h.call(callUuid)).toMatchObject({ ownerRun: next, orphanedAt: null });
  await h.messages.handle([turn(callUuid, 'mine')]);
  expect(await turnsOf(callUuid)).toHaveLength(1);
});

/** Until so many wait for what others hold. */
async function waiting(count: number): Promise<void> {
  await h.until('the wait', async () => {
    const [{ waits }] = (await h.database.query(
      "SELECT count(*)::int AS waits FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
    )) as [{ waits: number }];
    return waits >= count ? true : undefined;
  });
}

test('a claim that is under way when the run is given up is waited for, and its call is among those without an owner', async () => {
  const callUuid = await placedCall(h);
  await answerCall(h, callUuid);
  let fenced: Promise<number | null> | null = null;
  let isOver = false;
  await h.database.transaction(async (tx) => {
    await lockCall(tx, callUuid);
    await writeTogether(tx, [livingRun(runId)]);
    fenced = fence(runId).finally(() => {
      isOver = true;
    });
    await tx.query('UPDATE calls SET owner_run = $2, epoch = 1 WHERE call_uuid = $1', [callUuid, runId]);
    // Whoever gives it up is at the door by now.
    await waiting(1);
    expect(isOver).toBe(false);
  });
  expect(await fenced).toBe(1);
  expect((await h.call(callUuid)).orphanedAt).not.toBeNull();
});

test('a run that claims a call again which it has, while it is given up, waits for nobody who waits for it', async () => {
  const callUuid = await claimedBy(runId);
  let fenced: Promise<number | null> | null = null;
  await h.database.transaction(async (tx) => {
    await lockCall(tx, callUuid);
    fenced = fence(runId);
    await waiting(1);
    await writeTogether(tx, [livingRun(runId)]);
  });
  expect(await fenced).toBe(1);
});

test('a call that the run wins while it is given up, and that somebody changes then, is neither waited for with the run nor left out', async () => {
  const callUuid = await placedCall(h);
  await answerCall(h, callUuid);
  let changed: Promise<unknown> | null = null;
  let fenced: Promise<number | null> | null = null;
  await h.database.transaction(async (tx) => {
    await lockCall(tx, callUuid);
    await writeTogether(tx, [livingRun(runId)]);
    await tx.query('UPDATE calls SET owner_run = $2, epoch = 1 WHERE call_uuid = $1', [callUuid, runId]);
    fenced = fence(runId);
    await waiting(1);
    // Next in line for the call, and then it wants the run.
    const claim = h.database.transaction(async (other) => {
      await lockCall(other, callUuid);
      await new Promise((resolve) => setTimeout(resolve, 200));
      await writeTogether(other, [livingRun(runId)]);
    });
    changed = claim.catch((error: unknown) => error);
    await waiting(2);
  });
  // Whoever was the first to have the call.
  expect([undefined, new RunIsFenced(runId)]).toContainEqual(await changed);
  expect(await fenced).toBe(1);
  expect((await h.call(callUuid)).orphanedAt).not.toBeNull();
});

test('the calls of a run that is given up are waited for in the order in which batches of talk have them', async () => {
  const calls = [];
  for (let call = 0; call < 3; call++) calls.push(await claimedBy(runId));
  const [first, , last] = calls.sort();
  let fenced: Promise<number | null> | null = null;
  await h.database.transaction(async (tx) => {
    await lockCall(tx, first!);
    fenced = fence(runId);
    await waiting(1);
    // Had it begun with the others, each would wait for the other.
    await lockCall(tx, last!);
  });
  expect(await fenced).toBe(3);
});

test('a beat never brings it back, nor does a second registration; those that live are kept', async () => {
  const other = await registered();
  await fence(runId);
  const { kept } = await beatRuns(h.database, [runOf(runId), runOf(other)], 30_000);
  expect(kept).toEqual([other]);
  expect(await registerRun(h.database, NODE, runOf(runId), 30_000)).toBe(false);
  expect(await registerRun(h.database, NODE, runOf(other), 30_000), 'a new run of control meets it again').toBe(true);
});

test('a judge whose verdict comes late finds that the run has been heard of, and leaves it alone', async () => {
  const order = { runId, why: 'silent', onlyIfSilent: true };
  await h.database.query(`UPDATE media_runs SET beat_at = beat_at - interval '31 seconds' WHERE run_id = $1`, [runId]);
  await beatRuns(h.database, [runOf(runId)], 30_000);
  expect(await fenceRun(h.database, order, h.clock.epochMs())).toBeNull();
  await h.database.query(`UPDATE media_runs SET beat_at = beat_at - interval '31 seconds' WHERE run_id = $1`, [runId]);
  expect(await fenceRun(h.database, order, h.clock.epochMs())).toBe(0);
});

test('a node that is stopped beside others waits for the calls that its own runs carry, and for no others', async () => {
  const isOver = async (ownRuns: string[]): Promise<boolean> => {
    let over = false;
    const clock = new VirtualClock();
    const deps = { database: h.database, clock, carried: () => 0, placing: () => 0, ownRuns: () => ownRuns };
    void untilCallsAreOver(deps).then(() => {
      over = true;
    });
    await h.until('a look', () => over || clock.pendingTimers > 0);
    return over;
  };
  const other = await registered();
  const callUuid = await claimedBy(other);
  expect([await isOver([runId]), await isOver([other])]).toEqual([true, false]);
  const answered = await placedCall(h);
  await answerCall(h, answered);
  await h.database.query('UPDATE calls SET assigned_run = $2 WHERE call_uuid = $1', [answered, runId]);
  expect([await isOver([runId]), await isOver([other])], 'its stream was sent here').toEqual([false, false]);
  await h.transitions.apply(answered, { type: 'finish', reason: 'user_hangup', hangupBy: 'caller' });
  await h.transitions.apply(callUuid, { type: 'finish', reason: 'user_hangup', hangupBy: 'caller' });
  expect(await isOver([other])).toBe(true);
});
