/**
 * The port of the one public listener of a media process: WebSockets by path, and every other request handed to one
 * handler. Two implementations (`uws-server.ts`, `ws-server.ts`) pass one conformance suite; nothing above this file
 * knows which one runs. Both run on the main thread only: uWebSockets.js is no crash boundary in a worker.
 */
import type { ClientAddresses } from './client-address.ts';
import type { ConnectionWatch } from './connection-watch.ts';
import type { HttpExchange } from './http-exchange.ts';

/**
 * `dropped`: the message is lost, because more than `maxBackpressureBytes` wait for a slow
 * reader, or the socket is closed.
 */
export type SendResult = 'sent' | 'queued' | 'dropped';

/** The peer vanished without a close frame (RFC 6455 §7.4.1). */
export const ABNORMAL_CLOSURE = 1006;
/** A message over `maxMessageBytes`; closed by us (contract §9). */
export const MESSAGE_TOO_BIG = 1009;

export interface MediaSocket<UserData> {
  readonly data: UserData;
  readonly isOpen: boolean;
  /** Bytes accepted by `send` that the kernel has not taken yet. */
  readonly bufferedBytes: number;
  /** `message` may be rewritten as soon as this returns. */
  send(message: Uint8Array, isBinary: boolean): SendResult;
  /** Sends a close frame. The route's `closed` runs before this returns; a second call does nothing. */
  close(code: number, reason: string): void;
}

/** A request for an upgrade, copied: it stays valid while the hook thinks. Header names are lower-case. */
export interface UpgradeRequest {
  path: string;
  /** Without its question mark; empty when there is none. */
  query: string;
  headers: Record<string, string>;
  /** Of the client, not of a trusted proxy before us (`client-address.ts`). */
  remoteAddress: string;
}

/**
 * Exactly one of `accept` and `reject` counts; both return false when the client has gone, or
 * the decision was made before.
 */
export interface UpgradeDecision<UserData> {
  accept(userData: UserData): boolean;
  /** `retryAfterSeconds` goes out as `Retry-After`. */
  reject(httpStatus: number, retryAfterSeconds?: number): boolean;
  /** The client went away before the decision. Set it before returning from the hook. */
  onAborted: (() => void) | null;
}

/** What holds for the sockets of one path. */
export interface SocketLimits {
  /** Above this a message is not delivered and the socket is closed with 1009. */
  maxMessageBytes: number;
  /**
   * Above this nothing is buffered any more: the socket is cut at once, and the peer may see 1006 in place of 1009.
   * Well above `maxMessageBytes`, so that a merely careless client learns why.
   */
  maxBufferedMessageBytes: number;
  /** A reader so slow that more would wait loses its socket (1006). */
  maxBackpressureBytes: number;
  /**
   * A socket from which nothing came, pongs included, is cut (1006). Multiples of 4, at least
   * 8: uWebSockets.js counts so.
   */
  idleTimeoutSeconds: number;
  /** Ping in time for a living peer's pong to hold off the idle time limit. */
  pingsItself: boolean;
}

/** What becomes of a socket that was let in. */
export interface SocketEvents<UserData> {
  open(socket: MediaSocket<UserData>): void;
  /** `message` is void when the callback returns: copy what must stay. Text was checked to be UTF-8. */
  message(socket: MediaSocket<UserData>, message: Uint8Array, isBinary: boolean): void;
  /** All that waited has gone out. */
  drained(socket: MediaSocket<UserData>): void;
  /** Once for every socket that opened, whoever ended it; nothing may be sent any more. */
  closed(socket: MediaSocket<UserData>, code: number): void;
}

export interface SocketRoute<UserData> extends SocketEvents<UserData> {
  /**
   * Begins with a slash. With one at its end (`/media/`) every path that begins with it, else (`/ws/monitor`) this path
   * alone; such a route comes before one whose prefix it begins with.
   */
  pathPrefix: string;
  limits: SocketLimits;
  upgrade(request: UpgradeRequest, decision: UpgradeDecision<UserData>): void;
}

export interface SocketServerOptions {
  // biome-ignore lint/suspicious/noExplicitAny: routes of one server differ in their user data
  routes: readonly SocketRoute<any>[];
  request(exchange: HttpExchange): void;
  /** Upgrades of one route that wait for its hook; more are answered 503. */
  maxPendingUpgrades: number;
  /** Left out: nobody watches, and each connection is taken. */
  connections?: ConnectionWatch;
  /** Whose requests these are. Left out: no proxy is trusted. */
  addresses?: Pick<ClientAddresses, 'of'>;
  /** A callback threw: a bug of ours. The socket that it belonged to has been closed with 1011. */
  callbackFailed(error: unknown): void;
}

export interface MediaSocketServer {
  readonly kind: 'uws' | 'ws';
  /** Port 0 takes any free one. Resolves with the port; rejects when the address is taken or not ours. */
  listen(host: string, port: number): Promise<number>;
  /** No new connections from now on; what is open stays. Idempotent. */
  stopListening(): void;
  /** Cuts everything. Idempotent. */
  close(): void;
}

export type SocketServerFactory = (options: SocketServerOptions) => MediaSocketServer;
