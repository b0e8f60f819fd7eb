import { mkdtempSync, rmSync } from 'node:fs';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../../media/contract/clock.ts';
import { VOUCHED_HEADER, vouchedByKey } from '../../../../media/contract/vouched.ts';
import { createHttpProxy, type HttpProxy } from '../../../../media/io/http-proxy.ts';
import { type RequestBudgets, RequestRoom } from '../../../../media/io/request-room/request-room.ts';
import { chooseSocketServer } from '../../../../media/io/socket-server/choose-server.ts';
import type { MediaSocketServer } from '../../../../media/io/socket-server/media-socket-server.ts';
import { eventually } from '../../../support/eventually.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

const LIMITS = { headersTimeoutMs: 30_000, stalledLimitMs: 30_000 };
const EMBED = '/api/embed/session';
const CALLBACK = '/carriers/plivo/0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11/hangup';

function roomOf(budgets: Partial<RequestBudgets> = {}, clock: Clock = systemClock): RequestRoom {
  return new RequestRoom({
    clock,
    log: pino({ level: 'silent' }),
    budgets: { addressRequests: 4, addressBodies: 3, keyRequests: 4, bodyMs: 5_000, ...budgets },
  });
}

const kinds = chooseSocketServer('auto').kind === 'uws' ? (['uws', 'ws'] as const) : (['ws'] as const);

