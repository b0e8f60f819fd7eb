/** One use of a tool against real sockets: exactly one answer, whatever the endpoint does. */
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, test } from 'vitest';
import { isVerified } from '../../../bench/demo/webhook-receiver.ts';
import type { ToolAnswer, ToolDefinition } from '../../../media/contract/tools.ts';
import { createAddressGuard } from '../../../media/net/address-guard.ts';
import { createGuardedClient, type GuardedClientOptions } from '../../../media/net/guarded-client.ts';
import { type SendDeps, sendTool } from '../../../src/tools/send-tool.ts';
import { createWebhookSecret } from '../../../src/webhooks/signing.ts';
import { orderTool } from '../../support/order-agent.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type Answer, startReceiver, type TestReceiver } from '../media/net/test-receiver.ts';

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const signingSecret = createWebhookSecret();
const call = {
  callUuid: '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11',
  agentId: '0199f0a2-0000-7000-8000-000000000001',
  enterprise: 'acme',
  to: '+14155550123',
  direction: 'outbound',
  metadata: { plan: 'gold' },
};

interface Bench {
  clock: VirtualClock;
  receiver: TestReceiver;
  stop: AbortController;
  use(change?: Partial<ToolDefinition>, args?: Record<string, unknown>, deps?: Partial<SendDeps>): Promise<ToolAnswer>;
}

async function bench(answer: Answer, options: Partial<GuardedClientOptions> = {}): Promise<Bench> {
  const receiver = await startReceiver(answer);
  ends.push(() => receiver.close());
  const clock = new VirtualClock(Date.now());
  const http = createGuardedClient({ guard: createAddressGuard(['127.0.0.1/32']), clock, ...options });
  ends.push(() => http.close());
  const stop = new AbortController();
  return {
    clock,
    receiver,
    stop,
    use: (change = {}, args = { order: '42' }, deps = {}) =>
      sendTool(
        {
          definition: orderTool({ url: `http://127.0.0.1:${receiver.port}/order`, ...change }),
          toolCallId: 'tc_1',
          arguments: args,
          call,
          secrets: new Map([['SHOP_KEY', 'canary-5f0c2e']]),
          signingSecrets: [signingSecret],
        },
        { http, clock, signal: stop.signal, ...deps },
      ),
  };
}

const json = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

describe('the request', () => {
  it('has the body of contract §14, the headers with their secrets, the signature and the key of idempotency', async () => {
    const { use, receiver } = await bench((_request, response) => json(response, { order: { day: 'Thursday' } }));
    expect(await use()).toEqual({ ok: true, status: 200, result: { order: { day: 'Thursday' } } });
    const [{ headers, body, url }] = receiver.requests as [TestReceiver['requests'][number]];
    expect(url).toBe('/order');
    expect(body).toBe(JSON.stringify({ toolCallId: 'tc_1', tool: 'lookup_order', arguments: { order: '42' }, call }));
    expect(headers).toMatchObject({
      authorization: 'Bearer canary-5f0c2e',
      'content-type': 'application/json',
      'idempotency-key': 'tc_1',
      'webhook-id': 'tc_1',
      'user-agent': 'Parley-Tools/1',
    });
    expect(isVerified(signingSecret, headers, body)).toBe(true);
  });

  it('is the arguments alone with `argsAtRoot`, turned into what the schema asks for', async () => {
    const { use, receiver } = await bench((_request, response) => json(response, {}));
    const parameters = { type: 'object', properties: { order: { type: 'integer' }, gift: { type: 'boolean' } } };
    await use({ argsAtRoot: true, parameters }, { order: '42', gift: 'true' });
    expect(receiver.requests[0]!.body).toBe('{"order":42,"gift":true}');
  });

  test.each([
    ['arguments that do not fit', {}, { order: 'forty two' }, 'bad_arguments'],
    ['an argument too few', {}, {}, 'bad_arguments'],
    ['an argument too many', {}, { order: '1', colour: 'red' }, 'bad_arguments'],
    ['a secret that is not there', { headers: { 'x-key': '{{secret.OTHER}}' } }, { order: '1' }, 'missing_secret'],
    ['a private address', { url: 'https://10.0.0.1/order' }, { order: '1' }, 'refused'],
    ['an address of this machine in disguise', { url: 'https://0x7f.2/order' }, { order: '1' }, 'refused'],
    ['plain http elsewhere', { url: 'http://93.184.216.34/order' }, { order: '1' }, 'refused'],
  ])('is not made for %s', async (_what, change, args, code) => {
    const { use, receiver } = await bench((_request, response) => json(response, {}));
    const answer = await use(change as Partial<ToolDefinition>, args);
    expect(answer).toMatchObject({ ok: false, code });
    expect(JSON.stringify(answer)).not.toContain('forty two');
    expect(receiver.connections).toBe(0);
  });

  it('is not made to a name that leads to a private address', async () => {
    const { use, receiver } = await bench((_request, response) => json(response, {}), {
      resolveName: async () => ['93.184.216.34', '169.254.169.254'],
    });
    expect(await use({ url: 'https://shop.example.com/order' })).toMatchObject({ ok: false, code: 'refused' });
    expect(receiver.connections).toBe(0);
  });
});

