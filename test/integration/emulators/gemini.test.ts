/** The emulated Gemini, judged by the official client: what it accepts, how it reads what comes, what it throws. */
import { readFile } from 'node:fs/promises';
import {
  ApiError,
  type Content,
  FunctionCallingConfigMode,
  type FunctionDeclaration,
  type GenerateContentConfig,
  GoogleGenAI,
  ThinkingLevel,
  Type,
} from '@google/genai';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { startGeminiEmulator } from '../../../bench/emulators/providers/gemini/gemini-emulator.ts';
import { promptTokens, tokensOf } from '../../../bench/emulators/providers/mind/tokens.ts';
import type { ProviderEndpoint } from '../../../bench/emulators/providers/provider-endpoint.ts';
import { trustingFetch } from '../../../bench/harness/trusting-fetch.ts';

const KEY = 'canary-of-a-provider';
const SCENARIOS = new URL('../../../bench/emulators/providers/mind/scenarios/', import.meta.url);
const QUICK = { timing: { firstTokenMs: 1, tokenMs: 0 } };
const MODEL = 'emulated-mini';
const PRO = 'emulated-pro';
const HELLO = 'Hello! How can I help you?';

let restaurant: ProviderEndpoint;
beforeAll(async () => {
  const scenario = JSON.parse(await readFile(new URL('restaurant.json', SCENARIOS), 'utf8'));
  const dialect = { reasoning: 'They greet me.' };
  restaurant = await startGeminiEmulator({
    keys: [KEY],
    scenario: { ...scenario, ...QUICK, dialect, models: [MODEL, PRO] },
  });
  // It takes no `fetch`, and no authority.
  const trusting = trustingFetch(restaurant.caPem);
  vi.stubGlobal('fetch', async (url: string, init: RequestInit = {}) => {
    const { headers, ...rest } = init;
    const answer = await trusting(url, { ...rest, headers: Object.fromEntries(new Headers(headers)) });
    return new Response(answer.body, { status: answer.status, headers: Object.fromEntries(answer.headers) });
  });
});
afterAll(async () => {
  vi.unstubAllGlobals();
  await restaurant.close();
});
afterEach(() => restaurant.calm());

const client = (apiKey = KEY): GoogleGenAI =>
  new GoogleGenAI({ apiKey, vertexai: false, httpOptions: { baseUrl: restaurant.origin } });
const user = (text: string): Content => ({ role: 'user', parts: [{ text }] });
const tool = (name: string): FunctionDeclaration => ({
  name,
  description: name,
  parametersJsonSchema: { type: 'object', properties: { day: { type: 'string' } }, additionalProperties: false },
});
const TOOLS = [{ functionDeclarations: ['check_table', 'book_table', 'end_call'].map(tool) }];
const QUIET: GenerateContentConfig = { thinkingConfig: { thinkingLevel: ThinkingLevel.MINIMAL } };
const ask = (contents: Content[], config: GenerateContentConfig = {}, model = MODEL) =>
  client().models.generateContent({ model, contents, config: { ...QUIET, ...config } });

