/** What a model wrote goes back with every later request: a server that refuses it would lose the whole call. */
import { afterEach, expect, test } from 'vitest';
import { chatBody } from '../../../../../media/engines/openai/chat-request.ts';
import { ASKED, answerOf, type ModelCase } from '../model-conformance.ts';
import { chatCase } from './chat-case.ts';

const cases: ModelCase[] = [];
afterEach(async () => {
  for (const one of cases.splice(0)) await one.close();
});

const FORM = { limitName: 'max_tokens', asksForUsage: true } as const;

function callsOf(name: string, argumentsText: string): unknown {
  const use = { useId: 'u1', name, argumentsText };
  const messages = [
    ...ASKED.messages,
    { role: 'assistant' as const, text: '', toolUses: [use] },
    { role: 'tool' as const, useId: 'u1', text: 'no' },
  ];
  const body = chatBody({ ...ASKED, messages }, { model: 'small' }, FORM);
  return (body['messages'] as { tool_calls?: { function: unknown }[] }[])[2]?.tool_calls?.[0]?.function;
}

test('a use is told as the model wrote it, where that can be', () => {
  expect(callsOf('find_slot-2', '{"day": "tue"}')).toEqual({ name: 'find_slot-2', arguments: '{"day": "tue"}' });
});

test.each(['', '{"day":', '[1]', 'null', '"tue"'])('arguments that are no object (%s) are told as none', (text) => {
  expect(callsOf('find_slot', text)).toEqual({ name: 'find_slot', arguments: '{}' });
});

test.each([
  ['functions.find_slot', 'functions_find_slot'],
  ['find slot<|channel|>', 'find_slot__channel__'],
  ['é'.repeat(80), '_'.repeat(64)],
])('a name that no server takes (%s) is told in the letters that all take', (name, taken) => {
  expect(callsOf(name, '{}')).toEqual({ name: taken, arguments: '{}' });
});

test('half a character, where a text was cut within it, is not sent', () => {
  const [half, whole] = ['a😀'.slice(0, 2), 'a😀'];
  const messages = [
    { role: 'user' as const, text: half },
    { role: 'assistant' as const, text: half },
    { role: 'tool' as const, useId: 'u1', text: half },
    { role: 'user' as const, text: whole },
  ];
  const body = chatBody({ ...ASKED, messages }, { model: 'small' }, FORM);
  const contents = (body['messages'] as { content: string }[]).map(({ content }) => content);
  expect(contents).toEqual(['a\ufffd', 'a\ufffd', 'a\ufffd', whole]);
});

test('a server that quotes all that it was sent is asked once in each form', async () => {
  const one = await chatCase();
  cases.push(one);
  one.scene({ status: 400, text: 'no: {max_tokens, max_completion_tokens, stream_options}' });
  const [chunk] = await answerOf(one.model);
  expect(chunk).toMatchObject({ type: 'failed', fault: 'refused' });
  expect(one.server.seen.length).toBe(3);
});
