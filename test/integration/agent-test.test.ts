/**
 * `parley agent test` as a program, with a model and a tool outside it: the model is reached over TLS by the
 * environment's keys, the tool at its own address.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ProvidersProcess, startProvidersProcess } from '../../bench/harness/providers-process.ts';
import { runNode } from '../support/run-node.ts';
import { shippedCopy, TestFolder } from '../unit/bench/agent-test/run-tests.ts';

const PARLEY = fileURLToPath(new URL('../../bin/parley.mjs', import.meta.url));
const folder = new TestFolder();
const asked: unknown[] = [];
const tool = createServer((request, response) => {
  request.on('data', (part: Buffer) => asked.push(JSON.parse(part.toString('utf8'))));
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ free: true, people: 'two', day: 'friday' }));
  });
});
let providers: ProvidersProcess;

beforeAll(async () => {
  await new Promise<void>((done) => tool.listen(0, '127.0.0.1', done));
  providers = await startProvidersProcess({ vocabulary: ['hello'] });
});
afterAll(async () => {
  tool.close();
  await providers.stop();
  folder.remove();
});

const agentTest = (...args: string[]) =>
  runNode([PARLEY, 'agent', 'test', ...args, '--keep', join(folder.path, 'kept')], {
    PATH: process.env['PATH'],
    DEEPGRAM_API_KEY: providers.key,
    OPENAI_API_KEY: providers.key,
    OPENAI_BASE_URL: `${providers.origins['openai']}/v1`,
    OPENAI_MODEL: 'emulated-mini',
    NODE_EXTRA_CA_CERTS: providers.caFile,
    MODEL_ALLOW_CIDRS: '127.0.0.1/32',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32',
  });

it('asks a real model and a real tool, while the time of the call stands still', async () => {
  const { port } = tool.address() as AddressInfo;
  const content = shippedCopy('restaurant.json') as { change: { tools: object[] }; tools: object };
  const tools = content.change.tools.map((one) => ({ ...one, url: `http://127.0.0.1:${port}/` }));
  const file = folder.write('real.json', {
    ...content,
    change: { tools },
    tools: { ...content.tools, check_table: 'real' },
    model: { environment: true },
    scenarios: [
      {
        name: 'looks for a table',
        turns: [
          {
            caller: 'A table on friday for two people.',
            expect: { tools: [{ name: 'check_table' }], contains: 'What name', not: { contains: 'One moment' } },
          },
        ],
        expect: { agentTurns: 2 },
      },
    ],
  });
  const { code, out } = await agentTest(file);
  expect(out).toContain('1 passed, 0 failed');
  expect(code).toBe(0);
  expect(asked).toEqual([
    expect.objectContaining({ tool: 'check_table', arguments: { day: 'friday', people: 'two' } }),
  ]);
});

it('says wrong use with 2: no file, a bad number, an option that there is not', async () => {
  expect(await agentTest()).toMatchObject({ code: 2, out: expect.stringContaining('at least one scenario FILE') });
  expect(await agentTest('x.json', '--repeat', '0')).toMatchObject({
    code: 2,
    out: expect.stringContaining('1 to 1,000'),
  });
  expect(await agentTest('--faster')).toMatchObject({ code: 2, out: expect.stringContaining('--min-pass-rate') });
});