describe('the official client takes the emulated Gemini for the service', () => {
  it('lists its models, and refuses a wrong key and a model that it does not have', async () => {
    const names: (string | undefined)[] = [];
    for await (const { name } of await client().models.list()) names.push(name);
    expect(names).toEqual([`models/${MODEL}`, `models/${PRO}`]);
    expect(await client().models.get({ model: MODEL })).toMatchObject({ outputTokenLimit: 65_536 });
    const wrong = client('AIza-wrong').models.generateContent({ model: MODEL, contents: 'Hi' });
    await expect(wrong).rejects.toMatchObject({ constructor: ApiError, status: 400 });
    await expect(wrong).rejects.toThrow('API_KEY_INVALID');
    await expect(ask([user('Hello')], {}, 'gemini-nine')).rejects.toMatchObject({ status: 404 });
    expect(JSON.stringify(restaurant.journal.entries())).not.toMatch(/AIza/);
  });

  it('answers whole, with usage', async () => {
    const answer = await ask([user('Hello there')]);
    expect([answer.text, answer.candidates?.[0]?.finishReason]).toEqual([HELLO, 'STOP']);
    const [prompt, said] = [promptTokens([user('Hello there')], []), tokensOf(HELLO).length];
    expect(answer.usageMetadata).toMatchObject({
      promptTokenCount: prompt,
      candidatesTokenCount: said,
      totalTokenCount: prompt + said,
    });
  });

  it('streams a token a response, all of one id, and the last says why it ended', async () => {
    const stream = await client().models.generateContentStream({
      model: MODEL,
      contents: [user('Hello there')],
      config: QUIET,
    });
    const texts: string[] = [];
    const ids = new Set<string | undefined>();
    const ends: (string | undefined)[] = [];
    for await (const one of stream) {
      if ((one.text ?? '') !== '') texts.push(one.text!);
      ids.add(one.responseId);
      ends.push(one.candidates?.[0]?.finishReason);
    }
    expect(texts).toEqual(tokensOf(HELLO));
    expect(ids.size).toBe(1);
    expect(ends.filter((end) => end !== undefined)).toEqual(['STOP']);
    expect(ends.at(-1)).toBe('STOP');
  });

  it('stops at the longest length, thoughts included, and before a word that ends the answer', async () => {
    const short = await ask([user('Hello')], { maxOutputTokens: 3 });
    expect([short.text, short.candidates?.[0]?.finishReason]).toEqual(['Hello! How', 'MAX_TOKENS']);
    expect((await ask([user('Hello')], { stopSequences: [' help'] })).text).toBe('Hello! How can I');
    const thinking = await ask([user('Hello')], {
      maxOutputTokens: 100,
      thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.LOW },
    });
    const [thought, said] = thinking.candidates?.[0]?.content?.parts ?? [];
    expect([thought, said?.text, thinking.text]).toEqual([{ text: 'They greet me.', thought: true }, HELLO, HELLO]);
    expect(thinking.usageMetadata?.thoughtsTokenCount).toBe(tokensOf('They greet me.').length);
    const nothing = await ask([user('Hello')], {
      maxOutputTokens: 2,
      thinkingConfig: { thinkingLevel: ThinkingLevel.LOW },
    });
    expect([nothing.text, nothing.candidates?.[0]?.finishReason]).toEqual([undefined, 'MAX_TOKENS']);
  });

  it('holds a conversation with tools that its history alone decides, streamed, by the client’s own chat', async () => {
    const chat = client().chats.create({
      model: MODEL,
      config: { ...QUIET, systemInstruction: 'You book tables.', tools: TOOLS },
    });
    const used: unknown[] = [];
    const say = async (text: string): Promise<string> => {
      let message: Parameters<typeof chat.sendMessageStream>[0]['message'] = text;
      for (;;) {
        let said = '';
        const uses: { id?: string; name?: string; args?: Record<string, unknown> }[] = [];
        for await (const one of await chat.sendMessageStream({ message })) {
          for (const part of one.candidates?.[0]?.content?.parts ?? []) {
            said += part.text ?? '';
            if (part.functionCall !== undefined) uses.push(part.functionCall);
          }
        }
        if (uses.length === 0) return said;
        message = uses.map(({ id = '', name = '', args = {} }) => {
          used.push([name, args]);
          const response =
            name === 'check_table' ? { ...args, free: args['day'] !== 'Friday' } : { ...args, reference: 'R 42' };
          return { functionResponse: { id, name, response } };
        });
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
  const use = (part: object = {}): Content[] => [
    user('Hi'),
    { role: 'model', parts: [{ functionCall: { name: 'check_table', args: {} }, ...part }] },
  ];
  const result = { functionResponse: { name: 'check_table', response: { free: true } } };
  const skip = { thoughtSignature: 'skip_thought_signature_validator' };
  it.each<[string, Content[], GenerateContentConfig, RegExp]>([
    ['no contents', [], {}, /contents are required|contents is not specified/],
    ['an empty part', [{ role: 'user', parts: [{}] }], {}, /must have one initialized field/],
    ['a use without its result', [...use(skip), user('And?')], { tools: TOOLS }, /number of function response parts/],
    ['a result without its use', [{ role: 'user', parts: [result] }], {}, /immediately after a function call turn/],
    ['a use that nobody asked for', use(skip).slice(1), {}, /immediately after a user turn/],
    ['a use without its signature', [...use(), { role: 'user', parts: [result] }], {}, /missing a thought_signature/],
    [
      'the signature of another',
      [...use({ thoughtSignature: 'c2VhbA==' }), { role: 'user', parts: [result] }],
      {},
      /Corrupted thought signature/,
    ],
    ['a temperature of 3', [user('Hi')], { temperature: 3 }, /must be in the range/],
    [
      'two ways to think',
      [user('Hi')],
      { thinkingConfig: { thinkingBudget: 1, thinkingLevel: ThinkingLevel.LOW } },
      /only one/,
    ],
    [
      'a name of a tool with a space',
      [user('Hi')],
      { tools: [{ functionDeclarations: [tool('a b')] }] },
      /Invalid function name/,
    ],
    [
      'an object without properties, in its older schemas',
      [user('Hi')],
      { tools: [{ functionDeclarations: [{ name: 'a', parameters: { type: Type.OBJECT, properties: {} } }] }] },
      /should be non-empty for OBJECT type/,
    ],
    [
      'allowed names without the mode for them',
      [user('Hi')],
      {
        tools: TOOLS,
        toolConfig: {
          functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO, allowedFunctionNames: ['check_table'] },
        },
      },
      /without allowed mode/,
    ],
  ])('%s', async (_what, contents, config, words) => {
    await expect(ask(contents, config)).rejects.toThrow(words);
  });

  it('the least thinking of a model that always thinks', async () => {
    await expect(ask([user('Hi')], {}, PRO)).rejects.toThrow('Thinking level MINIMAL is not supported');
    const budget = ask([user('Hi')], { thinkingConfig: { thinkingBudget: 0 } }, PRO);
    await expect(budget).rejects.toThrow('only works in thinking mode');
  });

  it('limits, overload and a fault in mid-answer, each as the client knows it', async () => {
    restaurant.script({ kind: 'status', status: 429 }, { kind: 'status', status: 503 });
    await expect(ask([user('Hi')])).rejects.toMatchObject({ constructor: ApiError, status: 429 });
    await expect(ask([user('Hi')])).rejects.toMatchObject({ constructor: ApiError, status: 503 });
    restaurant.script({ kind: 'close', afterMessages: 3 });
    const streamed = async (): Promise<void> => {
      const config = QUIET;
      const stream = await client().models.generateContentStream({ model: MODEL, contents: 'Hello there', config });
      for await (const _one of stream);
    };
    await expect(streamed()).rejects.toThrow();
  });
});
