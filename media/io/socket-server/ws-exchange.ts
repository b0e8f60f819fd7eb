/** One plain request of node:http as an `HttpExchange`; `ws-server.ts` makes it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ClientAddresses } from './client-address.ts';
import type { HeaderList, HttpExchange } from './http-exchange.ts';

/** Who holds the other end of the connection, a proxy perhaps. */
export function peerOf(connection: Socket): string {
  return connection.remoteAddress ?? '';
}

export function headersOf(req: IncomingMessage): HeaderList {
  const headers: HeaderList = [];
  for (let i = 0; i + 1 < req.rawHeaders.length; i += 2) {
    headers.push([req.rawHeaders[i]!.toLowerCase(), req.rawHeaders[i + 1]!]);
  }
  return headers;
}

export function answerNodeRequest(
  req: IncomingMessage,
  res: ServerResponse,
  addresses: Pick<ClientAddresses, 'of'>,
): HttpExchange {
  return new NodeExchange(req, res, addresses);
}

class NodeExchange implements HttpExchange {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderList;
  readonly remoteAddress: string;
  onAborted: (() => void) | null = null;
  onBody: ((chunk: Uint8Array, isLast: boolean) => void) | null = null;
  onWritable: (() => void) | null = null;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  #isOver = false;
  #remainingBytes: number | null = null;

  constructor(req: IncomingMessage, res: ServerResponse, addresses: Pick<ClientAddresses, 'of'>) {
    this.#req = req;
    this.#res = res;
    this.method = req.method ?? 'GET';
    this.url = req.url ?? '/';
    this.headers = headersOf(req);
    this.remoteAddress = addresses.of(peerOf(req.socket), this.headers);
    req.on('data', (chunk: Buffer) => this.onBody?.(chunk, false));
    req.on('end', () => this.onBody?.(new Uint8Array(0), true));
    req.on('error', () => {});
    res.on('error', () => {});
    res.on('drain', () => this.onWritable?.());
    res.on('close', () => {
      if (this.#isOver) return;
      this.#isOver = true;
      this.onAborted?.();
    });
  }

  pauseBody(): void {
    this.#req.pause();
  }

  resumeBody(): void {
    this.#req.resume();
  }

  respond(httpStatus: number, statusText: string, headers: HeaderList, contentLengthBytes: number | null): void {
    if (this.#isOver) return;
    const flat: string[] = [];
    for (const [name, value] of headers) flat.push(name, value);
    if (contentLengthBytes !== null) flat.push('content-length', String(contentLengthBytes));
    this.#remainingBytes = this.method === 'HEAD' ? null : contentLengthBytes;
    if (statusText === '') this.#res.writeHead(httpStatus, flat);
    else this.#res.writeHead(httpStatus, statusText, flat);
    this.#res.flushHeaders();
  }

  write(chunk: Uint8Array): boolean {
    if (this.#isOver || chunk.length === 0) return true;
    if (this.#remainingBytes !== null) this.#remainingBytes -= chunk.length;
    return this.#res.write(chunk);
  }

  end(): void {
    if (this.#isOver) return;
    if (this.#remainingBytes !== null && this.#remainingBytes > 0) {
      this.cut();
      return;
    }
    this.#isOver = true;
    this.#res.end();
    // An answer before the whole request came (413) must not leave the rest on a connection that is used again.
    if (!this.#req.complete) this.#req.resume();
  }

  respondAndClose(httpStatus: number, headers: HeaderList, body: Uint8Array): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // Node closes the connection itself behind an answer that says so.
    this.#res.writeHead(httpStatus, ['connection', 'close', 'content-length', String(body.length), ...headers.flat()]);
    this.#res.end(body);
  }

  cut(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#res.destroy();
    this.onAborted?.();
  }
}
