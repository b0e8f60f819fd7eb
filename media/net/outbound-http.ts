/**
 * The port through which every request to an address that a user gave leaves (webhooks; later custom tools). Its one
 * implementation is `guarded-client.ts`; tests script their own.
 */

export interface OutboundRequest {
  url: string;
  method: 'POST';
  headers: Readonly<Record<string, string>>;
  /** Sent as these bytes. */
  body: Buffer;
  limits: OutboundLimits;
  /** Aborted: the request is torn down and ends as `failed`. */
  signal?: AbortSignal;
}

export interface OutboundLimits {
  /** Name look-up, TCP and TLS together. */
  connectMs: number;
  /** From the request being fully written to the last byte of the answer's headers. */
  responseMs: number;
  /** Everything up to the answer's headers, for receivers that accept a connection but read slowly. */
  totalMs: number;
  /** From the headers to the end of the body. Default 1 s: for most, status and headers decide. */
  bodyMs?: number;
  /** The rest of the answer is not read; the connection is closed. */
  maxResponseBytes: number;
}

/** Times are ms. `reason` is a clause for a person: "no answer within 3000 ms". */
export type OutboundResult =
  | {
      kind: 'answered';
      status: number;
      /** As the receiver sent it: seconds or a date. */
      retryAfter: string | null;
      /** At most `maxResponseBytes`. */
      body: string;
      /** False: it was longer, took too long, or broke off. */
      isBodyWhole?: boolean;
      /** From the request being fully written to the headers. */
      responseMs: number;
    }
  /** Nothing was sent: the URL or where it leads is not allowed. */
  | { kind: 'refused'; reason: string }
  /** No answer; the request may or may not have arrived. `isTimeout`: one of its limits ran out. */
  | { kind: 'failed'; reason: string; isTimeout?: true };

export interface OutboundHttp {
  /** Never rejects. Redirects are answers like any other; nothing is retried. */
  send(request: OutboundRequest): Promise<OutboundResult>;
  /** Ends what is under way (as `failed`). */
  close(): Promise<void>;
}
