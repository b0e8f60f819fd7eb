/** A gateway for tests of the emulator: records callbacks, gives a document, takes media sockets. Loopback only. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { PATIENCE_MS } from '../../../../bench/harness/patience.ts';

export type Message = Record<string, unknown>;

/** One media socket with everything that came over it, from the first message on. */
export interface MediaSocketFake {
  readonly received: { text: string; isBinary: boolean; message: Message }[];
  /** The next message of this event that was not yet taken by an earlier call. */
  next(event: string): Promise<Message>;
  send(message: Message | string): void;
  close(): void;
  readonly raw: WebSocket;
}

export interface SeenCallback {
  kind: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  params: Record<string, string>;
}

export interface GatewayFake {
  base: string;
  callbacks: SeenCallback[];
  upgrades: { url: string; headers: Record<string, string> }[];
  /** Resolves when `count` callbacks of this kind (`answer`, `ring`, …) have come. */
  seen(kind: string, count?: number): Promise<SeenCallback>;
  nextSocket(): Promise<MediaSocketFake>;
  close(): Promise<void>;
}

export interface GatewayFakeOptions {
  /** What the answer URL says; `media` is the URL of the media socket. */
  document?(path: string, media: string, base: string): { status?: number; type?: string; body: string };
  /** Status that refuses an upgrade; null lets it in. */
  refuse?(attempt: number): number | null;
}

export const streamXml = (media: string, base: string, after = '<Hangup/>'): string =>
  '<Response><Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000" ' +
  `statusCallbackUrl="${base}/stream">${media}</Stream>${after}</Response>`;

export async function startGatewayFake(options: GatewayFakeOptions = {}): Promise<GatewayFake> {
  const callbacks: SeenCallback[] = [];
  const sockets: MediaSocketFake[] = [];
  const upgrades: GatewayFake['upgrades'] = [];
  let changed = (): void => {};
  let change = new Promise<void>((resolve) => {
    changed = resolve;
  });
  const tell = (): void => {
    changed();
    change = new Promise<void>((resolve) => {
      changed = resolve;
    });
  };
  const until = async <Found>(find: () => Found | undefined, what: string): Promise<Found> => {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw new Error(`waited ${PATIENCE_MS / 1000} s for ${what}`);
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([change, new Promise((resolve) => (timer = setTimeout(resolve, leftMs)))]);
      clearTimeout(timer);
    }
  };
  const mediaSocket = (raw: WebSocket): MediaSocketFake => {
    const received: MediaSocketFake['received'] = [];
    let taken = 0;
    raw.on('message', (data, isBinary) => {
      received.push({ text: String(data), isBinary, message: parsed(String(data)) });
      tell();
    });
    return {
      received,
      raw,
      next: (event) =>
        until(() => {
          const index = received.findIndex(({ message }, i) => i >= taken && message['event'] === event);
          if (index < 0) return undefined;
          taken = index + 1;
          return received[index]!.message;
        }, `message ${event}`),
      send: (message) => raw.send(typeof message === 'string' ? message : JSON.stringify(message)),
      close: () => raw.close(),
    };
  };
  const headersOf = (request: IncomingMessage): Record<string, string> =>
    Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));

  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const path = new URL(request.url ?? '/', base).pathname.slice(1);
    callbacks.push({
      kind: path,
      method: request.method ?? '',
      url: base + request.url,
      headers: headersOf(request),
      params: Object.fromEntries(new URLSearchParams(body)),
    });
    tell();
    const media = base.replace('http', 'ws');
    const document = options.document?.(path, `${media}/media/token0`, base) ?? {
      body: streamXml(`${media}/media/token0`, base),
    };
    response
      .writeHead(document.status ?? 200, { 'content-type': document.type ?? 'application/xml' })
      .end(document.body);
  });
  const webSockets = new WebSocketServer({ noServer: true, maxPayload: 4_194_304 });
  server.on('upgrade', (request, socket, head) => {
    upgrades.push({ url: base.replace('http', 'ws') + request.url, headers: headersOf(request) });
    const refused = options.refuse?.(upgrades.length) ?? null;
    if (refused !== null) {
      socket.end(`HTTP/1.1 ${refused} No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      sockets.push(mediaSocket(webSocket));
      tell();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    base,
    callbacks,
    upgrades,
    seen: (kind, count = 1) =>
      until(() => callbacks.filter((callback) => callback.kind === kind)[count - 1], `callback ${kind}`),
    nextSocket: () => until(() => sockets.at(-1), 'a media socket'),
    async close() {
      for (const socket of sockets) socket.raw.terminate();
      server.close();
      server.closeAllConnections();
    },
  };
}

function parsed(text: string): Message {
  try {
    return JSON.parse(text) as Message;
  } catch {
    return {};
  }
}
