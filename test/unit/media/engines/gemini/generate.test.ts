/** Gemini behind the port: what is its protocol's own. `conformance.test.ts` asks the port's suite. */
import { afterEach, describe, expect, test } from 'vitest';
import type { ModelChunk, ModelRequest } from '../../../../../media/contract/model.ts';
import { GenerateAnswer } from '../../../../../media/engines/gemini/generate-answer.ts';
import { FIRST_FORM, generateBody, generateUrl } from '../../../../../media/engines/gemini/generate-request.ts';
import { faultOfError, faultOfStatus } from '../../../../../media/engines/provider/answer-fault.ts';
import { ASKED, answerOf, type ModelCase } from '../model-conformance.ts';
import { CANARY, grantOf } from '../provider-harness.ts';
import { generateCase } from './generate-case.ts';

const cases: ModelCase[] = [];
afterEach(async () => {
  for (const one of cases.splice(0)) await one.close();
});
async function started(settings?: Record<string, unknown>): ReturnType<typeof generateCase> {
  const one = await generateCase(settings);
  cases.push(one);
  return one;
}

const bodyOf = (messages: ModelRequest['messages'], settings = {}, form = {}) =>
  generateBody({ ...ASKED, messages }, { model: 'small', ...settings }, { ...FIRST_FORM, ...form });
const partOf = (given: ModelRequest['messages'][number], settings = {}, form = {}) => {
  const { contents } = bodyOf([{ role: 'user', text: 'Tuesday?' }, given], settings, form) as {
    contents: { parts: object[] }[];
  };
  return contents[1]!.parts;
};
const config = (body: Record<string, unknown>) => body['generationConfig'] as Record<string, unknown>;

