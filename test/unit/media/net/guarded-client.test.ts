import net, { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createAddressGuard } from '../../../../media/net/address-guard.ts';
import { createGuardedClient, type GuardedClientOptions } from '../../../../media/net/guarded-client.ts';
import type { OutboundHttp, OutboundResult } from '../../../../media/net/outbound-http.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { TEST_CERTIFICATE } from './test-certificate.ts';
import { type Answer, startReceiver, type TestReceiver } from './test-receiver.ts';

const limits = { connectMs: 2_000, responseMs: 3_000, totalMs: 10_000, maxResponseBytes: 4_096 };
const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** No time passes for it, however long an answer takes, unless the test has its clock. */
function client(options: Partial<GuardedClientOptions> = {}): OutboundHttp {
  const clock = new VirtualClock();
  const made = createGuardedClient({ guard: createAddressGuard(['127.0.0.0/8']), clock, ...options });
  ends.push(() => made.close());
  return made;
}

async function receiver(answer: Answer, secure = false): Promise<TestReceiver> {
  const made = await startReceiver(answer, secure);
  ends.push(() => made.close());
  return made;
}

async function rawServer(onConnection: (socket: net.Socket) => void): Promise<number> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    ends.push(() => void socket.destroy());
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const send = (http: OutboundHttp, url: string, body = '{"a":1}'): Promise<OutboundResult> =>
  http.send({ url, method: 'POST', headers: { 'content-type': 'application/json' }, body: Buffer.from(body), limits });

/** Lets real sockets move while virtual time stands still; fails when `promise` settles in it. */
async function staysOpen(promise: Promise<unknown>): Promise<void> {
  const open = Symbol('open');
  const turn = new Promise((resolve) => setImmediate(() => setImmediate(() => resolve(open))));
  expect(await Promise.race([promise, turn])).toBe(open);
}

