/**
 * `OutboundHttp` over undici: one fresh connection a request, made by `guarded-dial.ts`, so that nothing of one
 * workspace's connection is ever another's and no idle connection outlives the check of its address. Made by control and the command line.
 * Must not follow redirects, retry, or read more of an answer than it was asked to.
 */
import { createRequire } from 'node:module';
import type net from 'node:net';
import type { Client, Dispatcher } from 'undici';
import type { Clock } from '../contract/clock.ts';
import { failureReason } from './failure-reason.ts';
import { type GuardedDialDeps, guardedDial } from './guarded-dial.ts';
import type { OutboundHttp, OutboundRequest, OutboundResult } from './outbound-http.ts';
import { RefusedAddress } from './pinned-dial.ts';
import { parseTargetUrl } from './target-url.ts';

export interface GuardedClientOptions extends GuardedDialDeps {
  clock: Clock;
}

/** Status and headers decide; a body that does not come within this is not waited for, unless the request says otherwise. */
const BODY_WAIT_MS = 1_000;
/** While the kernel has not taken the whole request, look again after this. */
const FLUSH_POLL_MS = 10;
const MAX_HEADER_BYTES = 16_384;

/** Read with the first request, which a start need not wait for. */
const undici = (): typeof import('undici') => createRequire(import.meta.url)('undici');

export function createGuardedClient(options: GuardedClientOptions): OutboundHttp {
  const exchanges = new Set<Exchange>();
  let closed = false;
  return {
    send(request) {
      if (closed) return Promise.resolve({ kind: 'failed', reason: 'the service is shutting down' });
      const target = parseTargetUrl(request.url, options.guard);
      if (!target.ok) return Promise.resolve({ kind: 'refused', reason: `the URL ${target.problem}` });
      return new Promise((resolve) => {
        const exchange = new Exchange(options, request, target.url, (result) => {
          exchanges.delete(exchange);
          resolve(result);
        });
        exchanges.add(exchange);
        exchange.start();
      });
    },
    async close() {
      closed = true;
      for (const exchange of exchanges) exchange.fail('the service is shutting down');
    },
  };
}

/** One request and its answer. Ends once, whatever comes first; after that everything is torn down. */
class Exchange {
  readonly #options: GuardedClientOptions;
  readonly #request: OutboundRequest;
  readonly #url: URL;
  readonly #done: (result: OutboundResult) => void;
  readonly #client: Client;
  readonly #timers: (() => void)[] = [];
  readonly #dialling = new AbortController();
  #socket: net.Socket | null = null;
  #cancelConnectLimit = (): void => {};
  #cancelResponseLimit = (): void => {};
  #writtenAtMs: number | null = null;
  #answer: Extract<OutboundResult, { kind: 'answered' }> | null = null;
  readonly #chunks: Buffer[] = [];
  #bodyBytes = 0;
  #ended = false;

  constructor(
    options: GuardedClientOptions,
    request: OutboundRequest,
    url: URL,
    done: (result: OutboundResult) => void,
  ) {
    this.#options = options;
    this.#request = request;
    this.#url = url;
    this.#done = done;
    const { Client: UndiciClient } = undici();
    this.#client = new UndiciClient(url.origin, {
      pipelining: 1,
      // Ours are exact and on the injected clock; undici's are off.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect: (_options, callback) => this.#connect(callback),
    });
  }

  start(): void {
    const { signal, limits } = this.#request;
    if (signal !== undefined) {
      const abort = (): void => this.fail('it was called off');
      if (signal.aborted) {
        abort();
        return;
      }
      signal.addEventListener('abort', abort, { once: true });
      this.#timers.push(() => signal.removeEventListener('abort', abort));
    }
    const { connectMs, totalMs } = limits;
    this.#cancelConnectLimit = this.#limit(connectMs, `no connection within ${connectMs} ms`);
    this.#limit(totalMs, `the request was not taken within ${totalMs} ms`);
    this.#client.dispatch(
      {
        origin: this.#url.origin,
        path: this.#url.pathname + this.#url.search,
        method: this.#request.method,
        headers: { ...this.#request.headers },
        body: this.#request.body,
        reset: true,
      },
      this.#handler(),
    );
  }

  fail(reason: string): void {
    this.#end({ kind: 'failed', reason });
  }

  #handler(): Dispatcher.DispatchHandler {
    return {
      onRequestStart: () => {
        this.#cancelConnectLimit();
        // undici hands headers and a Buffer body to the socket in this same turn, right after this callback.
        queueMicrotask(() => this.#whenFlushed());
      },
      onResponseStart: (_controller, status, headers) => this.#headersCame(status, headers),
      onResponseData: (_controller, chunk) => this.#bodyCame(chunk),
      onResponseEnd: () => this.#answered(true),
      onResponseError: (_controller, error) => {
        // An answer that breaks off after its headers is an answer.
        if (this.#answer !== null) this.#answered(false);
        else if (error instanceof RefusedAddress) this.#end({ kind: 'refused', reason: error.message });
        else this.fail(failureReason(error));
      },
    };
  }

  #connect(callback: (...result: [Error, null] | [null, net.Socket]) => void): void {
    guardedDial(this.#url, this.#options, this.#dialling.signal).then(
      (socket) => {
        this.#socket = socket;
        if (this.#ended) socket.on('error', () => {}).destroy();
        callback(null, socket);
      },
      (error: Error) => callback(error, null),
    );
  }

  #whenFlushed(): void {
    if (this.#ended || this.#answer !== null) return;
    if ((this.#socket?.writableLength ?? 0) > 0) {
      this.#timers.push(this.#options.clock.after(FLUSH_POLL_MS, () => this.#whenFlushed()));
      return;
    }
    this.#writtenAtMs = this.#options.clock.nowMs();
    const { responseMs } = this.#request.limits;
    this.#cancelResponseLimit = this.#limit(responseMs, `no answer within ${responseMs} ms`);
  }

  #headersCame(status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return;
    this.#cancelResponseLimit();
    const now = this.#options.clock.nowMs();
    const retryAfter = headers['retry-after'];
    this.#answer = {
      kind: 'answered',
      status,
      retryAfter: (Array.isArray(retryAfter) ? retryAfter[0] : retryAfter) ?? null,
      body: '',
      // An answer may come before the request is wholly written.
      responseMs: now - (this.#writtenAtMs ?? now),
    };
    const bodyMs = this.#request.limits.bodyMs ?? BODY_WAIT_MS;
    this.#timers.push(this.#options.clock.after(bodyMs, () => this.#answered(false)));
  }

  #bodyCame(chunk: Buffer): void {
    const room = this.#request.limits.maxResponseBytes - this.#bodyBytes;
    const taken = chunk.subarray(0, Math.max(0, room));
    this.#chunks.push(Buffer.from(taken));
    this.#bodyBytes += taken.length;
    if (taken.length < chunk.length) this.#answered(false);
  }

  #answered(isBodyWhole: boolean): void {
    if (this.#answer === null) return;
    this.#end({ ...this.#answer, body: Buffer.concat(this.#chunks).toString('utf8'), isBodyWhole });
  }

  #limit(afterMs: number, reason: string): () => void {
    const cancel = this.#options.clock.after(afterMs, () => {
      if (this.#answer === null) this.#end({ kind: 'failed', reason, isTimeout: true });
    });
    this.#timers.push(cancel);
    return cancel;
  }

  #end(result: OutboundResult): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const cancel of this.#timers) cancel();
    this.#dialling.abort();
    this.#socket?.on('error', () => {}).destroy();
    this.#client.destroy().catch(() => {});
    this.#done(result);
  }
}
