/** What servers say in ways of their own: tokens that nobody counts, uses of tools under one index. */
import { expect, test } from 'vitest';
import type { ModelChunk } from '../../../../../media/contract/model.ts';
import { ChatAnswer } from '../../../../../media/engines/openai/chat-answer.ts';

test.each(['-5', '0.5', '1e300', '1e999', '"7"', 'null'])('tokens of %s are not counted', (tokens) => {
  const answer = new ChatAnswer(() => {});
  answer.event(`{"choices":[],"usage":{"prompt_tokens":${tokens},"completion_tokens":3}}`);
  expect(answer.usage).toBeNull();
});

test('two uses under one index are two, each with its own arguments', () => {
  const said: ModelChunk[] = [];
  const answer = new ChatAnswer((chunk) => said.push(chunk));
  const call = (id: string | undefined, name: string | undefined, args: string): void =>
    answer.event(
      JSON.stringify({ choices: [{ delta: { tool_calls: [{ index: 0, id, function: { name, arguments: args } }] } }] }),
    );
  call('a', 'lookup', '{"n":');
  call('a', undefined, '1}');
  call('b', 'lookup', '{"n":');
  call(undefined, undefined, '2}');
  answer.event('{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}');
  expect(said).toEqual([
    { type: 'use', use: { useId: 'a', name: 'lookup', argumentsText: '{"n":1}' } },
    { type: 'use', use: { useId: 'b', name: 'lookup', argumentsText: '{"n":2}' } },
  ]);
});
