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
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHttpProxy, type HttpProxy } from '../../../../media/io/http-proxy.ts';
import { chooseSocketServer } from '../../../../media/io/socket-server/choose-server.ts';
import type { MediaSocketServer } from '../../../../media/io/socket-server/media-socket-server.ts';

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

const kinds = chooseSocketServer('auto').kind === 'uws' ? (['uws', 'ws'] as const) : (['ws'] as const);

describe.each(kinds)('the HTTP proxy on %s', (kind) => {
  const dir = mkdtempSync(join(tmpdir(), 'parley-proxy-'));
  const socketPath = join(dir, 'api.sock');
  let control: Server;
  let handler: Handler = (_req, res) => res.end();
  let server: MediaSocketServer;
  let proxy: HttpProxy;
  let port = 0;

  beforeAll(async () => {
    control = createServer((req, res) => handler(req, res));
    await new Promise<void>((resolve) => control.listen(socketPath, resolve));
    proxy = createHttpProxy({ socketPath, maxBodyBytes: 100_000, maxInFlight: 4, headersTimeoutMs: 30_000 });
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

  test('passes method, path, query, body and end-to-end headers, and names client, scheme and host', async () => {
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
      'x-forwarded-for': '203.0.113.9, 127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'calls.example',
    });
    expect(seen!.headers).not.toHaveProperty('x-hop');
    expect(seen!.headers).not.toHaveProperty('te');
  });

  test('what a load balancer said of scheme and host is kept', async () => {
    let headers: IncomingMessage['headers'] = {};
    handler = (req, res) => {
      headers = req.headers;
      res.end();
    };
    await send('/', { headers: { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'public.example' } });
    expect(headers).toMatchObject({ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'public.example' });
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
          setTimeout(() => {
            expect(written * chunk.length).toBeLessThan(24_000_000);
            res.on('data', (data: Buffer) => {
              gotBytes += data.length;
            });
            res.on('end', () => {
              expect(gotBytes).toBe(chunk.length * total);
              resolve();
            });
            res.resume();
          }, 300);
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

  test('a fifth request while four wait is 503 with Retry-After', async () => {
    const waiting: ServerResponse[] = [];
    handler = (_req, res) => {
      waiting.push(res);
    };
    const four = [send('/'), send('/'), send('/'), send('/')];
    await settle(() => waiting.length === 4);
    const fifth = await send('/');
    expect([fifth.status, fifth.headers['retry-after'], fifth.headers['x-error-code']]).toEqual([503, '1', 'draining']);
    for (const res of waiting) res.end();
    expect((await Promise.all(four)).map((one) => one.status)).toEqual([200, 200, 200, 200]);
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

  test('a request that gets no answer and moves no further is 500 after at most 400 ms, where 200 are allowed', async () => {
    const hasty = createHttpProxy({ socketPath, maxBodyBytes: 100_000, maxInFlight: 4, headersTimeoutMs: 200 });
    const unhurried = proxy;
    proxy = hasty;
    try {
      const startedAtMs = performance.now();
      const client = connect({ host: '127.0.0.1', port });
      client.write('POST /half HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf.');
      const answer = await new Promise<string>((resolve) => client.once('data', (data) => resolve(String(data))));
      client.destroy();
      expect(answer).toContain('500');
      expect(performance.now() - startedAtMs).toBeLessThan(1_000);
      expect(hasty.inFlight).toBe(0);
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

async function settle(condition: () => boolean, withinMs = 5000): Promise<void> {
  const untilMs = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > untilMs) throw new Error(`not so within ${withinMs} ms: ${condition}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
