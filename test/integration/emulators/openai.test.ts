/**
 * The emulated OpenAI as the official client sees it, over TLS; its voice as a recogniser that is not ours hears it.
 */
import { readFile } from 'node:fs/promises';
import OpenAI, {
  APIConnectionError,
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { promptTokens, tokensOf } from '../../../bench/emulators/providers/mind/tokens.ts';
import { startOpenAiEmulator } from '../../../bench/emulators/providers/openai/openai-emulator.ts';
import type { ProviderEndpoint } from '../../../bench/emulators/providers/provider-endpoint.ts';
import { type EmulatedVoice, startEmulatedVoice } from '../../../bench/emulators/providers/voice/emulated-voice.ts';
import { trustingFetch } from '../../../bench/harness/trusting-fetch.ts';
import { createResampler } from '../../../media/audio/resampler.ts';
import { canDictate, dictate, heardShare } from '../../support/dictation.ts';
import { eventually } from '../../support/eventually.ts';

const KEY = 'sk-canary-of-the-emulator';
const SCENARIOS = new URL('../../../bench/emulators/providers/mind/scenarios/', import.meta.url);

const string = { type: 'string' };
function tool(name: string, properties: Record<string, object>): ChatCompletionTool {
  return { type: 'function', function: { name, parameters: { type: 'object', properties } } };
}
const LOOKUP = [tool('lookup', { query: string })];
const RESTAURANT = [
  tool('check_table', { day: string, people: string }),
  tool('book_table', { day: string, people: string, name: string }),
  tool('end_call', { reason: string }),
];

let voice: EmulatedVoice;
let restaurant: ProviderEndpoint;
let misbehaving: ProviderEndpoint;

async function scenario(name: string): Promise<object> {
  return JSON.parse(await readFile(new URL(name, SCENARIOS), 'utf8'));
}

beforeAll(async () => {
  voice = await startEmulatedVoice();
  const timing = { firstTokenMs: 5, tokenMs: 1 };
  restaurant = await startOpenAiEmulator({
    keys: [KEY],
    voice,
    scenario: { ...(await scenario('restaurant.json')), timing } as never,
  });
  misbehaving = await startOpenAiEmulator({
    keys: [KEY],
    voice: null,
    scenario: { ...(await scenario('misbehaviours.json')), timing } as never,
  });
});
afterAll(async () => {
  await Promise.all([restaurant.close(), misbehaving.close()]);
  await voice.close();
});
afterEach(() => {
  for (const one of [restaurant, misbehaving]) one.allow(KEY);
});

function client(endpoint = restaurant, apiKey = KEY): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${endpoint.origin}/v1`, maxRetries: 0, fetch: trustingFetch(endpoint.caPem) });
}

const user = (content: string): ChatCompletionMessageParam => ({ role: 'user', content });

async function chunksOf(messages: ChatCompletionMessageParam[], more: object = {}, endpoint = restaurant) {
  const stream = await client(endpoint).chat.completions.create({
    model: 'emulated-mini',
    messages,
    stream: true,
    stream_options: { include_usage: true },
    ...more,
  });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

const textOf = (chunks: Awaited<ReturnType<typeof chunksOf>>): string =>
  chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');

const misbehave = (what: string, more: object = {}) => chunksOf([user(what)], more, misbehaving);

describe('the official client takes the emulated OpenAI for the service', () => {
  it('lists its models, and refuses a wrong key, none, and a model that it does not have', async () => {
    const ids = (await client().models.list()).data.map(({ id }) => id);
    expect(ids).toEqual(['emulated-mini', 'tts-1', 'tts-1-hd', 'gpt-4o-mini-tts']);
    expect((await client().models.retrieve('emulated-mini')).owned_by).toBe('parley');
    const wrong = client(restaurant, 'sk-wrong').models.list();
    await expect(wrong).rejects.toMatchObject({
      constructor: AuthenticationError,
      code: 'invalid_api_key',
      status: 401,
    });
    const other = client().chat.completions.create({ model: 'gpt-nine', messages: [user('Hello')] });
    await expect(other).rejects.toMatchObject({ constructor: NotFoundError, code: 'model_not_found' });
    expect(JSON.stringify(restaurant.journal.entries())).not.toMatch(/sk-/);
  });

  it('answers whole, with usage and a request id', async () => {
    const messages = [user('Hello there')];
    const answer = await client().chat.completions.create({ model: 'emulated-mini', messages });
    expect(answer.choices).toMatchObject([
      { message: { content: 'Hello! How can I help you?' }, finish_reason: 'stop' },
    ]);
    const completion = tokensOf('Hello! How can I help you?').length;
    expect(answer.usage).toMatchObject({ prompt_tokens: promptTokens(messages, []), completion_tokens: completion });
    expect(answer._request_id).toMatch(/^req_/);
  });

  it('streams a token a chunk, and usage in a last one without choices', async () => {
    const chunks = await chunksOf([user('Hello there')]);
    expect(chunks[0]?.choices[0]?.delta).toMatchObject({ role: 'assistant', content: '' });
    expect(chunks.slice(1, -2).map(({ choices }) => choices[0]?.delta.content)).toEqual(
      tokensOf('Hello! How can I help you?'),
    );
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: chunks.length - 3 } });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  it('pads chunks unless it is asked not to, and tells no usage that nobody asked for', async () => {
    const padded = await chunksOf([user('Hello')]);
    const bare = await chunksOf([user('Hello')], { stream_options: { include_obfuscation: false } });
    expect(padded.every((chunk) => 'obfuscation' in chunk)).toBe(true);
    expect(bare.some((chunk) => 'obfuscation' in chunk || 'usage' in chunk)).toBe(false);
  });

  it('stops at the longest length, and before a word that ends the answer', async () => {
    const short = await chunksOf([user('Hello')], { max_completion_tokens: 3 });
    expect([textOf(short), short.at(-2)?.choices[0]?.finish_reason]).toEqual(['Hello! How', 'length']);
    const stopped = await chunksOf([user('Hello')], { stop: [' help'] });
    expect([textOf(stopped), stopped.at(-2)?.choices[0]?.finish_reason]).toEqual(['Hello! How can I', 'stop']);
  });

  it('holds a conversation with tools that its history alone decides, a correction in it', async () => {
    const used: unknown[] = [];
    const answers: Record<string, (args: Record<string, string>) => object> = {
      check_table: (args) => ({ ...args, free: args['day'] !== 'Friday' }),
      book_table: (args) => ({ ...args, reference: 'R 42' }),
      end_call: () => ({}),
    };
    const messages: ChatCompletionMessageParam[] = [{ role: 'system', content: 'You book tables.' }];
    const say = async (text: string): Promise<string> => {
      messages.push(user(text));
      for (;;) {
        const stream = client().chat.completions.stream({ model: 'emulated-mini', messages, tools: RESTAURANT });
        const { message, finish_reason: reason } = (await stream.finalChatCompletion()).choices[0]!;
        messages.push(message);
        if (reason !== 'tool_calls') return message.content ?? '';
        for (const call of message.tool_calls ?? []) {
          if (call.type !== 'function') throw new Error('a call of another type');
          const args = JSON.parse(call.function.arguments) as Record<string, string>;
          used.push([call.function.name, args]);
          const content = JSON.stringify(answers[call.function.name]!(args));
          messages.push({ role: 'tool', tool_call_id: call.id, content });
        }
        if (message.content !== null) return message.content;
      }
    };
    expect(await say('A table for four, please.')).toBe('A table for four, with pleasure. For which day?');
    expect(await say('On Friday.')).toBe('I am sorry, Friday is full. Would another day suit you?');
    expect(await say('No, sorry, on Tuesday.')).toBe(
      'Yes, there is a table for four on Tuesday. What name may I put it under?',
    );
    expect(await say('My name is Ana')).toMatch(
      /^Thank you, Ana\. Your table on Tuesday is booked, the number is R 42\./,
    );
    expect(await say('No, goodbye.')).toBe('Thank you for calling. Goodbye!');
    expect(used).toEqual([
      ['check_table', { day: 'Friday', people: 'four' }],
      ['check_table', { day: 'Tuesday', people: 'four' }],
      ['book_table', { day: 'Tuesday', people: 'four', name: 'Ana' }],
      ['end_call', { reason: 'the caller said goodbye' }],
    ]);
    // The same last words without the history that gave them sense.
    expect(textOf(await chunksOf([user('My name is Ana')], { tools: RESTAURANT }))).toMatch(/did not understand/);
  });

  it('calls two tools at once, or one where it is asked to, each in fragments', async () => {
    const chunks = await misbehave('two at once', { tools: LOOKUP });
    const deltas = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(deltas.filter(({ id }) => id !== undefined).map(({ index }) => index)).toEqual([0, 1]);
    const whole = [0, 1].map((at) =>
      deltas
        .filter(({ index }) => index === at)
        .map((one) => one.function?.arguments)
        .join(''),
    );
    expect(whole.map((text) => JSON.parse(text))).toEqual([{ query: 'one' }, { query: 'two' }]);
    expect(deltas.length).toBeGreaterThan(8);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls');
    const alone = await misbehave('two at once', { tools: LOOKUP, parallel_tool_calls: false });
    expect(alone.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []).filter(({ id }) => id).length).toBe(1);
    // A lone call's head comes with the role.
    expect(alone[0]?.choices[0]?.delta).toMatchObject({ role: 'assistant', content: null, tool_calls: [{ index: 0 }] });
  });

  it("keeps the client's own tool runner busy until it has an answer", async () => {
    const runner = client(misbehaving).chat.completions.runTools({
      model: 'emulated-mini',
      messages: [user('two at once')],
      stream: true,
      tools: [
        {
          type: 'function',
          function: {
            name: 'lookup',
            description: 'Looks something up.',
            parameters: { type: 'object', properties: {} },
            parse: JSON.parse,
            function: () => 'rain',
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('It says rain.');
  });
});

describe('what the service refuses', () => {
  const call = (id: string, name = 'lookup') => ({
    id,
    type: 'function' as const,
    function: { name, arguments: '{}' },
  });
  const asks = (...ids: string[]): ChatCompletionMessageParam => ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => call(id)),
  });
  const result = (id: string): ChatCompletionMessageParam => ({ role: 'tool', tool_call_id: id, content: 'x' });
  const HELLO = user('Hello');

  it.each<[string, unknown[], string | null, RegExp]>([
    [
      'a use without a result',
      [HELLO, asks('a', 'b'), result('a'), HELLO],
      'messages',
      /did not have response messages: b$/,
    ],
    [
      'results that come later',
      [HELLO, asks('a'), HELLO, result('a')],
      'messages',
      /must be followed by tool messages/,
    ],
    [
      'two results of a use',
      [HELLO, asks('a'), result('a'), result('a')],
      'messages.[3].tool_call_id',
      /Duplicate value/,
    ],
    [
      'a result of another use',
      [HELLO, asks('a'), result('z')],
      'messages.[2].tool_call_id',
      /not found in 'tool_calls'/,
    ],
    ['a result that nobody asked for', [HELLO, result('a')], 'messages.[1].role', /must be a response to a preceeding/],
    ['a role that is none', [{ role: 'caller', content: 'x' }], 'messages[0].role', /Invalid value: 'caller'/],
    ['a field that is none', [{ ...HELLO, spoken: true }], 'messages[0].spoken', /Unknown parameter/],
    ['words that are no text', [{ role: 'user', content: 7 }], 'messages[0].content', /Invalid type/],
    [
      'an assistant that says nothing',
      [HELLO, { role: 'assistant', content: null }],
      'messages.[1].content',
      /got null/,
    ],
    ['no messages', [], 'messages', /empty array/],
  ])('%s', async (_what, messages, param, message) => {
    const refused = chunksOf(messages as ChatCompletionMessageParam[], { tools: LOOKUP });
    await expect(refused).rejects.toMatchObject({
      constructor: BadRequestError,
      status: 400,
      param,
      message: expect.stringMatching(message),
    });
  });

  it.each<[string, object, string | null, RegExp]>([
    ['a parameter that is none', { tempo: 1 }, null, /Unrecognized request argument supplied: tempo/],
    ['a temperature above 2', { temperature: 3 }, 'temperature', /<= 2, but got 3/],
    ['both longest lengths', { max_tokens: 1, max_completion_tokens: 1 }, 'max_tokens', /same time/],
    ['an empty list of tools', { tools: [] }, 'tools', /empty array/],
    ['a choice of tools without tools', { tool_choice: 'auto' }, 'tool_choice', /only allowed when 'tools'/],
    [
      'a choice that was not offered',
      { tools: LOOKUP, tool_choice: { type: 'function', function: { name: 'no' } } },
      'tool_choice',
      /no function named no/,
    ],
    ['a name with a space', { tools: [tool('look up', {})] }, 'tools[0].function.name', /does not match pattern/],
    [
      'a schema that is no object',
      { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'string' } } }] },
      'tools[0].function.parameters',
      /got 'type: "string"'/,
    ],
    [
      'a list without items',
      { tools: [tool('f', { days: { type: 'array' } })] },
      'tools[0].function.parameters',
      /array schema missing items/,
    ],
    [
      'a strict schema that is none',
      {
        tools: [
          { type: 'function', function: { name: 'f', strict: true, parameters: { type: 'object', properties: {} } } },
        ],
      },
      'tools[0].function.parameters',
      /additionalProperties/,
    ],
  ])('%s', async (_what, more, param, message) => {
    await expect(chunksOf([HELLO], more)).rejects.toMatchObject({
      status: 400,
      param,
      message: expect.stringMatching(message),
    });
  });

  it('stream options without a stream, and a history longer than its memory', async () => {
    const whole = client().chat.completions.create({ model: 'emulated-mini', messages: [HELLO], stream_options: {} });
    await expect(whole).rejects.toMatchObject({ param: 'stream_options' });
    const long = chunksOf(Array.from({ length: 13_000 }, () => user('one two three four five six seven')));
    await expect(long).rejects.toMatchObject({ code: 'context_length_exceeded' });
  });
});

describe('a model that misbehaves', () => {
  it('repeats until the longest length, and speaks markdown and emoji', async () => {
    const endless = await misbehave('repeat', { max_completion_tokens: 50 });
    expect(textOf(endless)).toMatch(/^(and again ){10}/);
    expect(endless.at(-2)?.choices[0]?.finish_reason).toBe('length');
    expect(textOf(await misbehave('markdown'))).toMatch(/^## Sure! 😀\n\n- \*\*First\*\*.*👍🏽/s);
  });

  it('repeats for ever, and stops thinking when the client goes', async () => {
    misbehaving.journal.clear();
    const stream = await client(misbehaving).chat.completions.create({
      model: 'emulated-mini',
      messages: [user('repeat')],
      stream: true,
    });
    let chunks = 0;
    for await (const _ of stream) if (++chunks === 20) break;
    const closed = await eventually('the end of the exchange', () =>
      misbehaving.journal.entries('closed').find(({ finished }) => finished === false),
    );
    const thought = await eventually('what was thought', () =>
      misbehaving.journal.entries('thought').find(({ exchange }) => exchange === closed.exchange),
    );
    expect(thought['completionTokens']).toBeGreaterThanOrEqual(18);
    expect(thought['completionTokens']).toBeLessThan(10_000);
    await eventually('nothing to be open', () => misbehaving.open === 0);
  });

  it('streams nothing at all', async () => {
    const abort = new AbortController();
    misbehaving.journal.clear();
    const asked = client(misbehaving).chat.completions.create(
      { model: 'emulated-mini', messages: [user('say nothing')], stream: true },
      { signal: abort.signal },
    );
    await eventually('the question', () => misbehaving.journal.entries('answered')[0]);
    abort.abort();
    await expect(asked).rejects.toThrow('aborted');
    await eventually('the end of the exchange', () => misbehaving.journal.entries('closed')[0]);
  });

  it('says nothing and ends', async () => {
    const chunks = await misbehave('be empty');
    expect([textOf(chunks), chunks.at(-2)?.choices[0]?.finish_reason]).toEqual(['', 'stop']);
  });

  it('calls a tool that was not offered, with arguments that are no JSON, and in a loop', async () => {
    const unknown = await client(misbehaving).chat.completions.create({
      model: 'emulated-mini',
      messages: [user('unknown tool')],
      tools: LOOKUP,
    });
    expect(unknown.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'launch_rocket' } }]);
    const broken = await misbehave('no json', { tools: LOOKUP });
    const text = broken
      .flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
      .map((one) => one.function?.arguments)
      .join('');
    expect(() => JSON.parse(text)).toThrow();
    const messages = [user('loop')];
    for (let round = 0; round < 4; round++) {
      const { choices } = await client(misbehaving).chat.completions.create({
        model: 'emulated-mini',
        messages,
        tools: LOOKUP,
      });
      const { message } = choices[0]!;
      messages.push(message, { role: 'tool', tool_call_id: message.tool_calls![0]!.id, content: 'x' });
    }
  });

  it('ends in the middle, without an end or with an error', async () => {
    const cut = await misbehave('be cut');
    expect(cut.at(-1)?.choices[0]?.finish_reason).toBeNull();
    expect(textOf(cut)).toBe('This sentence will');
    await expect(misbehave('fail on the way')).rejects.toBeInstanceOf(APIError);
    expect((await misbehave('be filtered')).at(-2)?.choices[0]?.finish_reason).toBe('content_filter');
  });

  it('speaks the dialects of compatible servers', async () => {
    const endpoint = await startOpenAiEmulator({
      keys: [KEY],
      voice: null,
      scenario: {
        ...((await scenario('misbehaviours.json')) as { rules: [] }),
        timing: { firstTokenMs: 60, tokenMs: 1 },
        dialect: {
          refuses: ['stream_options'],
          wholeCalls: true,
          callsWithoutIndex: true,
          finishesCallsWithStop: true,
          reasoning: 'Let me think.',
          keepAliveMs: 20,
        },
      },
    });
    try {
      await expect(chunksOf([user('two at once')], { tools: LOOKUP }, endpoint)).rejects.toThrow(/stream_options/);
      const chunks = await chunksOf([user('two at once')], { tools: LOOKUP, stream_options: undefined }, endpoint);
      const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
      expect(calls).toHaveLength(2);
      expect(calls[0]).not.toHaveProperty('index');
      expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
      const thoughts = chunks.map(
        ({ choices }) => (choices[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? '',
      );
      expect(thoughts.join('')).toBe('Let me think.');
    } finally {
      await endpoint.close();
    }
  });

  it.each([
    [{ kind: 'status', status: 429, retryAfterSeconds: 3 } as const, RateLimitError],
    [{ kind: 'status', status: 500 } as const, InternalServerError],
    [{ kind: 'revoked_key' } as const, AuthenticationError],
    [{ kind: 'reset' } as const, APIConnectionError],
  ])('is struck by %o', async (fault, error) => {
    restaurant.script({ ...fault, on: '/chat/completions' });
    const asked = chunksOf([user('Hello')]);
    await expect(asked).rejects.toBeInstanceOf(error);
    if (error === RateLimitError)
      await asked.catch((caught: APIError) => expect(caught.headers?.get('retry-after')).toBe('3'));
  });

  it('is reset in its answer, and answers what another asked', async () => {
    restaurant.script({ kind: 'reset', afterMessages: 5 });
    await expect(chunksOf([user('Hello')])).rejects.toThrow();
    restaurant.script({ kind: 'foreign_answer' });
    const chunks = await chunksOf([user('Hello')]);
    expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set(['chatcmpl-of-another']));
    expect(textOf(chunks)).not.toContain('Hello');
  });
});

describe.runIf(canDictate())('its voice', () => {
  const TEXT = 'We have a free table on Tuesday evening. Please tell me your name.';

  async function heard(pcm24k: Int16Array): Promise<string[]> {
    const resampler = await createResampler(24_000, 16_000);
    const samples = resampler.process(pcm24k).slice();
    resampler.close();
    return dictate(samples);
  }

  it('speaks the text that it was given, as raw samples in pieces', async () => {
    const response = await client().audio.speech.create({
      model: 'gpt-4o-mini-tts',
      voice: 'coral',
      input: TEXT,
      response_format: 'pcm',
    });
    expect(response.headers.get('content-type')).toBe('audio/pcm');
    const pieces: Uint8Array[] = [];
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(1);
    const bytes = Buffer.concat(pieces);
    const pcm = Int16Array.from({ length: bytes.length >> 1 }, (_, i) => bytes.readInt16LE(i * 2));
    expect(heardShare(TEXT, await heard(pcm))).toBeGreaterThan(0.6);
  });

  it('speaks faster, as a file, and as events; not what it cannot encode', async () => {
    const speech = (more: object) =>
      client().audio.speech.create({ model: 'gpt-4o-mini-tts', voice: 'robot', input: 'Hello there.', ...more });
    const [normal, fast] = await Promise.all(
      [1, 2].map(async (speed) => (await (await speech({ response_format: 'pcm', speed })).arrayBuffer()).byteLength),
    );
    expect(fast!).toBeLessThan(0.7 * normal!);
    const wav = Buffer.from(await (await speech({ response_format: 'wav' })).arrayBuffer());
    expect([wav.toString('latin1', 0, 4), wav.readUInt32LE(24), wav.readUInt32LE(40)]).toEqual([
      'RIFF',
      24_000,
      0xffff_ffdb,
    ]);
    const events = await (await speech({ response_format: 'pcm', stream_format: 'sse' })).text();
    expect(events).toMatch(/^data: \{"type":"speech\.audio\.delta".*"type":"speech\.audio\.done"/s);
    await expect(speech({ response_format: 'mp3' })).rejects.toMatchObject({
      constructor: BadRequestError,
      param: 'response_format',
    });
    await expect(speech({ response_format: 'pcm', voice: 'nobody' })).rejects.toMatchObject({ param: 'voice' });
  });
});
