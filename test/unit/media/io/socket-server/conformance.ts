/** What every `MediaSocketServer` must do; `uws-server.test.ts` and `ws-server.test.ts` run it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../../../bench/harness/free-port.ts';
import { createClientAddresses } from '../../../../../media/io/socket-server/client-address.ts';
import type {
  MediaSocket,
  MediaSocketServer,
  SendResult,
  SocketServerFactory,
  UpgradeDecision,
  UpgradeRequest,
} from '../../../../../media/io/socket-server/media-socket-server.ts';
import { eventually } from '../../../../support/eventually.ts';
import { BINARY, CLOSE, frame, PING, PONG, RawClient, TEXT } from './raw-client.ts';

interface Seen {
  socket: MediaSocket<string> | null;
  messages: { text: string; isBinary: boolean }[];
  closeCodes: number[];
  drains: number;
}

const MAX_MESSAGE_BYTES = 4096;
const MAX_BUFFERED_BYTES = 16_384;

export function runSocketServerConformance(name: string, create: SocketServerFactory): void {
  describe(`MediaSocketServer on ${name}`, () => {
    let server: MediaSocketServer;
    let port = 0;
    const seen = new Map<string, Seen>();
    const failures: unknown[] = [];
    const held: { request: UpgradeRequest; decision: UpgradeDecision<string>; wasAborted: boolean }[] = [];
    const requestedUrls: string[] = [];
    const clients: RawClient[] = [];
    let silent: RawClient;
    let headless: RawClient;
    let speechless: RawClient;

    const client = (): RawClient => {
      const one = new RawClient(port);
      clients.push(one);
      return one;
    };
    const open = async (key: string): Promise<RawClient> => {
      const one = await client().open(`/media/${key}`);
      await one.until(() => seen.get(key)?.socket != null, 'the open callback');
      return one;
    };
    const seenOf = (key: string): Seen => seen.get(key)!;

    beforeAll(async () => {
      server = create({
        maxPendingUpgrades: 3,
        callbackFailed: (error) => failures.push(error),
        request: (exchange) => {
          requestedUrls.push(exchange.url);
          exchange.respond(200, '', [['content-type', 'text/plain']], 5);
          exchange.write(Buffer.from('plain'));
          exchange.end();
        },
        routes: [
          {
            pathPrefix: '/other/',
            limits: {
              maxMessageBytes: MAX_MESSAGE_BYTES,
              maxBufferedMessageBytes: MAX_BUFFERED_BYTES,
              maxBackpressureBytes: 65_536,
              idleTimeoutSeconds: 8,
              pingsItself: true,
            },
            upgrade: (_request, decision) => void decision.accept('other'),
            open() {},
            message() {},
            drained() {},
            closed() {},
          },
          {
            pathPrefix: '/media/',
            limits: {
              maxMessageBytes: MAX_MESSAGE_BYTES,
              maxBufferedMessageBytes: MAX_BUFFERED_BYTES,
              maxBackpressureBytes: 65_536,
              idleTimeoutSeconds: 8,
              pingsItself: true,
            },
            upgrade(request, decision) {
              const key = request.path.slice('/media/'.length);
              if (key.startsWith('hold')) {
                const one = { request, decision, wasAborted: false };
                decision.onAborted = () => {
                  one.wasAborted = true;
                };
                held.push(one);
                return;
              }
              if (key === 'throws') throw new Error('hook failed');
              if (key === 'refused') {
                decision.reject(401);
                return;
              }
              seen.set(key, { socket: null, messages: [], closeCodes: [], drains: 0 });
              decision.accept(key);
            },
            open(socket) {
              seen.get(socket.data)!.socket = socket;
            },
            message(socket, message, isBinary) {
              if (socket.data === 'faulty') throw new Error('handler failed');
              seen.get(socket.data)!.messages.push({ text: Buffer.from(message).toString('latin1'), isBinary });
            },
            drained(socket) {
              seen.get(socket.data)!.drains++;
            },
            closed(socket, code) {
              seen.get(socket.data)!.closeCodes.push(code);
            },
          },
        ],
      });
      port = await server.listen('127.0.0.1', await freePort());
      // Half a message and then nothing, not even pongs: its time limit runs while the other tests do.
      silent = await open('silent');
      silent.send(frame(TEXT, 'half', { fin: false }));
      // Neither has a whole head; the one sends a line of it each second.
      speechless = client();
      headless = client();
      headless.send(Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n'));
      const drip = setInterval(() => headless.send(Buffer.from('x: y\r\n')), 1_000);
      headless.socket.on('close', () => clearInterval(drip));
    });

    afterAll(() => {
      for (const one of clients) one.destroy();
      server.close();
      server.close();
    });

    test('a text and a binary message arrive whole, with their kind', async () => {
      const one = await open('kinds');
      one.send(frame(TEXT, 'hello'));
      one.send(frame(BINARY, Buffer.from([0, 255, 128])));
      await settle(() => seenOf('kinds').messages.length === 2);
      expect(seenOf('kinds').messages).toEqual([
        { text: 'hello', isBinary: false },
        { text: '\x00\xff\x80', isBinary: true },
      ]);
    });

    test('an upgrade hook sees path, query, lower-case headers and the address, and may answer later', async () => {
      const one = client();
      one.requestUpgrade('/media/hold-1?a=b%20c', { 'X-Signature': 'Sig', 'X-Twice': 'v' });
      await settle(() => held.length === 1);
      const { request, decision } = held[0]!;
      expect(request).toMatchObject({ path: '/media/hold-1', query: 'a=b%20c', remoteAddress: '127.0.0.1' });
      expect(request.headers['x-signature']).toBe('Sig');
      seen.set('late', { socket: null, messages: [], closeCodes: [], drains: 0 });
      expect(decision.accept('late')).toBe(true);
      expect(decision.reject(401)).toBe(false);
      await one.until(() => one.httpStatus === 101, '101');
      one.send(frame(TEXT, 'after'));
      await settle(() => seenOf('late').messages.length === 1);
      expect(seenOf('late').messages[0]!.text).toBe('after');
      held.length = 0;
    });

    test('requests and upgrades have the address that a trusted proxy names; a list in several lines is one', async () => {
      const found: string[] = [];
      const trusting = create({
        maxPendingUpgrades: 3,
        callbackFailed: (error) => failures.push(error),
        addresses: createClientAddresses({ cidrs: ['127.0.0.1/32'], header: 'auto' }),
        request: (exchange) => {
          found.push(exchange.remoteAddress);
          exchange.respond(204, '', [], null);
          exchange.end();
        },
        routes: [
          {
            pathPrefix: '/media/',
            limits: {
              maxMessageBytes: 1024,
              maxBufferedMessageBytes: 1024,
              maxBackpressureBytes: 1024,
              idleTimeoutSeconds: 8,
              pingsItself: true,
            },
            upgrade(request, decision) {
              found.push(request.remoteAddress);
              decision.reject(401);
            },
            open() {},
            message() {},
            drained() {},
            closed() {},
          },
        ],
      });
      const trustingPort = await trusting.listen('127.0.0.1', await freePort());
      const list = 'X-Forwarded-For: 192.0.2.66\r\nX-FORWARDED-FOR: 2001:db8::7, 127.0.0.1\r\n';
      const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
      for (const asks of ['', `${upgrade}Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n`]) {
        const one = new RawClient(trustingPort);
        clients.push(one);
        one.socket.write(`GET /media/x HTTP/1.1\r\nHost: t\r\n${list}${asks}\r\n`);
        await one.until(() => one.httpStatus !== 0, 'an answer');
      }
      expect(found).toEqual(['2001:db8::7', '2001:db8::7']);
      trusting.close();
    });

    test('300 upgrades that are accepted late, one after the other, all stay open and carry a message', async () => {
      for (let i = 0; i < 300; i++) {
        const one = client();
        one.requestUpgrade('/media/hold-late');
        await settle(() => held.length === 1);
        await new Promise((resolve) => setTimeout(resolve, i % 3));
        const key = `late-${i}`;
        seen.set(key, { socket: null, messages: [], closeCodes: [], drains: 0 });
        held.pop()!.decision.accept(key);
        await one.until(() => one.httpStatus === 101, '101');
        one.send(frame(TEXT, 'here'));
        await settle(() => seenOf(key).messages.length === 1 || seenOf(key).closeCodes.length > 0);
        expect([i, seenOf(key).closeCodes]).toEqual([i, []]);
        if (i % 2 === 0) one.destroy();
      }
    });

    test.each(['close', 'keep-alive', 'upgraded'])(
      'a request to upgrade with "Connection: %s" is not upgraded',
      async (value) => {
        const one = client();
        one.socket.write(
          `GET /media/hold-odd HTTP/1.1\r\nHost: t\r\nConnection: ${value}\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
        );
        await one.until(() => one.httpStatus !== 0, 'an answer');
        expect(one.httpStatus).not.toBe(101);
        expect(held).toEqual([]);
      },
    );

    test('a refused upgrade answers its status, with Retry-After when given, and opens nothing', async () => {
      const refused = client();
      refused.requestUpgrade('/media/refused');
      await refused.until(() => refused.isClosed, 'the end of the connection');
      expect(refused.httpStatus).toBe(401);
      const busy = client();
      busy.requestUpgrade('/media/hold-busy');
      await settle(() => held.length === 1);
      held[0]!.decision.reject(503, 7);
      await busy.until(() => busy.httpStatus === 503, '503');
      expect(busy.httpHead.toLowerCase()).toContain('retry-after: 7');
      held.length = 0;
    });

    test('an upgrade whose client goes while the hook thinks is aborted, once, and later decisions do nothing', async () => {
      for (const leave of ['end', 'destroy'] as const) {
        const one = client();
        one.requestUpgrade('/media/hold-gone');
        await settle(() => held.length === 1);
        one.socket[leave]();
        await settle(() => held[0]!.wasAborted);
        expect(held[0]!.decision.accept('gone')).toBe(false);
        expect(held[0]!.decision.reject(401)).toBe(false);
        held.length = 0;
      }
    });

    test('a fourth upgrade while three wait is answered 503', async () => {
      const waiting = [client(), client(), client()];
      for (const one of waiting) one.requestUpgrade('/media/hold-many');
      await settle(() => held.length === 3);
      const fourth = client();
      fourth.requestUpgrade('/media/hold-many');
      await fourth.until(() => fourth.httpStatus === 503, '503');
      // Nobody at one path keeps others from another.
      await client().open('/other/free');
      for (const one of held) one.decision.reject(401);
      held.length = 0;
      const fifth = client();
      fifth.requestUpgrade('/media/refused');
      await fifth.until(() => fifth.httpStatus === 401, '401 once the others are decided');
    });

    test('a hook that throws answers 500 and reports; a handler that throws closes its socket with 1011', async () => {
      const before = failures.length;
      const thrower = client();
      thrower.requestUpgrade('/media/throws');
      await thrower.until(() => thrower.httpStatus === 500, '500');
      const faulty = await open('faulty');
      faulty.send(frame(TEXT, 'x'));
      expect(await faulty.closeCode()).toBe(1011);
      expect(failures.length - before).toBe(2);
    });

    test('an upgrade outside every path is answered 404, a plain request goes to the request handler', async () => {
      const lost = client();
      lost.requestUpgrade('/elsewhere');
      await lost.until(() => lost.httpStatus === 404, '404');
      const plain = client();
      plain.socket.write('GET /media/refused HTTP/1.1\r\nHost: test\r\n\r\n');
      await plain.until(() => plain.httpStatus === 200, '200');
      expect(plain.httpHead.toLowerCase()).toContain('content-length: 5');
    });

    test("a request's URL is handed on as it came, with its query and without one", async () => {
      for (const url of ['/plain', '/plain?a=b%20c']) {
        const one = client();
        one.socket.write(`GET ${url} HTTP/1.1\r\nHost: test\r\n\r\n`);
        await one.until(() => one.httpStatus === 200, '200');
        expect(requestedUrls.at(-1)).toBe(url);
      }
    });

    test('a message of exactly 4,096 bytes arrives; one of 4,097 is closed by us with 1009 and not delivered', async () => {
      const one = await open('limit');
      one.send(frame(TEXT, 'a'.repeat(MAX_MESSAGE_BYTES)));
      await settle(() => seenOf('limit').messages.length === 1);
      one.send(frame(TEXT, 'b'.repeat(MAX_MESSAGE_BYTES + 1)));
      one.send(frame(TEXT, 'c'));
      expect(await one.closeCode()).toBe(1009);
      expect(seenOf('limit').closeCodes).toEqual([1009]);
      expect(seenOf('limit').messages.length).toBe(1);
    });

    test('a message of 1 MB, whole or in 64 fragments, ends the socket without being delivered', async () => {
      const whole = await open('huge');
      whole.send(frame(TEXT, Buffer.alloc(1_048_576, 97)));
      expect([1009, 1006]).toContain(await whole.closeCode());
      const parts = await open('huge-parts');
      for (let i = 0; i < 64; i++) parts.send(frame(i === 0 ? TEXT : 0, Buffer.alloc(16_384, 97), { fin: i === 63 }));
      expect([1009, 1006]).toContain(await parts.closeCode());
      expect(seenOf('huge').messages.length + seenOf('huge-parts').messages.length).toBe(0);
      await settle(() => seenOf('huge').closeCodes.length === 1 && seenOf('huge-parts').closeCodes.length === 1);
    });

    test('three fragments with a ping between them make one message, and the ping is answered', async () => {
      const one = await open('fragments');
      one.send(frame(TEXT, 'one ', { fin: false }));
      one.send(frame(0, 'two ', { fin: false }));
      one.send(frame(PING, 'p'));
      one.send(frame(0, 'three'));
      await settle(() => seenOf('fragments').messages.length === 1);
      expect(seenOf('fragments').messages[0]!.text).toBe('one two three');
      expect((await one.next(PONG)).payload.toString()).toBe('p');
    });

    test('a frame that comes a byte at a time is put together', async () => {
      const one = await open('dribble');
      for (const byte of frame(TEXT, 'slow')) one.send(Buffer.from([byte]));
      await settle(() => seenOf('dribble').messages.length === 1);
      expect(seenOf('dribble').messages[0]!.text).toBe('slow');
    });

    test.each([
      ['a reserved opcode', frame(3, 'x')],
      ['a continuation without a beginning', frame(0, 'x')],
      ['a ping of 126 bytes', frame(PING, 'x'.repeat(126))],
      ['a fragmented ping', frame(PING, 'x', { fin: false })],
      ['reserved bits', Buffer.concat([Buffer.from([0xf1]), frame(TEXT, 'x').subarray(1)])],
      ['text that is no UTF-8', frame(TEXT, Buffer.from([0xc3, 0x28]))],
      ['a length of 2^60', frame(TEXT, 'x', { lieBytes: 2 ** 60 })],
    ])('%s ends that socket, delivers nothing and tells once', async (title, bytes) => {
      const what = title.replace(/\W/g, '-');
      const one = await open(what);
      one.send(bytes);
      expect([1002, 1006, 1007, 1009]).toContain(await one.closeCode());
      await settle(() => seenOf(what).closeCodes.length === 1);
      expect(seenOf(what).messages).toEqual([]);
    });

    test('the peer’s close code is told, and answered', async () => {
      const one = await open('leaving');
      one.send(frame(CLOSE, Buffer.from([0x03, 0xe8])));
      expect(await one.closeCode()).toBe(1000);
      await settle(() => seenOf('leaving').closeCodes.length === 1);
      expect(seenOf('leaving').closeCodes).toEqual([1000]);
    });

    test('a peer that is cut off is told as 1006', async () => {
      const one = await open('cut');
      one.socket.resetAndDestroy();
      await settle(() => seenOf('cut').closeCodes.length === 1);
      expect(seenOf('cut').closeCodes).toEqual([1006]);
    });

    test('our close sends code and reason, tells at once, and makes send answer dropped', async () => {
      const one = await open('closing');
      const socket = seenOf('closing').socket!;
      socket.close(4403, 'wrong call');
      expect(seenOf('closing').closeCodes).toEqual([4403]);
      expect(socket.isOpen).toBe(false);
      expect(socket.send(Buffer.from('x'), false)).toBe('dropped');
      expect(socket.bufferedBytes).toBe(0);
      socket.close(1000, 'again');
      const closing = await one.next(CLOSE);
      expect(closing.payload.readUInt16BE(0)).toBe(4403);
      expect(closing.payload.subarray(2).toString()).toBe('wrong call');
      one.send(frame(TEXT, 'too late'));
      one.destroy();
      await one.until(() => one.isClosed, 'the end');
      expect(seenOf('closing').messages).toEqual([]);
      expect(seenOf('closing').closeCodes).toEqual([4403]);
    });

    test('a sent buffer may be rewritten at once, also while it waits for a slow reader', async () => {
      const one = await open('reuse');
      const socket = seenOf('reuse').socket!;
      one.socket.pause();
      const message = Buffer.alloc(32_768);
      const results: SendResult[] = [];
      let sentMessages = 0;
      while (results.at(-1) !== 'queued' && sentMessages < 1000) {
        message.fill(sentMessages & 255);
        results.push(socket.send(message, true));
        sentMessages++;
      }
      message.fill(254);
      expect(results[0]).toBe('sent');
      expect(results.at(-1)).toBe('queued');
      expect(socket.bufferedBytes).toBeGreaterThan(0);
      one.socket.resume();
      await one.until(() => one.frames.length === sentMessages, 'all messages');
      one.frames.forEach((got, i) => {
        expect(got.payload.every((byte) => byte === (i & 255))).toBe(true);
      });
      await settle(() => seenOf('reuse').drains >= 1);
      expect(socket.bufferedBytes).toBe(0);
    });

    test('a reader that takes nothing loses its socket once more than 64 KiB wait, others are not disturbed', async () => {
      const slow = await open('slow');
      const other = await open('other');
      const socket = seenOf('slow').socket!;
      slow.socket.pause();
      const message = Buffer.alloc(32_768, 1);
      let result: SendResult = 'sent';
      for (let i = 0; i < 2000 && result !== 'dropped'; i++) result = socket.send(message, true);
      expect(result).toBe('dropped');
      await settle(() => seenOf('slow').closeCodes.length === 1);
      expect(seenOf('slow').closeCodes).toEqual([1006]);
      expect(socket.isOpen).toBe(false);
      seenOf('other').socket!.send(Buffer.from('still here'), false);
      expect((await other.next(TEXT)).payload.toString()).toBe('still here');
    });

    test('a client that sends nothing, pongs included, is pinged and then cut', async () => {
      await silent.until(() => silent.isClosed, 'the cut');
      expect(silent.frames.some((one) => one.opcode === PING)).toBe(true);
      await settle(() => seenOf('silent').closeCodes.length === 1);
      expect(seenOf('silent').closeCodes).toEqual([1006]);
      expect(seenOf('silent').messages).toEqual([]);
    });

    test('connections that bring no whole head, whether they say nothing or a line each second, are closed', async () => {
      await speechless.until(() => speechless.isClosed, 'the close of the one that says nothing');
      await headless.until(() => headless.isClosed, 'the close of the one that never ends its head');
    });

    test('after stopListening no connection is taken and open sockets go on, also when it listens again', async () => {
      const one = await open('stays');
      server.stopListening();
      const refused = client();
      await refused.until(() => refused.isClosed, 'the refusal');
      seenOf('stays').socket!.send(Buffer.from('here'), false);
      expect((await one.next(TEXT)).payload.toString()).toBe('here');
      expect(failures.length).toBe(2);
      // And it may listen once more.
      expect(await server.listen('127.0.0.1', port)).toBe(port);
      await open('comes-back');
      expect(seenOf('stays').socket!.isOpen).toBe(true);
    });
  });
}

/** Waits for what a callback on our own side will do. */
const settle = (condition: () => boolean): Promise<boolean> => eventually(String(condition), condition);
