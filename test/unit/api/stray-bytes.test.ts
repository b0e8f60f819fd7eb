/**
 * Bytes that no client should send, through the whole entrance: socket server, proxy and API, on both socket servers.
 * Whatever stands in path, query or headers, the answer is the client's fault (4xx) or none of it matters, never a
 * fault of ours.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../media/contract/clock.ts';
import { createHttpProxy, type HttpProxy } from '../../../media/io/http-proxy.ts';
import { RequestRoom } from '../../../media/io/request-room/request-room.ts';
import { chooseSocketServer } from '../../../media/io/socket-server/choose-server.ts';
import type { MediaSocketServer } from '../../../media/io/socket-server/media-socket-server.ts';
import { eventually } from '../../support/eventually.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';

const kinds = chooseSocketServer('auto').kind === 'uws' ? (['uws', 'ws'] as const) : (['ws'] as const);
const folder = mkdtempSync(join(tmpdir(), 'parley-stray-'));
const socketPath = join(folder, 'api.sock');
let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
  await api.app.listen({ path: socketPath });
});
afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

const STRAY: [string, Buffer][] = [
  ['UTF-8', Buffer.from('https://exämple.com', 'utf8')],
  ['UTF-8 beyond latin1', Buffer.from('https://Ωμέγα.gr', 'utf8')],
  ['latin1', Buffer.from('https://exämple.com', 'latin1')],
  ['half a character', Buffer.from([0x68, 0xc3])],
  ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe, 0x80])],
  ['DEL', Buffer.from([0x61, 0x7f])],
  ['a tab', Buffer.from('a\tb')],
];
/** uWebSockets.js takes them for half a head, and waits 10 s for the rest of it before it closes the connection. */
const HARD: [string, Buffer][] = [
  ['NUL', Buffer.from([0x61, 0x00, 0x62])],
  ['escape', Buffer.from([0x1b, 0x5b])],
];

describe.each(kinds)('stray bytes on %s', (kind) => {
  let server: MediaSocketServer;
  let proxy: HttpProxy;
  let port = 0;
  const failures: unknown[] = [];
  beforeAll(async () => {
    const budgets = { addressRequests: 100, addressBodies: 100, keyRequests: 100, bodyMs: 30_000 };
    const room = new RequestRoom({ clock: systemClock, log: pino({ level: 'silent' }), budgets });
    proxy = createHttpProxy({
      socketPath,
      maxBodyBytes: 100_000,
      room,
      headersTimeoutMs: 30_000,
      stalledLimitMs: 30_000,
    });
    server = chooseSocketServer(kind).create({
      routes: [],
      maxPendingUpgrades: 1,
      request: (exchange) => proxy.handle(exchange),
      callbackFailed: (error) => failures.push(error),
    });
    port = await server.listen('127.0.0.1', 0);
  });
  afterAll(async () => {
    server.close();
    await proxy.close();
    expect(failures).toEqual([]);
  });

  /** The status; 0 when the connection was closed without one. */
  async function send(head: (string | Buffer)[], body = ''): Promise<number> {
    const socket = connect(port, '127.0.0.1');
    let said = '';
    let isClosed = false;
    socket.on('data', (data) => {
      said += data.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      isClosed = true;
    });
    socket.write(
      Buffer.concat([...head, `Content-Length: ${body.length}\r\n\r\n`, body].map((part) => Buffer.from(part))),
    );
    const status = (): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(said)?.[1] ?? 0);
    await eventually('an answer', () => status() > 0 || isClosed);
    socket.destroy();
    return status();
  }

  const session = JSON.stringify({ publicKey: 'pk_x', agentId: 'x', parentOrigin: 'https://example.com' });
  const post = 'POST /api/embed/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

  it.each(STRAY)('%s in Origin is 4xx', async (_case, bytes) => {
    const status = await send([post, 'Origin: ', bytes, '\r\n'], session);
    expect(Math.floor(status / 100)).toBe(4);
    const preflight = await send(['OPTIONS /api/embed/session HTTP/1.1\r\nHost: x\r\nOrigin: ', bytes, '\r\n']);
    expect([2, 4]).toContain(Math.floor(preflight / 100));
  });

  const HEADERS = [
    'Authorization: Bearer ',
    'X-Request-Id: ',
    'Idempotency-Key: ',
    'User-Agent: ',
    'X-Forwarded-For: ',
  ];

  const sent = kind === 'uws' ? STRAY : [...STRAY, ...HARD];

  it.each(sent)('%s in other headers is no fault of ours', async (_case, bytes) => {
    for (const name of [...HEADERS, 'Origin: ', 'Accept: ']) {
      const key = name.startsWith('Authorization') ? '' : `Authorization: Bearer ${api.acme.key}\r\n`;
      const status = await send([`GET /api/developer/calls HTTP/1.1\r\nHost: x\r\n${key}${name}`, bytes, '\r\n']);
      expect([2, 4], `${name} ${status}`).toContain(Math.floor(status / 100));
    }
  });

  // A tab ends the path: what is left names no version of HTTP, and uWebSockets.js says so with 505.
  it.each(sent.filter(([name]) => name !== 'a tab'))(
    '%s in the path and in the query is no fault of ours',
    async (_case, bytes) => {
      const key = `Authorization: Bearer ${api.acme.key}\r\n`;
      for (const before of ['/api/developer/calls?q=', '/api/developer/calls/', '/talk/', '/']) {
        const status = await send([`GET ${before}`, bytes, ` HTTP/1.1\r\nHost: x\r\n${key}`]);
        expect([2, 4], `${before} ${status}`).toContain(Math.floor(status / 100));
      }
    },
  );

  it('escapes that are no text are 4xx or nothing found', async () => {
    const key = `Authorization: Bearer ${api.acme.key}\r\n`;
    for (const text of ['%', '%zz', '%ff', '%ed%a0%80', '%c3', '%00', '%u0000', '%2500']) {
      for (const path of [
        '/api/developer/calls?q=',
        '/api/developer/audit?action=',
        '/api/developer/calls/',
        '/talk/',
      ]) {
        const status = await send([`GET ${path}${text} HTTP/1.1\r\nHost: x\r\n${key}`]);
        expect([2, 4], `${path}${text} ${status}`).toContain(Math.floor(status / 100));
      }
    }
    expect(api.logLines.filter((line) => line.includes('request failed'))).toEqual([]);
  });
});
