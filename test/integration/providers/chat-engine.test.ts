/** The chat engine against the emulated OpenAI, over TLS: what it makes of answers, tools, misbehaviour and faults. */
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startOpenAiEmulator } from '../../../bench/emulators/providers/openai/openai-emulator.ts';
import type { ProviderEndpoint } from '../../../bench/emulators/providers/provider-endpoint.ts';
import type { LanguageModel, ModelChunk, ModelMessage, ModelRequest } from '../../../media/contract/model.ts';
import { remoteModelOf } from '../../../media/engines/provider/remote-model.ts';
import { answerOf, textOf } from '../../unit/media/engines/model-conformance.ts';
import { grantOf, type ProviderHarness, providerHarness } from '../../unit/media/engines/provider-harness.ts';

const KEY = 'sk-canary-of-the-emulator';
const SCENARIO = new URL('../../../bench/emulators/providers/mind/scenarios/misbehaviours.json', import.meta.url);
const LOOKUP = {
  name: 'lookup',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { query: { type: 'string' } } },
};

let openai: ProviderEndpoint;
let harness: ProviderHarness;
let model: LanguageModel;

beforeAll(async () => {
  const scenario = JSON.parse(await readFile(SCENARIO, 'utf8')) as object;
  openai = await startOpenAiEmulator({
    keys: [KEY],
    voice: null,
    scenario: { ...scenario, timing: { firstTokenMs: 5, tokenMs: 1 } } as never,
  });
  harness = providerHarness({ ca: openai.caPem });
  harness.grant('call-1', grantOf({ baseUrl: `${openai.origin}/v1`, credentials: { apiKey: KEY } }));
  const port = harness.connect();
  model = remoteModelOf('openai-chat')(() => port)({
    callUuid: 'call-1',
    connection: 'main',
    settings: { model: 'emulated-mini' },
  });
});
afterAll(async () => {
  harness.close();
  await openai.close();
});
afterEach(() => openai.allow(KEY));

const requestOf = (...messages: ModelMessage[]): ModelRequest => ({
  messages: [{ role: 'system', text: 'You answer calls.' }, ...messages],
  tools: [LOOKUP],
  toolChoice: 'auto',
  maxTokens: 200,
});
const ask = (text: string): Promise<ModelChunk[]> => answerOf(model, requestOf({ role: 'user', text }));
const usesOf = (chunks: readonly ModelChunk[]) => chunks.flatMap((chunk) => (chunk.type === 'use' ? [chunk.use] : []));

test('two tools at once, and an answer from their results', async () => {
  harness.told.length = 0;
  const chunks = await ask('two at once');
  const uses = usesOf(chunks);
  expect(uses.map(({ name, argumentsText }) => [name, JSON.parse(argumentsText)])).toEqual([
    ['lookup', { query: 'one' }],
    ['lookup', { query: 'two' }],
  ]);
  expect(chunks.at(-1)).toMatchObject({ type: 'done', stop: 'tools', usage: { outputTokens: expect.any(Number) } });
  const [first, second] = uses.map(({ useId }) => useId) as [string, string];
  const then = await answerOf(
    model,
    requestOf(
      { role: 'user', text: 'two at once' },
      { role: 'assistant', text: '', toolUses: uses },
      { role: 'tool', useId: first, text: '41' },
      { role: 'tool', useId: second, text: '42' },
    ),
  );
  expect(textOf(then)).toBe('It says 41.');
  expect(harness.usage().filter((line) => line.startsWith('output_tokens'))).toHaveLength(2);
});

test('arguments that are no JSON and tools that were not offered are told as they came', async () => {
  expect(usesOf(await ask('no json'))).toMatchObject([{ name: 'lookup', argumentsText: '{"query": tues' }]);
  expect(usesOf(await ask('unknown tool'))).toMatchObject([{ name: 'launch_rocket' }]);
});

test('an answer that is empty, filtered, cut or broken says which', async () => {
  expect((await ask('be empty')).at(-1)).toMatchObject({ type: 'done', stop: 'end' });
  expect((await ask('be filtered')).at(-1)).toMatchObject({ type: 'done', stop: 'filtered' });
  const cut = await ask('be cut');
  expect([textOf(cut).startsWith('This'), cut.at(-1)]).toMatchObject([true, { type: 'failed', fault: 'failed' }]);
  expect((await ask('fail on the way')).at(-1)).toMatchObject({ type: 'failed', fault: 'failed' });
  expect((await ask('repeat')).at(-1)).toMatchObject({ type: 'done', stop: 'length' });
});

test('a revoked key is refused, and its words do not hold the key', async () => {
  openai.revoke(KEY);
  const chunks = await ask('be empty');
  expect(chunks).toMatchObject([{ type: 'failed', fault: 'refused' }]);
  expect(JSON.stringify(chunks)).not.toContain('canary');
});

test.each([
  [{ kind: 'status', status: 429 }, 'throttled'],
  [{ kind: 'status', status: 503 }, 'failed'],
  [{ kind: 'foreign_answer', afterMessages: 2 }, 'failed'],
  [{ kind: 'garbage' }, 'failed'],
])('%j is %s', async (fault, expected) => {
  openai.script(fault as never);
  const chunks = await ask('two at once');
  expect(chunks.at(-1)).toMatchObject({ type: 'failed', fault: expected });
  expect((await ask('two at once')).at(-1)).toMatchObject({ type: 'done' });
});

test('a kept connection that is reset before an answer costs nothing but a new one', async () => {
  await ask('be empty');
  openai.script({ kind: 'reset' });
  expect((await ask('two at once')).at(-1)).toMatchObject({ type: 'done' });
});

test('what was taken back is closed at the provider', async () => {
  const before = openai.open;
  const takeBack = model.ask(requestOf({ role: 'user', text: 'say nothing' }), () => {});
  while (openai.open === before) await new Promise((resolve) => setTimeout(resolve, 2));
  takeBack();
  while (openai.open > before) await new Promise((resolve) => setTimeout(resolve, 2));
});
