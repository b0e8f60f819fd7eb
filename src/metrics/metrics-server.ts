/**
 * `/metrics` on a port of its own, which no proxy passes on: whoever reaches it may read it. Made by `control.ts`. That the port is
 * taken is said in the log and costs no call.
 */
import { createServer, type Server } from 'node:http';
import type { Logger } from 'pino';
import { METRICS_CONTENT_TYPE } from './exposition.ts';

export interface MetricsServer {
  /** Idempotent. */
  close(): Promise<void>;
}

export interface MetricsServerOptions {
  host: string;
  /** 0: there is no server. */
  port: number;
  log: Logger;
  text(): Promise<string>;
}

export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const { host, port, log } = options;
  if (port === 0) return { close: async () => {} };
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    if (path !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Only GET /metrics is here.\n');
      return;
    }
    options.text().then(
      (text) =>
        response.writeHead(200, { 'content-type': METRICS_CONTENT_TYPE, 'cache-control': 'no-store' }).end(text),
      (error: unknown) => {
        log.error({ err: error }, 'the metrics could not be gathered');
        response.writeHead(500).end();
      },
    );
  });
  const fault = await listen(server, host, port);
  if (fault === null) log.info({ host, port }, 'metrics are served');
  else {
    log.error(
      { host, port, code: fault },
      'the metrics port cannot be opened, so there are no metrics: set PARLEY_METRICS_PORT to a free port, or to 0',
    );
  }
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => resolve(null));
  });
}
