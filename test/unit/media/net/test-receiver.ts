/** A receiver on loopback that keeps what it was sent and answers as the test says. */
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { PATIENCE_MS } from '../../../../bench/harness/patience.ts';
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from './test-certificate.ts';

export interface ReceivedRequest {
  headers: http.IncomingHttpHeaders;
  body: string;
  method: string;
  url: string;
  /** As named in the TLS handshake; false without a name, null without TLS. */
  serverName: string | false | null;
}

export interface TestReceiver {
  port: number;
  requests: ReceivedRequest[];
  /** TCP connections ever accepted. */
  readonly connections: number;
  /** Resolves when `count` requests have come whole. */
  received(count: number): Promise<void>;
  close(): Promise<void>;
}

export type Answer = (request: ReceivedRequest, response: http.ServerResponse, number: number) => void;

export async function startReceiver(answer: Answer, secure = false): Promise<TestReceiver> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const waiting: { count: number; go: () => void }[] = [];
  let connections = 0;
  const listener: http.RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = {
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        method: request.method ?? '',
        url: request.url ?? '',
        serverName: request.socket instanceof TLSSocket ? serverNameOf(request.socket) : null,
      };
      requests.push(received);
      answer(received, response, requests.length);
      for (const waiter of waiting) if (requests.length >= waiter.count) waiter.go();
    });
    response.on('error', () => {});
  };
  const server = secure
    ? https.createServer({ cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY }, listener)
    : http.createServer(listener);
  // Who counts connections must not find one closed because the machine was slow.
  server.keepAliveTimeout = PATIENCE_MS;
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    get connections() {
      return connections;
    },
    received: (count) =>
      requests.length >= count ? Promise.resolve() : new Promise((go) => waiting.push({ count, go })),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Set by Node on the server's side; its types do not list it. */
function serverNameOf(socket: TLSSocket): string | false {
  return (socket as TLSSocket & { servername?: string | false }).servername ?? false;
}
