import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { createWebhookSecret, signature, signatureHeaders } from '../../../src/webhooks/signing.ts';

const PUBLISHED = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  content: { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampSeconds: 1_614_265_330, body: '{"test": 2432232314}' },
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

describe('Standard Webhooks signature', () => {
  it('equals the published vector', () => {
    expect(signature(PUBLISHED.secret, PUBLISHED.content)).toBe(PUBLISHED.signature);
  });

  it('is accepted by the standardwebhooks package, and refused when one byte of the body changed', () => {
    const secret = createWebhookSecret();
    const body = '{"event":"call.completed","name":"Zoë 😀"}';
    const content = { id: 'evt_1', timestampSeconds: Math.floor(Date.now() / 1_000), body };
    const headers = signatureHeaders([secret], content);
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(secret).verify(body.replace('Zoë', 'Zoe'), headers)).toThrow();
  });

  it('during a rotation is accepted by a receiver that knows either secret, and by no third', () => {
    const [newer, older, other] = [createWebhookSecret(), createWebhookSecret(), createWebhookSecret()];
    const content = { id: 'evt_1', timestampSeconds: Math.floor(Date.now() / 1_000), body: '{}' };
    const headers = signatureHeaders([newer, older], content);
    expect(headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
    expect(new Webhook(newer).verify('{}', headers)).toEqual({});
    expect(new Webhook(older).verify('{}', headers)).toEqual({});
    expect(() => new Webhook(other).verify('{}', headers)).toThrow();
  });

  it('makes secrets of 32 random bytes', () => {
    const secret = createWebhookSecret();
    expect(secret).toMatch(/^whsec_/);
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    expect(createWebhookSecret()).not.toBe(secret);
  });
});
