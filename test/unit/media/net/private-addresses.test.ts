/**
 * Spellings of places that a user's URL must not reach, against a real listener on loopback
 * that must see no connection.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAddressGuard } from '../../../../media/net/address-guard.ts';
import { createGuardedClient } from '../../../../media/net/guarded-client.ts';
import type { OutboundResult } from '../../../../media/net/outbound-http.ts';
import { eventually } from '../../../support/eventually.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { startReceiver, type TestReceiver } from './test-receiver.ts';

const limits = { connectMs: 2_000, responseMs: 3_000, totalMs: 10_000, maxResponseBytes: 4_096 };
let loopback: TestReceiver;
beforeAll(async () => {
  loopback = await startReceiver((_request, response) => response.end());
});
afterAll(() => loopback?.close());

interface Attempt {
  result: OutboundResult;
  lookups: number;
}

/** `answers[n]` is what the n-th look-up of any name gives. No time passes, however long all of it takes. */
async function post(url: string, answers: string[][] = [], allow: string[] = []): Promise<Attempt> {
  let lookups = 0;
  const client = createGuardedClient({
    guard: createAddressGuard(allow),
    clock: new VirtualClock(),
    resolveName: async () => answers[Math.min(lookups++, answers.length - 1)] ?? [],
  });
  const result = await client.send({ url, method: 'POST', headers: {}, body: Buffer.from('{}'), limits });
  await client.close();
  return { result, lookups };
}

const LITERAL_HOSTS = [
  // 127.0.0.1, as resolvers, browsers and C libraries read it
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.0.0.1.',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '0177.0x0.0.1',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '１２７.0.0.1',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '0',
  '0.0.0.0',
  '0x0',
  // IPv6 forms of it
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000::0001]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[2001::1]',
  // private, link-local, metadata, shared, reserved, documentation, multicast
  '10.0.0.1',
  '10.255.255.255',
  '012.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '3232235521',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '[::ffff:a9fe:a9fe]',
  '[::a9fe:a9fe]',
  '[fd00:ec2::254]',
  '100.64.0.1',
  '100.127.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '192.88.99.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '[fe80::1]',
  '[febf::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fdff::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[5f00::1]',
  '[100::1]',
];

describe('a URL with a private address in it', () => {
  it.each(LITERAL_HOSTS)('https://%s is refused without a look-up or a connection', async (host) => {
    const { result, lookups } = await post(`https://${host}:${loopback.port}/`);
    expect(result).toMatchObject({ kind: 'refused' });
    expect(lookups).toBe(0);
    expect(loopback.connections).toBe(0);
  });

  it.each([
    ['https://user@127.0.0.1/', 'user name'],
    ['https://example.com@127.0.0.1/', 'user name'],
    ['https://127.0.0.1#@example.com/', 'private or reserved'],
    ['https://127.0.0.1\\@example.com/', 'private or reserved'],
    ['https:127.0.0.1/', 'private or reserved'],
    ['https:\\\\127.0.0.1/', 'private or reserved'],
    ['https://127.\t0.0.1/', 'private or reserved'],
    ['file:///etc/passwd', 'https://'],
    ['gopher://127.0.0.1/', 'https://'],
    ['https://', 'not a URL'],
    ['https://[fe80::1%25eth0]/', 'not a URL'],
    ['http://93.184.215.14/', 'plain http'],
  ])('%s is refused and says: %s', async (url, words) => {
    const { result } = await post(url);
    expect(result.kind).toBe('refused');
    expect(result).toMatchObject({ reason: expect.stringContaining(words) });
  });
});

describe('a name that leads to a private address', () => {
  const url = (): string => `https://hooks.example.com:${loopback.port}/`;

  it.each([
    ['127.0.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['::7f00:1'],
    ['169.254.169.254'],
    ['10.1.2.3'],
    ['fe80::1%eth0'],
    ['64:ff9b::a00:1'],
    ['not an address'],
  ])('is refused when the resolver says %s', async (address) => {
    expect((await post(url(), [[address]])).result.kind).toBe('refused');
    expect(loopback.connections).toBe(0);
  });

  it.each([[['93.184.215.14', '127.0.0.1']], [['127.0.0.1', '93.184.215.14']], [['2606:2800:21f::1', '::1']]])(
    'is refused when one of several answers is private: %s',
    async (answers) => {
      expect((await post(url(), [answers])).result.kind).toBe('refused');
      expect(loopback.connections).toBe(0);
    },
  );

  it('is looked up once a request, and refused on the next when its second look-up is private', async () => {
    // 192.0.2.0/24 is allowed here only to have a "public" address that nothing answers on.
    let answer = ['192.0.2.1'];
    let lookups = 0;
    const clock = new VirtualClock();
    const client = createGuardedClient({
      guard: createAddressGuard(['192.0.2.0/24']),
      clock,
      resolveName: async () => {
        lookups++;
        const given = answer;
        answer = ['127.0.0.1'];
        return given;
      },
    });
    const request = { url: url(), method: 'POST', headers: {}, body: Buffer.from('{}') } as const;
    const first = client.send({ ...request, limits });
    await eventually('the look-up', () => lookups === 1);
    clock.advanceMs(limits.connectMs);
    expect((await first).kind).toBe('failed');
    expect(lookups).toBe(1);
    const second = await client.send({ ...request, limits });
    expect(second).toMatchObject({ kind: 'refused', reason: expect.stringContaining('127.0.0.1') });
    expect(loopback.connections).toBe(0);
    await client.close();
  });

  it('says that a name without an address has none', async () => {
    const { result } = await post(url(), [[]]);
    expect(result).toEqual({ kind: 'failed', reason: 'hooks.example.com has no address' });
  });
});

describe('ranges that the operator allowed', () => {
  it.each([['127.0.0.1'], ['127.1'], ['[::ffff:127.0.0.1]']])('127.0.0.0/8 lets http://%s through', async (host) => {
    const receiver = await startReceiver((_request, response) => response.end());
    const { result } = await post(`http://${host}:${receiver.port}/`, [], ['127.0.0.0/8']);
    expect(result).toMatchObject({ kind: 'answered', status: 200 });
    await receiver.close();
  });

  it('10.0.0.0/8 does not open 127.0.0.1, nor plain http to a public address', async () => {
    expect((await post(`http://127.0.0.1:${loopback.port}/`, [], ['10.0.0.0/8'])).result.kind).toBe('refused');
    const open = await post('http://hooks.example.com/', [['93.184.215.14']], ['10.0.0.0/8']);
    expect(open.result).toMatchObject({ kind: 'refused', reason: expect.stringContaining('plain http') });
  });

  it('a malformed range throws with the setting in the message', () => {
    expect(() => createAddressGuard(['10.0.0.0'])).toThrow('WEBHOOK_ALLOW_CIDRS');
  });
});

describe('public addresses', () => {
  it.each(['93.184.215.14', '8.8.8.8', '2606:4700::1111', '2a00:1450:4001::1'])('%s is not refused', (address) => {
    expect(createAddressGuard([]).refusal(address)).toBeNull();
  });
});
