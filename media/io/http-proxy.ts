/**
 * Passes every request that is no media socket to the control process, over its private unix socket: streaming both
 * ways, so server-sent events arrive as they are sent. Both socket servers call it. Who gets in is `request-room`'s to
 * say; one request's way is `proxied-request.ts`.
 */
import { Pool } from 'undici';
import { ProxiedRequest, type ProxiedRequestOptions } from './proxied-request.ts';
import { answerUnavailable } from './proxy-answers.ts';
import type { HttpExchange } from './socket-server/http-exchange.ts';

export interface HttpProxyOptions extends ProxiedRequestOptions {
  /** Path of the unix socket that control's HTTP server listens on. */
  socketPath: string;
  /** From the request's end to the answer's first line. */
  headersTimeoutMs: number;
}

export interface HttpProxy {
  handle(exchange: HttpExchange): void;
  /** Requests that wait for, or are within, an answer. */
  readonly inFlight: number;
  close(): Promise<void>;
}

/** The client library times its own stages; a request that falls between them is found by this look. */
const SWEEP_MS = 5_000;

export function createHttpProxy(options: HttpProxyOptions): HttpProxy {
  const pool = new Pool('http://control', {
    connect: { socketPath: options.socketPath, timeout: 2000 },
    pipelining: 1,
    headersTimeout: options.headersTimeoutMs,
    // An event stream may be silent for as long as its call is.
    bodyTimeout: 0,
  });
  const counters = { inFlight: 0 };
  let closed = false;
  const requests = new Set<ProxiedRequest>();
  const sweepMs = Math.min(SWEEP_MS, options.headersTimeoutMs, options.stalledLimitMs);
  const sweep = setInterval(() => {
    const nowMs = performance.now();
    const beforeMs = nowMs - options.headersTimeoutMs - sweepMs;
    for (const request of requests) {
      if (request.movedAtMs < beforeMs) request.tooLate();
      if (request.pace.isTooSlow(nowMs)) request.stalled();
      if (request.isOver) requests.delete(request);
    }
  }, sweepMs);
  sweep.unref();

  return {
    get inFlight() {
      return counters.inFlight;
    },
    handle(exchange) {
      if (closed) {
        answerUnavailable(exchange);
        return;
      }
      const request = new ProxiedRequest(exchange, options, counters, pool);
      requests.add(request);
      request.begin();
    },
    async close() {
      if (closed) return;
      closed = true;
      clearInterval(sweep);
      await pool.destroy();
    },
  };
}
