/**
 * `MediaSocketServer` on uWebSockets.js: the only file that imports it. Its rules, which everything here keeps:
 * - Main thread only: an App in a worker thread takes the whole process down when that worker dies. One loop a thread;
 *   no socket crosses threads.
 * - A message's ArrayBuffer is detached when the callback returns; a request object is dead when its handler returns.
 * - A socket is valid from open to close and not after; a response until it ended or
 *   `onAborted` ran. Touching either later throws.
 * - `send` answers 0 queued, 1 sent, 2 dropped. It copies, so the caller may reuse its buffer.
 *   A lone send corks itself.
 * - Per-socket state is the socket's user data. Writes of an answer are corked.
 * - Over `maxPayloadLength` or on a protocol fault it cuts the socket without a close frame; so
 *   ours is lower, and answered 1009.
 * - `upgrade` after its handler returned must not be corked on its own response, whatever the
 *   examples say: see `cork-keeper.ts`.
 */

import type { HttpResponse, us_listen_socket, us_socket_context_t, WebSocket } from 'uWebSockets.js';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { UWS_BINARY_SHA256 } from './binary-checksums.ts';
import { type ClientAddresses, createClientAddresses, TRUST_NOBODY } from './client-address.ts';
import { type ConnectionWatch, UNWATCHED } from './connection-watch.ts';
import { CorkKeeper, type Door } from './cork-keeper.ts';
import {
  ABNORMAL_CLOSURE,
  MESSAGE_TOO_BIG,
  type MediaSocket,
  type MediaSocketServer,
  type SendResult,
  type SocketRoute,
  type SocketServerFactory,
  type SocketServerOptions,
  type UpgradeDecision,
} from './media-socket-server.ts';
import { statusLine } from './status-line.ts';
import { answerUwsRequest, headersOf, peerOf } from './uws-exchange.ts';

type Uws = typeof import('uWebSockets.js');

const PACKAGE = 'uWebSockets.js';

/** Set aside for the answer to `send` in uWebSockets.js. */
const QUEUED = 0;
const DROPPED = 2;
const LAST_REQUEST = /(?:^|,)\s*close\s*(?:,|$)/i;
const CONNECTION_UPGRADE = /(?:^|,)\s*upgrade\s*(?:,|$)/i;

/** uWebSockets.js copies the properties of user data onto its own socket object, so ours travels as one property. */
interface Carried<UserData> {
  ours: UwsSocket<UserData>;
}

class UwsSocket<UserData> implements MediaSocket<UserData> {
  readonly data: UserData;
  raw: WebSocket<Carried<UserData>> | null = null;

  constructor(data: UserData) {
    this.data = data;
  }

  get isOpen(): boolean {
    return this.raw !== null;
  }

  get bufferedBytes(): number {
    return this.raw === null ? 0 : this.raw.getBufferedAmount();
  }

  send(message: Uint8Array, isBinary: boolean): SendResult {
    if (this.raw === null) return 'dropped';
    const result = this.raw.send(message, isBinary, false);
    return result === DROPPED ? 'dropped' : result === QUEUED ? 'queued' : 'sent';
  }

  close(code: number, reason: string): void {
    // The close handler runs inside `end` and clears `raw`.
    this.raw?.end(code, reason);
  }
}

/** What the pending upgrades of one route share. */
interface Upgrades {
  pending: number;
  corkKeeper: CorkKeeper;
  watch: ConnectionWatch;
  addresses: Pick<ClientAddresses, 'of'>;
}

/** `why` says, for the log, what stands in the way and what to do about it. */
export function loadUws(
  ...where: Parameters<typeof loadUwsBinary>
): { ok: true; create: SocketServerFactory } | { ok: false; why: string } {
  const loaded = loadUwsBinary(...where);
  if (!loaded.ok) return loaded;
  return { ok: true, create: (options) => createUwsServer(loaded.uws, options) };
}

/**
 * Loads the binary after checking its bytes, by its path: no script of the package runs, whatever its `package.json`
 * names as the entry. Looked for as `from` would import it. The bench measures it alone.
 */
