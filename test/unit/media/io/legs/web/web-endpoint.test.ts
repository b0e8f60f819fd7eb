/**
 * `/ws/live` on both socket servers, with a control that is a function: who is let in, who is told what, and what a
 * socket may not do.
 */
import { connect } from 'node:net';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { LiveClient, type LiveClientOptions } from '../../../../../../bench/live-client/live-client.ts';
import type { ClaimAnswer, ClaimRequest, ToControl } from '../../../../../../media/contract/link-messages.ts';
import { LIVE_CLOSE_CODES, type LiveErrorCode } from '../../../../../../media/contract/live-session.ts';
import { CallRegistry } from '../../../../../../media/io/call-registry.ts';
import { FrameClock } from '../../../../../../media/io/frame-clock.ts';
import { createWebEndpoint } from '../../../../../../media/io/legs/web/web-endpoint.ts';
import type {
  MediaSocketServer,
  SocketServerFactory,
} from '../../../../../../media/io/socket-server/media-socket-server.ts';
import { loadUws } from '../../../../../../media/io/socket-server/uws-server.ts';
import { createWsServer } from '../../../../../../media/io/socket-server/ws-server.ts';
import { toneSetup } from '../../../../../support/tone-setup.ts';
import { VirtualClock } from '../../../../../support/virtual-clock.ts';

const ORIGIN = 'https://example.com';
const uws = loadUws();
const servers: [string, SocketServerFactory][] = [['ws', createWsServer]];
if (uws.ok) servers.push(['uws', uws.create]);

