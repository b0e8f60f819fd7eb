/**
 * One plain HTTP request and its answer, as both socket servers hand them to `http-proxy.ts`. Streams both ways, with
 * backpressure both ways. The server closes what nobody answers when the client goes.
 */

/** Header names are lower-case; a header that came twice is here twice. */
export type HeaderList = [name: string, value: string][];

export interface HttpExchange {
  readonly method: string;
  /** Path and query as received. */
  readonly url: string;
  readonly headers: HeaderList;
  /** Of the client, not of a trusted proxy before us (`client-address.ts`). */
  readonly remoteAddress: string;
  /** The client went away, or `cut` was called. Called at most once, and not after the answer is complete. */
  onAborted: (() => void) | null;
  /** A piece of the request's body, copied: it may be kept. Set before the handler returns. */
  onBody: ((chunk: Uint8Array, isLast: boolean) => void) | null;
  /** After `write` returned false: the client has taken what waited. */
  onWritable: (() => void) | null;
  /** Throttle the request's body. */
  pauseBody(): void;
  resumeBody(): void;
  /** `contentLengthBytes` null streams in chunks. `headers` must hold no hop-by-hop header and no `content-length`. */
  respond(httpStatus: number, statusText: string, headers: HeaderList, contentLengthBytes: number | null): void;
  /** False: hold back until `onWritable`. The chunk is taken in any case. */
  write(chunk: Uint8Array): boolean;
  end(): void;
  /** A whole answer to a request that may still be coming; the connection is closed behind it. */
  respondAndClose(httpStatus: number, headers: HeaderList, body: Uint8Array): void;
  /** The answer cannot be completed: the connection is closed, so that the client sees that. */
  cut(): void;
}
