/**
 * The receivers of the webhook bench, in a process of their own: `/ok/…` answers 200 at once, `/hang/…` never answers.
 * When each event came for the first time is told to the parent when it asks. Forked by `main.ts`.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ToParent =
  | { type: 'listening'; port: number }
  /** By `webhook-id`: epoch ms of the first request. */
  | { type: 'arrivals'; arrivals: [string, number][] };

const arrivals = new Map<string, number>();

const server = createServer((request, response) => {
  const atEpochMs = performance.timeOrigin + performance.now();
  if (request.url?.startsWith('/hang/')) {
    request.resume();
    return;
  }
  const id = String(request.headers['webhook-id']);
  if (!arrivals.has(id)) arrivals.set(id, atEpochMs);
  request.resume().on('end', () => response.end());
});

server.listen(0, '127.0.0.1', () => {
  process.send?.({ type: 'listening', port: (server.address() as AddressInfo).port } satisfies ToParent);
});
process.on('message', () => {
  process.send?.({ type: 'arrivals', arrivals: [...arrivals] } satisfies ToParent);
});
process.on('disconnect', () => process.exit(0));
