/**
 * Requests whose answers come bit by bit, over connections that are kept for the next one: what a call waits for must
 * not begin with two round trips. Kept apart by `pool` (a connection of one workspace), for a limited time, so that an
 * address is looked up and checked again. Used by provider threads. Must not follow redirects, retry, or keep what an
 * answer says.
 */
import http from 'node:http';
import type net from 'node:net';
import type { Clock } from '../contract/clock.ts';
import { failureReason } from './failure-reason.ts';
import { type GuardedDialDeps, guardedDial } from './guarded-dial.ts';
import { RefusedAddress } from './pinned-dial.ts';
import { parseTargetUrl } from './target-url.ts';

export interface StreamedRequest {
  url: string;
  method: 'POST' | 'GET';
  headers: Readonly<Record<string, string>>;
  /** Sent as these bytes. */
  body: Buffer;
  /** Who may use the connection after this request: requests of the same pool alone. */
  pool: string;
  /** Look-up, TCP and TLS together, where a connection must be made. */
  connectMs: number;
}

export interface StreamFailure {
  /** `refused`: nothing was sent, the URL or where it leads is not allowed. */
  kind: 'refused' | 'failed';
  /** A clause for a person. */
  reason: string;
  isTimeout: boolean;
  /**
   * A connection that was kept had gone, and nothing of an answer came: the same request may fare better on a new one.
   */
  isStale: boolean;
}

/** In this order; nothing after `ended` or `failed`, and nothing after the request was called off. */
export interface StreamListener {
  began(status: number, headers: Readonly<http.IncomingHttpHeaders>): void;
  data(chunk: Buffer): void;
  ended(): void;
  failed(failure: StreamFailure): void;
}

export interface GuardedStreamOptions extends GuardedDialDeps {
  clock: Clock;
  /** A connection that is older is not used for another request. Default 5 min. */
  maxAgeMs?: number;
}

export interface GuardedStreams {
  /** Listeners are called later, never from within. Returns what calls the request off and closes its connection. */
  open(request: StreamedRequest, listener: StreamListener): () => void;
  /**
   * Makes a connection for the pool's next request, as long as none is kept. What goes wrong shows with the request.
   */
  warm(request: Pick<StreamedRequest, 'url' | 'pool' | 'connectMs'>): void;
  /** Ends what is under way (as `failed`) and all that is kept. */
  close(): void;
}

const MAX_AGE_MS = 300_000;
/** Many servers close what is idle for a minute; ours must be the first. */
const IDLE_MS = 45_000;
const MOST_IDLE_A_POOL = 16;
const MAX_HEADER_BYTES = 16_384;

type NameOptions = Parameters<http.Agent['getName']>[0];

interface DialOptions extends http.RequestOptions {
  target: URL;
  pool: string;
  connectMs: number;
}

/** Makes and keeps connections by pool and origin; TLS is a matter of the URL's scheme. */
class PinnedAgent extends http.Agent {
  readonly #deps: GuardedStreamOptions;
  readonly #bornAtMs = new WeakMap<object, number>();
  readonly #closing = new AbortController();
  /** By name. Null: it did not come about. */
  readonly #ahead = new Map<string, Promise<net.Socket | null>>();

  constructor(deps: GuardedStreamOptions) {
    super({ keepAlive: true, scheduling: 'lifo', maxFreeSockets: MOST_IDLE_A_POOL, timeout: IDLE_MS });
    this.#deps = deps;
  }

  override getName(options?: NameOptions): string {
    const { pool, target } = options as DialOptions;
    return `${pool} ${target.origin}`;
  }

