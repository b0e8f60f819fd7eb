/**
 * Serves one emulated provider over TLS on loopback: requests and WebSockets. It checks the key, takes the fault that
 * is scripted for the exchange, keeps the journal, and hands the rest to the provider. Tests start it in their process
 * and script it by its methods; outside of the process the same is at `/emulator/…` (README.md).
 */
import { once } from 'node:events';
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Clock, systemClock } from '../../../media/contract/clock.ts';
import { type Certificate, createCertificate } from './certificate.ts';
import { answerControl, type Controlled } from './control-routes.ts';
import { type Fault, FaultScript, faultSchema } from './fault.ts';
import { Journal } from './journal.ts';
import { Outlet, type Wire } from './outlet.ts';
import type { Answer, HttpExchange, Message, Provider, ProviderRequest, SocketExchange, Upgrade } from './provider.ts';
import { Timetable } from './timetable.ts';

export interface EndpointOptions {
  /** Keys that count. */
  keys: readonly string[];
  /** Default: a free one. */
  port?: number;
  host?: string;
  /** Default: one of its own. Providers of one process share one, so that a client trusts one authority. */
  certificate?: Certificate;
  /** Without TLS, as servers on a private network speak: no `certificate`. */
  isPlain?: boolean;
  clock?: Clock;
}

export interface ProviderEndpoint extends Controlled {
  readonly port: number;
  /** `https://localhost:PORT`, and the same with `wss`; plain: `http://127.0.0.1:PORT`. */
  readonly origin: string;
  readonly socketOrigin: string;
  /** What a client must trust. */
  readonly caPem: string;
  /** Faults that have not struck yet are called off. */
  calm(): void;
  close(): Promise<void>;
}

const GARBAGE_TEXT = '{"type":"Resul\u0000\ufffd';

