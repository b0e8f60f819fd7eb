/** The chat endpoint behind the port: what is the protocol's own. `conformance.test.ts` asks the port's suite. */
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import type { ModelRequest } from '../../../../../media/contract/model.ts';
import { remoteModelOf } from '../../../../../media/engines/provider/remote-model.ts';
import { eventually } from '../../../../support/eventually.ts';
import { ASKED, answerOf, type ModelCase, textOf } from '../model-conformance.ts';
import { CANARY, grantOf } from '../provider-harness.ts';
import { chatCase as newChatCase } from './chat-case.ts';
import type { PlayScene } from './fake-chat-server.ts';

const cases: ModelCase[] = [];
afterEach(async () => {
  for (const one of cases.splice(0)) await one.close();
});

async function chatCase(...made: Parameters<typeof newChatCase>): ReturnType<typeof newChatCase> {
  const one = await newChatCase(...made);
  cases.push(one);
  return one;
}

test('the request is what the protocol wants, with the key in its header alone', async () => {
  const { model, server } = await chatCase(
    { model: 'small', temperature: 0.3, reasoningEffort: 'low' },
    { settings: { organization: 'org-1' } },
  );
  const use = { useId: 'use_1', name: 'find_slot', argumentsText: '{"day":"tue"}' };
  const request: ModelRequest = {
    ...ASKED,
    messages: [
      ...ASKED.messages,
      { role: 'assistant', text: '', toolUses: [use] },
      { role: 'tool', useId: 'use_1', text: '{"slot":3}' },
    ],
    toolChoice: 'none',
  };
  await answerOf(model, request);
  const [{ headers, body, text }] = server.seen as [(typeof server.seen)[number]];
  expect(body).toEqual({
    model: 'small',
    messages: [
      { role: 'system', content: 'You are a dentist.' },
      { role: 'user', content: 'Tuesday?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'use_1', type: 'function', function: { name: 'find_slot', arguments: '{"day":"tue"}' } }],
      },
      { role: 'tool', tool_call_id: 'use_1', content: '{"slot":3}' },
    ],
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 200,
    temperature: 0.3,
    reasoning_effort: 'low',
    tools: [
      {
        type: 'function',
        function: { name: 'find_slot', description: 'Finds a slot.', parameters: { type: 'object', properties: {} } },
      },
    ],
    tool_choice: 'none',
  });
  expect(headers).toMatchObject({ authorization: `Bearer ${CANARY}`, 'openai-organization': 'org-1' });
  expect(text).not.toContain(CANARY);
});

test('one connection serves request after request, and is not another connection version’s', async () => {
  const { model, server, harness, port } = await chatCase();
  // A connection is free a moment after its answer; who asks sooner gets another.
  await eventually('a request on a connection that another has used', async () => {
    await answerOf(model);
    return server.seen.length > server.connections.size;
  });
  const { size } = server.connections;
  harness.grant('call-2', grantOf({ baseUrl: server.baseUrl, version: 4 }));
  await answerOf(
    remoteModelOf('openai-chat')(() => port)({ callUuid: 'call-2', connection: 'main', settings: { model: 'small' } }),
  );
  expect(server.connections.size).toBe(size + 1);
});

