import { expect, test } from 'vitest';
import { MOST_SPANS, spansOf } from '../../../src/tracing/call-spans.ts';
import { STREAM_AT, sampleCall } from './sample-call.ts';

test('a call is one trace: itself, its turns, its replies, each question to a model and each use of a tool', () => {
  const spans = spansOf(sampleCall(), false);
  expect(spans.map(({ name }) => name)).toEqual([
    'invoke_agent',
    'turn user',
    'turn agent',
    'reply',
    'speech_to_text nova-3',
    'text_to_speech elevenlabs',
    'chat mini',
    'chat mini',
    'execute_tool lookup_order',
  ]);
  const [call, , turn, reply, , speech, takenBack, chat, tool] = spans;
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([expect.stringMatching(/^[0-9a-f]{32}$/)]));
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  expect(call).toMatchObject({ parentSpanId: null, error: null, startEpochMs: STREAM_AT - 4_000 });
  expect(reply).toMatchObject({
    parentSpanId: turn!.spanId,
    startEpochMs: STREAM_AT + 2_000,
    endEpochMs: STREAM_AT + 2_607,
  });
  expect(speech).toMatchObject({ startEpochMs: STREAM_AT + 2_505, endEpochMs: STREAM_AT + 2_605 });
  expect(takenBack).toMatchObject({ parentSpanId: call!.spanId, attributes: { 'parley.outcome': 'taken_back' } });
  expect(chat).toMatchObject({
    parentSpanId: turn!.spanId,
    kind: 'client',
    startEpochMs: STREAM_AT + 2_210,
    endEpochMs: STREAM_AT + 2_910,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'mini',
      'gen_ai.usage.input_tokens': 120,
      'gen_ai.usage.output_tokens': 20,
    },
  });
  expect(tool).toMatchObject({ startEpochMs: STREAM_AT + 4_600, endEpochMs: STREAM_AT + 5_000, error: 'timeout' });
});

test('words are told only where they are wanted, and only those that were heard', () => {
  expect(JSON.stringify(spansOf(sampleCall(), false))).not.toMatch(/At eleven|you close/);
  const spans = spansOf(sampleCall(), true);
  expect(spans[1]!.attributes['gen_ai.input.messages']).toContain('When do you close?');
  expect(spans[2]!.attributes['gen_ai.output.messages']).toContain('"content":"At eleven,"');
  expect(JSON.stringify(spans)).not.toContain('Dana');
});

test('a call that nobody answered is a span of its own, and one that failed says so', () => {
  const spans = spansOf(sampleCall({ streamAtEpochMs: null, status: 'failed', endedReason: 'llm_error' }), true);
  expect(spans).toMatchObject([{ name: 'invoke_agent', error: 'llm_error' }]);
});

test('a trace has an end', () => {
  const { requests } = sampleCall();
  const many = Array.from({ length: MOST_SPANS + 100 }, () => requests[0]!);
  expect(spansOf(sampleCall({ requests: many }), false)).toHaveLength(MOST_SPANS);
});