export async function startProviderEndpoint(provider: Provider, options: EndpointOptions): Promise<ProviderEndpoint> {
  const clock = options.clock ?? systemClock;
  const certificate = options.certificate ?? createCertificate();
  const journal = new Journal(() => clock.nowMs());
  const faults = new FaultScript();
  const keys = new Set(options.keys);
  const open = new Map<string, { path: string; outlet: Outlet }>();
  /** Of the connections below TLS, by the port of their other end. */
  const raws = new Map<number, Socket>();
  let exchanges = 0;

  const server =
    options.isPlain === true
      ? createPlainServer()
      : createServer({ cert: certificate.certPem, key: certificate.keyPem });
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: 16 * 1024 * 1024,
    handleProtocols: (_offered, request) => upgrades.get(request)?.protocol ?? false,
  });
  const upgrades = new WeakMap<IncomingMessage, { headers?: Record<string, string>; protocol?: string }>();
  sockets.on('headers', (lines, request) => {
    for (const [name, value] of Object.entries(upgrades.get(request)?.headers ?? {})) lines.push(`${name}: ${value}`);
  });

  server.on('connection', (raw: Socket) => {
    const port = raw.remotePort!;
    raws.set(port, raw);
    raw.on('error', () => {});
    raw.once('close', () => raws.delete(port));
  });
  server.on('tlsClientError', (error) => journal.note(provider.name, 'tls_error', { message: error.message }));

  function requestOf(message: IncomingMessage): ProviderRequest {
    const url = new URL(message.url ?? '/', 'https://localhost');
    return {
      id: `${provider.name}-${++exchanges}`,
      method: message.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers: message.headers,
    };
  }

  /** Why it is refused before the provider sees it; null when it is not. */
  function refusalOf(request: ProviderRequest, fault: Fault | null): Answer | null {
    const key = provider.keyOf(request);
    if (fault?.kind === 'revoked_key' && fault.afterMessages === 0 && key !== null) keys.delete(key);
    if (key === null || !keys.has(key)) return provider.unauthorized(request, key);
    if (fault?.kind !== 'status') return null;
    const answer = provider.failure(request, fault.status);
    const retryAfter = fault.retryAfterSeconds === undefined ? {} : { 'retry-after': `${fault.retryAfterSeconds}` };
    return { ...answer, headers: { ...answer.headers, ...retryAfter } };
  }

  /** The part of an exchange that requests and sockets share. */
  function begin(request: ProviderRequest, fault: Fault | null, wire: Omit<Wire, 'note' | 'foreign'>) {
    const over = new AbortController();
    const timetable = new Timetable(clock, journal);
    const note = (type: string, detail?: Record<string, unknown>): void => journal.note(request.id, type, detail);
    // The wire stays an object of its own: its `write` may be asked for a `this`.
    const outlet = new Outlet({ ...wire, note, foreign: (message) => provider.foreign(message) }, fault);
    open.set(request.id, { path: request.path, outlet });
    const exchange = { ...request, timetable, signal: over.signal, note };
    const finished = (detail: Record<string, unknown>): void => {
      if (!open.delete(request.id)) return;
      timetable.close();
      note('closed', detail);
      over.abort();
    };
    return { outlet, exchange, finished };
  }

  server.on('request', (message: IncomingMessage, response: ServerResponse) => {
    if (message.url?.startsWith('/emulator/') === true)
      return void answerControl(message, response, endpoint, provider.control?.bind(provider));
    const request = requestOf(message);
    const fault = faults.take(request.path);
    // What is left of a struck connection is of no use to the next request.
    if (fault !== null) response.shouldKeepAlive = false;
    journal.note(request.id, 'request', { method: request.method, path: request.path, query: queryOf(request) });
    const refusal = refusalOf(request, fault);
    if (refusal !== null) return refuse(request, response, refusal);
    const pending: { status: number; headers: Record<string, string> } = { status: 200, headers: {} };
    const raw = raws.get(message.socket.remotePort!)!;
    const { outlet, exchange, finished } = begin(request, fault, {
      raw,
      secure: message.socket,
      write(data) {
        if (!response.headersSent) response.writeHead(pending.status, pending.headers);
        response.write(data);
      },
      garbage: (data) => (data.includes('data: ') ? `data: ${GARBAGE_TEXT}\n\n` : GARBAGE_TEXT),
      revoke: () => revokeOf(request),
      close: () => message.socket.destroy(),
    });
    response.on('error', () => {});
    response.on('close', () => finished({ finished: response.writableFinished }));
    const http: HttpExchange = {
      ...exchange,
      body: () => bodyOf(message),
      head(status, headers = {}) {
        pending.status = status;
        pending.headers = headers;
      },
      send: (piece) => outlet.send(piece),
      end() {
        if (outlet.isSilent) return;
        if (!response.headersSent) response.writeHead(pending.status, pending.headers);
        response.end();
      },
      breakOff: () => message.socket.destroy(),
      answer({ status, headers, body }) {
        const isJson = typeof body === 'object' && !Buffer.isBuffer(body);
        http.head(status, { ...(isJson ? { 'content-type': 'application/json' } : {}), ...headers });
        if (body !== undefined) http.send(body);
        http.end();
      },
    };
    outlet.opened();
    Promise.resolve(provider.request(http)).catch((error: unknown) => {
      http.note('warning', { message: String(error) });
      response.destroy();
    });
  });

  function refuse(request: ProviderRequest, response: ServerResponse, { status, headers, body }: Answer): void {
    journal.note(request.id, 'refused', { status });
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(bytesOf(body ?? ''));
  }

  server.on('upgrade', (message: IncomingMessage, secure: Socket, head: Buffer) => {
    const request = requestOf(message);
    const fault = faults.take(request.path);
    journal.note(request.id, 'upgrade', { path: request.path, query: queryOf(request) });
    secure.on('error', () => {});
    const raw = raws.get(secure.remotePort!)!;
    if (fault?.beforeUpgrade === true && fault.kind !== 'status') {
      journal.note(request.id, 'fault', { kind: fault.kind, beforeUpgrade: true });
      if (fault.kind === 'reset') raw.resetAndDestroy();
      else if (fault.kind === 'half_open') secure.pause();
      return;
    }
    const upgrade = upgradeOf(request, fault);
    if ('status' in upgrade) return refuseUpgrade(request, secure, upgrade);
    if ('refuse' in upgrade) return refuseUpgrade(request, secure, upgrade.refuse);
    upgrades.set(message, upgrade);
    sockets.handleUpgrade(message, secure, head, (socket) => serve(socket, request, fault, upgrade.open, raw, secure));
  });

  function upgradeOf(request: ProviderRequest, fault: Fault | null): Upgrade | Answer {
    const refusal = refusalOf(request, fault);
    const key = provider.keyOf(request);
    const hasKey = key !== null && keys.has(key);
    if (refusal !== null && !hasKey && provider.unauthorizedUpgrade !== undefined) {
      return provider.unauthorizedUpgrade(request, key, (other) => keys.has(other));
    }
    return refusal ?? provider.upgrade?.(request) ?? provider.failure(request, 404);
  }

  const kept = (message: unknown): unknown => provider.journaled?.(message) ?? message;

  function serve(
    socket: WebSocket,
    request: ProviderRequest,
    fault: Fault | null,
    opened: (exchange: SocketExchange) => void,
    raw: Socket,
    secure: Socket,
  ): void {
    let binaryMessages = 0;
    let binaryBytes = 0;
    let listener: (message: string | Buffer) => void = () => {};
    const { outlet, exchange, finished } = begin(request, fault, {
      raw,
      secure,
      write: (data) => socket.send(data),
      garbage: () => GARBAGE_TEXT,
      close: (code, reason) => socket.close(code, reason),
      revoke() {
        revokeOf(request);
        provider.revoked(own);
      },
    });
    const own: SocketExchange = {
      ...exchange,
      send(message: Message) {
        if (open.has(request.id) && !outlet.isSilent) {
          exchange.note('sent', Buffer.isBuffer(message) ? { bytes: message.length } : { message: kept(message) });
          outlet.send(message);
        }
      },
      onMessage(to) {
        listener = to;
      },
      close(code, reason) {
        if (!outlet.isSilent) socket.close(code, reason);
      },
    };
    socket.on('error', (error) => exchange.note('warning', { message: error.message }));
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) {
        binaryMessages++;
        binaryBytes += data.length;
        listener(data);
      } else {
        const text = data.toString('utf8');
        exchange.note('received', { message: kept(parsed(text)) });
        listener(text);
      }
    });
    socket.on('close', (code, reason) =>
      finished({ code, reason: reason.toString('utf8'), binaryMessages, binaryBytes }),
    );
    opened(own);
    outlet.opened();
  }

  function refuseUpgrade(request: ProviderRequest, secure: Socket, { status, headers, body }: Answer): void {
    journal.note(request.id, 'refused', { status });
    const bytes = bytesOf(body ?? '');
    const lines = Object.entries({ 'content-type': 'application/json', ...headers, 'content-length': bytes.length });
    secure.end(
      Buffer.concat([
        Buffer.from(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\n`),
        Buffer.from(`${lines.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n`),
        bytes,
      ]),
    );
  }

  function revokeOf(request: ProviderRequest): void {
    const key = provider.keyOf(request);
    if (key !== null) keys.delete(key);
  }

  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const endpoint: ProviderEndpoint = {
    port,
    origin: options.isPlain === true ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    socketOrigin: options.isPlain === true ? `ws://127.0.0.1:${port}` : `wss://localhost:${port}`,
    caPem: certificate.caPem,
    journal,
    script: (...added) => faults.add(...added),
    calm: () => faults.clear(),
    strike(input) {
      const fault = faultSchema.parse(input);
      const all = [...open.values()].filter(({ path }) => path.includes(fault.on));
      const { pick } = fault;
      const struck =
        pick === undefined ? all : all.slice(Math.min(Math.floor(pick * all.length), all.length - 1)).slice(0, 1);
      for (const { outlet } of struck) outlet.strike(fault);
      return struck.length;
    },
    revoke: (key) => void keys.delete(key),
    allow: (key) => void keys.add(key),
    get open() {
      return open.size;
    },
    async close() {
      for (const raw of raws.values()) raw.destroy();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await provider.close?.();
    },
  };
  return endpoint;
}

/** Without keys: some providers take them there. */
function queryOf({ query }: ProviderRequest): string {
  const shown = new URLSearchParams(query);
  for (const name of ['authorization', 'token', 'key', 'api_key']) if (shown.has(name)) shown.set(name, '***');
  return `${shown}`;
}

function bytesOf(body: Message): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}
