/** A short call as its log has it: a reply by a model, a question that was taken back, a tool that failed. */
import type { ReplyStages, ServedBy } from '../../../media/contract/conversation.ts';
import type { CallFacts } from '../../../src/tracing/call-spans.ts';

export const STREAM_AT = Date.UTC(2026, 10, 21, 9, 0, 1);
const served = (provider: string, model: string | null): ServedBy => ({ provider, connection: 'mine', model });
const stages: ReplyStages = {
  ...{ speechEndAtMs: 2_000, decidedMs: 300, finalWordsMs: 350, askedMs: 210, firstTokenMs: 500 },
  ...{ firstClauseMs: 505, firstAudioMs: 605, ringMs: 606, firstFrameMs: 607 },
  listen: served('deepgram', 'nova-3'),
  think: served('openai', 'mini'),
  speak: served('elevenlabs', null),
};
const usage = { inputTokens: 120, cachedInputTokens: 100, outputTokens: 20 };

export function sampleCall(change: Partial<CallFacts> = {}): CallFacts {
  return {
    ...{ callUuid: 'c0ffee00-0000-4000-8000-000000000001', enterprise: 'acme', agentId: 'agent-1', agentVersion: 3 },
    ...{ channel: 'phone', direction: 'outbound', carrier: 'plivo', status: 'completed', endedReason: 'agent_hangup' },
    createdAtEpochMs: STREAM_AT - 4_000,
    endedAtEpochMs: STREAM_AT + 9_000,
    streamAtEpochMs: STREAM_AT,
    turns: [
      {
        ...{ turnId: 't1', role: 'user', startMs: 1_000, endMs: 2_000 },
        ...{ text: 'When do you close?', heardText: 'When do you close?', interrupted: false },
      },
      {
        ...{ turnId: 't2', role: 'agent', startMs: 2_610, endMs: 4_000 },
        ...{ text: 'At eleven, Dana.', heardText: 'At eleven,', interrupted: true },
      },
    ],
    latencies: [{ turnId: 't2', eouMs: 300, sttMs: 350, ttsMs: 605, agentMs: 607, stages }],
    requests: [
      {
        ...{ served: served('openai', 'mini'), askedAtMs: 1_800, firstTokenMs: null, ms: 150 },
        ...{ outcome: 'taken_back', fault: null, usage: null },
      },
      {
        ...{ served: served('openai', 'mini'), askedAtMs: 2_210, firstTokenMs: 290, ms: 700 },
        ...{ outcome: 'ok', fault: null, usage },
      },
    ],
    tools: [
      {
        ...{ toolCallId: 'tc_1', name: 'lookup_order', atMs: 5_000 },
        ...{ outcome: 'failed', code: 'timeout', status: null, ms: 400 },
      },
    ],
    ...change,
  };
}
