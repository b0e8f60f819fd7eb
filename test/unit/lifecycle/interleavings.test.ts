import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallStatus } from '../../../media/contract/call-outcome.ts';
import { isTerminal, rankOf } from '../../../src/calls/state-machine.ts';
import type { CarrierLookup, PlaceOutcome } from '../../../src/carriers/carrier.ts';
import { endCall } from '../../../src/lifecycle/end-call.ts';
import type { CallMessage } from '../../../src/media-link/media-messages.ts';
import { placeCall } from '../../../src/placement/placement.ts';
import { createHarness, type Harness } from './harness.ts';
import { answerCall, claimCall } from './talk.ts';

let h: Harness;
beforeAll(async () => {
  h = await createHarness();
  h.clock.advanceMs(10_000);
});
afterAll(() => h.close());

type Act =
  | { what: 'ring' | 'answer' | 'claim' | 'sweep' | 'api_end' | 'late_acceptance' }
  | { what: 'hangup'; reason: 'busy' | 'declined' | null }
  | { what: 'turn'; turnId: string; epoch: number }
  | { what: 'agent_ended' | 'media_stopped' | 'recording' | 'checkpoint'; epoch: number };

const epoch = fc.constantFrom(1, 1, 1, 0, 2);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ what: fc.constantFrom('ring', 'answer', 'claim', 'sweep') as fc.Arbitrary<'ring'> }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constantFrom('api_end', 'late_acceptance') as fc.Arbitrary<'api_end'> }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('hangup' as const),
      reason: fc.constantFrom('busy' as const, 'declined' as const, null, null),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant('turn' as const), turnId: fc.constantFrom('t1', 't2'), epoch }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constantFrom('agent_ended', 'media_stopped', 'recording', 'checkpoint') as fc.Arbitrary<'recording'>,
      epoch,
    }),
  },
);

/** What happens at one moment, all at once, and how much later the next does. */
const moments = fc.array(
  fc.record({ acts: fc.array(act, { minLength: 1, maxLength: 4 }), thenMs: fc.integer({ min: 0, max: 12_000 }) }),
  {
    minLength: 1,
    maxLength: 7,
  },
);

function messageOf(callUuid: string, doing: Extract<Act, { epoch: number }>): CallMessage {
  const about = { callUuid, epoch: doing.epoch };
  switch (doing.what) {
    case 'turn': {
      const { turnId } = doing;
      const turn = {
        turnId,
        role: 'agent' as const,
        startMs: 0,
        endMs: 1,
        text: turnId,
        heardText: turnId,
        interrupted: false,
      };
      return { type: 'live', ...about, atEpochMs: h.clock.epochMs(), event: { type: 'turn', turn } };
    }
    case 'agent_ended':
      return { type: 'agent.ended', ...about, reason: 'agent_hangup', disposition: null, error: null };
    case 'media_stopped':
      return { type: 'media.stopped', ...about, why: 'socket_closed', durationMs: 1, latencies: [] };
    case 'recording':
      return { type: 'recording', ...about, recording: null, error: 'disk full' };
    case 'checkpoint':
      return {
        type: 'checkpoint',
        ...about,
        checkpoint: { stepId: null, variables: {}, misses: 0, visits: {}, nextTurnNumber: 1, atMs: 0 },
      };
  }
}

async function perform(callUuid: string, doing: Act, acceptLate: (id: string) => void): Promise<void> {
  switch (doing.what) {
    case 'ring':
      await h.transitions.apply(callUuid, { type: 'carrier.ringing', carrierCallId: 'leg' });
      return;
    case 'answer':
      await answerCall(h, callUuid);
      return;
    case 'hangup': {
      const end = {
        reason: doing.reason,
        hangupBy: 'caller' as const,
        sipCode: null,
        carrierCause: null,
        durationSeconds: 1,
      };
      await h.transitions.apply(callUuid, { type: 'carrier.ended', carrierCallId: 'leg', end });
      return;
    }
    case 'claim':
      await claimCall(h, h.streamTokens.tokensOf({ callUuid, epoch: 0 })[0]!);
      return;
    case 'sweep':
      await h.reaper.sweep();
      return;
    case 'api_end':
      await endCall(h.transitions, callUuid, 'api_hangup', { actor: 'key:AbCdEfGh' });
      return;
    case 'late_acceptance':
      acceptLate('req-late');
      return;
    default:
      await h.messages.handle([messageOf(callUuid, doing)]);
  }
}

describe('callbacks, media, timers and the API at random, on a real database', () => {
  test('100 histories: each call is dialled once, its status only rises, and it has one terminal state and one terminal event, and is let go once', async () => {
    const ends = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        moments,
        fc.constantFrom<PlaceOutcome['kind']>('accepted', 'accepted', 'unknown'),
        fc.boolean(),
        fc.constantFrom<CarrierLookup>('gone', 'in_progress', 'unknown'),
        async (history, outcome, withKey, found) => {
          let acceptLate: (id: string | null) => void = () => {};
          const lateAcceptance = new Promise<string | null>((resolve) => {
            acceptLate = resolve;
          });
          if (outcome === 'unknown') h.carrier.outcomes.push({ kind: 'unknown', why: 'silence', lateAcceptance });
          h.carrier.found = found;
          h.carrier.placed.length = 0;
          const placement = await placeCall(
            h.placement,
            h.newCall({ lateAcceptance: withKey ? 'continue' : 'cancel' }),
          );
          if (!('callUuid' in placement)) throw new Error(placement.kind);
          const { callUuid } = placement;

          for (const { acts, thenMs } of history) {
            await Promise.all(acts.map((doing) => perform(callUuid, doing, acceptLate)));
            h.clock.advanceMs(thenMs);
          }
          // Nothing more is heard of it: the timers alone bring it to its end, within the bound of the contract.
          const boundMs = (30 + 1_800 + 60 + 60) * 1000;
          let waitedMs = 0;
          for (let call = await h.call(callUuid); call.deadlineAt !== null; call = await h.call(callUuid)) {
            const stepMs = Math.max(1, call.deadlineAt.getTime() - h.clock.epochMs());
            h.clock.advanceMs(stepMs);
            waitedMs += stepMs;
            if (waitedMs > boundMs) throw new Error(`The call is still ${call.status} after ${waitedMs} ms.`);
            await h.reaper.sweep();
          }

          const call = await h.call(callUuid);
          expect(isTerminal(call.status)).toBe(true);
          const terminal = (await h.webhooks(callUuid)).filter((event) => event !== 'recording.ready');
          expect(terminal).toEqual([`call.${call.status}`]);
          expect(h.ended.filter((over) => over.callUuid === callUuid).map(({ status }) => status)).toEqual([
            call.status,
          ]);
          const statuses = (await h.log(callUuid))
            .filter((line) => line.kind === 'status')
            .map((line) => line.data['status'] as CallStatus);
          const ranks = statuses.map(rankOf);
          expect(ranks).toEqual([...new Set(ranks)].sort((a, b) => a - b));
          expect(statuses.at(-1)).toBe(call.status);
          expect(call.answeredAt !== null).toBe(statuses.includes('in_progress'));
          expect(h.carrier.placed).toHaveLength(1);
          ends.add(`${call.status}/${call.endedReason}`);
        },
      ),
      { seed: 20261121, numRuns: 100 },
    );
    // The histories are worth something only if they end in many ways.
    expect(ends.size).toBeGreaterThanOrEqual(6);
  });
});
