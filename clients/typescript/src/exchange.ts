/**
 * Sends one operation and decides whether it may be sent again. A read may. A request that makes something may only
 * under an `Idempotency-Key`, which is made here where the operation takes one and the caller gave none: so no phone is
 * rung twice. Anything else is sent once. `Retry-After` is honoured.
 */
import { ParleyError } from './parley-error.ts';

export interface OperationFacts {
  method: string;
  /** `/calls/{callUuid}` */
  path: string;
  query: readonly string[];
  /** It takes an `Idempotency-Key`. */
  takesKey: boolean;
  hasBody: boolean;
  /** The body is sent as `multipart/form-data`. */
  isForm?: boolean;
}

export interface RequestOptions {
  /** One is made when absent; null sends none, and then the request is never repeated. */
  idempotencyKey?: string | null;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface Answer<Data> {
  status: number;
  data: Data;
  headers: Headers;
  requestId: string | null;
  /** For `If-Match`. */
  etag: string | null;
  /** The service had answered this key before. */
  replayed: boolean;
}

export interface ExchangeSettings {
  baseUrl: string;
  apiKey: string | undefined;
  retries: number;
  timeoutMs: number;
  longestWaitMs: number;
  fetch: typeof globalThis.fetch;
  onRetry: ((info: { operation: string; attempt: number; waitMs: number; why: string }) => void) | undefined;
}

const FIRST_WAIT_MS = 250;
/** The service's own word that the same request may succeed later. */
const TEMPORARY = new Set([429, 500, 502, 503, 504]);
const KEY_IS_BUSY = new Set(['request_in_progress', 'idempotency_state_unknown']);

export async function exchange(
  settings: ExchangeSettings,
  id: string,
  operation: OperationFacts,
  input: Record<string, unknown>,
  options: RequestOptions,
): Promise<Answer<never>> {
  const url = settings.baseUrl + pathOf(id, operation, input);
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers };
  if (settings.apiKey !== undefined) headers['authorization'] ??= `Bearer ${settings.apiKey}`;
  const key = operation.takesKey && options.idempotencyKey === undefined ? crypto.randomUUID() : options.idempotencyKey;
  if (typeof key === 'string') headers['idempotency-key'] = key;
  let body: string | FormData | undefined;
  if (operation.isForm === true && input['body'] !== undefined) {
    body = formOf(input['body'] as Record<string, string | Blob | undefined>);
  } else if (operation.hasBody && input['body'] !== undefined) {
    body = typeof input['body'] === 'string' ? input['body'] : JSON.stringify(input['body']);
    headers['content-type'] ??= 'application/json';
  }
  const mayRepeat = operation.method === 'GET' || (operation.takesKey && typeof key === 'string');
  for (let attempt = 1; ; attempt++) {
    const last = !mayRepeat || attempt > settings.retries;
    let why: string;
    let waitMs = FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.8 + Math.random() * 0.4);
    try {
      const timeout = AbortSignal.timeout(settings.timeoutMs);
      const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
      const response = await settings.fetch(url, {
        method: operation.method,
        headers,
        signal,
        ...(body === undefined ? {} : { body }),
      });
      const data = await readBody(response);
      if (response.ok) {
        return {
          status: response.status,
          data: data as never,
          headers: response.headers,
          requestId: response.headers.get('x-request-id'),
          etag: response.headers.get('etag'),
          replayed: response.headers.get('idempotent-replayed') === 'true',
        };
      }
      const error = new ParleyError(response.status, response.headers, data);
      if (last || !isTemporary(error)) throw error;
      if (error.retryAfterSeconds !== null) waitMs = error.retryAfterSeconds * 1_000;
      if (waitMs > settings.longestWaitMs) throw error;
      why = `${error.status} ${error.code ?? ''}`;
    } catch (error) {
      if (error instanceof ParleyError || last || options.signal?.aborted === true) throw error;
      why = error instanceof Error ? error.message : String(error);
    }
    settings.onRetry?.({ operation: id, attempt, waitMs, why });
    await pause(waitMs, options.signal);
  }
}

/** What sends it writes the header, with the boundary in it. */
function formOf(fields: Record<string, string | Blob | undefined>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.set(name, value);
  return form;
}

function isTemporary({ status, code }: ParleyError): boolean {
  return TEMPORARY.has(status) || (status === 409 && code !== null && KEY_IS_BUSY.has(code));
}

function pathOf(id: string, operation: OperationFacts, input: Record<string, unknown>): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_all, name: string) => {
    const value = input[name];
    if (value === undefined || value === null || value === '') throw new TypeError(`${id} needs ${name}`);
    return encodeURIComponent(String(value));
  });
  const query = new URLSearchParams();
  for (const name of operation.query) {
    const value = input[name];
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

async function readBody(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/json')) return response.json();
  if (type.startsWith('text/') || type.includes('ndjson')) return response.text();
  const bytes = await response.arrayBuffer();
  return bytes.byteLength === 0 ? undefined : bytes;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
