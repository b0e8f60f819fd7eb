/**
 * The shape in which an operation is described, and what most descriptions share. Each resource describes its own in an
 * `operations.ts` beside its routes; `operations.ts` here lists them all.
 */
import type { z } from 'zod';
import type { Scope } from '../../workspaces/api-keys.ts';
import type { ErrorCode } from '../error-codes.ts';

/** Sections of the document, in the order in which it shows them. */
export const TAGS = {
  Calls: 'Place, follow, read and end calls.',
  Leads: 'People to call, and numbers that must not be called.',
  Webhooks: 'What became of the events that were sent, and sending them again.',
  Directory: 'What a client must know before its first call.',
  Settings: 'The settings of the application: agents, lines, keys, web pages, limits.',
  Operator: "Workspaces and their API access, with an operator's key.",
  Web: 'Voice on web pages.',
  Service: 'For probes and people.',
} as const;

export type Tag = keyof typeof TAGS;

export interface Answer {
  description: string;
  /** By media type. */
  content: Readonly<Record<string, z.ZodType>>;
  /** Beside those that every answer has. */
  headers?: Readonly<Record<string, string>>;
}

export interface Operation {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'options';
  /** As Fastify has it, `/calls/:callUuid`. */
  route: string;
  id: string;
  tag: Tag;
  summary: string;
  description: string;
  /** Null: for anybody. `operator`: no workspace key will do. */
  scope: Scope | 'operator' | null;
  /** An operation of the specification: errors have two keys. */
  specified: boolean;
  headers: Readonly<Record<string, string>>;
  params: z.ZodObject | null;
  query: z.ZodObject | null;
  body: z.ZodType | null;
  bodyOptional?: boolean;
  /** `application/json` when absent. */
  bodyTypes?: readonly string[];
  answers: Readonly<Record<number, Answer>>;
  errors: readonly ErrorCode[];
}

/** An answer with a JSON body. */
export const json = (description: string, schema: z.ZodType, headers: Record<string, string> = {}): Answer => ({
  description,
  content: { 'application/json': schema },
  headers,
});

export const COMMON: readonly ErrorCode[] = ['bad_request', 'open_requests_limit', 'internal_error'];
/** A query parameter that an operation does not have is `invalid_request`. */
export const KEYED: readonly ErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'insufficient_scope',
  'auth_rate_limit',
  'api_rate_limit',
  ...COMMON,
];
/** A request with a body may be refused for it, whether the operation wants one or not. */
export const BODY: readonly ErrorCode[] = ['invalid_json', 'unsupported_media_type', 'body_too_large', 'body_too_slow'];
export const RATE_HEADERS = { RateLimit: 'What is left of the limit', 'RateLimit-Policy': 'The limit' };
/** Of a request that makes something once. */
export const ONCE = {
  'Idempotency-Key': '1 to 255 letters, digits, _ or -. The same key and body within 24 h get the same answer.',
};
export const REPLAYED = { ...RATE_HEADERS, 'Idempotent-Replayed': '`true` when the answer was stored before' };

/** An operation without what most do not have. */
export const none = { headers: {}, params: null, query: null, body: null, specified: false } as const;
