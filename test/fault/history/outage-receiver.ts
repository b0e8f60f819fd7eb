/**
 * A webhook receiver that can be away, ill or deaf, and keeps every request that reached it with what it answered. It
 * verifies as a client would. Made by `run.ts`.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { isVerified } from '../../../bench/demo/webhook-receiver.ts';
import type { ReceivedRequest } from '../judge/history.ts';
import type { Outage } from '../nemesis/nemesis-plan.ts';

export interface OutageReceiver {
  /** To be followed by a path. */
  origin: string;
  received: readonly ReceivedRequest[];
  /** Of the requests to this path; those to another are held to be forged. */
  setSecret(path: string, secret: string): void;
  /** `hang`: requests that come now are never answered. */
  setMode(mode: 'well' | Outage): Promise<void>;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

export async function startOutageReceiver(): Promise<OutageReceiver> {
  const received: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const secrets = new Map<string, string>();
  let mode: 'well' | Outage = 'well';
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString('utf8');
      const answered = mode === 'well' ? 200 : mode === 'fail' ? 500 : null;
      received.push({
        id: String(request.headers['webhook-id'] ?? ''),
        body,
        verified: isVerified(secrets.get(request.url ?? '') ?? '', request.headers, body),
        attempt: Number(request.headers['x-delivery-attempt']),
        answered,
      });
      if (answered !== null) response.writeHead(answered).end();
    });
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  const listen = (port: number): Promise<void> => new Promise((done) => server.listen(port, HOST, done));
  const leave = async (): Promise<void> => {
    const closed = new Promise((done) => server.close(done));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://${HOST}:${port}`,
    received,
    setSecret: (path, secret) => void secrets.set(path, secret),
    async setMode(next) {
      const wasAway = mode === 'refuse';
      mode = next;
      if (next === 'refuse' && !wasAway) await leave();
      if (next !== 'refuse' && wasAway) await listen(port);
    },
    async close() {
      if (mode !== 'refuse') await leave();
    },
  };
}