describe('a request', () => {
  test('is what the protocol wants, with the key in its header alone', async () => {
    const { model, server } = await started({ model: 'small', temperature: 0.4, topP: 0.9 });
    await answerOf(model);
    const [{ headers, body, text: raw }] = server.seen as [(typeof server.seen)[number]];
    expect(headers).toMatchObject({ 'x-goog-api-key': CANARY });
    expect(raw).not.toContain(CANARY);
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: 'You are a dentist.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Tuesday?' }] }],
      tools: [{ functionDeclarations: [{ name: 'find_slot', description: 'Finds a slot.' }] }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
      generationConfig: {
        maxOutputTokens: 456,
        temperature: 0.4,
        topP: 0.9,
        thinkingConfig: { thinkingLevel: 'MINIMAL' },
      },
    });
  });

  test.each([
    ['gemini-3.5-flash-lite', 'https://x.example/', 'https://x.example/v1beta/models/gemini-3.5-flash-lite'],
    ['models/gemini-2.5-flash', 'https://x.example', 'https://x.example/v1beta/models/gemini-2.5-flash'],
    ['tunedModels/ours', 'https://x.example', 'https://x.example/v1beta/tunedModels/ours'],
    ['a?b', 'https://x.example', 'https://x.example/v1beta/models/a%3Fb'],
    ['models/../../../v1/files', 'https://x.example', 'https://x.example/v1beta/models/v1/files'],
    ['//evil.example/./x', 'https://x.example', 'https://x.example/v1beta/evil.example/x'],
  ])('to the model %s goes to its own address', (model, baseUrl, expected) => {
    expect(generateUrl(grantOf({ baseUrl }), { model })).toBe(`${expected}:streamGenerateContent?alt=sse`);
  });

  test('begins and ends with the user, each use behind its signature and before its own result', () => {
    const first = {
      useId: 'u1',
      name: 'functions.find',
      argumentsText: '{"day":"tue"}',
      providerMark: 'small c2VhbA==',
    };
    const second = { useId: 'u2', name: 'book', argumentsText: '{"day": tues' };
    const { contents } = bodyOf([
      { role: 'system', text: 'You are a dentist.' },
      { role: 'assistant', text: 'Hello. ' },
      { role: 'user', text: 'Tuesday?' },
      { role: 'assistant', text: 'Let me see.', toolUses: [first, second] },
      { role: 'tool', useId: 'u1', text: '{"slot":3}' },
      { role: 'tool', useId: 'u2', text: 'no' },
      { role: 'user', text: 'Well?' },
      { role: 'assistant', text: 'At three.' },
    ]);
    const find = { id: 'u1', name: 'functions_find' };
    const book = { id: 'u2', name: 'book' };
    expect(contents).toEqual([
      { role: 'user', parts: [{ text: '[The call begins.]' }] },
      { role: 'model', parts: [{ text: 'Hello.' }] },
      { role: 'user', parts: [{ text: 'Tuesday?' }] },
      {
        role: 'model',
        parts: [
          { text: 'Let me see.' },
          { functionCall: { ...find, args: { day: 'tue' } }, thoughtSignature: 'c2VhbA==' },
          { functionCall: { ...book, args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { ...find, response: { slot: 3 } } },
          { functionResponse: { ...book, response: { output: 'no' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'Well?' }] },
      { role: 'model', parts: [{ text: 'At three.' }] },
      { role: 'user', parts: [{ text: '[The caller says nothing.]' }] },
    ]);
  });

  test('says of a use that has no signature that it has none, where models ask for one', () => {
    const use = { useId: 'u1', name: 'find', argumentsText: '{}' };
    const told = (settings: object, form = {}, mark: object = {}) =>
      partOf({ role: 'assistant', text: '', toolUses: [{ ...use, ...mark }] }, settings, form)[0];
    const functionCall = { id: 'u1', name: 'find', args: {} };
    const none = { functionCall, thoughtSignature: 'skip_thought_signature_validator' };
    expect(told({ model: 'gemini-3.5-flash' })).toEqual(none);
    expect(told({ model: 'gemini-2.5-flash' })).toEqual({ functionCall });
    expect(
      told({ model: 'gemini-3.5-flash' }, { sendsSignatures: false }, { providerMark: 'gemini-3.5-flash c2VhbA==' }),
    ).toEqual(none);
    // Of the model that was asked before, and of one that is not of this provider.
    for (const providerMark of ['gemini-3-pro c2VhbA==', 'c2VhbA=='])
      expect(told({ model: 'gemini-3.5-flash' }, {}, { providerMark })).toEqual(none);
  });

  test('asks nothing of uses of turns that are over, and sends what it has of them', () => {
    const uses = (providerMark?: string) => [
      { useId: 'u1', name: 'find', argumentsText: '{}', ...(providerMark && { providerMark }) },
    ];
    const signatureOf = (mark?: string) => {
      const { contents } = bodyOf([
        { role: 'user', text: 'Tuesday?' },
        { role: 'assistant', text: '', toolUses: uses(mark) },
        { role: 'tool', useId: 'u1', text: '{}' },
        { role: 'user', text: 'Well?' },
      ]) as { contents: { parts: { thoughtSignature?: string }[] }[] };
      return contents[1]!.parts[0]!.thoughtSignature;
    };
    expect([signatureOf(), signatureOf('small c2VhbA=='), signatureOf('large c2VhbA==')]).toEqual([
      undefined,
      'c2VhbA==',
      undefined,
    ]);
  });

  test('declares what a tool takes in JSON Schema, and the name as it is taken', () => {
    const parameters = { type: 'object', properties: { day: { $ref: '#/$defs/day' } }, additionalProperties: false };
    const tool = { name: 'functions.find', description: 'Finds.', parameters };
    const body = generateBody({ ...ASKED, tools: [tool], toolChoice: 'none' }, { model: 'small' }, FIRST_FORM);
    expect(body).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'functions_find', parametersJsonSchema: parameters }] }],
      toolConfig: { functionCallingConfig: { mode: 'NONE' } },
    });
  });
});

