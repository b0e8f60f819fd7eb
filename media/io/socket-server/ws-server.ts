/**
 * `MediaSocketServer` on `ws` and node:http, for platforms where no uWebSockets.js binary loads: about 70 % of its
 * calls a core. Same behaviour, held by the same conformance suite; where the two libraries differ, this file bends.
 * A closing socket is closed for us at once (as there): `closed` runs inside `close`, and the handshake ends behind it.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { createClientAddresses, TRUST_NOBODY } from './client-address.ts';
import { UNWATCHED } from './connection-watch.ts';
import {
  ABNORMAL_CLOSURE,
  MESSAGE_TOO_BIG,
  type MediaSocket,
  type MediaSocketServer,
  type SendResult,
  type SocketRoute,
  type SocketServerOptions,
  type UpgradeDecision,
} from './media-socket-server.ts';
import { statusLine } from './status-line.ts';
import { answerNodeRequest, headersOf, peerOf } from './ws-exchange.ts';

/** As in uWebSockets.js: so long a connection may wait for its first request's head, and for the next. */
const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;
/** A peer that does not answer our close frame is cut. */
const CLOSE_HANDSHAKE_MS = 2000;
const SWEEP_MS = 1000;

class WsSocket<UserData> implements MediaSocket<UserData> {
  readonly data: UserData;
  isOpen = true;
  heardAtMs = performance.now();
  pingedAtMs = 0;
  readonly #raw: WebSocket;
  readonly #route: SocketRoute<UserData>;
  readonly #callbackFailed: (error: unknown) => void;
  readonly #flushed: () => void;
  #waits = false;

  constructor(raw: WebSocket, data: UserData, route: SocketRoute<UserData>, callbackFailed: (error: unknown) => void) {
    this.data = data;
    this.#raw = raw;
    this.#route = route;
    this.#callbackFailed = callbackFailed;
    this.#flushed = () => this.#onFlushed();
  }

  get bufferedBytes(): number {
    return this.isOpen ? this.#raw.bufferedAmount : 0;
  }

  send(message: Uint8Array, isBinary: boolean): SendResult {
    if (!this.isOpen) return 'dropped';
    if (this.#raw.bufferedAmount + message.length > this.#route.limits.maxBackpressureBytes) {
      this.#raw.terminate();
      this.over(ABNORMAL_CLOSURE);
      return 'dropped';
    }
    // A copy: what the kernel does not take at once is kept by reference, and the caller reuses its buffer.
    this.#raw.send(Buffer.from(message), { binary: isBinary, compress: false }, this.#flushed);
    if (this.#raw.bufferedAmount === 0) return 'sent';
    this.#waits = true;
    return 'queued';
  }

  close(code: number, reason: string): void {
    if (!this.isOpen) return;
    this.#raw.close(code, reason);
    const cut = setTimeout(() => this.#raw.terminate(), CLOSE_HANDSHAKE_MS);
    this.#raw.once('close', () => clearTimeout(cut));
    this.over(code);
  }

  cut(): void {
    this.#raw.terminate();
    this.over(ABNORMAL_CLOSURE);
  }

  ping(nowMs: number): void {
    this.pingedAtMs = nowMs;
    this.#raw.ping();
  }

  guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#callbackFailed(error);
      this.close(1011, 'internal error');
    }
  }

  over(code: number): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.guard(() => this.#route.closed(this, code));
  }

