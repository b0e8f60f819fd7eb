/**
 * One description of a route: what it is called, what it takes, answers and refuses, and who answers it. Routes are
 * registered with it and in no other way, so that the guard, validation, `/openapi.json`, `/docs` and the generated
 * client cannot say different things. What follows from the rest (codes of the guard and of a body, headers of the
 * rate) is derived here and written nowhere else.
 */
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  preValidationHookHandler,
  RouteOptions,
} from 'fastify';
import type { z } from 'zod';
import type { ErrorCode } from '../errors/error-codes.ts';
import type { Right } from '../users/roles.ts';
import type { Guard } from './guard.ts';
import { type Answer, type Need, type Operation, RATE_HEADERS, type Tag } from './openapi/operation.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What `/openapi.json` says of the route. */
    operation?: Operation;
    /** The operation is described at its other path. */
    isSecondDoor?: boolean;
    masksItself?: boolean;
  }
  interface FastifyInstance {
    /** Of all routes that were registered since `collectOperations`, in their order. */
    operations: readonly Operation[];
  }
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : unknown;

export interface Route<Params, Query, Body> {
  method: Operation['method'];
  /** As Fastify has it, `/calls/:callUuid`. */
  path: string;
  /** Name of the operation: the generated client calls it so. */
  id: string;
  tag: Tag;
  /** One line, without a full stop. */
  summary: string;
  description: string;
  /**
   * That a workspace's key needs. `operator`: no workspace key will do. `person`: somebody who is signed in at the
   * console, and no key. Null: for anybody.
   */
  scope: Need | null;
  /** What a person needs where that is finer than the scope; of a person in a workspace. */
  right?: Right;
  /** An operation of the specification: errors have two keys. */
  specified?: boolean;
  /** Of those: calls nobody, so 429 has its plain message. */
  plain429?: boolean;
  /** Takes an `Idempotency-Key` (`settings/create-once.ts`, `outbound-call/idempotent-exchange.ts`). */
  once?: boolean;
  /** Takes `If-Match` (`settings/etag.ts`). */
  ifMatch?: boolean;
  /** Other request headers, with what they are for. */
  headers?: Readonly<Record<string, string>>;
  params?: Params;
  query?: Query;
  /** Checked before the handler runs. */
  body?: Body;
  /** In place of `body`: published, and checked by the handler, whose codes tell one field from another. */
  ownBody?: z.ZodType;
  /** The request may come without its body. */
  bodyOptional?: boolean;
  /** Of a scope with parsers of its own; `application/json` when absent. */
  bodyTypes?: readonly string[];
  /** By status, without errors. Headers of the rate and of a replay come by themselves. */
  answers: Readonly<Record<number, Answer>>;
  /** Beside those that follow from the rest. */
  errors?: readonly ErrorCode[];
  /** After the guard. */
  onRequest?: onRequestHookHandler;
  preValidation?: preValidationHookHandler;
  bodyLimit?: number;
  /** What a person may not see is not in the answer, which is no JSON (`console/second-door.ts`). */
  masksItself?: boolean;
  /** The handler answers HEAD too; else Fastify makes it of GET. */
  answersHead?: boolean;
  handler(
    request: FastifyRequest<{ Params: Output<Params>; Querystring: Output<Query>; Body: Output<Body> }>,
    reply: FastifyReply,
  ): unknown;
}

export type AddRoute = <
  Params extends z.ZodObject | undefined = undefined,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(
  route: Route<Params, Query, Body>,
) => void;

/**
 * What registers routes in `app`, which may be a scope with parsers of its own. Without a guard: for routes that are
 * for anybody.
 */
export function routesOn(app: FastifyInstance, guard: Guard | null): AddRoute {
  return (route) => {
    const { method, scope, params, query, body, preValidation, bodyLimit, answersHead = false } = route;
    const door = guard?.door;
    // Who needs no key needs no second door.
    const path = door === undefined || scope === null ? route.path : door.pathOf(route.path, scope);
    if (path === null || (door !== undefined && scope === null)) return;
    const operation = operationOf(route);
    if (scope !== null && guard === null) throw new Error(`${method} ${path} needs a guard.`);
    const checks = [
      ...(scope === null || guard === null ? [] : [guard(scope, route.right)]),
      ...(route.onRequest === undefined ? [] : [route.onRequest]),
    ];
    const verb = method.toUpperCase();
    app.route({
      method: answersHead ? [verb, 'HEAD'] : verb,
      url: path,
      ...(answersHead ? { exposeHeadRoute: false } : {}),
      config: {
        operation: door === undefined ? operation : door.operationOf(operation),
        ...(door === undefined ? {} : { isSecondDoor: true }),
        ...(route.specified === undefined || door !== undefined ? {} : { specified: route.specified }),
        ...(route.once === undefined ? {} : { once: route.once }),
        ...(route.plain429 === undefined ? {} : { plain429: route.plain429 }),
        ...(route.masksItself === undefined ? {} : { masksItself: route.masksItself }),
      },
      schema: {
        ...(params === undefined ? {} : { params }),
        ...(query === undefined ? {} : { querystring: query }),
        ...(body === undefined ? {} : { body }),
      },
      ...(checks.length === 0 ? {} : { onRequest: checks }),
      ...(preValidation === undefined ? {} : { preValidation }),
      ...(bodyLimit === undefined ? {} : { bodyLimit }),
      // Validated by the schemas above.
      handler: route.handler as RouteOptions['handler'],
    });
  };
}

