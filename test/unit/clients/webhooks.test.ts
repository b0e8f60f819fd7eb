import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../../clients/typescript/src/webhooks.ts';

const [SECRET, OTHER] = [
  `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  `whsec_${Buffer.alloc(32, 9).toString('base64')}`,
];
const NOW = 1_763_686_800;
const BODY = JSON.stringify({ event: 'call.completed', callUuid: 'c1', id: 'evt_1' });

function headersOf(secrets: readonly string[], seconds = NOW, body = BODY): Record<string, string> {
  const signatures = secrets.map((secret) => new Webhook(secret).sign('evt_1', new Date(seconds * 1_000), body));
  return { 'Webhook-Id': 'evt_1', 'Webhook-Timestamp': String(seconds), 'Webhook-Signature': signatures.join(' ') };
}
const verify = (headers: Record<string, string>, change: object = {}) =>
  verifyWebhook({ secret: SECRET, headers, body: BODY, nowEpochMs: NOW * 1_000, ...change });

describe('verifyWebhook', () => {
  it('accepts what the Standard Webhooks library signs, in any form of headers and body', () => {
    expect(verify(headersOf([SECRET]))).toMatchObject({ event: 'call.completed', callUuid: 'c1' });
    const headers = new Headers(headersOf([SECRET]));
    expect(verifyWebhook({ secret: SECRET, headers, body: Buffer.from(BODY), nowEpochMs: NOW * 1_000 }).id).toBe(
      'evt_1',
    );
  });

  it('while a secret is rotated, either side may be first', () => {
    expect(verify(headersOf([OTHER, SECRET])).id).toBe('evt_1');
    expect(verify(headersOf([OTHER]), { secret: [SECRET, OTHER] }).id).toBe('evt_1');
  });

  it('refuses another secret, another body, another time, another id, and nonsense', () => {
    const good = headersOf([SECRET]);
    expect(() => verify(headersOf([OTHER]))).toThrow(/No signature/);
    expect(() => verify(good, { body: BODY.replace('c1', 'c2') })).toThrow(/No signature/);
    expect(() => verify({ ...good, 'Webhook-Timestamp': String(NOW - 1) })).toThrow(/No signature/);
    expect(() => verify({ ...good, 'Webhook-Id': 'evt_2' })).toThrow(/No signature/);
    expect(() => verify({ ...good, 'Webhook-Signature': 'v1,' })).toThrow(/No signature/);
    expect(() => verify({ ...good, 'Webhook-Signature': 'v1a,AAAA nonsense' })).toThrow(/No signature/);
    expect(() => verify({ ...good, 'Webhook-Timestamp': 'now' })).toThrow(/no number/);
    expect(() => verify({})).toThrow(/lacks/);
  });

  it('refuses what was signed more than 300 s ago or ahead, and takes 300', () => {
    for (const age of [300, -300]) expect(verify(headersOf([SECRET], NOW - age)).id).toBe('evt_1');
    expect(() => verify(headersOf([SECRET], NOW - 301))).toThrow(/too long ago/);
    expect(() => verify(headersOf([SECRET], NOW + 301))).toThrow(/in the future/);
  });
});
