/**
 * The customer's own server in the tour: the webhook receiver, which verifies with the client and can be slow once, and
 * the endpoint of the custom tool.
 */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook, type WebhookEvent } from '../../clients/typescript/src/webhooks.ts';
import { createArrivals } from '../harness/arrivals.ts';

export interface Delivery {
  event: WebhookEvent;
  /** By the client's `verifyWebhook`. */
  verified: boolean;
  /** `X-Delivery-Attempt` */
  attempt: number;
  atMs: number;
  contentType: string;
}

export interface ToolRequestSeen {
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
  verified: boolean;
}

export interface CustomerServer {
  webhookUrl: string;
  toolUrl: string;
  setSecret(secret: string): void;
  /** The first delivery of this event of a call to this number is answered only after so long. */
  beSlowOnce(event: string, to: string, answerAfterMs: number): void;
  deliveries(callUuid: string): readonly Delivery[];
  waitFor(what: string, wanted: (delivery: Delivery) => boolean, limitMs?: number): Promise<Delivery>;
  toolRequests: readonly ToolRequestSeen[];
  close(): void;
}

export async function startCustomerServer(): Promise<CustomerServer> {
  let secret = '';
  const arrivals = createArrivals<Delivery>();
  const slow = new Map<string, number>();
  const toolRequests: ToolRequestSeen[] = [];

  const isVerified = (headers: IncomingHttpHeaders, body: string): boolean => {
    try {
      verifyWebhook({ secret, headers, body });
      return true;
    } catch {
      return false;
    }
  };

  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      const body = JSON.parse(text) as Record<string, unknown>;
      const { headers, url } = request;
      if (url === '/tools/order') {
        toolRequests.push({ headers, body, verified: isVerified(headers, text) });
        const answer = JSON.stringify({ result: { place: 'around the corner' } });
        response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
        return;
      }
      const event = body as unknown as WebhookEvent;
      const key = `${event.event} ${event.to}`;
      const answerAfterMs = slow.get(key) ?? 0;
      slow.delete(key);
      if (answerAfterMs > 0) setTimeout(() => response.writeHead(200).end(), answerAfterMs);
      else response.writeHead(200).end();
      arrivals.add({
        event,
        verified: isVerified(headers, text),
        attempt: Number(headers['x-delivery-attempt']),
        atMs: performance.now(),
        contentType: String(headers['content-type']),
      });
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    webhookUrl: `${base}/webhook`,
    toolUrl: `${base}/tools/order`,
    setSecret(value) {
      secret = value;
    },
    beSlowOnce: (event, to, answerAfterMs) => void slow.set(`${event} ${to}`, answerAfterMs),
    deliveries: (callUuid) => arrivals.all.filter(({ event }) => event.callUuid === callUuid),
    waitFor: arrivals.waitFor,
    toolRequests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