test('a server that knows another name of the limit, or no usage, is asked so, and from then on at once', async () => {
  const { model, server, scene } = await chatCase();
  const seenForms = () =>
    server.seen.map(({ body }) =>
      ['max_tokens', 'max_completion_tokens', 'stream_options'].filter((name) => name in body),
    );
  scene({ status: 400, text: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." });
  server.following({ say: ['yes'] });
  expect(textOf(await answerOf(model))).toBe('yes');
  await answerOf(model);
  expect(seenForms()).toEqual([
    ['max_tokens', 'stream_options'],
    ['max_completion_tokens', 'stream_options'],
    ['max_completion_tokens', 'stream_options'],
  ]);
});

test('a form that was found out outlives a limit', async () => {
  const { model, server, scene } = await chatCase();
  scene({ status: 400, text: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." });
  server.following({ say: ['yes'] });
  await answerOf(model);
  for (const status of [429, 503]) {
    scene({ status, text: 'Not now.' });
    await answerOf(model);
  }
  scene({ say: ['yes'] });
  await answerOf(model);
  expect(server.seen.map(({ body }) => 'max_completion_tokens' in body)).toEqual([false, true, true, true, true]);
});

test('a refusal is told without the key, though the server repeats it', async () => {
  const { model, scene } = await chatCase();
  scene({ status: 401, text: `Incorrect API key provided: ${CANARY}.\nFind yours.` });
  const [chunk] = await answerOf(model);
  expect(chunk).toMatchObject({ type: 'failed', fault: 'refused' });
  expect(JSON.stringify(chunk)).not.toContain('canary');
  expect(JSON.stringify(chunk)).toContain('Incorrect API key');
});

test('what was used is told for the call; of what was thrown away an estimate, as such', async () => {
  const { model, scene, harness, requests } = await chatCase();
  scene({ say: ['On ', 'Tuesday.'], usage: [50, 20, 7] });
  await answerOf(model);
  expect(harness.usage()).toEqual(['input_tokens 30', 'cached_input_tokens 20', 'output_tokens 7']);
  const [told] = harness.told as [Extract<(typeof harness.told)[number], { type: 'usage' }>];
  expect(told).toMatchObject({ type: 'usage', callUuid: 'call-1' });
  expect(told.lines[0]).toMatchObject({
    connection: 'main',
    version: 3,
    provider: 'openai_compatible',
    model: 'small',
    turnId: null,
  });
  expect(new Set(told.lines.map(({ usageId }) => usageId)).size).toBe(3);
  harness.told.length = 0;
  scene({ say: ['On Tuesday, ', 'I think.'], after: 'stall' });
  let takeBack = (): void => {};
  await new Promise<void>((resolve) => {
    takeBack = model.ask(ASKED, (chunk) => chunk.type === 'text' && chunk.text === 'I think.' && resolve());
  });
  takeBack();
  while (requests().at(-1)?.isClosed !== true) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(harness.usage()).toEqual([expect.stringMatching(/^input_tokens \d+ ~$/), 'output_tokens 5 ~']);
});

test('an estimate counts the tools too, which the model reads with the rest', async () => {
  const { model, scene, harness, requests } = await chatCase();
  const description = 'Where an order is. '.repeat(40);
  const tools = [{ name: 'find', description, parameters: { type: 'object' } }];
  scene({ say: ['On Tuesday, ', 'I think.'], after: 'stall' });
  let takeBack = (): void => {};
  await new Promise<void>((resolve) => {
    const asked = { ...ASKED, tools };
    takeBack = model.ask(asked, (chunk) => chunk.type === 'text' && chunk.text === 'I think.' && resolve());
  });
  takeBack();
  while (requests().at(-1)?.isClosed !== true) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(Number(harness.usage()[0]!.split(' ')[1])).toBeGreaterThan(description.length / 4);
});

test('a key of which a long refusal is cut in the middle is not told either', async () => {
  const apiKey = 'AIzaCanary0123456789';
  const { model, scene } = await chatCase({ model: 'small' }, { credentials: { apiKey } });
  scene({ status: 401, text: `${'x'.repeat(180)} ${apiKey}` });
  const [chunk] = await answerOf(model);
  expect(chunk).toMatchObject({ type: 'failed', fault: 'refused' });
  expect(JSON.stringify(chunk)).not.toContain(apiKey.slice(0, 8));
});

const chunkOf = (content: string, finish_reason: string | null): string =>
  `data: ${JSON.stringify({ id: 'c1', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`;

test.each([
  ['an error', 'data: {"error":{"message":"overloaded"}}\n\n'],
  ['garbage', 'data: <html>\n\n'],
  ['another’s answer', 'data: {"id":"c2","choices":[]}\n\n'],
])('%s behind the model’s last word takes nothing back', async (_what, behind) => {
  const play: PlayScene = async (response) => {
    response.writeHead(200, { 'content-type': 'Text/Event-Stream' });
    response.end(chunkOf('Yes.', 'stop') + behind);
  };
  const { model } = await chatCase({ model: 'small' }, {}, { service: 'openai-chat', play });
  expect(await answerOf(model)).toEqual([
    { type: 'text', text: 'Yes.' },
    { type: 'done', stop: 'end', usage: null },
  ]);
});

test('a packed answer, which nobody asked for, is told as one', async () => {
  const play: PlayScene = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    response.end(gzipSync(chunkOf('Yes.', 'stop')));
  };
  const { model } = await chatCase({ model: 'small' }, {}, { service: 'openai-chat', play });
  const message = 'the answer is packed (gzip), which nobody asked for';
  expect(await answerOf(model)).toEqual([{ type: 'failed', fault: 'failed', message }]);
});
