/**
 * Stands before a Parley's API and passes requests on, until it is told to answer placements otherwise: what a target
 * that breaks in the middle of a run looks like to a client.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface MoodyProxy {
  url: string;
  /** So many placements have come. */
  readonly placements: number;
  close(): Promise<void>;
}

/** Returns true where it has answered the `nth` placement, or never will; the first is 1, which is the tool's check. */
export type Mood = (nth: number, response: ServerResponse) => boolean;

export async function startMoodyProxy(target: string, mood: Mood): Promise<MoodyProxy> {
  let placements = 0;
  const server = createServer((incoming, response) => {
    const isPlacement = incoming.url === '/api/outbound-call';
    if (isPlacement && mood(++placements, response)) return void incoming.resume();
    passOn(target, incoming, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get placements() {
      return placements;
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function passOn(target: string, incoming: IncomingMessage, response: ServerResponse): void {
  const { method = 'GET', url = '/', headers } = incoming;
  const outgoing = request(new URL(url, target), { method, headers: { ...headers, host: new URL(target).host } });
  outgoing.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on('error', () => response.destroy());
  incoming.pipe(outgoing);
}