export function loadUwsBinary(
  checksums: Readonly<Record<string, string>> = UWS_BINARY_SHA256,
  from: string | URL = import.meta.url,
): { ok: true; uws: Uws } | { ok: false; why: string } {
  const require = createRequire(from);
  const key = `${process.platform}_${process.arch}_${process.versions.modules}`;
  const expected = checksums[key];
  if (expected === undefined) return { ok: false, why: `no checksum is pinned for uWebSockets.js on ${key}` };
  const places = (require.resolve.paths(PACKAGE) ?? []).map((folder) => join(folder, PACKAGE, `uws_${key}.node`));
  const file = places.find((place) => existsSync(place));
  if (file === undefined) return { ok: false, why: `${PACKAGE} is not installed: install the packages` };
  try {
    const actual = createHash('sha256').update(readFileSync(file)).digest('hex');
    if (actual !== expected) {
      return { ok: false, why: `${file} has SHA-256 ${actual}, not the pinned ${expected}: reinstall the packages` };
    }
    return { ok: true, uws: require(file) as Uws };
  } catch (error) {
    return { ok: false, why: `uWebSockets.js does not load: ${firstLine(error)}` };
  }
}

function createUwsServer(uws: Uws, options: SocketServerOptions): MediaSocketServer {
  const app = uws.App();
  let listenSocket: us_listen_socket | null = null;
  let closed = false;
  const { addresses = createClientAddresses(TRUST_NOBODY), connections: watch = UNWATCHED } = options;
  const upgrades: Upgrades = { pending: 0, corkKeeper: new CorkKeeper(), watch, addresses };
  if (watch !== UNWATCHED) watchConnections(app, watch);
  // Each counts its own: what is done to one path must not shut another.
  for (const route of options.routes) addRoute(uws, app, route, options, { ...upgrades });
  app.any('/*', (res, req) => {
    const peer = peerOf(res);
    watch.asked(peer);
    const isLast = LAST_REQUEST.test(req.getHeader('connection'));
    const over = (isKept: boolean): void => {
      if (isKept && !isLast) watch.answered(peer);
      else watch.gone(peer, true);
    };
    try {
      if (upgrades.corkKeeper.takes(req.getUrl(), res)) {
        over(false);
        return;
      }
      if (req.getHeader('upgrade').toLowerCase() === 'websocket') {
        over(true);
        res.writeStatus(statusLine(404)).end();
        return;
      }
      options.request(answerUwsRequest(res, req, addresses, over));
    } catch (error) {
      options.callbackFailed(error);
      res.close();
    }
  });

  function openDoor(host: string): Door | null {
    let door: Door | null = null;
    app.listen(host, 0, (token) => {
      if (token !== false) door = { port: portOf(token), close: () => uws.us_listen_socket_close(token) };
    });
    return door;
  }

  function portOf(token: us_listen_socket): number {
    return uws.us_socket_local_port(token as unknown as Parameters<Uws['us_socket_local_port']>[0]);
  }

  return {
    kind: 'uws',
    listen(host, port) {
      return new Promise((resolve, reject) => {
        app.listen(host, port, (token) => {
          if (token === false) {
            reject(
              new Error(`cannot listen on ${host}:${port}: the port is taken, or the address is not this machine's`),
            );
            return;
          }
          listenSocket = token;
          const bound = portOf(token);
          if (upgrades.corkKeeper.isStarted) resolve(bound);
          else void upgrades.corkKeeper.start(openDoor).then(() => resolve(bound));
        });
      });
    },
    stopListening() {
      if (listenSocket === null) return;
      uws.us_listen_socket_close(listenSocket);
      listenSocket = null;
    },
    close() {
      if (closed) return;
      closed = true;
      upgrades.corkKeeper.close();
      listenSocket = null;
      app.close();
    },
  };
}

function watchConnections(app: ReturnType<Uws['App']>, watch: ConnectionWatch): void {
  // Told of each that comes, and, without saying which it was, of each that goes.
  const changed = (res: HttpResponse, by: unknown): void => {
    if (by !== 1) return;
    const peer = peerOf(res);
    if (!watch.opened(peer)) res.close();
    // The first request puts its own in this one's place.
    else res.onAborted(() => watch.gone(peer, false));
  };
  app.filter(changed);
}

