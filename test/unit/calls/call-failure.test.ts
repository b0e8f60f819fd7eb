import { expect, test } from 'vitest';
import type { AgentDefinition } from '../../../media/contract/agent-definition.ts';
import { engineAtFault, failureOf } from '../../../src/calls/call-failure.ts';

const AT = new Date(1_763_686_800_000);
const FAILED = { status: 'failed', carrier: 'plivo', error: null, ringingAt: null, answeredAt: null } as const;

test.each([
  ['carrier_error', null, null, true],
  ['carrier_error', AT, null, false],
  ['tts_error', AT, AT, false],
  ['node_lost', null, AT, false],
  ['internal_error', null, null, true],
  ['carrier_auth', null, null, false],
] as const)(
  '%s, rung at %s and answered at %s: may be placed again, %s',
  (endedReason, ringingAt, answeredAt, retryable) => {
    expect(failureOf({ ...FAILED, endedReason, ringingAt, answeredAt })?.retryable).toBe(retryable);
  },
);

test('whose fault it was is said by the name of the carrier, or of the engine that runs', () => {
  const providerOf = (endedReason: string) => failureOf({ ...FAILED, endedReason } as never)?.provider;
  expect(['carrier_error', 'stt_error', 'tts_error', 'internal_error'].map(providerOf)).toEqual([
    'plivo',
    'soundswallower',
    'flite',
    null,
  ]);
});

test('and of an agent that converses by that of its provider', () => {
  const agent = {
    kind: 'cascade',
    listen: { engine: 'deepgram' },
    think: [{ connection: 'brain', model: 'm' }],
    speak: [
      { engine: 'elevenlabs', voice: 'v' },
      { engine: 'local', voice: 'slt' },
    ],
  } as unknown as AgentDefinition;
  const reasons = ['stt_error', 'llm_error', 'tts_error', 'internal_error'] as const;
  expect(reasons.map((reason) => engineAtFault(reason, agent))).toEqual(['deepgram', 'openai', 'elevenlabs', null]);
  const error = { code: 'tts_error', message: 'refused', provider: 'elevenlabs' };
  expect(failureOf({ ...FAILED, endedReason: 'tts_error', error })?.provider).toBe('elevenlabs');
});