describe('thinking', () => {
  test.each([
    ['gemini-3.5-flash', { thinkingConfig: { thinkingLevel: 'MINIMAL' }, maxOutputTokens: 456 }],
    ['gemini-flash-latest', { thinkingConfig: { thinkingLevel: 'MINIMAL' }, maxOutputTokens: 456 }],
    ['gemini-2.5-flash', { thinkingConfig: { thinkingBudget: 0 }, maxOutputTokens: 200 }],
    ['models/gemini-2.5-pro', { thinkingConfig: { thinkingBudget: 0 }, maxOutputTokens: 200 }],
    ['gemini-2.0-flash', { maxOutputTokens: 200 }],
  ])('of %s is asked for as little as it has, with room for what there is', (model, expected) => {
    expect(config(bodyOf(ASKED.messages, { model }))).toEqual(expected);
  });

  test('that the agent names is asked for', () => {
    expect(config(bodyOf(ASKED.messages, { model: 'gemini-3.8-flash', thinkingLevel: 'medium' }))).toEqual({
      thinkingConfig: { thinkingLevel: 'MEDIUM' },
      maxOutputTokens: 2_248,
    });
  });

  test('that a model refuses is asked for one step up, and from then on', async () => {
    const { model, server, scene } = await started({ model: 'gemini-3.8-flash' });
    const levels = () =>
      server.seen.map(({ body }) => (config(body)['thinkingConfig'] as { thinkingLevel: string } | undefined) ?? null);
    const [minimal, low] = [{ thinkingLevel: 'MINIMAL' }, { thinkingLevel: 'LOW' }];
    scene({ status: 400, text: 'Thinking level MINIMAL is not supported for this model. Please retry.' });
    expect(await answerOf(model)).toMatchObject([{ type: 'failed', fault: 'refused' }]);
    expect(levels()).toEqual([minimal, low, null]);
    server.seen.length = 0;
    const answered = answerOf(model);
    while (server.seen.length === 0) await new Promise(setImmediate);
    scene({ say: ['Yes.'] });
    await answered;
    await answerOf(model);
    expect(levels()).toEqual([minimal, low, low]);
  });

  test.each([
    ['temperature: not supported by this model', 'temperature'],
    ['Corrupted thought signature.', 'nothing of the settings'],
  ])('a model that refuses with “%s” is asked again without', async (text) => {
    const { model, server, scene } = await started({ model: 'gemini-3.8-flash', temperature: 0.4 });
    scene({ status: 400, text });
    expect(await answerOf(model)).toMatchObject([{ type: 'failed', fault: 'refused' }]);
    expect(server.seen).toHaveLength(2);
    expect('temperature' in config(server.seen[1]!.body)).toBe(!text.startsWith('temperature'));
  });
});

