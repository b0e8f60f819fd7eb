/**
 * `MediaSocketServer` on `ws` and node:http, for platforms where no uWebSockets.js binary loads: about 70 % of its calls a
 * core. Same behaviour, held by the same conformance suite; where the two libraries differ, this file bends.
 * A closing socket is closed for us at once (as there): `closed` runs inside `close`, and the handshake ends behind it.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
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
import { answerNodeRequest, remoteAddressOf } from './ws-exchange.ts';

const HEADERS_TIMEOUT_MS = 10_000;
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
  const http = createServer({ headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: 0, keepAliveTimeout: 10_000 });
  const connections = new Set<Duplex>();
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
  let pendingUpgrades = 0;
  let closed = false;

  http.on('connection', (connection: Socket) => {
    connection.setNoDelay(true);
    connections.add(connection);
    connection.on('close', () => connections.delete(connection));
  });
  http.on('request', (req, res) => {
    try {
      options.request(answerNodeRequest(req, res));
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
    const found = options.routes.find((route: SocketRoute<unknown>) => path.startsWith(route.pathPrefix));
    const pending = new PendingUpgrade(connection, () => pendingUpgrades--);
    pendingUpgrades++;
    if (found === undefined || req.headers.upgrade?.toLowerCase() !== 'websocket') {
      pending.reject(404);
      return;
    }
    if (pendingUpgrades > options.maxPendingUpgrades) {
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
          remoteAddress: remoteAddressOf(req),
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
      for (const connection of [...connections]) connection.destroy();
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
