import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ENDED_REASONS } from '../../../media/contract/call-outcome.ts';
import type { CallRow } from '../../../src/calls/call-row.ts';
import { isTerminal, rankOf } from '../../../src/calls/state-machine.ts';
import { dueTimer, nextDeadline, SUBMISSION_UNKNOWN_MS } from '../../../src/calls/timers.ts';
import { type Change, type Observation, observe } from '../../../src/lifecycle/observe.ts';
import { aCall, DIALED_AT_EPOCH_MS } from '../calls/call-fixture.ts';
import { histories, type Step } from './observation-arbitrary.ts';

const ended = (changes: Partial<Extract<Observation, { type: 'carrier.ended' }>['end']> = {}): Observation => ({
  type: 'carrier.ended',
  carrierCallId: 'leg-1',
  end: { reason: null, hangupBy: 'caller', sipCode: null, carrierCause: null, durationSeconds: null, ...changes },
});
const ringing: Observation = { type: 'carrier.ringing', carrierCallId: 'leg-1' };
const answered: Observation = { type: 'carrier.answered', carrierCallId: 'leg-1' };
const accepted: Observation = { type: 'submission.accepted', carrierRequestId: 'req-1' };
const unknown: Observation = { type: 'submission.unknown', why: 'timeout' };
const stopped: Observation = { type: 'media.stopped', why: 'socket_closed', durationMs: 900, latency: null };

/** Applies one after the other, a second apart, as the transactions do. */
function seen(call: CallRow, ...sight: Observation[]): { call: CallRow; changes: Change[] } {
  const changes: Change[] = [];
  let now = DIALED_AT_EPOCH_MS;
  for (const observation of sight) {
    now += 1000;
    const change = observe(call, observation, now);
    call = { ...call, ...change.patch };
    changes.push(change);
  }
  return { call, changes };
}

const claimed = (call: CallRow): CallRow => ({
  ...call,
  epoch: 1,
  ownerRun: 'run-1',
  ownerMediaId: 'media-1',
  orphanedAt: null,
  recordingStatus: 'pending',
});

