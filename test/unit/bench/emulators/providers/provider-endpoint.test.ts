import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createCertificate } from '../../../../../bench/emulators/providers/certificate.ts';
import type { Provider } from '../../../../../bench/emulators/providers/provider.ts';
import {
  type ProviderEndpoint,
  startProviderEndpoint,
} from '../../../../../bench/emulators/providers/provider-endpoint.ts';
import { eventually } from '../../../../support/eventually.ts';

const KEY = 'canary-key';
/** Says back what it was told. */
const ECHO: Provider = {
  name: 'echo',
  keyOf: ({ headers }) => headers.authorization ?? null,
  unauthorized: () => ({ status: 401, body: { error: 'who are you?' } }),
  failure: (_request, status) => ({ status, headers: { 'x-why': 'scripted' }, body: { error: `status ${status}` } }),
  revoked: (socket) => socket.close(1008, 'key revoked'),
  foreign: (message) => ({ ...(message as object), of: 'another' }),
  async request(exchange) {
    const body = (await exchange.body()).toString('utf8');
    exchange.head(200, { 'content-type': 'text/plain' });
    for (const word of body.split(' ')) exchange.send(`${word};`);
    exchange.end();
  },
  upgrade: () => ({
    headers: { 'x-echo': 'yes' },
    open(socket) {
      socket.send({ type: 'hello' });
      socket.onMessage((message) => socket.send({ type: 'heard', message: message.toString() }));
    },
  }),
};

let endpoint: ProviderEndpoint;
beforeAll(async () => {
  endpoint = await startProviderEndpoint(ECHO, { keys: [KEY] });
});
afterAll(() => endpoint.close());
beforeEach(() => endpoint.allow(KEY));

interface Reply {
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

function post(body: string, path = '/v1/echo', key = KEY): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(`${endpoint.origin}${path}`, {
      method: 'POST',
      ca: endpoint.caPem,
      agent: false,
      headers: { authorization: key },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.on('data', (piece) => {
        text += piece;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: text }));
    });
    request.end(body);
  });
}

/** A socket, what came over it, and how it ended. */
function dial(path = '/v1/echo') {
  const socket = new WebSocket(`${endpoint.socketOrigin}${path}`, {
    ca: endpoint.caPem,
    headers: { authorization: KEY },
  });
  const heard: string[] = [];
  const seen = { closed: null as number | null, error: null as string | null, pongs: 0 };
  socket.on('message', (data) => heard.push(data.toString()));
  socket.on('close', (code) => {
    seen.closed = code;
  });
  socket.on('error', (error) => {
    seen.error = error.message;
  });
  socket.on('pong', () => seen.pongs++);
  return { socket, heard, seen };
}

const ended = () => {
  const closed = endpoint.journal.entries('closed');
  return closed.length > 0 && closed;
};

