/** What a socket server tells of its connections, counted by the gate that it tells it to. */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../../media/contract/clock.ts';
import { ConnectionGate } from '../../../../../media/io/request-room/connection-gate.ts';
import { chooseSocketServer } from '../../../../../media/io/socket-server/choose-server.ts';
import type { HttpExchange } from '../../../../../media/io/socket-server/http-exchange.ts';
import type { MediaSocketServer } from '../../../../../media/io/socket-server/media-socket-server.ts';
import { eventually } from '../../../../support/eventually.ts';

const kinds = chooseSocketServer('auto').kind === 'uws' ? (['uws', 'ws'] as const) : (['ws'] as const);
const PLENTY = 8;

describe.each(kinds)('connections on %s', (kind) => {
  const refused: string[] = [];
  const held: HttpExchange[] = [];
  const sockets: Socket[] = [];
  let server: MediaSocketServer;
  let gate: ConnectionGate;
  let port = 0;

  beforeAll(async () => {
    gate = new ConnectionGate({
      clock: systemClock,
      plenty: PLENTY,
      isKnown: () => false,
      refused: (address) => refused.push(address),
    });
    server = chooseSocketServer(kind).create({
      routes: [
        {
          pathPrefix: '/ws/',
          limits: {
            maxMessageBytes: 1024,
            maxBufferedMessageBytes: 2048,
            maxBackpressureBytes: 4096,
            idleTimeoutSeconds: 8,
            pingsItself: true,
          },
          upgrade: (_request, decision) => void decision.accept(null),
          open() {},
          message() {},
          drained() {},
          closed() {},
        },
      ],
      maxPendingUpgrades: 10,
      connections: gate,
      request(exchange) {
        held.push(exchange);
        if (exchange.url === '/held') return;
        exchange.respond(200, '', [], 2);
        exchange.write(Buffer.from('ok'));
        exchange.end();
      },
      callbackFailed: (error) => {
        throw error;
      },
    });
    port = await server.listen('127.0.0.1', 0);
  });

  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    gate.close();
  });

  function open(text = '', from = '127.0.0.1') {
    const socket = connect({ host: '127.0.0.1', port, localAddress: from }, () => socket.write(text));
    sockets.push(socket);
    let said = '';
    socket.on('data', (data) => {
      said += data;
    });
    socket.on('error', () => {});
    return { socket, said: () => said };
  }
  const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n`;
  const counts = (count: number): Promise<unknown> => eventually(`${count} connections`, () => gate.count === count);

  test('those that wait and those that ask count, sockets and those that went do not', async () => {
    const [one, two] = [open(), open()];
    await counts(2);
    one.socket.destroy();
    await counts(1);
    two.socket.write(get('/held'));
    await eventually('the request', () => held.length === 1);
    expect(gate.count).toBe(1);
    held[0]!.respond(200, '', [], 0);
    held[0]!.end();
    await eventually('the answer', () => two.said().includes('200'));
    expect(gate.count).toBe(1);
    two.socket.write(get('/again'));
    await eventually('the second answer', () => two.said().endsWith('ok'));
    expect(gate.count).toBe(1);
    const upgrade = 'upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n';
    const socket = open(get('/ws/a', `${upgrade}sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n`));
    await eventually('the socket', () => socket.said().includes('101'));
    expect(gate.count).toBe(1);
    const gone = open(get('/held'));
    await eventually('the held request', () => held.length === 3);
    expect(gate.count).toBe(2);
    gone.socket.destroy();
    await counts(1);
    const closing = open(get('/held'));
    await eventually('the next held request', () => held.length === 4);
    held[3]!.respondAndClose(429, [['x-error-code', 'some']], Buffer.from('no'));
    await eventually('the close', () => closing.socket.closed);
    expect(closing.said()).toMatch(/^HTTP\/1\.1 429 /);
    expect(closing.said().endsWith('no')).toBe(true);
    await counts(1);
  });

  test('one address with more than there are plenty of is refused more of them, and another one is served', async () => {
    const hostile = Array.from({ length: 20 }, () => open('', '127.0.0.2'));
    await eventually('refusals', () => refused.length >= 12);
    await eventually('their close', () => hostile.filter(({ socket }) => socket.closed).length >= 12);
    expect(new Set(refused)).toEqual(new Set(['127.0.0.2']));
    const honest = open(get('/served'));
    await eventually('the answer', () => honest.said().endsWith('ok'));
    // One by one, as clients come: each is let in and has gone before the next.
    for (let times = 0; times < 3; times++) {
      const next = open(get('/served', 'connection: close\r\n'));
      await eventually('the answer', () => next.said().endsWith('ok'));
      await eventually('the close', () => next.socket.closed);
    }
  });
});
