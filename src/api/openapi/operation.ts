/**
 * What `/openapi.json` says of one operation, whole. Nobody writes one: `route.ts` makes them of the routes that are
 * registered, and `document.ts` reads them.
 */
import type { z } from 'zod';
import type { ErrorCode } from '../../errors/error-codes.ts';
import type { Right } from '../../users/roles.ts';
import type { Scope } from '../../workspaces/api-keys.ts';

/** Sections of the document, in the order in which it shows them. */
export const TAGS = {
  Calls: 'Place, follow, read and end calls.',
  Leads: 'People to call, and numbers that must not be called.',
  Webhooks: 'What became of the events that were sent, and sending them again.',
  Directory: 'What a client must know before its first call.',
  Settings: 'The settings of the application: agents, lines, keys, web pages, limits.',
  Operator: "Workspaces and their API access, with an operator's key.",
  Web: 'Voice on web pages.',
  Console:
    'For the console, by people who are signed in. The other operations are theirs too, below `/api/console/w/{enterprise}/` and `/api/console/operator/`.',
  Service: 'For probes and people.',
} as const;

export type Tag = keyof typeof TAGS;

/** What a route asks of who comes. `person`: somebody who is signed in at the console. */
export type Need = Scope | 'operator' | 'person';

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
  /** Null: for anybody. `operator`: no workspace key will do. `person`: no key will. */
  scope: Need | null;
  /** What a person needs, where that is finer than the scope. */
  right?: Right;
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

/** Of what is counted against a key's rate. */
export const RATE_HEADERS = { RateLimit: 'What is left of the limit', 'RateLimit-Policy': 'The limit' };
/** Of an answer whose state can be named in If-Match. */
export const ETAG = { ETag: 'Of this state, for If-Match' };
