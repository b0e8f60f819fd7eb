/** Everything that may be seen of a call, in any order, with the time between. */
import fc from 'fast-check';
import { ENDED_REASONS, type EndedReason } from '../../../media/contract/call-outcome.ts';
import type { Observation } from '../../../src/lifecycle/observe.ts';

const reasons = Object.keys(ENDED_REASONS) as EndedReason[];
const reason = fc.constantFrom(...reasons);
const hangupBy = fc.constantFrom('caller' as const, 'agent' as const, 'carrier' as const, 'platform' as const, null);
const carrierCallId = fc.constant('leg-1');

export const observations: fc.Arbitrary<Observation> = fc.oneof(
  fc.record({ type: fc.constant('submission.accepted' as const), carrierRequestId: fc.constant('req-1') }),
  fc.record({
    type: fc.constant('submission.refused' as const),
    carrierCode: fc.constant('http_400'),
    reason: fc.constantFrom<EndedReason>('invalid_number', 'carrier_rejected', 'carrier_auth'),
    hangupBy: fc.constant('carrier' as const),
  }),
  fc.record({ type: fc.constant('submission.unknown' as const), why: fc.constant('timeout') }),
  fc.record({ type: fc.constant('carrier.ringing' as const), carrierCallId }),
  fc.record({ type: fc.constant('carrier.answered' as const), carrierCallId }),
  fc.record({
    type: fc.constant('carrier.ended' as const),
    carrierCallId,
    end: fc.record({
      reason: fc.option(reason),
      hangupBy: fc.constantFrom('caller' as const, 'platform' as const, 'carrier' as const, null),
      sipCode: fc.option(fc.integer({ min: 400, max: 608 })),
      carrierCause: fc.constant(null),
      durationSeconds: fc.option(fc.integer({ min: 0, max: 90 })),
    }),
  }),
  fc.record({ type: fc.constant('end.asked' as const), reason, hangupBy }),
  fc.record({
    type: fc.constant('media.stopped' as const),
    why: fc.constantFrom('socket_closed', 'stopped', 'bad_stream', 'no_media', 'failed') as fc.Arbitrary<'stopped'>,
    durationMs: fc.integer({ min: 0, max: 90_000 }),
    latency: fc.constant(null),
  }),
  fc.record({ type: fc.constant('finish' as const), reason, hangupBy }),
);

export interface Step {
  afterMs: number;
  observation: Observation;
  /** The media process claims the stream just before. */
  claim: boolean;
}

export const histories: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ afterMs: fc.integer({ min: 0, max: 40_000 }), observation: observations, claim: fc.boolean() }),
  { maxLength: 14 },
);
