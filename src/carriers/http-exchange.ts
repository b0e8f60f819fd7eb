/**
 * One HTTP request and its whole answer, with the one fact that decides whether a call may be placed again: had the
 * request begun to leave when it failed? Called by `rest-client.ts`. It never repeats and never follows a redirect.
 */
import type { Dispatcher } from 'undici';

/** Carriers answer a few hundred bytes; more is no answer of an API. */
const MAX_BODY_BYTES = 65_536;

export interface HttpAnswer {
  status: number;
  /** Lower-case names; a repeated header's values joined by a comma. */
  headers: Record<string, string>;
  body: string;
}

export interface HttpExchange {
  /** False as long as not a byte of the request can have left: such a request was certainly not read. */
  wasSent(): boolean;
  /** Rejects with the connection's error, or when aborted. */
  answer: Promise<HttpAnswer>;
  abort(): void;
}

export function startExchange(
  dispatcher: Dispatcher,
  request: {
    origin: string;
    path: string;
    method: Dispatcher.HttpMethod;
    headers: Record<string, string>;
    body: string | null;
  },
): HttpExchange {
  let sent = false;
  let aborted = false;
  let abort = (): void => {};
  const answer = new Promise<HttpAnswer>((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null;
    let status = 0;
    let headers: Record<string, string> = {};
    let bodyBytes = 0;
    const chunks: Buffer[] = [];
    abort = () => {
      aborted = true;
      controller?.abort(new Error('aborted'));
      reject(new Error('aborted'));
    };
    dispatcher.dispatch(
      { ...request, idempotent: false },
      {
        onRequestStart(ofRequest) {
          // Aborted while it waited for its connection: dropped before its first byte.
          if (aborted) return ofRequest.abort(new Error('aborted'));
          controller = ofRequest;
          sent = true;
        },
        onResponseStart(_controller, statusCode, rawHeaders) {
          status = statusCode;
          headers = {};
          for (const [name, value] of Object.entries(rawHeaders)) {
            if (value !== undefined)
              headers[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : String(value);
          }
        },
        onResponseData(ofResponse, chunk) {
          bodyBytes += chunk.length;
          if (bodyBytes > MAX_BODY_BYTES) ofResponse.abort(new Error('answer too large'));
          else chunks.push(chunk);
        },
        onResponseEnd() {
          resolve({ status, headers, body: Buffer.concat(chunks).toString('utf8') });
        },
        onResponseError(_controller, error) {
          reject(error);
        },
      },
    );
  });
  return { wasSent: () => sent, answer, abort: () => abort() };
}
