/**
 * A client's webhook receiver, as a client would write one: node:http and node:crypto, nothing of Parley's. It verifies
 * the Standard Webhooks signature, answers at once and does its work afterwards.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createArrivals } from '../harness/arrivals.ts';

export interface ReceivedWebhook {
  /** The header `webhook-id`. */
  id: string;
  /** The header `X-Delivery-Attempt`, 1 at first. */
  attempt: number;
  /** Signature good and at most five minutes old. */
  verified: boolean;
  event: string;
  callUuid: string;
  body: Record<string, unknown>;
  /** The body as it came. */
  text: string;
}

export interface WebhookReceiver {
  url: string;
  setSecret(secret: string): void;
  /** Resolves with the first webhook that `wanted` accepts, past or future; rejects after `limitMs`. */
  waitFor(wanted: (webhook: ReceivedWebhook) => boolean, limitMs?: number): Promise<ReceivedWebhook>;
  /** All that has come, repeated deliveries too. */
  received(): readonly ReceivedWebhook[];
  /** How many different ids of this event have arrived. */
  countOf(event: string): number;
  close(): void;
}

const TOLERANCE_SECONDS = 300;

/** Standard Webhooks: signature good and at most five minutes old. */
export function isVerified(secret: string, headers: IncomingHttpHeaders, body: string): boolean {
  const id = String(headers['webhook-id'] ?? '');
  const timestamp = String(headers['webhook-timestamp'] ?? '');
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
  return String(headers['webhook-signature'] ?? '')
    .split(' ')
    .filter((item) => item.startsWith('v1,'))
    .map((item) => Buffer.from(item.slice(3), 'base64'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  let secret = '';
  const arrivals = createArrivals<ReceivedWebhook>();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      response.writeHead(200).end();
      const text = Buffer.concat(parts).toString('utf8');
      const body = JSON.parse(text) as Record<string, unknown>;
      arrivals.add({
        id: String(request.headers['webhook-id'] ?? ''),
        attempt: Number(request.headers['x-delivery-attempt']),
        verified: isVerified(secret, request.headers, text),
        event: String(body['event']),
        callUuid: String(body['callUuid']),
        body,
        text,
      });
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/webhook`,
    setSecret(value) {
      secret = value;
    },
    waitFor: (wanted, limitMs) => arrivals.waitFor('a webhook', wanted, limitMs),
    received: () => arrivals.all,
    countOf: (event) => new Set(arrivals.all.filter((item) => item.event === event).map(({ body }) => body['id'])).size,
    close: () => server.close(),
  };
}
