/** The Gemini engine against its emulator, over TLS: what its protocol alone has. All else: `conformance.test.ts`. */
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startGeminiEmulator } from '../../../bench/emulators/providers/gemini/gemini-emulator.ts';
import type { ProviderEndpoint } from '../../../bench/emulators/providers/provider-endpoint.ts';
import type { LanguageModel, ModelMessage, ModelRequest, ModelToolUse } from '../../../media/contract/model.ts';
import { remoteModelOf } from '../../../media/engines/provider/remote-model.ts';
import { answerOf, textOf } from '../../unit/media/engines/model-conformance.ts';
import { grantOf, type ProviderHarness, providerHarness } from '../../unit/media/engines/provider-harness.ts';

const KEY = 'AIza-canary-of-the-emulator';
const SCENARIO = new URL('../../../bench/emulators/providers/mind/scenarios/misbehaviours.json', import.meta.url);
const LOOKUP = {
  name: 'lookup',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, additionalProperties: false },
};

let gemini: ProviderEndpoint;
let harness: ProviderHarness;
let open: (model: string) => LanguageModel;

beforeAll(async () => {
  const scenario = JSON.parse(await readFile(SCENARIO, 'utf8')) as object;
  gemini = await startGeminiEmulator({
    keys: [KEY],
    scenario: {
      ...scenario,
      models: ['emulated-mini', 'emulated-pro'],
      dialect: { reasoning: 'They want two of them.' },
      timing: { firstTokenMs: 5, tokenMs: 1 },
    } as never,
  });
  harness = providerHarness({ ca: gemini.caPem });
  harness.grant('call-1', grantOf({ provider: 'gemini', baseUrl: gemini.origin, credentials: { apiKey: KEY } }));
  const port = harness.connect();
  open = (model) =>
    remoteModelOf('gemini-generate')(() => port)({ callUuid: 'call-1', connection: 'main', settings: { model } });
});
afterAll(async () => {
  harness.close();
  await gemini.close();
});
afterEach(() => gemini.allow(KEY));

const requestOf = (...messages: ModelMessage[]): ModelRequest => ({
  messages: [{ role: 'system', text: 'You answer calls.' }, ...messages],
  tools: [LOOKUP],
  toolChoice: 'auto',
  maxTokens: 200,
});
const user = (text: string): ModelMessage => ({ role: 'user', text });
const ask = (text: string, model = 'emulated-mini') => answerOf(open(model), requestOf(user(text)));
const usesIn = async (text: string): Promise<ModelToolUse[]> =>
  (await ask(text)).flatMap((chunk) => (chunk.type === 'use' ? [chunk.use] : []));
const withResults = (uses: readonly ModelToolUse[]): ModelRequest =>
  requestOf(
    user('two at once'),
    { role: 'assistant', text: '', toolUses: uses },
    ...uses.map(({ useId }, index): ModelMessage => ({ role: 'tool', useId, text: `${41 + index}` })),
  );

test('the signature of an answer’s thoughts goes back with its first use, under whatever ids', async () => {
  const uses = await usesIn('two at once');
  expect(uses.map(({ name, argumentsText }) => [name, argumentsText])).toEqual([
    ['lookup', '{"query":"one"}'],
    ['lookup', '{"query":"two"}'],
  ]);
  expect(uses.map(({ providerMark }) => typeof providerMark)).toEqual(['string', 'undefined']);
  const renamed = uses.map((use, index) => ({ ...use, useId: `u0000000${index}` }));
  gemini.journal.clear();
  expect(textOf(await answerOf(open('emulated-mini'), withResults(renamed)))).toBe('It says 41.');
  expect(JSON.stringify(gemini.journal.entries('answered'))).toContain(
    uses[0]!.providerMark!.replace('emulated-mini ', ''),
  );
});

test('uses of another provider’s model are taken without one, and a signature that is refused is left out', async () => {
  const foreign = (providerMark?: string) =>
    withResults([
      { useId: 'toolu_1', name: 'lookup', argumentsText: '{"query":"one"}', ...(providerMark && { providerMark }) },
      { useId: 'toolu_2', name: 'lookup', argumentsText: '{"query":"two"}' },
    ]);
  expect(textOf(await answerOf(open('emulated-mini'), foreign()))).toBe('It says 41.');
  gemini.journal.clear();
  expect(textOf(await answerOf(open('emulated-mini'), foreign('emulated-mini b2YgYW5vdGhlcg==')))).toBe('It says 41.');
  expect(gemini.journal.entries('refused')).toMatchObject([{ message: 'Corrupted thought signature.' }]);
});

test('a model that always thinks is asked for little of it, has room for it, and is heard without it', async () => {
  gemini.journal.clear();
  const chunks = await ask('two at once', 'emulated-pro');
  expect(textOf(chunks)).toBe('');
  expect(chunks.at(-1)).toMatchObject({ type: 'done', stop: 'tools' });
  expect(gemini.journal.entries('refused')).toMatchObject([
    { message: expect.stringContaining('Thinking level MINIMAL is not supported') },
  ]);
  expect(gemini.journal.entries('answered')).toMatchObject([{ maxTokens: 2_248 }]);
  const used = chunks.at(-1) as { usage: { outputTokens: number } };
  const quiet = (await ask('two at once')).at(-1) as typeof used;
  expect(used.usage.outputTokens).toBeGreaterThan(quiet.usage.outputTokens);
});

test('a signature of another model’s is not sent: nothing is refused for it', async () => {
  const uses = await usesIn('two at once');
  gemini.journal.clear();
  expect(textOf(await answerOf(open('emulated-pro'), withResults(uses)))).toBe('It says 41.');
  expect(gemini.journal.entries('refused')).toEqual([]);
  const [first] = uses;
  expect(JSON.stringify(gemini.journal.entries('answered'))).not.toContain(first!.providerMark!.split(' ')[1]);
});

test('an answer that is empty, blocked, cut, broken or given up says which', async () => {
  expect(await ask('be empty')).toMatchObject([{ type: 'done', stop: 'end' }]);
  expect((await ask('be filtered')).at(-1)).toMatchObject({ type: 'done', stop: 'filtered' });
  const cut = await ask('be cut');
  expect([textOf(cut).startsWith('This'), cut.at(-1)]).toMatchObject([true, { type: 'failed', fault: 'failed' }]);
  expect((await ask('fail on the way')).at(-1)).toMatchObject({ type: 'failed', fault: 'failed' });
  expect((await ask('repeat')).at(-1)).toMatchObject({ type: 'done', stop: 'length' });
  expect((await ask('no json')).at(-1)).toMatchObject({
    type: 'failed',
    message: 'it gave up its answer (MALFORMED_FUNCTION_CALL)',
  });
});

test('a revoked key is refused, and its words do not hold the key', async () => {
  gemini.revoke(KEY);
  const chunks = await ask('be empty');
  expect(chunks).toMatchObject([{ type: 'failed', fault: 'refused', message: expect.stringContaining('not valid') }]);
  expect(JSON.stringify(chunks)).not.toContain('canary');
});
