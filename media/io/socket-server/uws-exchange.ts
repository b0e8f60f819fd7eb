/**
 * One plain request of uWebSockets.js as an `HttpExchange`. Says itself what it uses of the package, which only `uws-server.ts` imports.
 * With a known length the answer goes out by `tryEnd`, which keeps `Content-Length` true; without one in chunks.
 */
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
  end(): unknown;
  endWithoutBody(contentLengthBytes?: number): unknown;
  close(): unknown;
}

const MAPPED_PREFIX = '0000:0000:0000:0000:0000:ffff:';
const BODILESS = new Set([204, 304]);

/** Dotted for IPv4, mapped or not: uWebSockets.js spells IPv6 out in full. */
export function remoteAddressOf(res: UwsResponse): string {
  const text = Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
  if (!text.startsWith(MAPPED_PREFIX)) return text;
  const hex = text.slice(MAPPED_PREFIX.length).replace(':', '');
  return [0, 2, 4, 6].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join('.');
}

export function answerUwsRequest(res: UwsResponse, req: UwsRequest): HttpExchange {
  return new UwsExchange(res, req);
}

class UwsExchange implements HttpExchange {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderList = [];
  readonly remoteAddress: string;
  onAborted: (() => void) | null = null;
  onBody: ((chunk: Uint8Array, isLast: boolean) => void) | null = null;
  onWritable: (() => void) | null = null;
  readonly #res: UwsResponse;
  #isOver = false;
  #totalBytes: number | null = null;
  /** What `tryEnd` could not take: the chunk, and the answer's offset at which it began. */
  #held: Uint8Array | null = null;
  #heldAt = 0;
  #writtenBytes = 0;
  #endsWithoutBody = false;

  constructor(res: UwsResponse, req: UwsRequest) {
    this.#res = res;
    this.method = req.getCaseSensitiveMethod();
    // Without a query this version answers undefined, whatever its types say.
    const query = req.getQuery() ?? '';
    this.url = query === '' ? req.getUrl() : `${req.getUrl()}?${query}`;
    req.forEach((name, value) => {
      this.headers.push([name, value]);
    });
    this.remoteAddress = remoteAddressOf(res);
    res.onAborted(() => {
      if (this.#isOver) return;
      this.#isOver = true;
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
        this.#isOver = true;
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
      if (isDone) this.#isOver = true;
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
      // A whole answer has ended in `tryEnd`, and a held rest ends it from `onWritable`; a short body must not look whole.
      if (this.#held === null) this.cut();
      return;
    }
    this.#isOver = true;
    this.#res.cork(() => {
      this.#res.end();
    });
  }

  cut(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#res.close();
    this.onAborted?.();
  }

  #becameWritable(offset: number): boolean {
    if (this.#isOver) return true;
    if (this.#held !== null && this.#totalBytes !== null) {
      const [ok, isDone] = this.#res.tryEnd(this.#held.subarray(offset - this.#heldAt), this.#totalBytes);
      if (isDone) this.#isOver = true;
      if (!ok && !isDone) return false;
      this.#held = null;
      if (isDone) return true;
    }
    this.onWritable?.();
    return true;
  }
}
