/**
 * What only operators may read, on a port of its own that no proxy passes on, and on a socket in the private folder,
 * for the doctor: `/metrics`, and `/readyz` with each check by name. Where the port can be reached from elsewhere it
 * wants a token. Made by `control.ts`. That the port is taken is said in the log and costs no call.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { ListenOptions } from 'node:net';
import type { Logger } from 'pino';
import type { Readiness } from '../api/health-routes.ts';
import { METRICS_CONTENT_TYPE } from '../metrics/exposition.ts';

export interface MetricsServer {
  /** Idempotent. */
  close(): Promise<void>;
}

export interface MetricsServerOptions {
  host: string;
  /** 0: there is no port. */
  port: number;
  /** Wanted as `Authorization: Bearer …` on the port; null: whoever reaches the port may read. */
  token: string | null;
  /** In a folder that only the service's user can enter; null: there is none. */
  socketPath: string | null;
  log: Logger;
  text(): Promise<string>;
  readiness(): Promise<Readiness>;
}

export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const { host, port, token, socketPath, log } = options;
  const servers: Server[] = [];
  if (port !== 0) {
    const server = createServer((request, response) => {
      if (token !== null && !bears(request, token)) {
        response
          .writeHead(401, { 'content-type': 'text/plain', 'www-authenticate': 'Bearer realm="parley"' })
          .end('Send PARLEY_METRICS_TOKEN as Authorization: Bearer.\n');
        return;
      }
      answer(options, request, response);
    });
    servers.push(server);
    const fault = await listen(server, { port, host });
    if (fault === null) log.info({ host, port }, 'metrics are served');
    else {
      log.error(
        { host, port, code: fault },
        'the metrics port cannot be opened, so there are no metrics: set PARLEY_METRICS_PORT to a free port, or to 0',
      );
    }
  }
  if (socketPath !== null) {
    await rm(socketPath, { force: true });
    const server = createServer((request, response) => answer(options, request, response));
    servers.push(server);
    const fault = await listen(server, { path: socketPath });
    if (fault !== null) log.error({ code: fault }, 'the socket of the doctor cannot be opened');
  }
  return {
    async close() {
      await Promise.all(
        servers.map((server) => {
          const closed = new Promise<void>((resolve) => server.close(() => resolve()));
          server.closeAllConnections();
          return closed;
        }),
      );
    },
  };
}

function answer(
  { text, readiness, log }: MetricsServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const path = (request.url ?? '').split('?', 1)[0];
  const send = (status: number, contentType: string, body: string): void => {
    response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' }).end(body);
  };
  const failed = (error: unknown): void => {
    log.error({ err: error }, 'the metrics could not be gathered');
    send(500, 'text/plain', '');
  };
  if ((request.method === 'GET' || request.method === 'HEAD') && path === '/metrics') {
    text().then((body) => send(200, METRICS_CONTENT_TYPE, body), failed);
  } else if ((request.method === 'GET' || request.method === 'HEAD') && path === '/readyz') {
    readiness().then(
      (found) => send(found.status === 'ok' ? 200 : 503, 'application/json', JSON.stringify(found)),
      failed,
    );
  } else send(404, 'text/plain', 'Only GET /metrics and GET /readyz are here.\n');
}

/** Digests of one length, so that neither the length nor the first wrong byte shows in the time. */
function bears(request: IncomingMessage, token: string): boolean {
  const given = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

function listen(server: Server, where: ListenOptions): Promise<string | null> {
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(where, () => resolve(null));
  });
}
