import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { createAddressGuard } from '../../../../media/net/address-guard.ts';
import {
  createGuardedStreams,
  type GuardedStreamOptions,
  type GuardedStreams,
  type StreamedRequest,
} from '../../../../media/net/guarded-stream.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { TEST_CERTIFICATE } from './test-certificate.ts';
import { type Answer, startReceiver, type TestReceiver } from './test-receiver.ts';

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** No time passes for them, however long a connection takes, unless the test has their clock. */
function streams(options: Partial<GuardedStreamOptions> = {}): GuardedStreams {
  const clock = new VirtualClock();
  const made = createGuardedStreams({ guard: createAddressGuard(['127.0.0.0/8']), clock, ...options });
  ends.push(() => made.close());
  return made;
}

async function receiver(answer: Answer, secure = false): Promise<TestReceiver> {
  const made = await startReceiver(answer, secure);
  ends.push(() => made.close());
  return made;
}

/** What a listener was told, and the end of it. */
function open(made: GuardedStreams, url: string, change: Partial<StreamedRequest> = {}) {
  const told: string[] = [];
  let callOff = (): void => {};
  const over = new Promise<string[]>((resolve) => {
    callOff = made.open(
      { url, method: 'POST', headers: {}, body: Buffer.from('{}'), pool: 'one', connectMs: 2_000, ...change },
      {
        began: (status) => told.push(`began ${status}`),
        data: (chunk) => told.push(chunk.toString()),
        ended: () => resolve([...told, 'ended']),
        failed: ({ kind, reason, isTimeout, isStale }) =>
          resolve([...told, `${kind}${isTimeout ? ' timeout' : ''}${isStale ? ' stale' : ''}: ${reason}`]),
      },
    );
  });
  return { told, over, callOff: () => callOff() };
}

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1));
};

test('a header that cannot be sent fails the request, and its value is not told', async () => {
  const headers = { 'x-api-key': 'sk-canary\r\nx-other: 1' };
  const { told, over } = open(streams(), 'http://127.0.0.1:9/', { headers });
  expect(told).toEqual([]);
  const [end] = await over;
  expect(end).toContain('refused: the request cannot be sent: ');
  expect(end).toContain('x-api-key');
  expect(end).not.toContain('canary');
});

test('an answer comes as it is sent, and the connection is used again by its own pool alone', async () => {
  let goOn = (): void => {};
  const target = await receiver((_request, response, number) => {
    response.writeHead(200).write('a');
    if (number === 1) goOn = () => response.end('b');
    else response.end();
  });
  const made = streams();
  const url = `http://127.0.0.1:${target.port}/v1/chat?x=1`;
  const first = open(made, url);
  await until(() => first.told.length === 2);
  expect(first.told).toEqual(['began 200', 'a']);
  goOn();
  expect(await first.over).toEqual(['began 200', 'a', 'b', 'ended']);
  expect(target.requests[0]).toMatchObject({ url: '/v1/chat?x=1', body: '{}' });
  expect(target.requests[0]?.headers).toMatchObject({ host: `127.0.0.1:${target.port}`, 'content-length': '2' });
  await open(made, url).over;
  expect(target.connections).toBe(1);
  await open(made, url, { pool: 'another' }).over;
  expect(target.connections).toBe(2);
});

test('a kept connection is not used beyond its age', async () => {
  const clock = new VirtualClock();
  const target = await receiver((_request, response) => response.end('x'));
  const made = streams({ clock, maxAgeMs: 1_000 });
  const url = `http://127.0.0.1:${target.port}/`;
  await open(made, url).over;
  clock.advanceMs(900);
  await open(made, url).over;
  expect(target.connections).toBe(1);
  clock.advanceMs(200);
  await open(made, url).over;
  await open(made, url).over;
  expect(target.connections).toBe(2);
});

