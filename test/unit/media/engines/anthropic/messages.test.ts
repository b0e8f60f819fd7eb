/** Anthropic behind the port: what is its protocol's own. `conformance.test.ts` asks the port's suite. */
import { afterEach, expect, test } from 'vitest';
import type { ModelChunk, ModelRequest } from '../../../../../media/contract/model.ts';
import { MessagesAnswer } from '../../../../../media/engines/anthropic/messages-answer.ts';
import { FIRST_FORM, messagesBody } from '../../../../../media/engines/anthropic/messages-request.ts';
import { ASKED, answerOf, type ModelCase } from '../model-conformance.ts';
import { CANARY } from '../provider-harness.ts';
import { messagesCase } from './messages-case.ts';

const cases: ModelCase[] = [];
afterEach(async () => {
  for (const one of cases.splice(0)) await one.close();
});
async function started(settings?: Record<string, unknown>): ReturnType<typeof messagesCase> {
  const one = await messagesCase(settings);
  cases.push(one);
  return one;
}

const bodyOf = (messages: ModelRequest['messages'], change: Partial<ModelRequest> = {}, settings = {}) =>
  messagesBody({ ...ASKED, messages, ...change }, { model: 'small', ...settings }, FIRST_FORM);
const text = (said: string) => ({ type: 'text', text: said });

test('the request is what the protocol wants, with the key in its header alone', async () => {
  const { model, server } = await started({ model: 'small', temperature: 1.6, serviceTier: 'auto' });
  await answerOf(model);
  const [{ headers, body, text: raw }] = server.seen as [(typeof server.seen)[number]];
  expect(headers).toMatchObject({ 'x-api-key': CANARY, 'anthropic-version': '2023-06-01' });
  expect(raw).not.toContain(CANARY);
  expect(body).toEqual({
    model: 'small',
    max_tokens: 200,
    stream: true,
    system: [{ type: 'text', text: 'You are a dentist.', cache_control: { type: 'ephemeral' } }],
    messages: [{ role: 'user', content: [text('Tuesday?')] }],
    tools: [
      {
        name: 'find_slot',
        description: 'Finds a slot.',
        input_schema: { type: 'object', properties: {} },
        cache_control: { type: 'ephemeral' },
      },
    ],
    tool_choice: { type: 'auto' },
    thinking: { type: 'disabled' },
    temperature: 1,
    service_tier: 'auto',
  });
});

test('a conversation begins and ends with the user, results of tools first, whoever made their ids', () => {
  const use = { useId: 'call:1', name: 'functions.find', argumentsText: '{"day": tues' };
  const { messages } = bodyOf([
    { role: 'system', text: 'You are a dentist.' },
    { role: 'assistant', text: 'Hello. ' },
    { role: 'user', text: 'Tuesday?' },
    { role: 'assistant', text: '', toolUses: [use] },
    { role: 'tool', useId: 'call:1', text: '{"slot":3}' },
    { role: 'user', text: 'Well?' },
    { role: 'assistant', text: 'At three.' },
  ]);
  expect(messages).toEqual([
    { role: 'user', content: [text('[The call begins.]')] },
    { role: 'assistant', content: [text('Hello.')] },
    { role: 'user', content: [text('Tuesday?')] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'functions_find', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'call_1', content: '{"slot":3}' }, text('Well?')],
    },
    { role: 'assistant', content: [text('At three.')] },
    { role: 'user', content: [text('[The caller says nothing.]')] },
  ]);
});

test.each([
  ['temperature: not supported by this model', { thinking: { type: 'disabled' } }],
  ['thinking: Extra inputs are not permitted', { temperature: 0.4 }],
])('a model that refuses with “%s” is asked again without, and from then on', async (words, kept) => {
  const { model, server, scene } = await started({ model: 'small', temperature: 0.4 });
  scene({ status: 400, text: words });
  expect(await answerOf(model)).toMatchObject([{ type: 'failed', fault: 'refused' }]);
  expect(server.seen).toHaveLength(2);
  const { temperature, thinking } = server.seen[1]!.body;
  expect(JSON.parse(JSON.stringify({ temperature, thinking }))).toEqual(kept);
});

test('what it thinks is not said, and what the provider still had is told as such', () => {
  const said: ModelChunk[] = [];
  const answer = new MessagesAnswer((chunk) => said.push(chunk));
  const usage = { input_tokens: 10, cache_creation_input_tokens: 5, cache_read_input_tokens: 30, output_tokens: 1 };
  for (const event of [
    { type: 'message_start', message: { id: 'msg_1', usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Yes.' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ])
    answer.event(JSON.stringify(event));
  expect(said).toEqual([{ type: 'text', text: 'Yes.' }]);
  expect(answer).toMatchObject({ stop: 'end', isDone: true });
  expect(answer.usage).toEqual({ inputTokens: 45, cachedInputTokens: 30, outputTokens: 9 });
});