describe.each(servers)('/ws/live on %s', (_name, create) => {
  let server: MediaSocketServer;
  let baseUrl = '';
  let port = 0;
  const failures: unknown[] = [];
  const told: ToControl[] = [];
  const claims: ClaimRequest[] = [];
  let calls = 0;
  // No session is late, or stalled, because the machine is slow.
  const clock = new VirtualClock();
  const registry = new CallRegistry({
    capacityCalls: 1000,
    clock,
    frameClock: new FrameClock({
      clock,
      afterTick: () => {},
    }),
    pool: {
      place: (_setup: unknown, _block: unknown, listener: { closed(lost: boolean): void }) => ({
        fed() {},
        command() {},
        stop: () => listener.closed(false),
      }),
    } as never,
    recorder: { open() {}, close() {} } as never,
    // A fault in a session's own path.
    log: pino({ level: 'error' }, { write: (line) => failures.push(line) }),
    toControl: (message) => told.push(message),
  });

  async function claim(request: ClaimRequest): Promise<ClaimAnswer> {
    claims.push(request);
    const { token } = request;
    if (token.startsWith('no:'))
      return { ok: false, httpStatus: 401, why: 'a test', code: token.slice(3) as LiveErrorCode };
    const callUuid = `00000000-0000-7000-8000-${String(++calls).padStart(12, '0')}`;
    return {
      ok: true,
      setup: toneSetup({
        callUuid,
        carrier: 'web',
        carrierCallId: null,
        maxDurationMs: 900_000,
        record: false,
        web: { origin: ORIGIN, resumeKeyHex: 'ab'.repeat(32), maxSessionSeconds: 900, resumed: null },
      }),
    };
  }

  beforeAll(async () => {
    server = create({
      routes: [
        createWebEndpoint({
          registry,
          link: { claim },
          log: pino({ level: 'silent' }),
          clock,
          toControl: (message) => told.push(message),
          refused() {},
        }),
      ],
      request: (exchange) => {
        exchange.respond(404, '', [], 0);
        exchange.end();
      },
      maxPendingUpgrades: 100,
      callbackFailed: (error) => failures.push(error),
    });
    port = await server.listen('127.0.0.1', 0);
    baseUrl = `http://127.0.0.1:${port}`;
  });
  afterAll(() => {
    registry.stopAll();
    server.close();
    expect(failures).toEqual([]);
  });

  const open = (change: Partial<LiveClientOptions> = {}): LiveClient =>
    new LiveClient({ baseUrl, token: 'good', parentOrigin: ORIGIN, ...change });

  it.each(Object.entries(LIVE_CLOSE_CODES).filter(([code]) => code !== 'message_too_big'))(
    'a refusal for %s is one error message and close %i',
    async (code, closeCode) => {
      const client = open({ token: `no:${code}` });
      expect(await client.closed).toBe(closeCode);
      expect(client.messages).toMatchObject([{ type: 'error', code, fatal: true }]);
    },
  );

  it.each([
    ['no token', '/ws/live?parentOrigin=x'],
    ['no query', '/ws/live'],
    ['two tokens', '/ws/live?token=good&token=good&parentOrigin=https://example.com'],
    ['a token of 5000 characters', `/ws/live?token=${'x'.repeat(3500)}${'y'.repeat(1500)}`],
  ])('%s is refused', async (_case, path) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
    const code = await new Promise((done) => {
      socket.on('close', done);
      socket.on('error', () => done(0));
    });
    // A header line this long may be more than the HTTP parser takes at all.
    expect([4401, 0]).toContain(code);
  });

  it.each(['/ws/', '/ws/live/', '/ws/liver', '/ws/live/x', '/ws/LIVE'])('%s is no path', async (path) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}?token=good`);
    const error = await new Promise<Error>((done) => socket.on('error', done));
    expect(error.message).toContain('404');
  });

  it('tells control that a session is over before its socket is closed, and its last word after that', async () => {
    const client = open();
    const { callUuid } = await client.waitForType('session.ready');
    const atClose = client.closed.then(() => told.filter((one) => 'callUuid' in one && one.callUuid === callUuid));
    client.send({ type: 'session.end' });
    const ends = (await atClose).filter(({ type }) => type === 'web.ended' || type === 'media.stopped');
    expect(ends).toMatchObject([{ type: 'web.ended', why: 'socket_closed' }, { type: 'media.stopped' }]);
  });

  it('hands control the upgrade request: parentOrigin, Origin, address', async () => {
    const client = open({ origin: null });
    await client.waitForType('session.ready');
    expect(claims.at(-1)).toMatchObject({
      carrier: 'web',
      token: 'good',
      live: { parentOrigin: ORIGIN, origin: null, remoteAddress: '127.0.0.1' },
    });
    client.close();
  });

  it.each(['chat', 'chat, superchat', 'a"b', ',,,', 'x'.repeat(2000)])(
    'a subprotocol "%.20s" is not agreed to, and breaks nothing',
    async (protocol) => {
      const answer = await new Promise<string>((done) => {
        const socket = connect(port, '127.0.0.1', () =>
          socket.write(
            `GET /ws/live?token=good&parentOrigin=${ORIGIN} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`,
          ),
        );
        socket.once('data', (data) => {
          done(data.toString('latin1'));
          socket.destroy();
        });
        socket.on('error', () => done(''));
      });
      expect(answer).toMatch(/^HTTP\/1\.1 (101|400) /);
      expect(answer.toLowerCase()).not.toContain('\r\nsec-websocket-protocol:');
    },
  );

  it('closes with 1009 at 64 KB and one byte of text, and at 8 KB and one of sound; not below', async () => {
    for (const [message, code] of [
      [`{"type":"x","y":"${'z'.repeat(64 * 1024)}"}`, 1009],
      [new Uint8Array(8 * 1024 + 1), 1009],
    ] as const) {
      const client = open();
      await client.waitForType('session.ready');
      client.sendRaw(message);
      expect(await client.closed).toBe(code);
    }
    const client = open();
    await client.waitForType('session.ready');
    client.sendRaw(`{"type":"x","y":"${'z'.repeat(60 * 1024)}"}`);
    client.sendRaw(new Uint8Array(8 * 1024));
    client.send({ type: 'ping', id: 1 });
    await client.waitForType('pong');
    client.close();
  });

  it('gives the session back to a resume token, once, and to nobody of another origin', async () => {
    const client = open();
    const { resumeToken, callUuid } = await client.waitForType('session.ready');
    client.cut();
    await client.closed;
    const foreign = open({ token: resumeToken, parentOrigin: 'https://evil.com', start: null });
    expect(await foreign.closed).toBe(4403);
    const next = open({ token: resumeToken, start: null });
    await next.waitForType('welcome');
    next.send({ type: 'session.resume', lastOrdinal: 0 });
    expect(await next.waitForType('session.ready')).toMatchObject({ callUuid, resumed: true });
    next.send({ type: 'ping', id: 1 });
    await next.waitForType('pong');
    const claimed = claims.length;
    const again = open({ token: resumeToken, start: null });
    await again.waitForType('welcome');
    // Not ours any more: control is asked, which here says yes to everything.
    expect(claims.length).toBe(claimed + 1);
    again.close();
    next.send({ type: 'session.end' });
    expect(await next.closed).toBe(1000);
  });

  it('ends in order: session.ended, 1000, and media.stopped to control', async () => {
    const client = open();
    const { callUuid } = await client.waitForType('session.ready');
    client.send({ type: 'session.end' });
    expect(await client.closed).toBe(1000);
    expect(client.messages.at(-1)).toMatchObject({ type: 'session.ended', reason: 'user_hangup', callUuid });
    expect(told.filter((one) => 'callUuid' in one && one.callUuid === callUuid).map(({ type }) => type)).toEqual([
      'web.session',
      'media.started',
      'web.ended',
      'media.stopped',
    ]);
  });
});
