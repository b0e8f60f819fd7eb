/**
 * Passes every request that is no media socket to the control process, over its private unix socket: streaming both ways,
 * so server-sent events arrive as they are sent. Both socket servers call it. It looks at no path and keeps nothing.
 * RFC 9110 §7.6.1 names the hop-by-hop headers that stop here.
 */
import { Readable } from 'node:stream';
import { type Dispatcher, Pool } from 'undici';
import type { HeaderList, HttpExchange } from './socket-server/http-exchange.ts';

export interface HttpProxyOptions {
  /** Path of the unix socket that control's HTTP server listens on. */
  socketPath: string;
  maxBodyBytes: number;
  /** Requests and open event streams at once; more are answered 503. */
  maxInFlight: number;
  /** From the request's end to the answer's first line. */
  headersTimeoutMs: number;
}

export interface HttpProxy {
  handle(exchange: HttpExchange): void;
  /** Requests that wait for, or are within, an answer. */
  readonly inFlight: number;
  close(): Promise<void>;
}

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Not sent on either: `expect` was answered by us, and the x-forwarded set is written anew. */
const REWRITTEN = new Set(['expect', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']);
/** The request cannot have been read, so it may be answered as never sent. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOENT', 'UND_ERR_CONNECT_TIMEOUT', 'EACCES', 'EAGAIN']);
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);
const RETRY_AFTER_SECONDS = '1';
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
  const unanswered = new Set<ProxiedRequest>();
  const sweepMs = Math.min(SWEEP_MS, options.headersTimeoutMs);
  const sweep = setInterval(() => {
    const beforeMs = performance.now() - options.headersTimeoutMs - sweepMs;
    for (const request of unanswered) {
      if (request.movedAtMs < beforeMs) request.tooLate();
      if (request.isAnswered) unanswered.delete(request);
    }
  }, sweepMs);
  sweep.unref();

  return {
    get inFlight() {
      return counters.inFlight;
    },
    handle(exchange) {
      if (closed || counters.inFlight >= options.maxInFlight) {
        answerUnavailable(exchange);
        return;
      }
      const request = new ProxiedRequest(exchange, options, counters);
      unanswered.add(request);
      request.dispatch(pool);
    },
    async close() {
      if (closed) return;
      closed = true;
      clearInterval(sweep);
      await pool.destroy();
    },
  };
}

class ProxiedRequest implements Dispatcher.DispatchHandler {
  readonly #exchange: HttpExchange;
  readonly #options: HttpProxyOptions;
  readonly #counters: { inFlight: number };
  #controller: Dispatcher.DispatchController | null = null;
  #body: Readable | null = null;
  #bodyBytes = 0;
  #isPaused = false;
  #hasAnswered = false;
  #isOver = false;
  /** When it came, or the last piece of its body. */
  movedAtMs = performance.now();

  constructor(exchange: HttpExchange, options: HttpProxyOptions, counters: { inFlight: number }) {
    this.#exchange = exchange;
    this.#options = options;
    this.#counters = counters;
    counters.inFlight++;
  }

  /** Its answer has begun, or nobody waits for one. */
  get isAnswered(): boolean {
    return this.#hasAnswered || this.#isOver;
  }

  /** Neither answered nor failed in all the time that it may take. */
  tooLate(): void {
    if (this.isAnswered) return;
    const controller = this.#controller;
    this.#answer(500, 'Internal server error', 'internal_error');
    controller?.abort(new Error('no answer in time'));
    this.#body?.destroy();
  }

  dispatch(pool: Pool): void {
    const exchange = this.#exchange;
    const { headers, lengths, announcedBytes, hasBody } = forwardedHeaders(exchange);
    exchange.onAborted = () => this.#abort('the client went away');
    // Of two lengths nobody knows which is meant, and a tunnel leads nowhere from here.
    if (lengths > 1 || exchange.method === 'CONNECT') {
      this.#answer(400, 'Bad request', 'bad_request');
      return;
    }
    if (announcedBytes > this.#options.maxBodyBytes) {
      this.#answer(413, 'Request body too large', 'body_too_large');
      return;
    }
    if (hasBody) {
      this.#body = new Readable({
        read: () => {
          if (!this.#isPaused) return;
          this.#isPaused = false;
          exchange.resumeBody();
        },
      });
      this.#body.on('error', () => {});
      exchange.onBody = (chunk, isLast) => this.#onBody(chunk, isLast);
    }
    try {
      pool.dispatch(
        { method: exchange.method as Dispatcher.HttpMethod, path: exchange.url, headers, body: this.#body },
        this,
      );
    } catch {
      // undici refuses what no HTTP client may send: a bad method, path or header.
      this.#answer(400, 'Bad request', 'bad_request');
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('the client went away'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    httpStatus: number,
    headers: Record<string, string | string[] | undefined>,
    statusText?: string,
  ): void {
    if (httpStatus < 200 || this.#isOver) return;
    this.#hasAnswered = true;
    const length = headers['content-length'];
    this.#exchange.onWritable = () => this.#controller?.resume();
    this.#exchange.respond(
      httpStatus,
      statusText ?? '',
      answeredHeaders(headers),
      typeof length === 'string' ? Number(length) : null,
    );
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isOver && !this.#exchange.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (!this.#settle()) return;
    this.#exchange.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return;
    if (this.#hasAnswered) {
      this.#settle();
      this.#exchange.cut();
      return;
    }
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (NOT_SENT.has(code) || SAFE_METHODS.has(this.#exchange.method)) {
      this.#settle();
      answerUnavailable(this.#exchange);
      return;
    }
    // Control may have acted on it: 503 would invite a second try of something that was done.
    this.#answer(500, 'Internal server error', 'internal_error');
  }

  #onBody(chunk: Uint8Array, isLast: boolean): void {
    const body = this.#body;
    if (body === null || this.#isOver) return;
    this.movedAtMs = performance.now();
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > this.#options.maxBodyBytes) {
      const controller = this.#controller;
      this.#answer(413, 'Request body too large', 'body_too_large');
      controller?.abort(new Error('request body too large'));
      body.destroy();
      return;
    }
    if (chunk.length > 0 && !body.push(chunk) && !isLast) {
      this.#isPaused = true;
      this.#exchange.pauseBody();
    }
    if (isLast) body.push(null);
  }

  #abort(why: string): void {
    if (!this.#settle()) return;
    this.#controller?.abort(new Error(why));
    this.#body?.destroy();
  }

  #answer(httpStatus: number, message: string, errorCode: string): void {
    if (this.#settle()) answerEnvelope(this.#exchange, httpStatus, message, errorCode, []);
  }

  #settle(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#counters.inFlight--;
    return true;
  }
}

/** Contract §2 row 12: control is away, restarting or draining. */
export function answerUnavailable(exchange: HttpExchange): void {
  answerEnvelope(exchange, 503, 'Service temporarily unavailable', 'draining', [['retry-after', RETRY_AFTER_SECONDS]]);
}

function answerEnvelope(
  exchange: HttpExchange,
  httpStatus: number,
  message: string,
  errorCode: string,
  more: HeaderList,
): void {
  exchange.onBody = null;
  const body = Buffer.from(JSON.stringify({ success: false, message }));
  const headers: HeaderList = [
    ['content-type', 'application/json; charset=utf-8'],
    ['x-error-code', errorCode],
    ...more,
  ];
  exchange.respond(httpStatus, '', headers, body.length);
  exchange.write(body);
  exchange.end();
}

/** `announcedBytes` 0 when the length is not said. Throws nothing: a length that is no number is left to control. */
function forwardedHeaders(exchange: HttpExchange): {
  headers: string[];
  /** How many content-length headers there are. */
  lengths: number;
  announcedBytes: number;
  hasBody: boolean;
} {
  const named = new Set<string>();
  for (const [name, value] of exchange.headers) {
    if (name === 'connection') for (const token of value.split(',')) named.add(token.trim().toLowerCase());
  }
  const headers: string[] = [];
  const first = new Map<string, string>();
  let lengths = 0;
  let announcedBytes = 0;
  let hasBody = false;
  const forwardedFor: string[] = [];
  for (const [name, value] of exchange.headers) {
    if (!first.has(name)) first.set(name, value);
    if (name === 'x-forwarded-for') forwardedFor.push(value);
    if (name === 'transfer-encoding') hasBody = true;
    if (name === 'content-length') {
      lengths++;
      announcedBytes = Number(value) || 0;
      if (announcedBytes === 0) continue;
      hasBody = true;
    }
    if (!HOP_BY_HOP.has(name) && !REWRITTEN.has(name) && !named.has(name)) headers.push(name, value);
  }
  forwardedFor.push(exchange.remoteAddress);
  headers.push('x-forwarded-for', forwardedFor.join(', '));
  // A load balancer before us that ends TLS has said what the client used; without one it is plain HTTP to our own port.
  headers.push('x-forwarded-proto', first.get('x-forwarded-proto') ?? 'http');
  headers.push('x-forwarded-host', first.get('x-forwarded-host') ?? first.get('host') ?? '');
  return { headers, lengths, announcedBytes, hasBody };
}

function answeredHeaders(headers: Record<string, string | string[] | undefined>): HeaderList {
  const { connection } = headers;
  const named = new Set(
    String(connection ?? '')
      .split(',')
      .map((token) => token.trim().toLowerCase()),
  );
  const list: HeaderList = [];
  for (const [name, value] of Object.entries(headers)) {
    // The socket server writes a length and a date of its own.
    if (value === undefined || name === 'content-length' || name === 'date') continue;
    if (HOP_BY_HOP.has(name) || named.has(name)) continue;
    if (Array.isArray(value)) for (const one of value) list.push([name, one]);
    else list.push([name, value]);
  }
  return list;
}