describe('what an observation changes', () => {
  test('a call that is placed, rings, is answered and hung up by the caller is completed with user_hangup', () => {
    const talk = seen(aCall(), accepted, ringing, answered).call;
    expect(talk.status).toBe('in_progress');
    const { call, changes } = seen(claimed(talk), stopped, ended());
    expect(call).toMatchObject({ status: 'completed', endedReason: 'user_hangup', hangupBy: 'caller', fault: 'none' });
    expect(changes.map((change) => change.finished)).toEqual([false, true]);
  });

  test('the hang-up callback of a claimed call waits for the last word of media, at most 1.5 s', () => {
    const talk = claimed(seen(aCall(), accepted, answered).call);
    const waiting = seen(talk, ended());
    expect(waiting.call.status).toBe('in_progress');
    expect(waiting.changes[0]!.effects).toEqual(['stop_media']);
    expect(waiting.call.deadlineAt!.getTime() - waiting.call.carrierEndedAt!.getTime()).toBe(1500);
    expect(seen(waiting.call, stopped).call.status).toBe('completed');
  });

  test("busy before the answer is no_answer at once, with the carrier's SIP code", () => {
    const { call } = seen(aCall(), accepted, ringing, ended({ reason: 'busy', hangupBy: null, sipCode: 486 }));
    expect(call).toMatchObject({ status: 'no_answer', endedReason: 'busy', sipCode: 486, answeredAt: null });
  });

  test('a hang-up with 12 s on the bill but no answer callback was a talk of 12 s', () => {
    const { call } = seen(aCall(), accepted, ended({ durationSeconds: 12 }));
    expect(call).toMatchObject({ status: 'completed', endedReason: 'user_hangup' });
    expect(call.endedAt!.getTime() - call.answeredAt!.getTime()).toBe(12_000);
  });

  test("the agent's hang-up stays the reason although the carrier then says that we ended it", () => {
    const talk = claimed(seen(aCall(), accepted, answered).call);
    const asked = seen(talk, { type: 'end.asked', reason: 'agent_hangup', hangupBy: 'agent' });
    expect(asked.changes[0]!.effects).toEqual(['hang_up']);
    const { call } = seen(asked.call, ended({ hangupBy: 'platform', carrierCause: 'NORMAL_CLEARING' }), stopped);
    expect(call).toMatchObject({ status: 'completed', endedReason: 'agent_hangup', hangupBy: 'agent' });
  });

  test('ringing that arrives after the answer is recorded as late and changes no status', () => {
    const { call, changes } = seen(aCall(), accepted, answered, ringing);
    expect(call.status).toBe('in_progress');
    expect(call.ringingAt).toBeNull();
    expect(changes[2]!.log).toEqual([{ kind: 'carrier.ringing', data: { carrierCallId: 'leg-1', late: true } }]);
  });

  test('an unknown submission without a key that rings after all is hung up and failed as submission_unknown', () => {
    const { call, changes } = seen(aCall(), unknown, ringing);
    expect(call).toMatchObject({ status: 'failed', endedReason: 'submission_unknown' });
    expect(changes[1]!.effects).toEqual(['hang_up']);
  });

  test('an unknown submission with a key that is accepted late goes on, and the waiting client is answered', () => {
    const { call, changes } = seen(aCall({ lateAcceptance: 'continue' }), unknown, accepted, ringing);
    expect(call).toMatchObject({ status: 'ringing', submission: 'accepted', carrierRequestId: 'req-1' });
    expect(changes.map((change) => change.settled)).toEqual([null, 'accepted', null]);
  });

  test("a callback that overtakes the carrier's answer settles the submission: the time-out after it is not unknown", () => {
    const { call } = seen(aCall(), ringing, unknown);
    expect(call).toMatchObject({ status: 'ringing', submission: 'accepted' });
  });

  test('an acceptance, a ring or an answer of a call that is over is hung up, unless the carrier ended it too', () => {
    const over = seen(aCall(), unknown, { type: 'finish', reason: 'submission_unknown', hangupBy: 'platform' }).call;
    for (const late of [accepted, ringing, answered]) {
      const { call, changes } = seen(over, late);
      expect(call.status).toBe('failed');
      expect(changes[0]!.effects, late.type).toEqual(['hang_up']);
    }
    const endedThere = seen(aCall(), accepted, ended({ reason: 'busy' })).call;
    expect(seen(endedThere, ringing).changes[0]!.effects).toEqual([]);
  });

  test('a refusal after a callback of the same call is only recorded', () => {
    const refused: Observation = {
      type: 'submission.refused',
      carrierCode: 'http_400',
      reason: 'carrier_rejected',
      hangupBy: 'carrier',
    };
    expect(seen(aCall(), ringing, refused).call.status).toBe('ringing');
    expect(seen(aCall(), refused).call).toMatchObject({
      status: 'failed',
      endedReason: 'carrier_rejected',
      submission: 'refused',
    });
  });

  test('a timer that was stopped since the reaper looked finishes nothing', () => {
    const timeout: Observation = { type: 'finish', reason: 'carrier_timeout', hangupBy: 'platform', ifDue: 'dialing' };
    const dialing = seen(aCall(), accepted).call;
    const overAt = dialing.submissionAt!.getTime() + 20_000;
    expect(observe(dialing, timeout, overAt - 1).finished).toBe(false);
    expect(observe(dialing, timeout, overAt).patch).toMatchObject({ status: 'failed', endedReason: 'carrier_timeout' });
    expect(observe(seen(dialing, ringing).call, timeout, overAt).finished).toBe(false);
  });
});

/** Plays a history; `check` sees each step. */
function play(steps: Step[], check: (before: CallRow, after: CallRow, change: Change, now: number) => void): CallRow {
  let now = DIALED_AT_EPOCH_MS;
  let call = aCall();
  for (const { afterMs, observation, claim } of steps) {
    now += afterMs;
    if (claim && call.status === 'in_progress' && call.epoch === 0) call = claimed(call);
    const change = observe(call, observation, now);
    const next = { ...call, ...change.patch };
    check(call, next, change, now);
    call = next;
  }
  return call;
}

