/**
 * One plain request of uWebSockets.js as an `HttpExchange`. Says itself what it uses of the package, which only
 * `uws-server.ts` imports. With a known length the answer goes out by `tryEnd`, which keeps `Content-Length` true;
 * without one in chunks.
 */
import type { ClientAddresses } from './client-address.ts';
import type { HeaderList, HttpExchange } from './http-exchange.ts';
import { statusLine } from './status-line.ts';

/** What is used of uWebSockets.js' HttpRequest; dead when its handler returns. */
export interface UwsRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  forEach(each: (name: string, value: string) => void): void;
}

/** What is used of uWebSockets.js' HttpResponse; dead once it ended or was aborted. */
export interface UwsResponse {
  getRemoteAddressAsText(): ArrayBuffer;
  onAborted(run: () => void): unknown;
  onData(run: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  onWritable(run: (offsetBytes: number) => boolean): unknown;
  pause(): void;
  resume(): void;
  cork(run: () => void): unknown;
  writeStatus(status: string): unknown;
  writeHeader(name: string, value: string): unknown;
  write(chunk: Uint8Array): boolean;
  tryEnd(chunk: Uint8Array, totalBytes: number): [isOk: boolean, isDone: boolean];
  end(body?: Uint8Array | string, closesConnection?: boolean): unknown;
  endWithoutBody(contentLengthBytes?: number): unknown;
  close(): unknown;
}

const BODILESS = new Set([204, 304]);
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\x00-\x7f]*$/;

/** Who holds the other end of the connection, a proxy perhaps. */
export function peerOf(res: UwsResponse): string {
  return Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
}

export function headersOf(req: UwsRequest): HeaderList {
  const headers: HeaderList = [];
  req.forEach((name, value) => {
    headers.push([name, bytewise(value)]);
  });
  return headers;
}

/** uWebSockets.js reads UTF-8; in a head a character is a byte, as node:http has it. */
function bytewise(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** `over` is told once, and whether the connection is kept for another request. */
export function answerUwsRequest(
  res: UwsResponse,
  req: UwsRequest,
  addresses: Pick<ClientAddresses, 'of'>,
  over: (isKept: boolean) => void,
): HttpExchange {
  return new UwsExchange(res, req, addresses, over);
}

class UwsExchange implements HttpExchange {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderList;
  readonly remoteAddress: string;
  onAborted: (() => void) | null = null;
  onBody: ((chunk: Uint8Array, isLast: boolean) => void) | null = null;
  onWritable: (() => void) | null = null;
  readonly #res: UwsResponse;
  readonly #tellOver: (isKept: boolean) => void;
  #isOver = false;
  #totalBytes: number | null = null;
  /** What `tryEnd` could not take: the chunk, and the answer's offset at which it began. */
  #held: Uint8Array | null = null;
  #heldAt = 0;
  #writtenBytes = 0;
  #endsWithoutBody = false;

  constructor(
    res: UwsResponse,
    req: UwsRequest,
    addresses: Pick<ClientAddresses, 'of'>,
    over: (isKept: boolean) => void,
  ) {
    this.#res = res;
    this.#tellOver = over;
    this.method = req.getCaseSensitiveMethod();
    // Without a query this version answers undefined, whatever its types say.
    const query = req.getQuery() ?? '';
    this.url = bytewise(query === '' ? req.getUrl() : `${req.getUrl()}?${query}`);
    this.headers = headersOf(req);
    this.remoteAddress = addresses.of(peerOf(res), this.headers);
    res.onAborted(() => {
      if (this.#isOver) return;
      this.#finish(false);
      this.onAborted?.();
    });
    res.onData((chunk, isLast) => {
      this.onBody?.(new Uint8Array(chunk.slice(0)), isLast);
    });
  }

  pauseBody(): void {
    if (!this.#isOver) this.#res.pause();
  }

  resumeBody(): void {
    if (!this.#isOver) this.#res.resume();
  }

  respond(httpStatus: number, statusText: string, headers: HeaderList, contentLengthBytes: number | null): void {
    if (this.#isOver) return;
    this.#totalBytes = contentLengthBytes;
    this.#endsWithoutBody = this.method === 'HEAD' || BODILESS.has(httpStatus);
    this.#res.onWritable((offset) => this.#becameWritable(offset));
    this.#res.cork(() => {
      this.#res.writeStatus(statusText === '' ? statusLine(httpStatus) : `${httpStatus} ${statusText}`);
      for (const [name, value] of headers) this.#res.writeHeader(name, value);
      if (this.#endsWithoutBody) {
        this.#finish(true);
        if (contentLengthBytes === null) this.#res.endWithoutBody();
        else this.#res.endWithoutBody(contentLengthBytes);
      }
    });
  }

  write(chunk: Uint8Array): boolean {
    if (this.#isOver || chunk.length === 0) return true;
    let accepted = true;
    this.#res.cork(() => {
      if (this.#totalBytes === null) {
        accepted = this.#res.write(chunk);
        return;
      }
      const [ok, isDone] = this.#res.tryEnd(chunk, this.#totalBytes);
      if (isDone) this.#finish(true);
      accepted = ok || isDone;
      if (!accepted) {
        this.#held = chunk;
        this.#heldAt = this.#writtenBytes;
      }
    });
    this.#writtenBytes += chunk.length;
    return accepted;
  }

  end(): void {
    if (this.#isOver) return;
    if (this.#totalBytes !== null && this.#totalBytes > 0) {
      // A whole answer has ended in `tryEnd`, and a held rest ends it from `onWritable`; a
      // short body must not look whole.
      if (this.#held === null) this.cut();
      return;
    }
    this.#finish(true);
    this.#res.cork(() => {
      this.#res.end();
    });
  }

  respondAndClose(httpStatus: number, headers: HeaderList, body: Uint8Array): void {
    if (this.#isOver) return;
    this.#finish(false);
    this.#res.cork(() => {
      this.#res.writeStatus(statusLine(httpStatus));
      for (const [name, value] of headers) this.#res.writeHeader(name, value);
      this.#res.end(body, true);
    });
  }

  cut(): void {
    if (this.#isOver) return;
    this.#finish(false);
    this.#res.close();
    this.onAborted?.();
  }

  #finish(isKept: boolean): void {
    this.#isOver = true;
    this.#tellOver(isKept);
  }

  #becameWritable(offset: number): boolean {
    if (this.#isOver) return true;
    if (this.#held !== null && this.#totalBytes !== null) {
      const [ok, isDone] = this.#res.tryEnd(this.#held.subarray(offset - this.#heldAt), this.#totalBytes);
      if (isDone) this.#finish(true);
      if (!ok && !isDone) return false;
      this.#held = null;
      if (isDone) return true;
    }
    this.onWritable?.();
    return true;
  }
}
