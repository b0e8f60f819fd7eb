import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createAddressGuard } from '../../../../media/net/address-guard.ts';
import {
  type GuardedSocketDeps,
  openGuardedSocket,
  type SocketEnd,
  type SocketRequest,
} from '../../../../media/net/guarded-socket.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from './test-certificate.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

async function server(onSocket: (socket: WebSocket) => void, secure = false) {
  const plain = secure
    ? https.createServer({ cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY })
    : http.createServer();
  const sockets = new WebSocketServer({ noServer: true });
  const seen: { url: string; authorization: string | undefined }[] = [];
  plain.on('upgrade', (request, socket, head) => {
    seen.push({ url: request.url ?? '', authorization: request.headers.authorization });
    if (request.url === '/no') {
      socket.end('HTTP/1.1 401 Unauthorized\r\nRetry-After: 7\r\nContent-Length: 7\r\n\r\nbad key');
    } else sockets.handleUpgrade(request, socket, head, onSocket);
  });
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    for (const client of sockets.clients) client.terminate();
    plain.close();
  });
  return { port: (plain.address() as AddressInfo).port, seen };
}

/** No time passes for it, however long a connection takes, unless the test has its clock. */
function open(url: string, deps: Partial<GuardedSocketDeps> = {}, change: Partial<SocketRequest> = {}) {
  const told: string[] = [];
  let tellOver = (_end: SocketEnd): void => {};
  const over = new Promise<SocketEnd>((resolve) => {
    tellOver = resolve;
  });
  const request = { url, headers: { authorization: 'Token k' }, connectMs: 2_000, maxMessageBytes: 100 };
  const socket = openGuardedSocket(
    { ...request, maxUnsentBytes: 1_000_000, ...change },
    { guard: createAddressGuard(['127.0.0.0/8']), clock: new VirtualClock(), ...deps },
    {
      opened: () => told.push('opened'),
      message: (data, isBinary) => told.push(isBinary ? `${data.length} bytes` : data.toString()),
      over: tellOver,
    },
  );
  ends.push(() => socket.terminate());
  return { socket, told, over };
}

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1));
};

test('opens before its first message, takes both kinds, closes in order', async () => {
  const heard: string[] = [];
  const { port, seen } = await server((socket) => {
    socket.send('at once');
    socket.on('message', (data, isBinary) => {
      heard.push(`${isBinary} ${(data as Buffer).length}`);
      socket.send(data, { binary: isBinary });
    });
  });
  const { socket, told, over } = open(`ws://127.0.0.1:${port}/v1?model=x`);
  expect(socket.send('too early')).toBe(false);
  await until(() => told.length === 2);
  expect(told).toEqual(['opened', 'at once']);
  expect([socket.send(new Uint8Array(3)), socket.send('text')]).toEqual([true, true]);
  await until(() => told.length === 4);
  expect([told.slice(2), heard]).toEqual([
    ['3 bytes', 'text'],
    ['true 3', 'false 4'],
  ]);
  expect(seen).toEqual([{ url: '/v1?model=x', authorization: 'Token k' }]);
  socket.close();
  expect(await over).toMatchObject({ kind: 'closed', code: 1000 });
  expect(socket.send('too late')).toBe(false);
});

test('a server that refuses, breaks, closes or says too much is told apart', async () => {
  const { port } = await server((socket) => {
    socket.on('message', (data) => {
      if (String(data) === 'break') socket.terminate();
      else if (String(data) === 'close') socket.close(4001, 'no more');
      else socket.send('x'.repeat(200));
    });
  });
  const refused = await open(`ws://127.0.0.1:${port}/no`).over;
  expect(refused).toMatchObject({ kind: 'failed', status: 401, retryAfter: '7', body: 'bad key' });
  const after = async (word: string): Promise<SocketEnd> => {
    const one = open(`ws://127.0.0.1:${port}/`);
    await until(() => one.told.length === 1);
    one.socket.send(word);
    return one.over;
  };
  expect(await after('break')).toMatchObject({ kind: 'failed', isTimeout: false });
  expect(await after('close')).toEqual({ kind: 'closed', code: 4001, reason: 'no more' });
  expect(await after('more')).toMatchObject({ kind: 'failed', reason: expect.stringContaining('payload') });
});

test('the guard judges the URL and every address; the certificate is for the name', async () => {
  const { port } = await server(() => {}, true);
  const strict = { guard: createAddressGuard([]), resolveName: () => Promise.resolve(['10.0.0.1']) };
  for (const url of ['wss://127.0.0.1/', 'ws://192.0.2.1/', 'wss://inside.test/', 'ftp://inside.test/'])
    expect(await open(url, strict).over).toMatchObject({ kind: 'refused' });
  const pinned = { ca: TEST_CERTIFICATE, resolveName: () => Promise.resolve(['127.0.0.1']) };
  const right = open(`wss://receiver.test:${port}/`, pinned);
  await until(() => right.told.length === 1);
  expect(await open(`wss://other.test:${port}/`, pinned).over).toMatchObject({
    reason: expect.stringContaining('its certificate is for another name'),
  });
});

test('a connection that does not come is given up in time; one that was terminated tells nothing', async () => {
  const clock = new VirtualClock();
  const never = { clock, resolveName: () => new Promise<never>(() => {}) };
  const slow = open('wss://slow.test/', never, { connectMs: 500 });
  const gone = open('wss://slow.test/', never, { connectMs: 500 });
  gone.socket.terminate();
  clock.advanceMs(500);
  expect(await slow.over).toEqual({ kind: 'failed', reason: 'no connection within 500 ms', isTimeout: true });
  expect(await Promise.race([gone.over, Promise.resolve('nothing')])).toBe('nothing');
});
