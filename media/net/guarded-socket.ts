/**
 * A WebSocket to where a URL leads, under the same guard as every request: looked up, checked and pinned before it is
 * dialled, its certificate checked against the URL's name. Used by provider threads. Must not follow redirects, connect
 * again, or keep more than its bounds.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { WebSocket } from 'ws';
import type { Clock } from '../contract/clock.ts';
import { failureReason } from './failure-reason.ts';
import { type GuardedDialDeps, guardedDial } from './guarded-dial.ts';
import { RefusedAddress } from './pinned-dial.ts';
import { parseTargetUrl } from './target-url.ts';

export interface SocketRequest {
  /** `wss://…`; `ws://…` only where plain http may be spoken. */
  url: string;
  headers: Readonly<Record<string, string>>;
  protocols?: readonly string[];
  /** Look-up, TCP, TLS and the server's answer together. */
  connectMs: number;
  /** A longer message ends the connection. */
  maxMessageBytes: number;
  /** More that the network has not taken: `send` refuses. */
  maxUnsentBytes: number;
}

export type SocketEnd =
  /** Nothing was sent: the URL or where it leads is not allowed. */
  | { kind: 'refused'; reason: string }
  /** It was never open, or broke. `status`, with what was said beside it: the server answered, and not with a WebSocket. */
  | { kind: 'failed'; reason: string; isTimeout: boolean; status?: number; retryAfter?: string | null; body?: string }
  /** Closed in order, by whom ever. */
  | { kind: 'closed'; code: number; reason: string };

export interface SocketListener {
  /** Before any message. */
  opened(headers: Readonly<IncomingHttpHeaders>): void;
  message(data: Buffer, isBinary: boolean): void;
  pong?(): void;
  /** Once, and nothing after it; not where it was terminated. */
  over(end: SocketEnd): void;
}

export interface GuardedSocket {
  readonly isOpen: boolean;
  /** Bytes that the network has not taken. */
  readonly unsentBytes: number;
  /** False: it is not open, or too much is unsent; nothing of it was taken. */
  send(data: string | Uint8Array): boolean;
  ping(): void;
  /** In order: the server is told, and `over` follows when it has answered or does not within some seconds. */
  close(code?: number): void;
  /** At once; nothing is told after it. Idempotent. */
  terminate(): void;
}

export interface GuardedSocketDeps extends GuardedDialDeps {
  clock: Clock;
}

/** Of a server's refusal. */
const MOST_REFUSAL_BYTES = 4_096;
const CLOSE_WITHIN_MS = 3_000;

export function openGuardedSocket(
  request: SocketRequest,
  deps: GuardedSocketDeps,
  listener: SocketListener,
): GuardedSocket {
  return new Connection(request, deps, listener);
}

class Connection implements GuardedSocket {
  readonly #request: SocketRequest;
  readonly #deps: GuardedSocketDeps;
  readonly #listener: SocketListener;
  readonly #dialling = new AbortController();
  #ws: WebSocket | null = null;
  #isOver = false;
  #cancelLimit: () => void;

  constructor(request: SocketRequest, deps: GuardedSocketDeps, listener: SocketListener) {
    this.#request = request;
    this.#deps = deps;
    this.#listener = listener;
    const { connectMs } = request;
    this.#cancelLimit = deps.clock.after(connectMs, () => this.#fail(`no connection within ${connectMs} ms`, true));
    const target = parseTargetUrl(request.url.replace(/^ws/i, 'http'), deps.guard);
    if (target.ok) void this.#connect(target.url);
    else queueMicrotask(() => this.#end({ kind: 'refused', reason: `the URL ${target.problem}` }));
  }

  get isOpen(): boolean {
    return !this.#isOver && this.#ws?.readyState === WebSocket.OPEN;
  }

  get unsentBytes(): number {
    return this.#ws?.bufferedAmount ?? 0;
  }

  send(data: string | Uint8Array): boolean {
    if (!this.isOpen || this.unsentBytes > this.#request.maxUnsentBytes) return false;
    this.#ws?.send(data);
    return true;
  }

  ping(): void {
    if (this.isOpen) this.#ws?.ping();
  }

  close(code = 1000): void {
    if (this.#isOver) return;
    if (!this.isOpen) {
      this.#end({ kind: 'closed', code, reason: '' });
      return;
    }
    this.#ws?.close(code);
    this.#cancelLimit = this.#deps.clock.after(CLOSE_WITHIN_MS, () => this.#end({ kind: 'closed', code, reason: '' }));
  }

  terminate(): void {
    this.#finish();
  }

  async #connect(url: URL): Promise<void> {
    const { headers, protocols = [], maxMessageBytes } = this.#request;
    try {
      const socket = await guardedDial(url, this.#deps, this.#dialling.signal);
      if (this.#isOver) {
        socket.on('error', () => {}).destroy();
        return;
      }
      const ws = new WebSocket(this.#request.url, [...protocols], {
        headers: { ...headers },
        // It stands already, and nothing else is ever dialled.
        createConnection: () => socket,
        perMessageDeflate: false,
        followRedirects: false,
        maxPayload: maxMessageBytes,
      });
      this.#ws = ws;
      this.#listen(ws);
    } catch (error) {
      if (error instanceof RefusedAddress) this.#end({ kind: 'refused', reason: error.message });
      else this.#fail(failureReason(error as Error));
    }
  }

  #listen(ws: WebSocket): void {
    let headers: IncomingHttpHeaders = {};
    ws.on('upgrade', (response) => {
      headers = response.headers;
    });
    ws.on('open', () => {
      if (this.#isOver) return;
      this.#cancelLimit();
      this.#listener.opened(headers);
    });
    ws.on('message', (data: Buffer, isBinary) => {
      if (!this.#isOver) this.#listener.message(data, isBinary);
    });
    ws.on('pong', () => {
      if (!this.#isOver) this.#listener.pong?.();
    });
    ws.on('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const { statusCode: status = 0, headers: said } = response;
      const tell = (): void => {
        const body = Buffer.concat(chunks).toString('utf8').slice(0, MOST_REFUSAL_BYTES);
        const retryAfter = said['retry-after'] ?? null;
        this.#end({ kind: 'failed', reason: `it answered ${status}`, isTimeout: false, status, retryAfter, body });
      };
      response.on('data', (chunk: Buffer) => {
        if (bytes < MOST_REFUSAL_BYTES) chunks.push(chunk);
        bytes += chunk.length;
        if (bytes >= MOST_REFUSAL_BYTES) tell();
      });
      response.on('end', tell);
      response.on('error', tell);
    });
    ws.on('error', (error) => this.#fail(failureReason(error)));
    ws.on('close', (code, reason) => {
      // Nothing was said before it: the connection broke.
      if (code === 1006) this.#fail('the connection was closed without a word (1006)');
      else this.#end({ kind: 'closed', code, reason: reason.toString('utf8') });
    });
  }

  #fail(reason: string, isTimeout = false): void {
    this.#end({ kind: 'failed', reason, isTimeout });
  }

  #end(end: SocketEnd): void {
    if (this.#finish()) this.#listener.over(end);
  }

  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#cancelLimit();
    this.#dialling.abort(new Error('it was called off'));
    this.#ws?.on('error', () => {});
    this.#ws?.terminate();
    return true;
  }
}