describe.each(kinds)('the HTTP proxy on %s', (kind) => {
  const dir = mkdtempSync(join(tmpdir(), 'parley-proxy-'));
  const socketPath = join(dir, 'api.sock');
  let control: Server;
  let handler: Handler = (_req, res) => res.end();
  let server: MediaSocketServer;
  let proxy: HttpProxy;
  let room: RequestRoom;
  let port = 0;

  beforeAll(async () => {
    control = createServer((req, res) => handler(req, res));
    await new Promise<void>((resolve) => control.listen(socketPath, resolve));
    // No body grows old or is late in it, however long the machine takes.
    room = roomOf({}, new VirtualClock());
    proxy = createHttpProxy({ socketPath, maxBodyBytes: 100_000, room, ...LIMITS });
    server = chooseSocketServer(kind).create({
      routes: [],
      maxPendingUpgrades: 1,
      request: (exchange) => proxy.handle(exchange),
      callbackFailed: (error) => {
        throw error;
      },
    });
    port = await server.listen('127.0.0.1', 0);
  });

  afterAll(async () => {
    server.close();
    await proxy.close();
    room.close();
    control.closeAllConnections();
    control.close();
    rmSync(dir, { recursive: true, force: true });
  });

  function send(path: string, options: { method?: string; headers?: Record<string, string>; body?: Buffer } = {}) {
    return new Promise<Answer>((resolve, reject) => {
      const req = httpRequest(
        {
          host: '127.0.0.1',
          port,
          path,
          method: options.method ?? 'GET',
          headers: options.headers ?? {},
          agent: false,
        },
        (res) => {
          const chunks: Buffer[] = [];
          res.on('data', (chunk) => chunks.push(chunk));
          res.on('end', () =>
            resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks) }),
          );
          res.on('error', reject);
        },
      );
      req.on('error', reject);
      req.end(options.body);
    });
  }

  function raw(text: string) {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let said = '';
    socket.on('data', (data) => {
      said += data;
    });
    socket.on('error', () => {});
    return { socket, said: () => said, isClosed: () => socket.closed };
  }

  test('passes method, path, query, body and end-to-end headers, and names the client', async () => {
    let seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string } | null = null;
    handler = (req, res) => {
      let body = '';
      req.on('data', (chunk) => {
        body += chunk;
      });
      req.on('end', () => {
        seen = { method: req.method!, url: req.url!, headers: req.headers, body };
        res.writeHead(201, { 'x-answer': 'yes', 'set-cookie': ['a=1', 'b=2'] });
        res.end('made');
      });
    };
    const answer = await send('/api/outbound-call?x=%20y&x=2', {
      method: 'POST',
      headers: {
        host: 'calls.example',
        authorization: 'Bearer k',
        connection: 'close, x-hop',
        'x-hop': 'stays here',
        te: 'trailers',
        'x-forwarded-for': '203.0.113.9',
      },
      body: Buffer.from('{"to":"+1"}'),
    });
    expect(answer.status).toBe(201);
    expect(answer.body.toString()).toBe('made');
    expect(answer.headers['x-answer']).toBe('yes');
    expect(answer.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(seen).toMatchObject({ method: 'POST', url: '/api/outbound-call?x=%20y&x=2', body: '{"to":"+1"}' });
    expect(seen!.headers).toMatchObject({
      host: 'calls.example',
      authorization: 'Bearer k',
      'content-length': '11',
      'x-forwarded-for': '127.0.0.1',
    });
    expect(seen!.headers).not.toHaveProperty('x-hop');
    expect(seen!.headers).not.toHaveProperty('te');
  });

  test('what a client claims of itself does not reach control, not even by naming our header as its own', async () => {
    let headers: IncomingMessage['headers'] = {};
    handler = (req, res) => {
      headers = req.headers;
      res.end();
    };
    const forged = {
      'x-forwarded-for': '203.0.113.9, 203.0.113.10',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'evil.example',
      forwarded: 'for=203.0.113.9;host=evil.example',
    };
    await send('/', { headers: { ...forged, connection: 'close, x-forwarded-for' } });
    expect(headers['x-forwarded-for']).toBe('127.0.0.1');
    for (const name of ['x-forwarded-proto', 'x-forwarded-host', 'forwarded']) expect(headers).not.toHaveProperty(name);
  });

  test('server-sent events arrive one by one, each before the next is sent, and our leaving reaches control', async () => {
    let stream: ServerResponse | null = null;
    let wasLeft = false;
    handler = (_req, res) => {
      stream = res;
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: 0\n\n');
      res.on('close', () => {
        wasLeft = true;
      });
    };
    await new Promise<void>((resolve, reject) => {
      const req = httpRequest({ host: '127.0.0.1', port, path: '/events', agent: false }, (res) => {
        let count = 0;
        expect(res.headers['content-type']).toBe('text/event-stream');
        res.on('data', (chunk: Buffer) => {
          expect(chunk.toString()).toBe(`data: ${count}\n\n`);
          count++;
          if (count < 5) stream!.write(`data: ${count}\n\n`);
          else req.destroy();
        });
        res.on('close', resolve);
        res.on('error', () => {});
      });
      req.on('error', reject);
      req.end();
    });
    await settle(() => wasLeft && proxy.inFlight === 0);
  });

  test('2 MB with a length and 2 MB without one arrive whole through a reader that pauses', async () => {
    const body = Buffer.alloc(2_000_000);
    for (let i = 0; i < body.length; i++) body[i] = (i * 31) & 255;
    for (const withLength of [true, false]) {
      handler = (_req, res) => {
        if (withLength) res.setHeader('content-length', body.length);
        res.write(body);
        res.end();
      };
      const got = await new Promise<{ length: string | undefined; body: Buffer }>((resolve, reject) => {
        httpRequest({ host: '127.0.0.1', port, path: '/big', agent: false }, (res) => {
          const chunks: Buffer[] = [];
          let wasPaused = false;
          res.on('data', (chunk: Buffer) => {
            chunks.push(chunk);
            if (wasPaused) return;
            wasPaused = true;
            res.pause();
            setTimeout(() => res.resume(), 50);
          });
          res.on('end', () => resolve({ length: res.headers['content-length'], body: Buffer.concat(chunks) }));
          res.on('error', reject);
        })
          .on('error', reject)
          .end();
      });
      expect(got.body.equals(body)).toBe(true);
      expect(got.length).toBe(withLength ? '2000000' : undefined);
    }
  });

  test('a reader that stops holds control back: of 64 MB it is let go of less than 24', async () => {
    const chunk = Buffer.alloc(65_536, 7);
    const total = 1024;
    for (const withLength of [true, false]) {
      let written = 0;
      handler = (_req, res) => {
        if (withLength) res.setHeader('content-length', chunk.length * total);
        const go = (): void => {
          while (written < total) {
            written++;
            if (!res.write(chunk)) {
              res.once('drain', go);
              return;
            }
          }
          res.end();
        };
        written = 0;
        go();
      };
      await new Promise<void>((resolve, reject) => {
        httpRequest({ host: '127.0.0.1', port, path: '/huge', agent: false }, (res) => {
          res.pause();
          let gotBytes = 0;
          void atRest(() => written).then(() => {
            expect(written * chunk.length).toBeLessThan(24_000_000);
            res.on('data', (data: Buffer) => {
              gotBytes += data.length;
            });
            res.on('end', () => {
              expect(gotBytes).toBe(chunk.length * total);
              resolve();
            });
            res.resume();
          }, reject);
          res.on('error', reject);
        })
          .on('error', reject)
          .end();
      });
    }
  });

  test('HEAD keeps the length without a body; 204 and 304 have neither', async () => {
    handler = (_req, res) => {
      res.setHeader('content-length', 1234);
      res.end();
    };
    const head = await send('/file', { method: 'HEAD' });
    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, '1234', 0]);
    for (const status of [204, 304]) {
      handler = (_req, res) => {
        res.writeHead(status);
        res.end();
      };
      const answer = await send('/none');
      expect([answer.status, answer.body.length]).toEqual([status, 0]);
    }
  });

  test('an empty body of known length is answered as such', async () => {
    handler = (_req, res) => {
      res.setHeader('content-length', 0);
      res.end();
    };
    const answer = await send('/empty');
    expect([answer.status, answer.headers['content-length'], answer.body.length]).toEqual([200, '0', 0]);
  });

  test('a body of 100,001 bytes is 413 in the envelope, announced or in chunks, and control goes on', async () => {
    handler = (req, res) => {
      req.resume();
      req.on('end', () => res.end('ok'));
      req.on('error', () => {});
    };
    const announced = await send('/', { method: 'POST', body: Buffer.alloc(100_001) });
    expect(announced.status).toBe(413);
    expect(JSON.parse(announced.body.toString())).toEqual({ success: false, message: 'Request body too large' });
    const chunked = await send('/', {
      method: 'POST',
      headers: { 'transfer-encoding': 'chunked' },
      body: Buffer.alloc(100_001),
    });
    expect(chunked.status).toBe(413);
    const fits = await send('/', {
      method: 'POST',
      headers: { 'transfer-encoding': 'chunked' },
      body: Buffer.alloc(100_000),
    });
    expect([fits.status, fits.body.toString()]).toEqual([200, 'ok']);
    await settle(() => proxy.inFlight === 0);
  });

  test("two lengths, and CONNECT, are the client's fault: never 500, and never passed on", async () => {
    let seen = 0;
    handler = (_req, res) => {
      seen++;
      res.end();
    };
    for (const text of [
      'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!',
      'CONNECT /a HTTP/1.1\r\nHost: x\r\n\r\n',
    ]) {
      const said = await new Promise<string>((resolve) => {
        let answer = '';
        const socket = connect(port, '127.0.0.1', () => socket.write(text));
        socket.on('data', (chunk) => {
          answer += chunk;
          socket.end();
        });
        socket.on('error', () => {});
        socket.on('close', () => resolve(answer));
      });
      // Node's own server closes on CONNECT without a word.
      expect(said).toMatch(/^(HTTP\/1\.1 400 |$)/);
    }
    expect(seen).toBe(0);
  });

  test('a fifth request of an address while four wait is 429 with Retry-After; a probe and a callback go on', async () => {
    const waiting: ServerResponse[] = [];
    handler = (req, res) => {
      if (req.url === '/') waiting.push(res);
      else res.end();
    };
    const four = [send('/'), send('/'), send('/'), send('/')];
    await settle(() => waiting.length === 4);
    const fifth = await send('/', { headers: { 'x-request-id': 'mine' } });
    const { status, headers } = fifth;
    expect([status, headers['retry-after'], headers['x-error-code']]).toEqual([429, '1', 'open_requests_limit']);
    expect(headers['x-request-id']).toBe('mine');
    expect(fifth.body.toString()).toBe('{"success":false,"message":"Too many requests"}');
    const developer = await send('/api/developer/calls');
    const { code, details, message } = JSON.parse(developer.body.toString());
    expect([code, details, message]).toEqual(['open_requests_limit', [], 'Too many requests']);
    const placement = await send('/api/outbound-call', { method: 'POST' });
    expect(placement.body.toString()).toBe('{"success":false,"message":"Carrier rate limit exceeded"}');
    expect((await send('/livez')).status).toBe(200);
    expect((await send(CALLBACK)).status).toBe(200);
    for (const res of waiting) res.end();
    expect((await Promise.all(four)).map((one) => one.status)).toEqual([200, 200, 200, 200]);
  });

  test('event streams give their place to requests, and a key that control vouches for has room of its own', async () => {
    const open: ServerResponse[] = [];
    handler = (req, res) => {
      if (req.headers.authorization === 'Bearer right') res.setHeader(VOUCHED_HEADER, vouchedByKey('acme'));
      if (req.url === '/events') res.setHeader('content-type', 'text/event-stream; charset=utf-8');
      if (req.url !== '/now') open.push(res);
      if (req.url === '/events') res.write(':');
      if (req.url === '/now') res.end();
    };
    const first = await send('/now', { headers: { authorization: 'Bearer right' } });
    expect([first.status, first.headers[VOUCHED_HEADER]]).toEqual([200, undefined]);
    const streams: Promise<Answer>[] = [];
    for (let at = 1; at <= 6; at++) {
      streams.push(send('/events'));
      await settle(() => room.inUse().stream === at);
    }
    const four = [send('/'), send('/'), send('/'), send('/')];
    await settle(() => room.inUse().request === 4);
    expect((await send('/now')).status).toBe(429);
    expect((await send('/now', { headers: { authorization: 'Bearer wrong' } })).status).toBe(429);
    expect((await send('/now', { headers: { authorization: 'Bearer right' } })).status).toBe(200);
    for (const res of open) res.end();
    await Promise.all([...streams, ...four]);
    await settle(() => proxy.inFlight === 0 && room.inUse().stream === 0 && room.inUse().request === 0);
  });

  test('the body of an embed session or a callback reaches control whole or not at all, and takes no place before', async () => {
    const seen: string[] = [];
    handler = (req, res) => {
      let body = '';
      req.on('data', (chunk) => {
        body += chunk;
      });
      req.on('end', () => {
        seen.push(`${req.headers['content-length']} ${body}`);
        res.end();
      });
    };
    const slow = Array.from({ length: 3 }, () =>
      raw(`POST ${EMBED} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{`),
    );
    await settle(() => room.openBodies() === 3);
    expect([seen, room.inUse().request]).toEqual([[], 0]);
    // The address has as many as it may, all of them just begun; a page can read why.
    const refused = await send(EMBED, {
      method: 'POST',
      headers: { origin: 'https://a.example' },
      body: Buffer.from('{}'),
    });
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([429, 'https://a.example']);
    expect(refused.body.toString()).toBe('{"success":false,"message":"Too many sessions"}');
    expect((await send(CALLBACK, { method: 'POST', body: Buffer.from('a=b') })).status).toBe(200);
    for (const one of slow) one.socket.write('"a":"b"}');
    await settle(() => seen.length === 4);
    expect(seen).toEqual(['3 a=b', ...new Array<string>(3).fill('9 {"a":"b"}')]);
    for (const one of slow) one.socket.destroy();
    const chunked = { 'transfer-encoding': 'chunked' };
    expect((await send(EMBED, { method: 'POST', headers: chunked, body: Buffer.from('{"c":1}') })).status).toBe(200);
    expect(seen.at(-1)).toBe('7 {"c":1}');
    expect((await send(CALLBACK, { method: 'POST', headers: chunked, body: Buffer.alloc(65_537) })).status).toBe(413);
    await settle(() => proxy.inFlight === 0);
    expect(seen).toHaveLength(5);
  });

  test('a body that does not come on in time is answered 408, and its connection closed', async () => {
    const clock = new VirtualClock();
    const strict = roomOf({ bodyMs: 1_000 }, clock);
    const hasty = createHttpProxy({ socketPath, maxBodyBytes: 100_000, room: strict, ...LIMITS });
    const unhurried = proxy;
    proxy = hasty;
    let begun = 0;
    let aborted = 0;
    handler = (req) => {
      begun++;
      req.on('error', () => {});
      req.on('close', () => aborted++);
    };
    try {
      // The first is gathered here, and control never hears of it.
      for (const [path, told] of [[EMBED, 0] as const, ['/streamed', 1] as const]) {
        const one = raw(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{`);
        await settle(() => strict.openBodies() === 1 && begun === told);
        clock.advanceMs(900);
        expect(strict.openBodies()).toBe(1);
        clock.advanceMs(400);
        await settle(() => one.isClosed());
        expect(one.said()).toMatch(/^HTTP\/1\.1 408 /);
        expect(one.said()).toMatch(/\r\nx-error-code: body_too_slow\r\n/i);
      }
      await settle(() => hasty.inFlight === 0 && aborted === 1);
    } finally {
      proxy = unhurried;
      await hasty.close();
      strict.close();
    }
  });

  test('a client that takes nothing of its answer for 200 ms is cut, and its place is free; one that is sent nothing is not', async () => {
    const strict = roomOf();
    const hasty = createHttpProxy({ socketPath, maxBodyBytes: 100_000, room: strict, ...LIMITS, stalledLimitMs: 200 });
    const unhurried = proxy;
    proxy = hasty;
    const quiet: ServerResponse[] = [];
    let letGo = 0;
    handler = (req, res) => {
      res.on('close', () => letGo++);
      if (req.url === '/quiet') {
        res.write('wait');
        quiet.push(res);
      } else res.end(Buffer.alloc(64_000_000));
    };
    try {
      const patient = send('/quiet');
      const stalling = connect(port, '127.0.0.1', () => stalling.write('GET /big HTTP/1.1\r\nhost: x\r\n\r\n'));
      stalling.on('error', () => {});
      stalling.pause();
      await settle(() => letGo === 1 && hasty.inFlight === 1 && strict.inUse().request === 1);
      quiet[0]!.end();
      expect((await patient).body.toString()).toBe('wait');
      stalling.destroy();
    } finally {
      proxy = unhurried;
      await hasty.close();
      strict.close();
    }
  });

  test('control dying within an answer cuts the client; before it, GET is 503 and POST is 500, never a call to retry', async () => {
    handler = (_req, res) => {
      res.writeHead(200, { 'content-length': 10 });
      res.write('half');
      setImmediate(() => res.destroy());
    };
    await expect(send('/')).rejects.toThrow();
    handler = (req) => {
      req.resume();
      req.on('end', () => req.socket.destroy());
    };
    expect((await send('/')).status).toBe(503);
    const posted = await send('/', { method: 'POST', body: Buffer.from('x') });
    expect([posted.status, posted.headers['x-error-code']]).toEqual([500, 'internal_error']);
    await settle(() => proxy.inFlight === 0);
  });

  test('a request that gets no answer and moves no further is 500 when its 200 ms are over, and is forgotten', async () => {
    const hasty = createHttpProxy({ socketPath, maxBodyBytes: 100_000, room, ...LIMITS, headersTimeoutMs: 200 });
    const unhurried = proxy;
    proxy = hasty;
    try {
      const startedAtMs = performance.now();
      const client = connect({ host: '127.0.0.1', port });
      client.write('POST /half HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf.');
      const answer = await new Promise<string>((resolve) => client.once('data', (data) => resolve(String(data))));
      client.destroy();
      expect(answer).toContain('500');
      expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(199);
      await settle(() => hasty.inFlight === 0);
    } finally {
      proxy = unhurried;
      await hasty.close();
    }
  });

  test('control away is the 503 envelope, also for a POST, and it serves again when control is back', async () => {
    await new Promise<void>((resolve) => {
      control.close(() => resolve());
      control.closeAllConnections();
    });
    const away = await send('/api/outbound-call', { method: 'POST', body: Buffer.from('{}') });
    expect(away.status).toBe(503);
    expect(away.body.toString()).toBe('{"success":false,"message":"Service temporarily unavailable"}');
    expect([away.headers['x-error-code'], away.headers['retry-after']]).toEqual(['draining', '1']);
    handler = (_req, res) => res.end('back');
    await new Promise<void>((resolve) => control.listen(socketPath, resolve));
    expect((await send('/')).body.toString()).toBe('back');
  });
});

/** Resolves when this number has stayed the same for 100 turns of the loop that client, proxy and control share. */
async function atRest(of: () => number): Promise<void> {
  let known = of();
  for (let turns = 0; turns < 100; turns++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (of() === known) continue;
    known = of();
    turns = 0;
  }
}

/** Waits for what a callback on our own side will do. */
const settle = (condition: () => boolean): Promise<boolean> => eventually(String(condition), condition);