function addRoute<UserData>(
  uws: Uws,
  app: ReturnType<Uws['App']>,
  route: SocketRoute<UserData>,
  options: SocketServerOptions,
  upgrades: Upgrades,
): void {
  const { limits } = route;
  const guard = (socket: UwsSocket<UserData>, run: () => void): void => {
    try {
      run();
    } catch (error) {
      options.callbackFailed(error);
      socket.close(1011, 'internal error');
    }
  };
  const { pathPrefix } = route;
  app.ws<Carried<UserData>>(pathPrefix.endsWith('/') ? `${pathPrefix}*` : pathPrefix, {
    compression: uws.DISABLED,
    maxPayloadLength: limits.maxBufferedMessageBytes,
    maxBackpressure: limits.maxBackpressureBytes,
    closeOnBackpressureLimit: true as unknown as number,
    idleTimeout: limits.idleTimeoutSeconds,
    sendPingsAutomatically: limits.pingsItself,

    upgrade(res, req, context) {
      const list = headersOf(req);
      const headers = Object.fromEntries(list);
      const peer = peerOf(res);
      const request = {
        path: req.getUrl(),
        query: req.getQuery() ?? '',
        headers,
        remoteAddress: upgrades.addresses.of(peer, list),
      };
      upgrades.watch.asked(peer);
      // RFC 6455 §4.2.1; and a `close` here would have uWebSockets.js shut the socket that we upgrade later.
      if (!CONNECTION_UPGRADE.test(headers['connection'] ?? '')) {
        upgrades.watch.gone(peer, true);
        res.writeStatus(statusLine(400)).end('', true);
        return;
      }
      const decision = new UwsUpgrade<UserData>(res, context, headers, upgrades, peer);
      if (upgrades.pending > options.maxPendingUpgrades) {
        decision.reject(503, 1);
        return;
      }
      try {
        route.upgrade(request, decision);
      } catch (error) {
        options.callbackFailed(error);
        decision.reject(500);
      }
    },
    open(raw) {
      const socket = raw.getUserData().ours;
      socket.raw = raw;
      guard(socket, () => route.open(socket));
    },
    message(raw, message, isBinary) {
      // The user data's properties are the socket's own; `getUserData` would be one more way
      // into C++ and back for each frame.
      const socket = (raw as unknown as Carried<UserData>).ours;
      if (message.byteLength > limits.maxMessageBytes) {
        socket.close(MESSAGE_TOO_BIG, 'message too big');
        return;
      }
      // Spelled out in place of `guard`: no closure a frame.
      try {
        route.message(socket, new Uint8Array(message), isBinary);
      } catch (error) {
        options.callbackFailed(error);
        socket.close(1011, 'internal error');
      }
    },
    drain(raw) {
      const socket = raw.getUserData().ours;
      if (raw.getBufferedAmount() === 0) guard(socket, () => route.drained(socket));
    },
    close(raw, code) {
      const socket = raw.getUserData().ours;
      socket.raw = null;
      guard(socket, () => route.closed(socket, code === 0 ? ABNORMAL_CLOSURE : code));
    },
  });
}

class UwsUpgrade<UserData> implements UpgradeDecision<UserData> {
  onAborted: (() => void) | null = null;
  readonly #res: HttpResponse;
  readonly #context: us_socket_context_t;
  readonly #headers: Record<string, string>;
  readonly #upgrades: Upgrades;
  readonly #peer: string;
  #isOpen = true;

  constructor(
    res: HttpResponse,
    context: us_socket_context_t,
    headers: Record<string, string>,
    upgrades: Upgrades,
    peer: string,
  ) {
    this.#res = res;
    this.#peer = peer;
    this.#context = context;
    this.#headers = headers;
    this.#upgrades = upgrades;
    upgrades.pending++;
    res.onAborted(() => {
      if (this.#settle()) this.onAborted?.();
    });
  }

  accept(userData: UserData): boolean {
    if (!this.#settle()) return false;
    this.#upgrades.corkKeeper.run(() => {
      this.#res.upgrade(
        { ours: new UwsSocket(userData) },
        this.#headers['sec-websocket-key'] ?? '',
        // No subprotocol and no extension is ever agreed to.
        '',
        '',
        this.#context,
      );
    });
    return true;
  }

  reject(httpStatus: number, retryAfterSeconds?: number): boolean {
    if (!this.#settle()) return false;
    this.#res.cork(() => {
      this.#res.writeStatus(statusLine(httpStatus));
      if (retryAfterSeconds !== undefined) this.#res.writeHeader('retry-after', String(retryAfterSeconds));
      this.#res.end('', true);
    });
    return true;
  }

  #settle(): boolean {
    if (!this.#isOpen) return false;
    this.#isOpen = false;
    this.#upgrades.pending--;
    this.#upgrades.watch.gone(this.#peer, true);
    return true;
  }
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? text;
}
