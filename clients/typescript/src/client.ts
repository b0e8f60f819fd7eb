/**
 * The client: one method an operation of `/openapi.json`, named by its `operationId`, made of the table in
 * `generated.ts`. How a request is sent and repeated is `exchange.ts`. No dependencies.
 */
import { type Answer, type ExchangeSettings, exchange, type RequestOptions } from './exchange.ts';
import { OPERATIONS, type Operations } from './generated.ts';

export type { Answer, RequestOptions } from './exchange.ts';
export type * from './generated.ts';
// biome-ignore lint/performance/noBarrelFile: the package's entry
export { ParleyError } from './parley-error.ts';

/** Path and query fields beside each other, a body under `body`. Without a field, nothing is needed. */
type Method<Input, Data> = object extends Input
  ? (input?: Input, options?: RequestOptions) => Promise<Answer<Data>>
  : (input: Input, options?: RequestOptions) => Promise<Answer<Data>>;

export type ParleyClient = {
  readonly [Id in keyof Operations]: Method<Operations[Id]['input'], Operations[Id]['data']>;
};

export interface ClientOptions {
  /** `https://voice.example.com` */
  baseUrl: string;
  /** `sv_live_…`, or `sv_oper_…` for the operator's routes. Never in a browser. */
  apiKey?: string;
  /** How often a request that may be repeated is; default 2. */
  retries?: number;
  /** Of one attempt; default 30 s. */
  timeoutMs?: number;
  /** A longer `Retry-After` than this is not waited for; default 60 s. */
  longestWaitMs?: number;
  /** For tests. */
  fetch?: typeof globalThis.fetch;
  /** Told before each repetition. */
  onRetry?(info: { operation: string; attempt: number; waitMs: number; why: string }): void;
}

export function createParleyClient(options: ClientOptions): ParleyClient {
  const settings: ExchangeSettings = {
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    apiKey: options.apiKey,
    retries: options.retries ?? 2,
    timeoutMs: options.timeoutMs ?? 30_000,
    longestWaitMs: options.longestWaitMs ?? 60_000,
    fetch: options.fetch ?? globalThis.fetch,
    onRetry: options.onRetry,
  };
  const methods = Object.entries(OPERATIONS).map(([id, operation]) => [
    id,
    (input: Record<string, unknown> = {}, request: RequestOptions = {}) =>
      exchange(settings, id, operation, input, request),
  ]);
  return Object.fromEntries(methods) as ParleyClient;
}
