import { EventEmitter } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import Fastify from 'fastify';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { frameAnswers } from '../../../src/api/envelope.ts';
import { readinessOf, registerHealth } from '../../../src/api/health-routes.ts';
import { createApiKey } from '../../../src/workspaces/api-keys.ts';
import { eventually } from '../../support/eventually.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());

describe('the envelope', () => {
  it('answers an unknown path with 404, whatever body comes', async () => {
    for (const options of [
      { url: '/nowhere' },
      { url: '/nowhere', method: 'POST' as const, payload: 'x'.repeat(99) },
    ]) {
      const answer = await api.app.inject(options);
      expect([answer.statusCode, answer.json()]).toMatchObject([
        404,
        { success: false, message: 'Not found', code: 'not_found', details: [] },
      ]);
      expect(answer.headers['x-error-code']).toBe('not_found');
    }
  });

  it('answers a known path with a wrong method with 405 and Allow', async () => {
    const answers = await Promise.all([
      api.app.inject({ url: '/api/outbound-call' }),
      api.app.inject({ url: '/api/developer/calls/x/events?y=1', method: 'DELETE' }),
    ]);
    expect(answers.map((answer) => [answer.statusCode, answer.json().code, answer.headers['allow']])).toEqual([
      [405, 'method_not_allowed', 'POST'],
      [405, 'method_not_allowed', 'GET, HEAD'],
    ]);
  });

  it('survives a path that does not decode', async () => {
    const answer = await api.app.inject({ url: '/api/developer/calls/%E0%A4%A', headers: { 'x-request-id': 'abc' } });
    expect([answer.statusCode, answer.json()]).toMatchObject([400, { success: false, code: 'bad_request' }]);
    expect(answer.headers['x-request-id']).toBe('abc');
  });

  it('hears a body of 300 KB to its end after a 413, so that no reset overtakes the answer', async () => {
    const app = Fastify({ bodyLimit: 64 * 1024 });
    frameAnswers(app, pino({ level: 'silent' }));
    app.post('/taken', async () => ({}));
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    let said = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      said += text;
    });
    const head = 'POST /taken HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ';
    socket.write(`${head}300000\r\n\r\n`);
    await eventually('the refusal', () => /^HTTP\/1\.1 413 [\s\S]*body_too_large/.test(said), { story: () => said });
    socket.write('x'.repeat(300_000));
    socket.write(`${head}2\r\n\r\n{}`);
    await eventually('the answer after it', () => said.includes('HTTP/1.1 200 OK'), { story: () => said });
    expect(said).not.toMatch(/connection: close/i);
    socket.destroy();
    await app.close();
  });

  it('never shows the text or the stack of an unexpected error, and logs it once', async () => {
    const lines: string[] = [];
    const app = Fastify();
    frameAnswers(app, pino({}, { write: (line: string) => void lines.push(line) }));
    app.get('/broken', async () => {
      throw Object.assign(new Error('canary in the text'), { statusCode: 503 });
    });
    const answer = await app.inject({ url: '/broken' });
    expect([answer.statusCode, answer.json().code]).toEqual([500, 'internal_error']);
    expect(answer.body).not.toMatch(/canary|at .*\.ts/);
    expect(lines.filter((line) => line.includes('canary'))).toHaveLength(1);
    await app.close();
  });

  it('answers 503 with Retry-After where no session of the database came free in time, to what may be repeated', async () => {
    class Session extends EventEmitter {
      connect = (done: () => void): void => done();
      end = (done: () => void): void => done();
    }
    const full = new pg.Pool({ Client: Session as never, max: 1, connectionTimeoutMillis: 1 });
    const taken = await full.connect();
    const app = Fastify();
    frameAnswers(app, pino({ enabled: false }));
    app.get('/asks', () => full.connect());
    app.post('/once', { config: { once: true } }, () => full.connect());
    // It may have written something before it asked again.
    app.post('/writes', () => full.connect());
    const answers = [
      await app.inject({ url: '/asks' }),
      await app.inject({ url: '/once', method: 'POST' }),
      await app.inject({ url: '/writes', method: 'POST' }),
    ];
    expect(
      answers.map(({ statusCode, headers }) => [statusCode, headers['x-error-code'], headers['retry-after']]),
    ).toEqual([
      [503, 'overloaded', '2'],
      [503, 'overloaded', '2'],
      [500, 'internal_error', undefined],
    ]);
    taken.release(true);
    await app.close();
  });

  it('puts request id, version and no-store on every answer', async () => {
    for (const url of ['/livez', '/readyz', '/nowhere', '/api/developer/error-codes']) {
      const { headers } = await api.app.inject({ url, headers: { 'x-request-id': 'abc' } });
      expect(headers).toMatchObject({ 'x-request-id': 'abc', 'service-version': '1', 'cache-control': 'no-store' });
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
  });
});

describe('the client address', () => {
  it('is the last one of X-Forwarded-For, which our own proxy wrote, not what the client claims', async () => {
    const key = await createApiKey(api.database, {
      slug: 'acme',
      name: 'office',
      scopes: ['agents:read'],
      allowedCidrs: ['198.51.100.0/24'],
    });
    const from = async (forwarded: string): Promise<number> =>
      (
        await api.app.inject({
          url: '/api/developer/agents',
          headers: { authorization: `Bearer ${key.text}`, 'x-forwarded-for': forwarded },
        })
      ).statusCode;
    expect(await from('198.51.100.7')).toBe(200);
    expect(await from('203.0.113.1, 198.51.100.7')).toBe(200);
    expect(await from('198.51.100.7, 203.0.113.1')).toBe(401);
  });
});

describe('health', () => {
  it('tells strangers yes or no, and operators each check by name', async () => {
    const clock = new VirtualClock();
    const app = Fastify();
    let media: () => Promise<string> = async () => '2 processes';
    const checks = { database: async () => 'ok', media: () => media() };
    registerHealth(app, { instance: 'run-1', node: 'node-1', clock, checks });
    expect((await app.inject({ url: '/readyz' })).json()).toEqual({ status: 'ok' });
    expect(await readinessOf({ clock, checks })).toEqual({
      status: 'ok',
      checks: { database: { ok: true, detail: 'ok' }, media: { ok: true, detail: '2 processes' } },
    });
    media = async () => {
      throw new Error('no process is connected');
    };
    const answer = await app.inject({ url: '/healthz' });
    expect([answer.statusCode, answer.json(), answer.headers['retry-after']]).toEqual([
      503,
      { status: 'unavailable' },
      '5',
    ]);
    expect((await readinessOf({ clock, checks })).checks['media']).toEqual({
      ok: false,
      detail: 'no process is connected',
    });
    expect((await app.inject({ url: '/livez' })).statusCode).toBe(200);
    await app.close();
  });

  it('does not wait longer than 2 s for a check', async () => {
    const clock = new VirtualClock();
    let asked = (): void => {};
    const started = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const pending = readinessOf({
      clock,
      checks: {
        database: () => {
          asked();
          return new Promise(() => {});
        },
      },
    });
    await started;
    clock.advanceMs(2_000);
    expect((await pending).checks['database']).toEqual({ ok: false, detail: 'no answer within 2000 ms' });
    expect(clock.pendingTimers).toBe(0);
  });
});