test('a connection made ahead is used by the first request, and none is made beside one that is kept', async () => {
  const target = await receiver((_request, response) => response.end('x'));
  const made = streams();
  const ahead = { url: `http://127.0.0.1:${target.port}/`, pool: 'one', connectMs: 2_000 };
  made.warm(ahead);
  made.warm(ahead);
  await until(() => target.connections === 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await open(made, ahead.url).over;
  made.warm(ahead);
  await open(made, ahead.url).over;
  expect(target.connections).toBe(1);
});

test('what is called off closes its connection and is told nothing more', async () => {
  let isClosed = false;
  const target = await receiver((_request, response) => {
    response.writeHead(200).write('a');
    response.on('close', () => {
      isClosed = true;
    });
  });
  const one = open(streams(), `http://127.0.0.1:${target.port}/`);
  await until(() => one.told.length === 2);
  one.callOff();
  await until(() => isClosed);
  expect(await Promise.race([one.over, Promise.resolve('nothing')])).toBe('nothing');
});

test('a kept connection that the server has closed is told apart from a server that is ill', async () => {
  const target = await receiver((request, response) => {
    if (request.url === '/ill') response.destroy();
    else if (request.url === '/cut') response.writeHead(200).write('a', () => response.destroy());
    else response.end('x');
  });
  const made = streams();
  const at = (path: string) => open(made, `http://127.0.0.1:${target.port}${path}`).over;
  expect(await at('/ill')).toEqual([expect.stringMatching(/^failed: the connection was closed without an answer/)]);
  await at('/');
  expect(await at('/ill')).toEqual([expect.stringMatching(/^failed stale: /)]);
  const cut = await at('/cut');
  expect(cut.slice(0, -1)).toEqual(['began 200', 'a']);
  expect(cut.at(-1)).toMatch(/^failed: /);
});

test('the guard judges the URL, and every address of its name', async () => {
  const made = streams({ guard: createAddressGuard([]), resolveName: () => Promise.resolve(['127.0.0.1']) });
  for (const url of ['https://127.0.0.1/', 'http://10.0.0.1/', 'https://inside.test/'])
    expect(await open(made, url).over).toEqual([expect.stringMatching(/^refused: /)]);
});

test('a connection that does not come is given up in time', async () => {
  const clock = new VirtualClock();
  const made = streams({ clock, resolveName: () => new Promise(() => {}) });
  const one = open(made, 'https://slow.test/', { connectMs: 500 });
  await new Promise((resolve) => setImmediate(resolve));
  clock.advanceMs(500);
  // The look-up itself answers no abort here, as a library of somebody else's may not.
  expect(await one.over).toEqual(['failed timeout: no connection within 500 ms']);
});

test('over TLS the name is checked', async () => {
  const target = await receiver((_request, response) => response.end('x'), true);
  const resolveName = () => Promise.resolve(['127.0.0.1']);
  const made = streams({ ca: TEST_CERTIFICATE, resolveName });
  expect(await open(made, `https://receiver.test:${target.port}/`).over).toEqual(['began 200', 'x', 'ended']);
  expect(target.requests[0]).toMatchObject({ serverName: 'receiver.test' });
  const wrong = await open(made, `https://other.test:${target.port}/`).over;
  expect(wrong).toEqual([expect.stringContaining('its certificate is for another name')]);
  const untrusted = await open(streams({ resolveName }), `https://receiver.test:${target.port}/`).over;
  expect(untrusted).toEqual([expect.stringContaining('self-signed')]);
});

test('authorities of NODE_EXTRA_CA_CERTS are trusted', async () => {
  const target = await receiver((_request, response) => response.end('x'), true);
  const folder = mkdtempSync(join(tmpdir(), 'parley-ca-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'ca.pem'), TEST_CERTIFICATE);
  const script = `import tls from 'node:tls';
    const socket = tls.connect({ host: '127.0.0.1', port: ${target.port}, servername: 'receiver.test', ALPNProtocols: ['http/1.1'] },
      () => { console.log(socket.authorized); socket.destroy(); });`;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') },
  });
  expect(stdout).toBe('true\n');
});