/** Gives the server its list of operations; before any route is registered. */
export function collectOperations(app: FastifyInstance): void {
  const operations: Operation[] = [];
  app.decorate('operations', operations);
  app.addHook('onRoute', ({ config }) => {
    const operation = config?.isSecondDoor === true ? undefined : config?.operation;
    // Fastify's own HEAD of a GET has the GET's.
    if (operation !== undefined && operations.at(-1) !== operation) operations.push(operation);
  });
}

const KEY_CODES: readonly ErrorCode[] = ['unauthorized', 'insufficient_scope', 'auth_rate_limit', 'api_rate_limit'];
const OPERATOR_CODES: readonly ErrorCode[] = ['unauthorized', 'operator_only', 'auth_rate_limit', 'api_rate_limit'];
/** Of a person: signed out, in another workspace, without the right, or sent by another site. */
export const PERSON_CODES: readonly ErrorCode[] = [
  'session_needed',
  'cross_site_request',
  'workspace_not_found',
  'role_insufficient',
  'masked_filter',
  'api_rate_limit',
];
const CODES_OF = { key: KEY_CODES, operator: OPERATOR_CODES, person: PERSON_CODES };
/** A request with a body may be refused for it, whether the operation wants one or not. */
const BODY_CODES: readonly ErrorCode[] = ['invalid_json', 'unsupported_media_type', 'body_too_large', 'body_too_slow'];
const ONCE_CODES: readonly ErrorCode[] = [
  'invalid_idempotency_key',
  'request_in_progress',
  'idempotency_state_unknown',
  'idempotency_key_reused',
];
const ANY_CODES: readonly ErrorCode[] = ['bad_request', 'open_requests_limit', 'overloaded', 'internal_error'];

const ONCE = {
  'Idempotency-Key': '1 to 255 letters, digits, _ or -. The same key and body within 24 h get the same answer.',
};
const IF_MATCH = { 'If-Match': 'The ETag of the state that this changes; 412 when it is another by now' };
const REPLAYED = { 'Idempotent-Replayed': '`true` when the answer was stored before' };

function operationOf<Params, Query, Body>(route: Route<Params, Query, Body>): Operation {
  const { method, path, scope, specified = false, once = false, ifMatch = false, errors = [] } = route;
  const takesJson = method !== 'get' && method !== 'options' && route.bodyTypes === undefined;
  return {
    method,
    route: path,
    id: route.id,
    tag: route.tag,
    summary: route.summary,
    description: route.description,
    scope,
    ...(route.right === undefined ? {} : { right: route.right }),
    specified,
    headers: { ...(once ? ONCE : {}), ...(ifMatch ? IF_MATCH : {}), ...route.headers },
    params: (route.params ?? null) as z.ZodObject | null,
    query: (route.query ?? null) as z.ZodObject | null,
    body: (route.body ?? route.ownBody ?? null) as z.ZodType | null,
    ...(route.bodyOptional === undefined ? {} : { bodyOptional: route.bodyOptional }),
    ...(route.bodyTypes === undefined ? {} : { bodyTypes: route.bodyTypes }),
    answers: answersOf(route.answers, { ...(scope === null ? {} : RATE_HEADERS), ...(once ? REPLAYED : {}) }),
    errors: [
      ...new Set([
        ...(scope === null ? [] : CODES_OF[scope === 'operator' || scope === 'person' ? scope : 'key']),
        // A query parameter that the operation does not have (`known-parameters.ts`).
        ...(/^\/api\/(developer|console)\//.test(path) && !specified ? (['invalid_request'] as const) : []),
        ...(takesJson ? BODY_CODES : []),
        ...(once ? ONCE_CODES : []),
        ...(ifMatch ? (['precondition_failed'] as const) : []),
        ...errors,
        ...ANY_CODES,
      ]),
    ],
  };
}

function answersOf(answers: Route<unknown, unknown, unknown>['answers'], headers: Record<string, string>) {
  const entries = Object.entries(answers).map(([status, answer]) => [
    status,
    { ...answer, headers: { ...headers, ...answer.headers } },
  ]);
  return Object.fromEntries(entries) as Readonly<Record<number, Answer>>;
}
