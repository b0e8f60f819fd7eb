/** Numbers that no server counts, in what it says of tokens. */
import { expect, test } from 'vitest';
import { ChatAnswer } from '../../../../../media/engines/openai/chat-answer.ts';

test.each(['-5', '0.5', '1e300', '1e999', '"7"', 'null'])('tokens of %s are not counted', (tokens) => {
  const answer = new ChatAnswer(() => {});
  answer.event(`{"choices":[],"usage":{"prompt_tokens":${tokens},"completion_tokens":3}}`);
  expect(answer.usage).toBeNull();
});