describe('one request', () => {
  it('arrives with its exact bytes, path, query and headers, on a connection of its own', async () => {
    const target = await receiver((_request, response) => response.writeHead(204).end());
    const http = client();
    const url = `http://127.0.0.1:${target.port}/hooks/calls?tenant=1#part`;
    const results = [await send(http, url, '{"name":"Zoë 😀"}'), await send(http, url)];
    expect(results[0]).toMatchObject({ kind: 'answered', status: 204, retryAfter: null, body: '' });
    expect(target.requests[0]).toMatchObject({ url: '/hooks/calls?tenant=1', body: '{"name":"Zoë 😀"}' });
    expect(target.requests[0]?.headers).toMatchObject({
      host: `127.0.0.1:${target.port}`,
      'content-type': 'application/json',
      'content-length': '20',
    });
    expect(target.connections).toBe(2);
  });

  it('that only asks has no body, and comes by GET', async () => {
    const target = await receiver((_request, response) => response.writeHead(200).end('{"data":[]}'));
    const url = `http://127.0.0.1:${target.port}/v1/models`;
    const asked = { url, method: 'GET', headers: { 'xi-api-key': 'k' }, body: Buffer.from('unsent'), limits } as const;
    expect(await client().send(asked)).toMatchObject({ kind: 'answered', status: 200, body: '{"data":[]}' });
    expect(target.requests).toMatchObject([{ method: 'GET', url: '/v1/models', body: '' }]);
    expect(target.requests[0]?.headers).not.toHaveProperty('content-length');
  });

  it('does not follow a redirect', async () => {
    const target = await receiver((_request, response) => response.writeHead(302, { location: '/elsewhere' }).end());
    const result = await send(client(), `http://127.0.0.1:${target.port}/`);
    expect(result).toMatchObject({ kind: 'answered', status: 302 });
    expect(target.requests).toHaveLength(1);
  });

  it('hands Retry-After on', async () => {
    const target = await receiver((_request, response) => response.writeHead(429, { 'retry-after': '7' }).end('slow'));
    const result = await send(client(), `http://127.0.0.1:${target.port}/`);
    expect(result).toMatchObject({ status: 429, retryAfter: '7', body: 'slow' });
  });

  it('keeps 4 KB of an answer that never ends, and closes the connection without waiting', async () => {
    const target = await receiver((_request, response) => {
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    });
    const result = await send(client(), `http://127.0.0.1:${target.port}/`);
    expect(result.kind === 'answered' && result.body.length).toBe(4_096);
  });

  it('reports a status that came before the connection broke', async () => {
    const target = await receiver((_request, response) => {
      response.writeHead(500, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    const result = await send(client(), `http://127.0.0.1:${target.port}/`);
    expect(result).toMatchObject({ kind: 'answered', status: 500, body: 'half' });
  });

  it.each([
    ['closes at once', (socket: net.Socket) => void socket.end(), 'closed without an answer'],
    ['resets', (socket: net.Socket) => void socket.once('data', () => socket.resetAndDestroy()), 'closed without'],
    ['speaks no HTTP', (socket: net.Socket) => void socket.end('SSH-2.0-OpenSSH\r\n'), 'not HTTP/1.1'],
    [
      'sends 64 KB of headers',
      (socket: net.Socket) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(65_536)}\r\n\r\n`),
      'headers are too large',
    ],
  ])('fails with a reason when the receiver %s', async (_what, behave, words) => {
    const port = await rawServer(behave);
    const result = await send(client(), `http://127.0.0.1:${port}/`);
    expect(result).toMatchObject({ kind: 'failed', reason: expect.stringContaining(words) });
  });

  it('fails with a reason when nothing listens', async () => {
    const port = await rawServer(() => {});
    await ends.pop()?.();
    const result = await send(client(), `http://127.0.0.1:${port}/`);
    expect(result).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('refused (ECONNREFUSED)'),
      code: 'ECONNREFUSED',
    });
  });
});

describe('the limits, on a virtual clock', () => {
  it('waits 3,000 ms for the answer of a receiver that hangs, not 2,999', async () => {
    const clock = new VirtualClock();
    const target = await receiver(() => {});
    const sent = send(client({ clock }), `http://127.0.0.1:${target.port}/`);
    await target.received(1);
    clock.advanceMs(2_999);
    await staysOpen(sent);
    clock.advanceMs(1);
    expect(await sent).toEqual({ kind: 'failed', reason: 'no answer within 3000 ms', isTimeout: true });
    expect(clock.pendingTimers).toBe(0);
  });

  it('counts an early hint as no answer', async () => {
    const clock = new VirtualClock();
    let hinted = (): void => {};
    const hint = new Promise<void>((resolve) => {
      hinted = resolve;
    });
    const target = await receiver((_request, response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' }, () => hinted());
    });
    const sent = send(client({ clock }), `http://127.0.0.1:${target.port}/`);
    await hint;
    await staysOpen(sent);
    clock.advanceMs(3_000);
    expect(await sent).toEqual({ kind: 'failed', reason: 'no answer within 3000 ms', isTimeout: true });
  });

  it('counts headers that drip in as no answer', async () => {
    const clock = new VirtualClock();
    let drip = (): void => {};
    const dripping = new Promise<void>((resolve) => {
      drip = resolve;
    });
    const port = await rawServer((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nx: ', () => drip())),
    );
    const sent = send(client({ clock }), `http://127.0.0.1:${port}/`);
    await dripping;
    clock.advanceMs(3_000);
    expect(await sent).toMatchObject({ kind: 'failed', reason: 'no answer within 3000 ms' });
  });

  it('takes the status of an answer whose body drips, 1 s after its headers', async () => {
    const clock = new VirtualClock();
    const target = await receiver((_request, response) => void response.writeHead(200).write('a'));
    const sent = send(client({ clock }), `http://127.0.0.1:${target.port}/`);
    await target.received(1);
    // The headers arrive in real time, some virtual ms after the start; from then on it is 1,000 ms.
    let settled = false;
    void sent.then(() => {
      settled = true;
    });
    while (!settled) {
      clock.advanceMs(1);
      await new Promise(setImmediate);
    }
    expect(clock.nowMs()).toBeGreaterThanOrEqual(1_000);
    expect(clock.nowMs()).toBeLessThan(3_000);
    expect(await sent).toMatchObject({ kind: 'answered', status: 200 });
  });

  it('gives a look-up that never ends 2,000 ms', async () => {
    const clock = new VirtualClock();
    const http = client({ clock, resolveName: () => new Promise(() => {}) });
    const sent = send(http, 'https://hooks.example.com/');
    await staysOpen(sent);
    clock.advanceMs(1_999);
    await staysOpen(sent);
    clock.advanceMs(1);
    expect(await sent).toEqual({ kind: 'failed', reason: 'no connection within 2000 ms', isTimeout: true });
  });

  it('gives a TLS handshake that never ends 2,000 ms', async () => {
    const clock = new VirtualClock();
    let connected = (): void => {};
    const accepted = new Promise<void>((resolve) => {
      connected = resolve;
    });
    const port = await rawServer(() => connected());
    const sent = send(client({ clock }), `https://127.0.0.1:${port}/`);
    await accepted;
    clock.advanceMs(2_000);
    expect(await sent).toEqual({ kind: 'failed', reason: 'no connection within 2000 ms', isTimeout: true });
  });

  it('gives a receiver that accepts but does not read 10,000 ms in all', async () => {
    const clock = new VirtualClock();
    let connected = (): void => {};
    const accepted = new Promise<void>((resolve) => {
      connected = resolve;
    });
    const port = await rawServer((socket) => {
      socket.pause();
      connected();
    });
    const body = 'x'.repeat(32 * 1_048_576);
    const sent = send(client({ clock }), `http://127.0.0.1:${port}/`, body);
    await accepted;
    await staysOpen(sent);
    clock.advanceMs(9_999);
    await staysOpen(sent);
    clock.advanceMs(1);
    expect(await sent).toEqual({
      kind: 'failed',
      reason: 'the request was not taken within 10000 ms',
      isTimeout: true,
    });
  });
});

describe('https', () => {
  it('checks the certificate against the name, while the pinned address is dialled', async () => {
    const target = await receiver((_request, response) => response.end(), true);
    const resolveName = async (): Promise<string[]> => ['127.0.0.1'];
    const trusting = client({ resolveName, ca: TEST_CERTIFICATE });
    expect(await send(trusting, `https://receiver.test:${target.port}/`)).toMatchObject({ status: 200 });
    expect(await send(trusting, `https://127.0.0.1:${target.port}/`)).toMatchObject({ status: 200 });
    expect(await send(trusting, `https://other.test:${target.port}/`)).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('for another name'),
    });
    expect(target.requests.map((request) => request.serverName)).toEqual(['receiver.test', false]);
  });

  it('refuses a certificate that no known authority signed', async () => {
    const target = await receiver((_request, response) => response.end(), true);
    const result = await send(client(), `https://127.0.0.1:${target.port}/`);
    expect(result).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('self-signed'),
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
    expect(target.requests).toHaveLength(0);
  });

  it('tries the next address when the first refuses, both checked', async () => {
    const target = await receiver((_request, response) => response.end());
    const http = client({ resolveName: async () => ['127.0.0.9', '127.0.0.1'] });
    expect(await send(http, `http://receiver.test:${target.port}/`)).toMatchObject({ status: 200 });
  });
});

describe('close', () => {
  it('ends what is under way, refuses what comes after, and may be called twice', async () => {
    const clock = new VirtualClock();
    const target = await receiver(() => {});
    const http = client({ clock });
    const sent = send(http, `http://127.0.0.1:${target.port}/`);
    await target.received(1);
    await http.close();
    await http.close();
    expect(await sent).toEqual({ kind: 'failed', reason: 'the service is shutting down' });
    expect((await send(http, `http://127.0.0.1:${target.port}/`)).kind).toBe('failed');
    expect(clock.pendingTimers).toBe(0);
  });
});
