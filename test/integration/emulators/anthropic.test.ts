/** The emulated Anthropic, judged by the official client: what it accepts, how it reads what comes, what it throws. */
import { readFile } from 'node:fs/promises';
import Anthropic, {
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startAnthropicEmulator } from '../../../bench/emulators/providers/anthropic/anthropic-emulator.ts';
import { promptTokens, tokensOf } from '../../../bench/emulators/providers/mind/tokens.ts';
import type { ProviderEndpoint } from '../../../bench/emulators/providers/provider-endpoint.ts';
import { trustingFetch } from '../../../bench/harness/trusting-fetch.ts';

const KEY = 'canary-of-a-provider';
const SCENARIOS = new URL('../../../bench/emulators/providers/mind/scenarios/', import.meta.url);
const QUICK = { timing: { firstTokenMs: 1, tokenMs: 0 } };
const MODEL = 'emulated-mini';
const HELLO = 'Hello! How can I help you?';

type Input = Anthropic.MessageParam[];

let restaurant: ProviderEndpoint;
beforeAll(async () => {
  const scenario = JSON.parse(await readFile(new URL('restaurant.json', SCENARIOS), 'utf8'));
  restaurant = await startAnthropicEmulator({ keys: [KEY], scenario: { ...scenario, ...QUICK } });
});
afterAll(() => restaurant.close());
afterEach(() => restaurant.calm());

const client = (apiKey = KEY): Anthropic =>
  new Anthropic({
    apiKey,
    baseURL: restaurant.origin,
    maxRetries: 0,
    fetch: trustingFetch(restaurant.caPem) as typeof fetch,
  });
const user = (content: string): Input[number] => ({ role: 'user', content });
const tool = (name: string, properties: object = {}): Anthropic.Tool => ({
  name,
  description: name,
  input_schema: { type: 'object', properties },
});
const TOOLS = ['check_table', 'book_table', 'end_call'].map((name) => tool(name));
const ask = (messages: Input, more: object = {}) =>
  client().messages.create({
    model: MODEL,
    max_tokens: 200,
    messages,
    ...more,
  } as Anthropic.MessageCreateParamsNonStreaming);

