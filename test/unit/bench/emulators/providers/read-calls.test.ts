/** The emulated OpenAI for those who ask for whole answers, as the analysis of calls does. */
import OpenAI, {
  APIConnectionTimeoutError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ODDITIES } from '../../../../../bench/emulators/providers/openai/odd-models.ts';
import { PATIENCE_MS } from '../../../../../bench/harness/patience.ts';
import { systemClock } from '../../../../../media/contract/clock.ts';
import { createAddressGuard } from '../../../../../media/net/address-guard.ts';
import { createGuardedClient } from '../../../../../media/net/guarded-client.ts';
import { askChat, type ChatOutcome } from '../../../../../src/analysis/chat-endpoint.ts';
import { chatRequest } from '../../../../../src/analysis/chat-request.ts';
import { readByHeuristic } from '../../../../../src/analysis/heuristic/heuristic.ts';
import { readAnswer } from '../../../../../src/analysis/model-answer.ts';
import { tryModel } from '../../../../../src/analysis/try-model.ts';
import { type PlainOpenAi, startPlainOpenAi } from '../../../../support/providers/plain-openai.ts';
import { CONFIRMED, DEMO_AGENT, story } from '../../../analysis/sample-story.ts';

const API_KEY = 'sk-emulated';
let emulator: PlainOpenAi;
beforeAll(async () => {
  emulator = await startPlainOpenAi(API_KEY);
});
afterAll(() => emulator.close());

describe('the official client takes the emulator for the service', () => {
  const client = (options: Partial<ConstructorParameters<typeof OpenAI>[0]> = {}) =>
    new OpenAI({ apiKey: API_KEY, baseURL: emulator.baseUrl, maxRetries: 0, ...options });
  const ask = (model = 'emulated-1', changes: object = {}) =>
    client().chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }], ...changes });

  it('lists its model and talks', async () => {
    expect((await client().models.list()).data.map((model) => model.id)).toEqual(['emulated-1']);
    const answer = await ask();
    expect(answer.choices[0]?.message.content).toBe('Hello! How can I help you today?');
    expect(answer._request_id).toMatch(/^req_/);
  });

  it('streams the same words', async () => {
    const stream = await client().chat.completions.create({
      model: 'emulated-1',
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe('Hello! How can I help you today?');
  });

  it('keeps to a strict schema, and refuses one that is not', async () => {
    const schema = {
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
      additionalProperties: false,
    };
    const json_schema = { name: 'x', strict: true, schema };
    const answer = await ask('emulated-1', { response_format: { type: 'json_schema', json_schema } });
    expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({ ok: false });
    const loose = { ...json_schema, schema: { ...schema, required: [] } };
    await expect(ask('emulated-1', { response_format: { type: 'json_schema', json_schema: loose } })).rejects.toThrow(
      BadRequestError,
    );
  });

  it('throws the error of each kind', async () => {
    await expect(client({ apiKey: 'sk-other' }).models.list()).rejects.toThrow(AuthenticationError);
    await expect(ask('gpt-99')).rejects.toThrow(NotFoundError);
    await expect(ask('emulated-1', { messages: [] })).rejects.toThrow(BadRequestError);
    await expect(ask('emulated-rate-limits')).rejects.toThrow(RateLimitError);
    await expect(ask('emulated-breaks')).rejects.toThrow(InternalServerError);
    await expect(
      client({ timeout: 50 }).chat.completions.create({
        model: 'emulated-stalls',
        messages: [{ role: 'user', content: 'x' }],
      }),
    ).rejects.toThrow(APIConnectionTimeoutError);
    expect((await ask('emulated-refuses')).choices[0]?.message.refusal).toContain("can't");
  });

  it('tries again after a 429 by itself', async () => {
    emulator.endpoint.script({ kind: 'status', status: 503 });
    expect(
      (
        await client({ maxRetries: 1 }).chat.completions.create({
          model: 'emulated-1',
          messages: [{ role: 'user', content: 'Hello' }],
        })
      ).choices,
    ).toHaveLength(1);
  });
});

