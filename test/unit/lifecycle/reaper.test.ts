import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { endCall } from '../../../src/lifecycle/end-call.ts';
import { createReaper } from '../../../src/lifecycle/reaper.ts';
import { eventually } from '../../support/eventually.ts';
import { createHarness, type Harness, PUBLIC_URL } from './harness.ts';
import { answerCall, loseOwner, placedCall, talkingCall } from './talk.ts';

let h: Harness;
beforeAll(async () => {
  h = await createHarness();
  // Past the grace that media gets after a start.
  h.clock.advanceMs(10_000);
});
afterAll(() => h.close());
beforeEach(() => {
  h.carrier.reachable = true;
  h.carrier.found = 'gone';
  h.carrier.cancelled.length = 0;
  h.carrier.hungUp.length = 0;
  h.carrier.lookedUp.length = 0;
  h.carrier.redirected.length = 0;
  h.toMedia.length = 0;
});

async function afterMs(ms: number): Promise<void> {
  h.clock.advanceMs(ms);
  await h.reaper.sweep();
}

describe('timers of a call, on the database', () => {
  test('neither ringing nor answer 20 s after the acceptance: cancelled at the carrier, then carrier_timeout', async () => {
    const callUuid = await placedCall(h);
    await afterMs(19_900);
    expect((await h.call(callUuid)).status).toBe('dialing');
    expect(h.carrier.cancelled).toEqual([]);
    await afterMs(200);
    expect(h.carrier.cancelled).toEqual([`req-${callUuid}`]);
    expect(await h.call(callUuid)).toMatchObject({
      status: 'failed',
      endedReason: 'carrier_timeout',
      deadlineAt: null,
    });
    expect(await h.webhooks(callUuid)).toEqual(['call.failed']);
  });

  test('60 calls that are due at once are looked after in one sweep, though a batch is 50', async () => {
    const callUuids = await Promise.all(Array.from({ length: 60 }, () => placedCall(h)));
    h.clock.advanceMs(20_100);
    expect(await h.reaper.sweep()).toBe(60);
    const areOver = async (): Promise<boolean> => {
      for (const callUuid of callUuids) if ((await h.call(callUuid)).endedReason !== 'carrier_timeout') return false;
      return true;
    };
    // What a busy database could not settle within its time is due again after 20 s.
    await eventually('the end of each', areOver, { between: () => afterMs(20_000) });
  });

  test('30 s of ringing: cancelled, no_answer', async () => {
    const callUuid = await placedCall(h);
    await h.transitions.apply(callUuid, { type: 'carrier.ringing', carrierCallId: 'leg-1' });
    await afterMs(30_000);
    expect(h.carrier.cancelled).toEqual([`req-${callUuid}`]);
    expect(await h.call(callUuid)).toMatchObject({ status: 'no_answer', endedReason: 'no_answer', answeredAt: null });
    expect(await h.webhooks(callUuid)).toEqual(['call.no_answer']);
  });

  test('a carrier that cannot be reached does not keep a call in ringing', async () => {
    const callUuid = await placedCall(h);
    await h.transitions.apply(callUuid, { type: 'carrier.ringing', carrierCallId: 'leg-1' });
    h.carrier.reachable = false;
    await afterMs(30_000);
    expect((await h.call(callUuid)).status).toBe('no_answer');
  });

  test('an answer whose stream nobody claims is hung up after 10 s and failed as no_media', async () => {
    const callUuid = await placedCall(h);
    await answerCall(h, callUuid);
    await afterMs(10_000);
    expect(h.carrier.hungUp).toEqual([`leg-${callUuid}`]);
    expect(await h.call(callUuid)).toMatchObject({ status: 'failed', endedReason: 'no_media' });
  });

  test('media stopped and no callback: after 10 s the carrier is asked, and a call that is gone is completed', async () => {
    const callUuid = await talkingCall(h);
    await h.transitions.apply(callUuid, { type: 'media.stopped', why: 'socket_closed', durationMs: 5, latency: null });
    const stoppedAt = (await h.call(callUuid)).mediaStoppedAt;
    await afterMs(9_900);
    expect(h.carrier.lookedUp).toEqual([]);
    await afterMs(200);
    expect(h.carrier.lookedUp).toEqual([`leg-${callUuid}`]);
    const call = await h.call(callUuid);
    expect(call).toMatchObject({ status: 'completed', endedReason: 'user_hangup' });
    expect(call.endedAt).toEqual(stoppedAt);
  });

  test('a carrier that never says what became of a call does not keep it: 40 s after media stopped it is finished', async () => {
    const callUuid = await talkingCall(h);
    h.carrier.found = 'unknown';
    await h.transitions.apply(callUuid, { type: 'media.stopped', why: 'socket_closed', durationMs: 5, latency: null });
    for (let second = 0; second < 39; second++) await afterMs(1_000);
    expect((await h.call(callUuid)).status).toBe('in_progress');
    expect(h.carrier.lookedUp.length).toBeGreaterThanOrEqual(5);
    await afterMs(1_100);
    expect((await h.call(callUuid)).status).toBe('completed');
  });

  test('a stream that ended while the phone is still held is hung up and failed as no_media', async () => {
    const callUuid = await talkingCall(h);
    h.carrier.found = 'in_progress';
    await h.transitions.apply(callUuid, { type: 'media.stopped', why: 'socket_closed', durationMs: 5, latency: null });
    await afterMs(10_000);
    await h.until('the hang-up', () => h.carrier.hungUp[0]);
    h.carrier.found = 'gone';
    for (let second = 0; second < 12; second++) await afterMs(1_000);
    expect(await h.call(callUuid)).toMatchObject({ status: 'failed', endedReason: 'no_media' });
  });

  test('the longest talk and 10 s more: hung up as max_duration_reached', async () => {
    const callUuid = await talkingCall(h);
    await afterMs(1_809_000);
    expect((await h.call(callUuid)).ending).toBeNull();
    await afterMs(1_000);
    await h.until('the hang-up', () => h.carrier.hungUp[0]);
    await h.transitions.apply(callUuid, {
      type: 'carrier.ended',
      carrierCallId: `leg-${callUuid}`,
      end: { reason: null, hangupBy: 'platform', sipCode: null, carrierCause: null, durationSeconds: 1811 },
    });
    await afterMs(1_500);
    expect(await h.call(callUuid)).toMatchObject({ status: 'completed', endedReason: 'max_duration_reached' });
  });

  test('a call ends with all that media said of it: what waits is written first', async () => {
    const callUuid = await talkingCall(h);
    await h.transitions.apply(callUuid, {
      type: 'carrier.ended',
      carrierCallId: 'leg',
      end: { reason: null, hangupBy: 'caller', sipCode: null, carrierCause: null, durationSeconds: 5 },
    });
    const statuses: string[] = [];
    h.unwritten.allWritten = async (asked) => void statuses.push((await h.call(asked)).status);
    await afterMs(1_500);
    h.unwritten.allWritten = async () => {};
    expect(statuses).toEqual(['in_progress']);
    expect((await h.call(callUuid)).status).toBe('completed');
  });

  test('the callback of the hang-up waits 1.5 s for the last word of media, not longer', async () => {
    const callUuid = await talkingCall(h);
    await h.transitions.apply(callUuid, {
      type: 'carrier.ended',
      carrierCallId: 'leg',
      end: { reason: null, hangupBy: 'caller', sipCode: null, carrierCause: null, durationSeconds: 3 },
    });
    expect(h.toMedia.at(-1)).toMatchObject({ type: 'stop', callUuid });
    await afterMs(1_400);
    expect((await h.call(callUuid)).status).toBe('in_progress');
    await afterMs(100);
    expect(await h.call(callUuid)).toMatchObject({
      status: 'completed',
      endedReason: 'user_hangup',
      recordingStatus: 'failed',
    });
  });

  test('a run that was given up and a call that the carrier knows no more: node_lost', async () => {
    const callUuid = await talkingCall(h);
    await afterMs(60_000);
    expect((await h.call(callUuid)).status).toBe('in_progress');
    await loseOwner(h, callUuid);
    await afterMs(0);
    expect(await h.call(callUuid)).toMatchObject({ status: 'failed', endedReason: 'node_lost', fault: 'platform' });
    expect(await h.webhooks(callUuid)).toEqual(['call.failed']);
  });

  test('a call without an owner that lives on at the carrier is sent on, and hung up when nobody has taken it 12 s after it lost its owner', async () => {
    const callUuid = await talkingCall(h);
    h.carrier.found = 'in_progress';
    await loseOwner(h, callUuid);
    await afterMs(0);
    expect(h.carrier.redirected).toEqual([`leg-${callUuid} to ${PUBLIC_URL}/carriers/plivo/${callUuid}/next`]);
    for (let second = 0; second < 11; second++) await afterMs(1_000);
    expect((await h.call(callUuid)).status).toBe('in_progress');
    expect(h.carrier.hungUp).toEqual([]);
    await afterMs(1_100);
    expect(h.carrier.hungUp).toEqual([`leg-${callUuid}`]);
    expect(await h.call(callUuid)).toMatchObject({ status: 'failed', endedReason: 'node_lost' });
  });

  test('in the first 10 s after a start no call counts as an orphan: media comes back first', async () => {
    const callUuid = await talkingCall(h);
    await loseOwner(h, callUuid);
    h.clock.advanceMs(1_000);
    const log = h.placement.log;
    const restarted = createReaper({ ...h, log });
    await restarted.sweep();
    expect((await h.call(callUuid)).status).toBe('in_progress');
    h.clock.advanceMs(10_000);
    await restarted.sweep();
    expect((await h.call(callUuid)).status).toBe('failed');
  });

  test('after the database was away for 60 s no call counts as an orphan for 10 s: none could come back', async () => {
    const callUuid = await talkingCall(h);
    let away = false;
    const database = new Proxy(h.database, {
      get(target, name) {
        if (away && name === 'query') return () => Promise.reject(new Error('connection terminated'));
        return Reflect.get(target, name);
      },
    });
    h.carrier.found = 'gone';
    const reaper = createReaper({ ...h, database, log: h.placement.log });
    reaper.start();
    h.clock.advanceMs(11_000);
    await settled();
    away = true;
    await loseOwner(h, callUuid);
    for (let second = 0; second < 60; second++) {
      h.clock.advanceMs(1_000);
      await settled();
    }
    away = false;
    for (let second = 0; second < 8; second++) {
      h.clock.advanceMs(1_000);
      await settled();
    }
    expect((await h.call(callUuid)).status).toBe('in_progress');
    for (let second = 0; second < 30 && (await h.call(callUuid)).status === 'in_progress'; second++) {
      h.clock.advanceMs(1_000);
      await settled();
    }
    expect(await h.call(callUuid)).toMatchObject({ status: 'failed', endedReason: 'node_lost' });
    await reaper.close();
  });

  test('the wall clock is set forward by an hour: who talks and who rings goes on, and is ended when that time has passed', async () => {
    const log = h.placement.log;
    const reaper = createReaper({ ...h, log });
    h.clock.advanceMs(10_000);
    await reaper.sweep();
    const talks = await talkingCall(h);
    const rings = await placedCall(h);
    await h.transitions.apply(rings, { type: 'carrier.ringing', carrierCallId: 'leg-1' });
    h.carrier.found = 'in_progress';
    h.clock.advanceMs(5_000);
    await loseOwner(h, talks);
    h.clock.setEpochMs(h.clock.epochMs() + 3_600_000);
    await reaper.sweep();
    expect((await h.call(talks)).status).toBe('in_progress');
    expect((await h.call(rings)).status).toBe('ringing');
    expect(h.carrier.hungUp).toEqual([]);
    // 25 s later the phone has rung for 30 s; nobody has claimed the talk, and the grace is over.
    for (let step = 0; step < 5; step++) {
      h.clock.advanceMs(5_100);
      await reaper.sweep();
    }
    expect(await h.call(rings)).toMatchObject({ status: 'no_answer', endedReason: 'no_answer' });
    expect(await h.call(talks)).toMatchObject({ status: 'failed', endedReason: 'node_lost' });
    h.clock.setEpochMs(h.clock.epochMs() - 3_600_000);
  });

  test('control dies between the row and the answer: after 15 s unknown, after 60 s submission_unknown', async () => {
    const callUuid = await placedCall(h);
    await h.database.query(
      'UPDATE calls SET submission = NULL, submission_at = NULL, carrier_request_id = NULL, deadline_at = $2 WHERE call_uuid = $1',
      [callUuid, new Date(h.clock.epochMs() + 15_000)],
    );
    await afterMs(15_000);
    expect((await h.call(callUuid)).submission).toBe('unknown');
    await afterMs(45_000);
    expect(await h.call(callUuid)).toMatchObject({ status: 'failed', endedReason: 'submission_unknown' });
  });

  test('six sweeps at once act on each of 20 calls once: one cancel, one event', async () => {
    const calls = await Promise.all(Array.from({ length: 20 }, () => placedCall(h)));
    h.carrier.cancelled.length = 0;
    h.clock.advanceMs(20_100);
    const reapers = Array.from({ length: 6 }, () => createReaper({ ...h, log: h.placement.log }));
    const looked = await Promise.all(reapers.map((reaper) => reaper.sweep()));
    expect(looked.reduce((sum, count) => sum + count, 0)).toBe(20);
    expect(h.carrier.cancelled).toHaveLength(20);
    for (const callUuid of calls) expect(await h.webhooks(callUuid)).toEqual(['call.failed']);
  });

  test('a call that another node has in hand is skipped, not waited for', async () => {
    const [held, free] = [await placedCall(h), await placedCall(h)];
    h.clock.advanceMs(20_100);
    await h.database.transaction(async (tx) => {
      await tx.query('SELECT 1 AS one FROM calls WHERE call_uuid = $1 FOR UPDATE', [held]);
      expect(await h.reaper.sweep()).toBe(1);
    });
    expect((await h.call(free)).status).toBe('failed');
    expect((await h.call(held)).status).toBe('dialing');
    expect(await h.reaper.sweep()).toBe(1);
  });

  test('a started reaper sweeps by itself at a near deadline, not a second later, and close ends its timer', async () => {
    const callUuid = await talkingCall(h);
    const reaper = createReaper({ ...h, log: h.placement.log });
    reaper.start();
    await h.until('the first sweep', async () => {
      h.clock.advanceMs(0);
      return h.clock.pendingTimers > 0 ? true : undefined;
    });
    const applied = await h.transitions.apply(callUuid, {
      type: 'carrier.ended',
      carrierCallId: 'leg',
      end: { reason: null, hangupBy: 'caller', sipCode: null, carrierCause: null, durationSeconds: 3 },
    });
    if (typeof applied === 'string') throw new Error(applied);
    reaper.nudge(applied.call.deadlineAt);
    await h.until('the end', async () => {
      h.clock.advanceMs(50);
      return (await h.call(callUuid)).status === 'completed' ? true : undefined;
    });
    await reaper.close();
  });

  test('a deadline that comes while a sweep runs is met right behind it, not a second later', async () => {
    const callUuid = await talkingCall(h);
    h.carrier.found = 'gone';
    let goOn: (() => void) | null = null;
    let isHeld = false;
    const database = new Proxy(h.database, {
      get(target, name) {
        if (name !== 'query' || !isHeld) return Reflect.get(target, name);
        return async (sql: string, parameters: unknown[]) => {
          const rows = await target.query(sql, parameters);
          isHeld = false;
          await new Promise<void>((resolve) => {
            goOn = resolve;
          });
          return rows;
        };
      },
    });
    const reaper = createReaper({ ...h, database, log: h.placement.log });
    reaper.start();
    for (let second = 0; second < 11; second++) {
      h.clock.advanceMs(1_000);
      await settled();
    }
    isHeld = true;
    h.clock.advanceMs(1_000);
    await h.until('the sweep to have looked', () => goOn ?? undefined);
    await loseOwner(h, callUuid);
    reaper.nudge(new Date(h.clock.epochMs()));
    h.clock.advanceMs(5);
    goOn!();
    await settled();
    h.clock.advanceMs(5);
    await h.until('the end', async () => ((await h.call(callUuid)).status === 'failed' ? true : undefined));
    await reaper.close();
  });

  test('the API ends a talk: the carrier is told, media is stopped, the reason is api_hangup; asked twice it stays so', async () => {
    const callUuid = await talkingCall(h);
    expect(await endCall(h.transitions, callUuid, 'api_hangup', { actor: 'key:AbCdEfGh' })).toBe('asked');
    await h.until('the hang-up', () => h.carrier.hungUp[0]);
    expect(h.toMedia.at(-1)).toEqual({ type: 'stop', callUuid, reason: 'api_hangup' });
    await h.transitions.apply(callUuid, { type: 'media.stopped', why: 'stopped', durationMs: 1, latency: null });
    await h.transitions.apply(callUuid, {
      type: 'carrier.ended',
      carrierCallId: 'leg',
      end: { reason: null, hangupBy: 'platform', sipCode: null, carrierCause: null, durationSeconds: 3 },
    });
    expect(await h.call(callUuid)).toMatchObject({ status: 'completed', endedReason: 'api_hangup' });
    expect(await endCall(h.transitions, callUuid, 'api_hangup', { actor: 'key:AbCdEfGh' })).toBe('over');
    expect(await h.webhooks(callUuid)).toEqual(['call.completed']);
  });

  test('the API ends a ringing call: cancelled at the carrier, no_answer with reason canceled', async () => {
    const callUuid = await placedCall(h);
    await h.transitions.apply(callUuid, { type: 'carrier.ringing', carrierCallId: 'leg-1' });
    await endCall(h.transitions, callUuid, 'api_hangup', { actor: 'key:AbCdEfGh' });
    await h.until('the cancel', () => h.carrier.cancelled[0]);
    expect(await h.call(callUuid)).toMatchObject({ status: 'no_answer', endedReason: 'canceled', fault: 'client' });
  });
});

/** The sweep that the clock has begun is over: it has set the timer of the next. */
async function settled(): Promise<void> {
  await h.until('the end of the sweep', () => h.clock.pendingTimers > 0);
}
