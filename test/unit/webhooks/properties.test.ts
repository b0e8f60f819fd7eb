/** What reliability asks of webhooks for every input: pauses, signatures, and the judgement of addresses. */
import { BlockList, isIPv4 } from 'node:net';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { createAddressGuard } from '../../../media/net/address-guard.ts';
import { nextDelayMs, RETRY_DELAYS_MS } from '../../../src/webhooks/retry-schedule.ts';
import { createWebhookSecret, signatureHeaders } from '../../../src/webhooks/signing.ts';

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('the pauses', () => {
  it('lie within 20 % of the schedule whatever the dice say, and Retry-After lengthens them to an hour at most', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 11 }),
        chance,
        fc.option(fc.integer({ min: 0, max: 10 ** 9 })),
        (made, dice, retryAfterMs) => {
          const baseMs = RETRY_DELAYS_MS[made - 1]!;
          const plainMs = nextDelayMs(made, () => dice, null)!;
          expect(plainMs).toBeGreaterThanOrEqual(Math.floor(baseMs * 0.8));
          expect(plainMs).toBeLessThanOrEqual(Math.ceil(baseMs * 1.2));
          expect(nextDelayMs(made, () => dice, retryAfterMs)).toBe(
            Math.max(plainMs, Math.min(retryAfterMs ?? 0, 3_600_000)),
          );
        },
      ),
      { seed: 11 },
    );
  });
});

describe('a signature', () => {
  it('is accepted for what was signed, and refused after any one bit of the body, id or signature is flipped', () => {
    const timestampSeconds = Math.floor(Date.now() / 1_000);
    fc.assert(
      fc.property(
        fc.json(),
        fc.stringMatching(/^evt_[0-9A-Za-z]{1,30}$/),
        fc.nat(),
        fc.nat(7),
        (body, id, place, bit) => {
          const secret = createWebhookSecret();
          const judge = new Webhook(secret);
          const headers = signatureHeaders([secret], { id, timestampSeconds, body });
          expect(judge.verify(body, headers)).toEqual(JSON.parse(body));
          const bytes = Buffer.from(body);
          bytes[place % bytes.length]! ^= 1 << bit;
          expect(() => judge.verify(bytes, headers)).toThrow();
          const mac = Buffer.from(headers['webhook-signature']!.slice(3), 'base64');
          mac[place % mac.length]! ^= 1 << bit;
          const forged = { ...headers, 'webhook-signature': `v1,${mac.toString('base64')}` };
          expect(() => judge.verify(body, forged)).toThrow();
          expect(() => judge.verify(body, { ...headers, 'webhook-id': `${id}x` })).toThrow();
        },
      ),
      { seed: 12, numRuns: 200 },
    );
  });
});

/** Node's own list, from the registries of special addresses, is the oracle. */
const NOT_PUBLIC = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
];

describe('the address guard', () => {
  it('refuses every IPv4 address of a private or reserved range, in each spelling that a URL parser reads', () => {
    const oracle = new BlockList();
    for (const cidr of NOT_PUBLIC) oracle.addSubnet(cidr.split('/')[0]!, Number(cidr.split('/')[1]), 'ipv4');
    const guard = createAddressGuard([]);
    const inside = fc.constantFrom(...NOT_PUBLIC).chain((cidr) => {
      const [base, bits] = [cidr.split('/')[0]!, Number(cidr.split('/')[1])];
      const first = base.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
      return fc.nat(2 ** (32 - bits) - 1).map((offset) => first + offset);
    });
    fc.assert(
      fc.property(fc.oneof(inside, fc.nat(2 ** 32 - 1)), fc.constantFrom(10, 16, 8), (number, radix) => {
        const spelled =
          radix === 10 ? String(number) : radix === 16 ? `0x${number.toString(16)}` : `0${number.toString(8)}`;
        const host = new URL(`https://${spelled}/`).hostname;
        expect(isIPv4(host)).toBe(true);
        const mapped = new URL(`https://[::ffff:${host}]/`).hostname.slice(1, -1);
        if (!oracle.check(host)) return;
        expect(guard.refusal(host), host).not.toBeNull();
        expect(guard.refusal(mapped), mapped).not.toBeNull();
        expect(guard.refusal(`64:ff9b::${mapped.slice('::ffff:'.length)}`), `NAT64 of ${host}`).not.toBeNull();
      }),
      { seed: 13, numRuns: 500 },
    );
  });
});