describe('an answer', () => {
  const read = (...chunks: object[]) => {
    const said: ModelChunk[] = [];
    const answer = new GenerateAnswer((chunk) => said.push(chunk), 'small');
    for (const chunk of chunks) answer.event(JSON.stringify({ responseId: 'r1', ...chunk }));
    return { said, answer };
  };
  const parts = (...given: object[]) => ({ candidates: [{ content: { role: 'model', parts: given }, index: 0 }] });
  const ended = (finishReason: string) => ({ candidates: [{ finishReason, index: 0 }] });

  test('has nothing of what was thought but its price', () => {
    const { said, answer } = read(
      { ...parts({ text: 'Hm.', thought: true }), usageMetadata: { promptTokenCount: 45, thoughtsTokenCount: 3 } },
      parts({ text: 'Yes.' }),
      {
        ...ended('STOP'),
        usageMetadata: {
          promptTokenCount: 45,
          cachedContentTokenCount: 30,
          candidatesTokenCount: 2,
          thoughtsTokenCount: 7,
        },
      },
    );
    expect(said).toEqual([{ type: 'text', text: 'Yes.' }]);
    expect(answer).toMatchObject({ stop: 'end' });
    expect(answer.usage).toEqual({ inputTokens: 45, cachedInputTokens: 30, outputTokens: 9 });
  });

  test('tells uses with the signature that came, and makes up ids that are missing', () => {
    const { said } = read(
      parts({ functionCall: { name: 'find', args: { day: 'tue' } }, thoughtSignature: 'c2VhbA==' }),
      parts({ functionCall: { id: 'x', name: 'book' } }, { functionCall: { args: {} } }),
      ended('STOP'),
    );
    expect(said).toEqual([
      {
        type: 'use',
        use: { useId: 'call_1_find', name: 'find', argumentsText: '{"day":"tue"}', providerMark: 'small c2VhbA==' },
      },
      { type: 'use', use: { useId: 'x', name: 'book', argumentsText: '{}' } },
    ]);
  });

  test('to a prompt that was blocked is filtered, and so is one that is stopped for its words', () => {
    expect(read({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }).answer.stop).toBe('filtered');
    for (const reason of ['SAFETY', 'RECITATION', 'SPII']) {
      const { said, answer } = read(parts({ text: 'Well' }), ended(reason));
      expect([said.length, answer.stop]).toEqual([1, 'filtered']);
    }
  });

  test('without candidates, parts or words is waited on, and ends when it says so', () => {
    const { said, answer } = read(
      { candidates: [] },
      { candidates: null },
      { candidates: [{ content: {} }] },
      ended(''),
      {},
    );
    expect(answer.stop).toBeNull();
    answer.event(JSON.stringify({ responseId: 'r1', ...ended('STOP') }));
    expect([said, answer.stop]).toEqual([[], 'end']);
  });

  test('in which a proxy writes what is not there as null, or as not told, goes on', () => {
    const nothing = { error: null, promptFeedback: { blockReason: null }, responseId: null };
    const { said, answer } = read(
      { ...nothing, ...parts({ text: 'Yes' }) },
      { candidates: [], promptFeedback: { blockReason: 'BLOCK_REASON_UNSPECIFIED' } },
      { ...nothing, candidates: [], usageMetadata: null },
      { ...nothing, ...parts({ text: '.', functionCall: null }) },
      ended('STOP'),
    );
    expect([said.length, answer.stop]).toEqual([2, 'end']);
  });

  test('whose last count leaves out what was said before is counted with it', () => {
    const { answer } = read(
      { ...parts({ text: 'Yes.' }), usageMetadata: { promptTokenCount: 45, candidatesTokenCount: 12 } },
      { ...ended('STOP'), usageMetadata: { promptTokenCount: 45 } },
    );
    expect(answer.usage).toEqual({ inputTokens: 45, cachedInputTokens: 0, outputTokens: 12 });
  });

  test('that it gives up is failed, and of an end of an unknown kind it is one', () => {
    for (const reason of ['MALFORMED_FUNCTION_CALL', 'OTHER', 'MISSING_THOUGHT_SIGNATURE'])
      expect(() => read(ended(reason))).toThrow(`it gave up its answer (${reason})`);
    expect(read(parts({ text: 'Yes.' }), ended('TIRED')).answer.stop).toBe('end');
  });

  test('with numbers, texts and lists where they do not belong hurts nobody', () => {
    const { said, answer } = read(
      { candidates: 'x', usageMetadata: [1] },
      parts({ text: 5 }, { functionCall: 'find' }, { functionCall: { name: 7, args: 'x' } }),
      { candidates: [{ content: { parts: 'Yes' }, finishReason: 4 }] },
      { usageMetadata: { promptTokenCount: -1, candidatesTokenCount: 1e300 } },
      ended('MAX_TOKENS'),
    );
    expect([said, answer.stop, answer.usage]).toEqual([[], 'length', null]);
  });
});

test('a minute’s limit passes, whatever is said of billing; a day’s does not', () => {
  const limit = (quotaId: string) => ({
    error: {
      code: 429,
      message: 'You exceeded your current quota, please check your plan and billing details.',
      status: 'RESOURCE_EXHAUSTED',
      details: [{ violations: [{ quotaId }] }],
    },
  });
  const minute = limit('GenerateRequestsPerMinutePerProjectPerModel');
  const day = limit('GenerateRequestsPerDayPerProjectPerModel-FreeTier');
  expect([faultOfStatus(429, JSON.stringify(minute))[0], faultOfError(minute.error)[0]]).toEqual([
    'throttled',
    'throttled',
  ]);
  expect([faultOfStatus(429, JSON.stringify(day))[0], faultOfError(day.error)[0]]).toEqual(['refused', 'refused']);
});

test('an error in a list is told in its words', () => {
  const body = JSON.stringify([{ error: { code: 400, message: 'No such tool.', status: 'INVALID_ARGUMENT' } }]);
  expect(faultOfStatus(400, body)).toEqual(['refused', 'it answered 400: “No such tool.”']);
  for (const odd of ['[]', '[null]', 'null', '7'])
    expect(faultOfStatus(400, odd)).toEqual(['refused', 'it answered 400']);
});