describe('in any order of observations', () => {
  const options = { seed: 7, numRuns: 3000 };

  test('the status only rises, a terminal one is final, and it becomes terminal at most once', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        let terminals = 0;
        play(steps, (before, next, change) => {
          if (isTerminal(before.status)) expect(next.status).toBe(before.status);
          else if (next.status !== before.status) expect(rankOf(next.status)).toBeGreaterThan(rankOf(before.status));
          expect(change.finished).toBe(!isTerminal(before.status) && isTerminal(next.status));
          if (change.finished) terminals++;
        });
        expect(terminals).toBeLessThanOrEqual(1);
      }),
      options,
    );
  });

  test('a terminal call has a reason of its status, its fault and an end; a live one has none of them', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        play(steps, (_before, next) => {
          expect(next.endedReason !== null).toBe(isTerminal(next.status));
          expect(next.endedAt !== null).toBe(isTerminal(next.status));
          if (next.endedReason === null) return;
          expect(ENDED_REASONS[next.endedReason]).toEqual({ status: next.status, fault: next.fault });
        });
      }),
      options,
    );
  });

  test('answeredAt is set if and only if in_progress was entered, no_answer has none, and the end is never before it', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        let entered = false;
        play(steps, (_before, next, change) => {
          if (change.log.some((line) => line.kind === 'status' && line.data['status'] === 'in_progress'))
            entered = true;
          expect(next.answeredAt !== null).toBe(entered);
          if (next.status === 'no_answer') expect(next.answeredAt).toBeNull();
          if (next.answeredAt !== null && next.endedAt !== null)
            expect(+next.endedAt).toBeGreaterThanOrEqual(+next.answeredAt);
        });
      }),
      options,
    );
  });

  test('every observation leaves a line in the log, and the terminal one a last status line', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        play(steps, (_before, next, change) => {
          expect(change.log.length).toBeGreaterThan(0);
          if (change.finished) expect(change.log.at(-1)!.data['status']).toBe(next.status);
        });
      }),
      options,
    );
  });

  test('a live call always has a next deadline in the future, a terminal one none', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        play(steps, (_before, next, _change, now) => {
          if (isTerminal(next.status)) expect(next.deadlineAt).toBeNull();
          else expect(next.deadlineAt!.getTime()).toBeGreaterThan(now);
        });
      }),
      options,
    );
  });

  test('the unknown submission of a client with a key is settled exactly once', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        let settled = 0;
        let wasUnknown = false;
        const last = play(steps, (_before, next, change) => {
          if (change.settled !== null) settled++;
          if (next.submission === 'unknown') wasUnknown = true;
        });
        const known = last.submission !== 'unknown' || isTerminal(last.status);
        expect(settled).toBe(wasUnknown && known ? 1 : 0);
      }),
      options,
    );
  });
});

describe('timers of a call', () => {
  const at = (afterMs: number): number => DIALED_AT_EPOCH_MS + afterMs;

  test('a placement without any outcome counts as unknown after 15 s and is given up after 60 s', () => {
    const call = aCall();
    expect(call.deadlineAt!.getTime()).toBe(at(15_000));
    expect(dueTimer(call, at(14_999))).toBeNull();
    expect(dueTimer(call, at(15_000))).toBe('placement_lost');
    expect(dueTimer({ ...call, submission: 'unknown' }, at(SUBMISSION_UNKNOWN_MS))).toBe('submission_unknown');
  });

  test('20 s after the acceptance dialing is over, 30 s after the first ring ringing is', () => {
    const dialing = observe(aCall(), accepted, at(300));
    expect(dialing.patch.deadlineAt!.getTime()).toBe(at(20_300));
    const call = seen(aCall(), accepted, ringing).call;
    expect(call.deadlineAt!.getTime()).toBe(call.ringingAt!.getTime() + 30_000);
  });

  test('an answer without a claim is over after 10 s, with one when its run is dead, or after the longest talk and 10 s', () => {
    const talk = seen(aCall(), accepted, answered).call;
    expect(dueTimer(talk, talk.answeredAt!.getTime() + 10_000)).toBe('no_media');
    const owned = claimed(talk);
    const orphaned = { ...owned, orphanedAt: new Date(talk.answeredAt!.getTime() + 30_000) };
    expect(dueTimer(orphaned, talk.answeredAt!.getTime() + 29_999)).toBeNull();
    expect(dueTimer(orphaned, talk.answeredAt!.getTime() + 30_000)).toBe('orphan_lookup');
    expect(dueTimer(owned, talk.answeredAt!.getTime() + 1_809_999)).toBeNull();
    expect(dueTimer(owned, talk.answeredAt!.getTime() + 1_810_000)).toBe('max_duration');
  });

  test('10 s after media stopped the carrier is asked, after 40 s the call is finished whatever it says', () => {
    const talk = seen(claimed(seen(aCall(), accepted, answered).call), stopped).call;
    const stoppedAt = talk.mediaStoppedAt!.getTime();
    expect(dueTimer(talk, stoppedAt + 9_999)).toBeNull();
    expect(dueTimer(talk, stoppedAt + 10_000)).toBe('closing_lookup');
    expect(dueTimer(talk, stoppedAt + 40_000)).toBe('closing_limit');
  });

  test('a timer that is over and was not settled comes again after 5 s', () => {
    expect(nextDeadline(aCall({ submission: 'unknown' }), at(61_000))!.getTime()).toBe(at(66_000));
  });
});