describe('the gateway and the emulator', () => {
  const http = createGuardedClient({ guard: createAddressGuard(['127.0.0.0/8']), clock: systemClock });
  afterAll(() => http.close());
  const data = { type: 'object', properties: { day: { type: 'string' }, guests: { type: 'integer' } } };
  const told = story(CONFIRMED, { agent: { ...DEMO_AGENT, analysis: { data } } });
  const ask = (model: string, limitMs = PATIENCE_MS, baseUrl = emulator.baseUrl): Promise<ChatOutcome> =>
    askChat(
      { http, clock: systemClock },
      { baseUrl, model, apiKey: API_KEY },
      { body: (format) => chatRequest(told, model, format), from: 'json_schema', limitMs },
    );
  const kindOf = (outcome: ChatOutcome): string => (outcome.kind === 'answered' ? 'answered' : outcome.fault);

  it('our strict schema is one, and the answer fits', async () => {
    const outcome = await ask('emulated-1');
    expect(outcome).toMatchObject({ kind: 'answered', format: 'json_schema' });
    const base = readByHeuristic(told).findings;
    const reading = readAnswer(outcome.kind === 'answered' ? outcome.content : '', told, base, 'emulated-1');
    expect(reading).toMatchObject({
      ok: true,
      warnings: [],
      findings: { summary: 'The caller said: yes please', evidence: [{ turnId: 't3', quote: 'yes please' }] },
    });
  });

  it('a server that knows JSON alone, or not even that, answers all the same', async () => {
    for (const [formats, format] of [
      [['text', 'json_object'], 'json_object'],
      [['text'], 'text'],
    ] as const) {
      const old = await startPlainOpenAi(API_KEY, { formats: [...formats] });
      expect(await ask('emulated-1', PATIENCE_MS, old.baseUrl)).toMatchObject({ kind: 'answered', format });
      await old.close();
    }
  });

  const expected: Record<string, string> = {
    obeys_caller: 'answered',
    other_form: 'answered',
    nonsense: 'answered',
    stalls: 'timeout',
    trickles: 'timeout',
    hangs_up: 'unreachable',
    rate_limits: 'rate_limited',
    breaks: 'server_error',
    overloaded: 'server_error',
    error_as_answer: 'server_error',
    refuses: 'refused',
    filters: 'refused',
    cut_off: 'nonsense',
    page: 'nonsense',
    huge: 'too_large',
    redirects: 'rejected',
  };
  it.each(ODDITIES)('%s', async (behaviour) => {
    // What must come gets time; what never comes is not waited for.
    const limitMs = behaviour === 'stalls' || behaviour === 'trickles' ? 300 : PATIENCE_MS;
    expect(kindOf(await ask(`emulated-${behaviour.replaceAll('_', '-')}`, limitMs))).toBe(expected[behaviour]);
  });

  it('a model that obeys the caller gets nothing of its own into the findings', async () => {
    const outcome = await ask('emulated-obeys-caller');
    const reading = readAnswer(
      outcome.kind === 'answered' ? outcome.content : '',
      told,
      readByHeuristic(told).findings,
      'm',
    );
    expect(reading).toMatchObject({ findings: { intent: 'other', data: {}, evidence: [] } });
  });

  it('`parley model test` says what came of one question', async () => {
    const deps = { http, clock: systemClock };
    const endpoint = { baseUrl: emulator.baseUrl, model: 'emulated-1', apiKey: API_KEY };
    expect(await tryModel(deps, endpoint)).toMatchObject({
      ok: true,
      format: 'json_schema',
      intent: 'confirmed',
      fault: null,
    });
    expect(await tryModel(deps, { ...endpoint, model: 'emulated-nonsense' })).toMatchObject({
      ok: false,
      fault: 'nonsense',
    });
    expect(await tryModel(deps, { ...endpoint, apiKey: null })).toMatchObject({
      ok: false,
      fault: 'rejected',
      problem: expect.stringContaining('401'),
    });
  });
});