describe('an endpoint', () => {
  const rows: [string, Answer, Partial<ToolDefinition>, object][] = [
    [
      'answers with text',
      (_q, response) => void response.end('on its way'),
      { responseVariables: {} },
      { ok: true, result: 'on its way' },
    ],
    [
      'answers 204',
      (_q, response) => void response.writeHead(204).end(),
      { responseVariables: {} },
      { ok: true, status: 204, result: '' },
    ],
    [
      'answers with broken JSON',
      (_q, response) => void response.end('{"order":'),
      {},
      { ok: false, code: 'bad_answer' },
    ],
    [
      'answers with text where variables are to be read',
      (_q, response) => void response.end('hello'),
      {},
      { ok: false, code: 'bad_answer' },
    ],
    [
      'answers 500',
      (_q, response) => json(response, { error: 'x' }, 500),
      {},
      { ok: false, code: 'http_error', status: 500 },
    ],
    ['answers 404', (_q, response) => json(response, {}, 404), {}, { ok: false, code: 'http_error', status: 404 }],
    [
      'answers with 1 MB',
      (_q, response) => void response.end('x'.repeat(1_048_576)),
      {},
      { ok: false, code: 'too_large' },
    ],
    [
      'breaks off',
      (_q, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"order"');
        setImmediate(() => response.destroy());
      },
      {},
      { ok: false, code: 'failed' },
    ],
    ['hangs up', (_q, response) => void response.destroy(), {}, { ok: false, code: 'failed' }],
    [
      'repeats the secret',
      (request, response) => json(response, { got: request.headers.authorization }),
      { responseVariables: {} },
      { ok: true, result: { got: 'Bearer [secret]' } },
    ],
    [
      'repeats the secret with its letters escaped',
      (_q, response) => void response.end('{"got":"can\\u0061ry-5f0c2e"}'),
      { responseVariables: {} },
      { ok: true, result: { got: '[secret]' } },
    ],
    [
      'nests 5,000 lists, which nobody could write down again',
      (_q, response) => void response.end('['.repeat(5_000) + ']'.repeat(5_000)),
      {},
      { ok: false, code: 'bad_answer', status: 200 },
    ],
  ];
  test.each(rows)('that %s: one answer', async (_what, answer, change, expected) => {
    const { use, receiver } = await bench(answer);
    expect(await use(change)).toMatchObject(expected);
    expect(receiver.requests).toHaveLength(1);
  });

  it('that redirects is not followed, wherever it points', async () => {
    const { use, receiver } = await bench(
      (_request, response) =>
        void response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
    );
    expect(await use()).toMatchObject({ ok: false, code: 'redirected', status: 307 });
    expect(receiver.connections).toBe(1);
  });

  it('that stalls is left after the tool’s own time', async () => {
    const { use, receiver, clock } = await bench(() => {});
    const answer = use({ timeoutMs: 3_000 });
    await receiver.received(1);
    clock.advanceMs(2_999);
    clock.advanceMs(1);
    expect(await answer).toEqual({ ok: false, code: 'timeout', message: 'No answer within 3000 ms.', status: null });
  });

  it('that sends a byte a second is left after the tool’s own time', async () => {
    const { use, receiver, clock } = await bench((_request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{');
      clock.after(1_000, () => response.write(' '));
    });
    const answer = use();
    await receiver.received(1);
    for (let i = 0; i < 10; i++) {
      await new Promise((done) => setImmediate(done));
      clock.advanceMs(1_000);
    }
    expect(await answer).toMatchObject({ ok: false, code: 'timeout' });
  });

  it('that fails for a moment is asked once more with the same key, only where that may be', async () => {
    const flaky: Answer = (_request, response, number) =>
      number === 1 ? json(response, {}, 503) : json(response, { order: { day: 'Friday' } });
    const once = await bench(flaky);
    expect(await once.use()).toMatchObject({ ok: false, code: 'http_error', status: 503 });
    const twice = await bench(flaky);
    const answer = twice.use({ retries: 1 });
    await twice.receiver.received(1);
    while (twice.clock.pendingTimers > 0 && twice.receiver.requests.length < 2) {
      await new Promise((done) => setImmediate(done));
      twice.clock.advanceMs(50);
    }
    expect(await answer).toMatchObject({ ok: true });
    expect(twice.receiver.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['tc_1', 'tc_1']);
  });

  it('whose caller hangs up sees its connection closed, and the answer is that it was called off', async () => {
    let closed = (): void => {};
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const { use, receiver, stop } = await bench((_request, response) => void response.on('close', closed));
    const answer = use();
    await receiver.received(1);
    stop.abort();
    expect(await answer).toMatchObject({ ok: false, code: 'cancelled' });
    await gone;
  });
});
