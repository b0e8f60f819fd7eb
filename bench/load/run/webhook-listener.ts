/**
 * Receives the target's webhooks and tells how long after the end of a call its own came. For the tool's own service
 * always, else with `--webhook-listen`. Takes what comes without looking at signatures: it measures, and does not
 * trust.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TargetFault } from '../contract/target.ts';

const LONGEST_BODY_BYTES = 1_048_576;
/** Of calls that nobody asked for. */
const MOST_KEPT = 10_000;
const ENDS = ['call.completed', 'call.failed'];

export interface WebhookListener {
  url: string;
  /** From `endedAtMs`, of the run, until the webhook of the call's end; null: it did not come within `limitMs`. */
  delayOf(callId: string, endedAtMs: number, limitMs: number): Promise<number | null>;
  close(): void;
}

/** `nowMs`: of the run's clock. Rejects with a `TargetFault` where it cannot listen. */
export async function listenForWebhooks(host: string, port: number, nowMs: () => number): Promise<WebhookListener> {
  const arrivedAtMs = new Map<string, number>();
  const waiting = new Map<string, (atMs: number) => void>();
  const server = createServer((request, response) => {
    const atMs = nowMs();
    void bodyOf(request).then((text) => {
      response.writeHead(200).end();
      const callId = endOfCall(text);
      // A repeated delivery came later: the first counts.
      if (callId === null || arrivedAtMs.has(callId)) return;
      arrivedAtMs.set(callId, atMs);
      if (arrivedAtMs.size > MOST_KEPT) arrivedAtMs.delete(arrivedAtMs.keys().next().value!);
      waiting.get(callId)?.(atMs);
    });
  });
  await new Promise<void>((done, failed) => {
    server.once('error', (error) =>
      failed(new TargetFault(`--webhook-listen ${host}:${port}: ${error.message}; choose another port`)),
    );
    server.listen(port, host, done);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${taken}/webhook`,
    delayOf: (callId, endedAtMs, limitMs) =>
      new Promise((done) => {
        const known = arrivedAtMs.get(callId);
        if (known !== undefined) return done(known - endedAtMs);
        const limit = setTimeout(() => end(null), limitMs);
        const end = (atMs: number | null): void => {
          clearTimeout(limit);
          waiting.delete(callId);
          done(atMs === null ? null : atMs - endedAtMs);
        };
        waiting.set(callId, end);
      }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes > LONGEST_BODY_BYTES) return '';
      chunks.push(chunk);
    }
  } catch {
    return '';
  }
  return Buffer.concat(chunks).toString('utf8');
}

function endOfCall(text: string): string | null {
  try {
    const { event, callUuid } = Object(JSON.parse(text)) as { event?: unknown; callUuid?: unknown };
    return ENDS.includes(String(event)) && typeof callUuid === 'string' ? callUuid : null;
  } catch {
    return null;
  }
}