describe('the certificate', () => {
  it('is one that the authority made for localhost, 127.0.0.1 and ::1', () => {
    const { caPem, certPem } = createCertificate();
    const [authority, leaf] = [new X509Certificate(caPem), new X509Certificate(certPem)];
    expect(leaf.verify(authority.publicKey)).toBe(true);
    expect(leaf.checkIssued(authority)).toBe(true);
    expect(leaf.checkHost('localhost')).toBe('localhost');
    expect(leaf.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(leaf.checkIP('::1')).toBe('::1');
    expect(authority.ca).toBe(true);
    expect(leaf.ca).toBe(false);
  });

  it('is refused by a client that does not trust the authority', async () => {
    const socket = connect({ port: endpoint.port, host: '127.0.0.1', servername: 'localhost' });
    const [error] = await once(socket, 'error');
    expect((error as NodeJS.ErrnoException).code).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    expect(socket.authorized).toBe(false);
  });
});

describe('a request', () => {
  it('is answered piece by piece, and the journal knows it without its key', async () => {
    endpoint.journal.clear();
    expect(await post('one two')).toMatchObject({ status: 200, body: 'one;two;' });
    expect(endpoint.journal.entries('request')).toMatchObject([{ method: 'POST', path: '/v1/echo' }]);
    const [closed] = await eventually('the end of it in the journal', ended);
    expect(closed).toMatchObject({ finished: true });
    expect(JSON.stringify(endpoint.journal.entries())).not.toContain(KEY);
  });

  it('without a key that counts is refused', async () => {
    expect(await post('one', '/v1/echo', 'wrong')).toMatchObject({ status: 401 });
    endpoint.revoke(KEY);
    expect(await post('one')).toMatchObject({ status: 401 });
  });

  it('is refused with a scripted status on the path that was named, so many times', async () => {
    endpoint.script({ kind: 'status', status: 429, retryAfterSeconds: 2, on: '/v1/echo', times: 2 });
    expect(await post('one', '/v1/other')).toMatchObject({ status: 200 });
    for (const _ of [1, 2])
      expect(await post('one')).toMatchObject({ status: 429, headers: { 'retry-after': '2', 'x-why': 'scripted' } });
    expect(await post('one')).toMatchObject({ status: 200 });
  });

  it('is reset after so many pieces', async () => {
    endpoint.script({ kind: 'reset', afterMessages: 1 });
    await expect(post('one two three')).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('has one piece of garbage, and goes on', async () => {
    endpoint.script({ kind: 'garbage', afterMessages: 1 });
    const { body } = await post('one two three');
    expect(body).toMatch(/^one;[^;]*three;$/);
    expect(body).not.toContain('two');
  });

  it('drips, and arrives whole', async () => {
    endpoint.script({ kind: 'slow_drip', bytesPerSecond: 2_000 });
    expect(await post('one two three')).toMatchObject({ status: 200, body: 'one;two;three;' });
  });
});

describe('a socket', () => {
  it('is upgraded with headers, echoes, and is counted', async () => {
    endpoint.journal.clear();
    const { socket, heard, seen } = dial();
    const [[upgrade]] = await Promise.all([once(socket, 'upgrade'), once(socket, 'open')]);
    expect(upgrade.headers['x-echo']).toBe('yes');
    socket.send('hi');
    socket.send(Buffer.alloc(160));
    await eventually('three messages', () => heard.length === 3);
    expect(heard.slice(0, 2).map((text) => JSON.parse(text))).toEqual([
      { type: 'hello' },
      { type: 'heard', message: 'hi' },
    ]);
    socket.close(1000);
    const [closed] = await eventually('the end of it in the journal', ended);
    expect(closed).toMatchObject({ binaryMessages: 1, binaryBytes: 160 });
    expect(seen.error).toBe(null);
    expect(endpoint.open).toBe(0);
  });

  it('stalls: nothing comes, but pings are answered', async () => {
    endpoint.script({ kind: 'stall', afterMessages: 1 });
    const { socket, heard, seen } = dial();
    await once(socket, 'open');
    socket.send('hi');
    socket.ping();
    await eventually('a pong', () => seen.pongs === 1);
    expect(heard).toEqual(['{"type":"hello"}']);
    socket.terminate();
  });

  it('is half open: not even pings are answered, and it is not closed', async () => {
    endpoint.script({ kind: 'half_open', afterMessages: 1 });
    const { socket, heard, seen } = dial();
    await once(socket, 'open');
    socket.ping();
    const other = dial();
    await once(other.socket, 'open');
    other.socket.ping();
    await eventually('a pong of the other socket', () => other.seen.pongs === 1);
    expect({ ...seen, heard: heard.length }).toEqual({ pongs: 0, closed: null, error: null, heard: 1 });
    socket.terminate();
    other.socket.terminate();
  });

  it('is reset, by script and at once', async () => {
    const { socket, seen } = dial('/v1/to-be-reset');
    await once(socket, 'open');
    expect(endpoint.strike({ kind: 'reset', on: '/v1/to-be-reset' })).toBe(1);
    await eventually('its end', () => seen.closed === 1006);
  });

  it('is one of those that are open, by its place among them', async () => {
    const all = [dial('/v1/picked'), dial('/v1/picked'), dial('/v1/picked')];
    for (const { socket } of all) if (socket.readyState !== socket.OPEN) await once(socket, 'open');
    expect(endpoint.strike({ kind: 'reset', on: '/v1/picked', pick: 1 })).toBe(1);
    await eventually('its end', () => all.some(({ seen }) => seen.closed === 1006));
    expect(endpoint.strike({ kind: 'reset', on: '/v1/picked' })).toBe(2);
    expect(endpoint.strike({ kind: 'reset', on: '/v1/none', pick: 0 })).toBe(0);
    await eventually('their ends', () => all.every(({ seen }) => seen.closed === 1006));
  });

  it('belongs to another after an answer for another request', async () => {
    endpoint.script({ kind: 'foreign_answer', afterMessages: 1 });
    const { socket, heard } = dial();
    await once(socket, 'open');
    socket.send('hi');
    await eventually('an answer', () => heard.length === 2);
    expect(JSON.parse(heard[1]!)).toEqual({ type: 'heard', message: 'hi', of: 'another' });
    socket.terminate();
  });

  it('is told that its key was revoked, and the key opens no other', async () => {
    endpoint.script({ kind: 'revoked_key', afterMessages: 1 });
    const { seen } = dial();
    await eventually('its end', () => seen.closed === 1008);
    const { seen: next } = dial();
    await eventually('a refusal', () => next.error?.includes('401'));
  });

  it('may be refused, and may hang, before it is one', async () => {
    endpoint.script({ kind: 'status', status: 503 }, { kind: 'reset', beforeUpgrade: true });
    const refused = dial();
    await eventually('a refusal', () => refused.seen.error?.includes('503'));
    const reset = dial();
    await eventually('a reset', () => /ECONNRESET|hang up/.test(reset.seen.error ?? ''));
  });
});

describe('from outside of the process', () => {
  it('is scripted and looked at over /emulator', async () => {
    expect((await post('[{"kind":"status","status":500}]', '/emulator/faults')).status).toBe(200);
    expect(await post('one')).toMatchObject({ status: 500 });
    const fault = await post('[{"kind":"nonsense"}]', '/emulator/faults');
    expect(fault.status).toBe(400);
    expect(fault.body).toContain('half_open');
    await post(JSON.stringify({ revoke: KEY }), '/emulator/keys');
    expect(await post('one')).toMatchObject({ status: 401 });
  });
});