describe('the official client takes the emulated Anthropic for the service', () => {
  it('lists its models, and refuses a wrong key and a model that it does not have', async () => {
    expect((await client().models.list()).data.map(({ id }) => id)).toEqual([MODEL]);
    await expect(client('sk-wrong').models.list()).rejects.toMatchObject({
      constructor: AuthenticationError,
      error: { error: { type: 'authentication_error' } },
    });
    await expect(ask([user('Hello')], { model: 'claude-nine' })).rejects.toMatchObject({ constructor: NotFoundError });
    expect(JSON.stringify(restaurant.journal.entries())).not.toMatch(/sk-/);
  });

  it('answers whole, with usage and a request id', async () => {
    const answer = await ask([user('Hello there')]);
    expect(answer).toMatchObject({
      type: 'message',
      role: 'assistant',
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: HELLO }],
      usage: { input_tokens: promptTokens([user('Hello there')], []), output_tokens: tokensOf(HELLO).length },
    });
    expect(answer._request_id).toMatch(/^req_/);
  });

  it('streams a token a delta, and the client makes the same message of it', async () => {
    const stream = client().messages.stream({ model: MODEL, max_tokens: 200, messages: [user('Hello there')] });
    const types: string[] = [];
    const texts: string[] = [];
    stream.on('streamEvent', ({ type }) => types.push(type)).on('text', (text) => texts.push(text));
    const message = await stream.finalMessage();
    expect(message).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: HELLO }] });
    expect(texts).toEqual(tokensOf(HELLO));
    expect(message.usage.output_tokens).toBe(texts.length);
    expect(types.filter((type, i) => type !== types[i - 1])).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it('stops at the longest length, and before a word that ends the answer', async () => {
    expect(await ask([user('Hello')], { max_tokens: 3 })).toMatchObject({
      stop_reason: 'max_tokens',
      content: [{ text: 'Hello! How' }],
    });
    expect(await ask([user('Hello')], { stop_sequences: [' help'] })).toMatchObject({
      content: [{ text: 'Hello! How can I' }],
    });
  });

  it('holds a conversation with tools that its history alone decides', async () => {
    const used: unknown[] = [];
    const messages: Input = [];
    const say = async (text: string): Promise<string> => {
      messages.push(user(text));
      for (;;) {
        const stream = client().messages.stream({
          model: MODEL,
          max_tokens: 200,
          system: 'You book tables.',
          messages,
          tools: TOOLS,
        });
        const { content, stop_reason: reason } = await stream.finalMessage();
        messages.push({ role: 'assistant', content });
        if (reason !== 'tool_use') return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
        const uses = content.filter((block) => block.type === 'tool_use');
        const results = uses.map(({ id, name, input }) => {
          used.push([name, input]);
          const args = input as Record<string, string>;
          const result =
            name === 'check_table' ? { ...args, free: args['day'] !== 'Friday' } : { ...args, reference: 'R 42' };
          return { type: 'tool_result' as const, tool_use_id: id, content: JSON.stringify(result) };
        });
        messages.push({ role: 'user', content: results });
      }
    };
    expect(await say('A table for four, please.')).toBe('A table for four, with pleasure. For which day?');
    expect(await say('On Friday.')).toBe('I am sorry, Friday is full. Would another day suit you?');
    expect(await say('No, sorry, on Tuesday.')).toBe(
      'Yes, there is a table for four on Tuesday. What name may I put it under?',
    );
    expect(await say('My name is Ana')).toMatch(/^Thank you, Ana\. Your table on Tuesday is booked/);
    expect(used).toEqual([
      ['check_table', { day: 'Friday', people: 'four' }],
      ['check_table', { day: 'Tuesday', people: 'four' }],
      ['book_table', { day: 'Tuesday', people: 'four', name: 'Ana' }],
    ]);
  });
});

describe('it refuses what the service refuses', () => {
  const use: Input = [
    user('Hi'),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'lookup', input: {} }] },
  ];
  it.each<[string, Input, object, RegExp]>([
    ['no messages', [], {}, /at least one message/],
    ['an empty text', [user('')], {}, /non-whitespace/],
    ['an answer that was begun', [user('Hi'), { role: 'assistant', content: 'I' }], {}, /prefill/],
    ['a use without its result', [...use, user('And?')], {}, /without `tool_result` blocks immediately after: toolu_1/],
    ['a temperature, by its newest version', [user('Hi')], { temperature: 0.4 }, /not supported/],
    ['a name of a tool with a dot', [user('Hi')], { tools: [tool('a.b')] }, /tools\.0\.custom\.name/],
    [
      'a schema that is a choice',
      [user('Hi')],
      { tools: [{ ...tool('a'), input_schema: { type: 'object', anyOf: [] } }] },
      /does not support oneOf, allOf, or anyOf/,
    ],
    ['an unknown field', [user('Hi')], { n: 2 }, /n: Extra inputs are not permitted/],
  ])('%s', async (_what, messages, more, words) => {
    const refused = ask(messages, more);
    await expect(refused).rejects.toBeInstanceOf(BadRequestError);
    await expect(refused).rejects.toThrow(words);
  });

  it('limits, overload and a fault in mid-answer, each as the client knows it', async () => {
    restaurant.script({ kind: 'status', status: 429, retryAfterSeconds: 2 }, { kind: 'status', status: 529 });
    await expect(ask([user('Hi')])).rejects.toBeInstanceOf(RateLimitError);
    await expect(ask([user('Hi')])).rejects.toBeInstanceOf(InternalServerError);
    restaurant.script({ kind: 'close', afterMessages: 5 });
    const stream = client().messages.stream({ model: MODEL, max_tokens: 200, messages: [user('Hello there')] });
    await expect(stream.finalMessage()).rejects.toThrow();
  });
});
