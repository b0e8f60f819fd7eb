/** What control answers to the claim of a call whose agent plays a tone: the least that a leg needs. */
import { MULAW_8K } from '../../media/contract/audio-format.ts';
import type { CallSetup } from '../../media/contract/link-messages.ts';

/** A carrier's stream of 8 kHz µ-law that is recorded, unless `given` says otherwise. */
export function toneSetup<Given extends Partial<CallSetup> & Pick<CallSetup, 'callUuid'>>(
  given: Given,
): CallSetup & Given {
  return {
    epoch: 1,
    enterprise: 'acme',
    agentId: 'a',
    agentVersion: 1,
    agent: { kind: 'tone', name: 't', direction: 'any', toneHz: 440 },
    placeholders: {},
    carrier: 'plivo',
    carrierCallId: 'carrier-call',
    answeredAtEpochMs: 0,
    maxDurationMs: 60_000,
    record: true,
    checkpoint: null,
    format: MULAW_8K,
    ...given,
  };
}