  #onFlushed(): void {
    if (!this.#waits || !this.isOpen || this.#raw.bufferedAmount > 0) return;
    this.#waits = false;
    this.guard(() => this.#route.drained(this));
  }
}

export function createWsServer(options: SocketServerOptions): MediaSocketServer {
  const { addresses = createClientAddresses(TRUST_NOBODY), connections: watch = UNWATCHED } = options;
  const http = createServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    // How long a body may take is for whoever reads it to say.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: SWEEP_MS,
  });
  /** With how each is counted; one that became a socket is not. */
  const connections = new Map<Duplex, 'waiting' | 'asking' | 'socket'>();
  const sockets = new Map<WsSocket<unknown>, SocketRoute<unknown>>();
  // One for each route: the payload limit is a setting of the WebSocket server.
  const acceptors = new Map(
    options.routes.map((route: SocketRoute<unknown>) => [
      route,
      new WebSocketServer({
        noServer: true,
        perMessageDeflate: false,
        clientTracking: false,
        skipUTF8Validation: false,
        // No subprotocol is ever agreed to, as there.
        handleProtocols: () => false,
        maxPayload: route.limits.maxBufferedMessageBytes,
      }),
    ]),
  );
  // Each route counts its own: what is done to one path must not shut another.
  const pendingUpgrades = new Map<SocketRoute<unknown> | undefined, number>();
  let closed = false;

  http.on('connection', (connection: Socket) => {
    const peer = peerOf(connection);
    if (!watch.opened(peer)) {
      connection.destroy();
      return;
    }
    connection.setNoDelay(true);
    connections.set(connection, 'waiting');
    connection.on('close', () => {
      const was = connections.get(connection);
      connections.delete(connection);
      if (was !== 'socket') watch.gone(peer, was === 'asking');
    });
  });
  http.on('request', (req, res) => {
    const peer = peerOf(req.socket);
    if (connections.get(req.socket) === 'waiting') {
      connections.set(req.socket, 'asking');
      watch.asked(peer);
    }
    res.on('finish', () => {
      if (connections.get(req.socket) !== 'asking') return;
      connections.set(req.socket, 'waiting');
      watch.answered(peer);
    });
    try {
      options.request(answerNodeRequest(req, res, addresses));
    } catch (error) {
      options.callbackFailed(error);
      req.socket.destroy();
    }
  });
  http.on('clientError', (_error, connection: Duplex) => {
    if (connection.writable)
      connection.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    else connection.destroy();
  });
  http.on('upgrade', (req, connection, head) => {
    const url = req.url ?? '/';
    const queryAt = url.indexOf('?');
    const path = queryAt < 0 ? url : url.slice(0, queryAt);
    const found = options.routes.find(({ pathPrefix }: SocketRoute<unknown>) =>
      pathPrefix.endsWith('/') ? path.startsWith(pathPrefix) : path === pathPrefix,
    );
    const count = (by: number): number => {
      const waiting = (pendingUpgrades.get(found) ?? 0) + by;
      pendingUpgrades.set(found, waiting);
      return waiting;
    };
    watch.gone(peerOf(req.socket), false);
    connections.set(connection, 'socket');
    const pending = new PendingUpgrade(connection, () => count(-1));
    const waiting = count(1);
    if (found === undefined || req.headers.upgrade?.toLowerCase() !== 'websocket') {
      pending.reject(404);
      return;
    }
    if (waiting > options.maxPendingUpgrades) {
      pending.reject(503, 1);
      return;
    }
    const route: SocketRoute<unknown> = found;
    pending.handOver = (userData) => {
      acceptors.get(route)!.handleUpgrade(req, connection, head, (raw) => opened(raw, route, userData));
    };
    try {
      route.upgrade(
        {
          path,
          query: queryAt < 0 ? '' : url.slice(queryAt + 1),
          headers: flatHeaders(req),
          remoteAddress: addresses.of(peerOf(req.socket), headersOf(req)),
        },
        pending,
      );
    } catch (error) {
      options.callbackFailed(error);
      pending.reject(500);
    }
  });

  function opened(raw: WebSocket, route: SocketRoute<unknown>, userData: unknown): void {
    const socket = new WsSocket(raw, userData, route, options.callbackFailed);
    sockets.set(socket, route);
    const heard = () => {
      socket.heardAtMs = performance.now();
    };
    raw.on('ping', heard);
    raw.on('pong', heard);
    raw.on('message', (message: Buffer, isBinary: boolean) => {
      heard();
      if (!socket.isOpen) return;
      if (message.length > route.limits.maxMessageBytes) {
        socket.close(MESSAGE_TOO_BIG, 'message too big');
        return;
      }
      try {
        route.message(socket, message, isBinary);
      } catch (error) {
        options.callbackFailed(error);
        socket.close(1011, 'internal error');
      }
    });
    // `ws` answers a protocol fault with its close code and then emits `close`; there is nothing to add.
    raw.on('error', () => {});
    raw.on('close', (code) => {
      sockets.delete(socket);
      socket.over(code === 0 ? ABNORMAL_CLOSURE : code);
    });
    socket.guard(() => route.open(socket));
  }

  const sweep = setInterval(() => {
    const nowMs = performance.now();
    for (const [socket, { limits }] of sockets) {
      const idleMs = nowMs - socket.heardAtMs;
      if (idleMs >= limits.idleTimeoutSeconds * 1000) socket.cut();
      else if (
        limits.pingsItself &&
        idleMs >= limits.idleTimeoutSeconds * 500 &&
        socket.pingedAtMs < socket.heardAtMs
      ) {
        socket.ping(nowMs);
      }
    }
  }, SWEEP_MS);
  sweep.unref();

  let isListening = false;
  return {
    kind: 'ws',
    listen(host, port) {
      return new Promise((resolve, reject) => {
        http.once('error', reject);
        http.listen({ host, port }, () => {
          http.off('error', reject);
          if (http.listenerCount('error') === 0) http.on('error', options.callbackFailed);
          isListening = true;
          resolve((http.address() as AddressInfo).port);
        });
      });
    },
    stopListening() {
      if (!isListening) return;
      isListening = false;
      http.close();
    },
    close() {
      if (closed) return;
      closed = true;
      clearInterval(sweep);
      this.stopListening();
      for (const socket of [...sockets.keys()]) socket.cut();
      for (const connection of [...connections.keys()]) connection.destroy();
    },
  };
}

/** An upgrade whose hook still thinks. Watches for the client's going. */
class PendingUpgrade implements UpgradeDecision<unknown> {
  onAborted: (() => void) | null = null;
  handOver: ((userData: unknown) => void) | null = null;
  readonly #connection: Duplex;
  readonly #settled: () => void;
  #isOpen = true;
  readonly #gone = (): void => {
    if (!this.#settle()) return;
    this.#connection.destroy();
    this.onAborted?.();
  };

  constructor(connection: Duplex, settled: () => void) {
    this.#connection = connection;
    this.#settled = settled;
    connection.on('end', this.#gone);
    connection.on('close', this.#gone);
    connection.on('error', this.#gone);
  }

  accept(userData: unknown): boolean {
    if (!this.#settle()) return false;
    this.handOver?.(userData);
    return true;
  }

  reject(httpStatus: number, retryAfterSeconds?: number): boolean {
    if (!this.#settle()) return false;
    const retry = retryAfterSeconds === undefined ? '' : `retry-after: ${retryAfterSeconds}\r\n`;
    this.#connection.on('error', () => {});
    this.#connection.end(
      `HTTP/1.1 ${statusLine(httpStatus)}\r\n${retry}connection: close\r\ncontent-length: 0\r\n\r\n`,
      () => this.#connection.destroy(),
    );
    return true;
  }

  #settle(): boolean {
    if (!this.#isOpen) return false;
    this.#isOpen = false;
    this.#settled();
    this.#connection.off('end', this.#gone);
    this.#connection.off('close', this.#gone);
    this.#connection.off('error', this.#gone);
    return true;
  }
}

function flatHeaders(req: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(req.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}
