/**
 * Real provider threads, as the media process hosts them: started by the first grant, asked from a thread like those of
 * pipelines, killed and replaced. Whatever such a thread is posted holds no credential.
 */
import { Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../media/contract/clock.ts';
import type { ModelChunk } from '../../../media/contract/model.ts';
import type { FromProviderThread } from '../../../media/contract/thread-messages.ts';
import { CallGrants } from '../../../media/io/call-grants.ts';
import { createEngineHost } from '../../../media/io/threads/engine-host.ts';
import { eventually } from '../../support/eventually.ts';
import { ASKED, textOf } from '../../unit/media/engines/model-conformance.ts';
import { startFakeChat } from '../../unit/media/engines/openai/fake-chat-server.ts';
import { CANARY, grantOf } from '../../unit/media/engines/provider-harness.ts';

const root = new URL('../../../dist/', import.meta.url);
/** Asks what it is told to over its newest port, and says all that it was posted. */
const ASKER = `
  import { parentPort } from 'node:worker_threads';
  import { remoteModelOf } from '${new URL('media/engines/provider/remote-model.js', root)}';
  let port;
  const posted = [];
  const model = remoteModelOf('openai-chat')(() => port)({ callUuid: 'call-1', connection: 'main', settings: { model: 'small' } });
  parentPort.on('message', (message) => {
    if (message.port !== undefined) {
      port = message.port;
      port.on('message', (said) => posted.push(said));
    } else {
      posted.push(message);
      model.ask(message.request, (chunk) => parentPort.postMessage({ chunk, posted }));
    }
  });`;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function setUp() {
  const server = await startFakeChat();
  const usage: FromProviderThread[] = [];
  const host = createEngineHost({
    kind: 'provider',
    url: new URL('media/threads/provider-thread.js', root),
    threads: 1,
    workerData: { threads: 1, allowCidrs: ['127.0.0.0/8'], logLevel: 'silent' },
    clock: systemClock,
    log: pino({ level: 'silent' }),
    beats: true,
    isLate: true,
    greeting: () => grants.all(),
    heard: (message) => usage.push(message as FromProviderThread),
  });
  const grants = new CallGrants(systemClock, (message) => {
    if (message.type === 'grant') host.wake();
    host.tell(message);
  });
  const asker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(ASKER)}`));
  const give = (): void => {
    const port = host.portFor(0)!;
    asker.postMessage({ port }, [port]);
  };
  host.replaced = give;
  give();
  ends.push(
    () => server.close(),
    () => host.close(),
    () => asker.terminate(),
  );
  const posted: unknown[] = [];
  const ask = (): Promise<ModelChunk[]> =>
    new Promise((resolve) => {
      const chunks: ModelChunk[] = [];
      const heard = (message: { chunk: ModelChunk; posted: unknown[] }): void => {
        chunks.push(message.chunk);
        posted.push(...message.posted);
        if (message.chunk.type !== 'done' && message.chunk.type !== 'failed') return;
        asker.off('message', heard);
        resolve(chunks);
      };
      asker.on('message', heard);
      asker.postMessage({ request: ASKED });
    });
  return { server, host, grants, usage, ask, posted };
}

test('the first grant starts the thread; an answer, its cost and the end of a call pass; no credential does', async () => {
  const { server, host, grants, usage, ask, posted } = await setUp();
  expect(host.load()).toEqual({ busyRatio: 0, lateMs: 0 });
  server.scene({ say: ['On ', 'Tuesday.'], usage: [50, 20, 7] });
  grants.begun({ callUuid: 'call-1', grants: [grantOf({ baseUrl: server.baseUrl })] });
  expect(textOf(await ask())).toBe('On Tuesday.');
  expect(server.seen[0]?.headers.authorization).toBe(`Bearer ${CANARY}`);
  await eventually('its cost', () => usage.length > 0);
  expect(usage).toMatchObject([{ type: 'usage', callUuid: 'call-1' }]);
  grants.over('call-1');
  expect(await ask()).toMatchObject([{ type: 'failed', fault: 'no_connection' }]);
  expect(posted.length).toBeGreaterThan(3);
  expect(JSON.stringify([posted, usage])).not.toContain(CANARY);
});

test('a thread that dies is replaced and is granted again; what was asked of it fails, what is asked next does not', async () => {
  const { server, host, grants, ask } = await setUp();
  server.scene({ say: ['On '], after: 'stall' });
  grants.begun({ callUuid: 'call-1', grants: [grantOf({ baseUrl: server.baseUrl })] });
  const answer = ask();
  await eventually('the request', () => server.seen.length === 1);
  // What it cannot read ends it.
  host.tell({ type: 'client', port: 5 });
  expect((await answer).at(-1)).toMatchObject({ type: 'failed', fault: 'failed' });
  await eventually('its death', () => host.deaths === 1);
  server.scene({ say: ['On ', 'Tuesday.'] });
  await eventually('an answer of its successor', async () => textOf(await ask()) === 'On Tuesday.');
});