  override createConnection(options: unknown, callback?: (error: Error | null, socket: net.Socket) => void): undefined {
    const name = this.getName(options as NameOptions);
    const ahead = this.#ahead.get(name);
    this.#ahead.delete(name);
    // One made ahead may have been closed meanwhile, or not have come about.
    const made = ahead?.then((socket) => (socket?.writable === true ? socket : this.#dial(options as DialOptions)));
    (made ?? this.#dial(options as DialOptions)).then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, undefined as never),
    );
  }

  /** For the next request, where none is kept. */
  makeAhead(options: DialOptions): void {
    const name = this.getName(options as NameOptions);
    const { freeSockets, sockets, requests } = this;
    const isKept = [freeSockets, sockets, requests].some((all) => (all[name]?.length ?? 0) > 0);
    if (isKept || this.#ahead.has(name)) return;
    const made = this.#dial(options).then(
      (socket) => {
        socket.on('error', () => {});
        const forget = (): void => {
          if (this.#ahead.get(name) === made && this.#ahead.delete(name)) socket.destroy();
        };
        socket.once('timeout', forget).once('close', forget);
        return socket;
      },
      () => null,
    );
    this.#ahead.set(name, made);
  }

  async #dial({ target, connectMs }: DialOptions): Promise<net.Socket> {
    const { clock } = this.#deps;
    const limit = new AbortController();
    const cancel = clock.after(connectMs, () => limit.abort(new ConnectTimeout(connectMs)));
    try {
      const socket = await guardedDial(target, this.#deps, AbortSignal.any([limit.signal, this.#closing.signal]));
      this.#bornAtMs.set(socket, clock.nowMs());
      socket.setTimeout(IDLE_MS);
      return socket;
    } finally {
      cancel();
    }
  }

  override keepSocketAlive(socket: net.Socket): boolean {
    const { clock, maxAgeMs = MAX_AGE_MS } = this.#deps;
    const bornAtMs = this.#bornAtMs.get(socket) ?? Number.NEGATIVE_INFINITY;
    if (clock.nowMs() - bornAtMs >= maxAgeMs) return false;
    // What Node answers, undeclared in its types: false where the server wants no more.
    return (super.keepSocketAlive as (socket: net.Socket) => unknown)(socket) !== false;
  }

  override destroy(): void {
    this.#closing.abort(new Error('the service is shutting down'));
    for (const made of this.#ahead.values()) void made.then((socket) => socket?.destroy());
    this.#ahead.clear();
    super.destroy();
  }
}

class ConnectTimeout extends Error {
  constructor(connectMs: number) {
    super(`no connection within ${connectMs} ms`);
  }
}

export function createGuardedStreams(options: GuardedStreamOptions): GuardedStreams {
  const agent = new PinnedAgent(options);
  const underWay = new Set<Exchange>();
  let isClosed = false;

  const optionsOf = (target: URL, request: Pick<StreamedRequest, 'pool' | 'connectMs'>): DialOptions => ({
    agent,
    target,
    pool: request.pool,
    connectMs: request.connectMs,
    // The agent makes what it takes; to Node it is plain.
    protocol: 'http:',
    host: target.hostname,
    port: target.port === '' ? (target.protocol === 'https:' ? 443 : 80) : target.port,
    path: target.pathname + target.search,
    maxHeaderSize: MAX_HEADER_BYTES,
  });

  return {
    open(request, listener) {
      const exchange = new Exchange(listener, () => underWay.delete(exchange));
      underWay.add(exchange);
      const target = parseTargetUrl(request.url, options.guard);
      if (isClosed || !target.ok) {
        const reason = target.ok ? 'the service is shutting down' : `the URL ${target.problem}`;
        const kind = target.ok ? 'failed' : 'refused';
        queueMicrotask(() => exchange.fail({ kind, reason, isTimeout: false, isStale: false }));
      } else {
        const headers = { ...request.headers, host: target.url.host, 'content-length': String(request.body.length) };
        try {
          exchange.send(
            http.request({ ...optionsOf(target.url, request), method: request.method, headers }),
            request.body,
          );
        } catch (error) {
          // A key with a line break in it: Node names the header, and never its value.
          const reason = `the request cannot be sent: ${(error as Error).message}`;
          queueMicrotask(() => exchange.fail({ kind: 'refused', reason, isTimeout: false, isStale: false }));
        }
      }
      return () => exchange.callOff();
    },
    warm(request) {
      const target = parseTargetUrl(request.url, options.guard);
      if (isClosed || !target.ok) return;
      agent.makeAhead(optionsOf(target.url, request));
    },
    close() {
      isClosed = true;
      const failure = {
        kind: 'failed',
        reason: 'the service is shutting down',
        isTimeout: false,
        isStale: false,
      } as const;
      for (const exchange of underWay) exchange.fail(failure);
      agent.destroy();
    },
  };
}

/** One request and its answer; ends once. */
class Exchange {
  readonly #listener: StreamListener;
  readonly #over: () => void;
  #request: http.ClientRequest | null = null;
  #hasBegun = false;
  #isOver = false;

  constructor(listener: StreamListener, over: () => void) {
    this.#listener = listener;
    this.#over = over;
  }

  send(request: http.ClientRequest, body: Buffer): void {
    this.#request = request;
    request.on('error', (error) => this.#broke(error));
    request.on('response', (response) => this.#answered(response));
    request.end(body);
  }

  callOff(): void {
    if (this.#finish()) this.#request?.destroy();
  }

  fail(failure: StreamFailure): void {
    if (!this.#finish()) return;
    this.#request?.destroy();
    this.#listener.failed(failure);
  }

  #answered(response: http.IncomingMessage): void {
    if (this.#isOver) return;
    this.#hasBegun = true;
    response.on('error', (error) => this.#broke(error));
    response.on('data', (chunk: Buffer) => {
      if (!this.#isOver) this.#listener.data(chunk);
    });
    response.on('end', () => {
      if (this.#finish()) this.#listener.ended();
    });
    this.#listener.began(response.statusCode ?? 0, response.headers);
  }

  #broke(error: Error): void {
    const isStale = !this.#hasBegun && this.#request?.reusedSocket === true;
    this.fail({
      kind: error instanceof RefusedAddress ? 'refused' : 'failed',
      reason: error instanceof RefusedAddress ? error.message : failureReason(error),
      isTimeout: error instanceof ConnectTimeout,
      isStale,
    });
  }

  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#over();
    return true;
  }
}
