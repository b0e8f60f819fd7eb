/**
 * OpenAPI 3.1 of the routes that are registered: schemas from the zod schemas, errors from the list of codes. Pure. Its
 * JSON Schema dialect is 3.1's own, so zod's output goes in as it is, with shared schemas moved to `components`.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode, factsFor, meaningOf, publishedErrorCodes } from '../../errors/error-codes.ts';
import { type Answer, type Operation, RATE_HEADERS, TAGS } from './operation.ts';
import { errorAnswer, shortErrorAnswer } from './shared-answers.ts';

type Json = Record<string, unknown>;

const RETRY_STATUSES: ReadonlySet<number> = new Set([409, 429, 503]);
const ABOUT = `A REST request becomes a phone call, and an agent holds the conversation.

Every answer has \`X-Request-Id\` and \`Service-Version\`; every error \`X-Error-Code\`. The operations of the specification answer
errors with exactly \`success\` and \`message\`; the others add \`code\`, \`requestId\` and \`details\`. Fields may be added to answers; none
changes its meaning or goes away. A path that does not exist answers 404 \`not_found\`, another method 405 \`method_not_allowed\`.`;

/**
 * Takes about as long as all of the rest of control's start, in pieces of a few milliseconds between which others are
 * served.
 */
export async function buildDocument(operations: readonly Operation[], publicUrl: string): Promise<Json> {
  const schemas: Json = {};
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = operation.route.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [operation.method]: describe(operation, schemas) };
    await breathe();
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Parley',
      version: '1',
      description: ABOUT,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, `sv_live_…`, made by `parley key create` or POST /api/developer/keys.',
        },
        operatorKey: {
          type: 'http',
          scheme: 'bearer',
          description: "An operator's key, `sv_oper_…`, made by `parley operator create` and nowhere else.",
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-parley',
          description:
            'Of a person who is signed in at the console, and for paths below `/api/console/` alone. On a plain http://localhost it is called `parley-local`.',
        },
      },
    },
    'x-error-codes': publishedErrorCodes(),
  };
}

function describe(operation: Operation, schemas: Json): Json {
  const { body, scope } = operation;
  const responses: Json = {};
  for (const [status, answer] of Object.entries(operation.answers)) responses[status] = responseOf(answer, schemas);
  for (const [status, codes] of byStatus(operation)) {
    responses[status] = errorResponse(status, codes, operation, schemas);
  }
  const parameters = parametersOf(operation, schemas);
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: `${operation.description}${needs(operation)}`,
    security: scope === null ? [] : [{ [SCHEME_OF[scope === 'operator' || scope === 'person' ? scope : 'key']]: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null
      ? {}
      : {
          requestBody: {
            required: operation.bodyOptional !== true,
            content: Object.fromEntries(
              (operation.bodyTypes ?? ['application/json']).map((type) => [
                type,
                { schema: schemaOf(body, 'input', schemas) },
              ]),
            ),
          },
        }),
    responses,
  };
}

const SCHEME_OF = { key: 'apiKey', operator: 'operatorKey', person: 'session' };

function needs({ scope, right }: Operation): string {
  if (scope === null) return '';
  if (scope === 'person') return right === undefined ? '' : `\n\nThe person needs \`${right}\`.`;
  return scope === 'operator' ? "\n\nTakes an operator's key." : `\n\nThe key needs \`${scope}\`.`;
}

function parametersOf({ params, query, headers }: Operation, schemas: Json): Json[] {
  const inPath = Object.entries(params?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: 'path',
    required: true,
    schema: schemaOf(schema as z.ZodType, 'input', schemas),
  }));
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    schema: schemaOf(schema as z.ZodType, 'input', schemas),
  }));
  // OpenAPI leaves Accept to the answers' media types.
  const inHeader = Object.entries(headers)
    .filter(([name]) => name !== 'Accept')
    .map(([name, description]) => ({ name, in: 'header', description, schema: { type: 'string' } }));
  return [...inPath, ...inQuery, ...inHeader];
}

function responseOf({ description, content, headers = {} }: Answer, schemas: Json): Json {
  const media = Object.entries(content).map(([type, schema]) => [
    type,
    { schema: schemaOf(schema, 'output', schemas) },
  ]);
  return { description, headers: headersOf(headers), content: Object.fromEntries(media) };
}

function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  { specified, scope }: Operation,
  schemas: Json,
): Json {
  const headers: Record<string, string> = { 'X-Error-Code': codes.map((code) => `\`${code}\``).join(', ') };
  if (RETRY_STATUSES.has(status)) headers['Retry-After'] = 'Seconds';
  if (scope !== null && (status === 401 || codes.includes('insufficient_scope'))) {
    headers['WWW-Authenticate'] = '`Bearer`; with `error="insufficient_scope"` and the scope that the key lacks';
  }
  // Who asks is not known before.
  if ((scope !== null && status !== 401) || status === 429) Object.assign(headers, RATE_HEADERS);
  if (specified && status >= 500) headers['X-Call-Uuid'] = 'When the attempt has become a call';
  return {
    description: ERROR_CODES.filter((code) => codes.includes(code))
      .map((code) => `\`${code}\`: ${meaningOf(code)}`)
      .join('\n\n'),
    headers: headersOf(headers),
    content: {
      'application/json': { schema: schemaOf(specified ? shortErrorAnswer : errorAnswer, 'output', schemas) },
    },
  };
}

function headersOf(own: Readonly<Record<string, string>>): Json {
  const all = { 'X-Request-Id': 'Finds the request in the log', 'Service-Version': 'Of this API', ...own };
  const entries = Object.entries(all).map(([name, description]) => [name, { description, schema: { type: 'string' } }]);
  return Object.fromEntries(entries);
}

function byStatus({ errors, specified }: Operation): Map<number, ErrorCode[]> {
  const found = new Map<number, ErrorCode[]>();
  for (const code of new Set(errors)) {
    const { status } = factsFor(code, specified);
    found.set(status, [...(found.get(status) ?? []), code]);
  }
  return found;
}

/** Moves what zod shares to `components/schemas` and points there. What many operations answer is worked out once. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: Json): unknown {
  const { own, shared } = jsonSchemaOf(schema, io);
  for (const [id, one] of Object.entries(shared)) schemas[id] ??= one;
  return own;
}

interface JsonSchema {
  own: unknown;
  shared: Json;
}

const known = { input: new WeakMap<z.ZodType, JsonSchema>(), output: new WeakMap<z.ZodType, JsonSchema>() };

function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const before = known[io].get(schema);
  if (before !== undefined) return before;
  const { $schema: _dialect, $defs = {}, id: _id, ...own } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  const shared = Object.fromEntries(Object.entries($defs).map(([id, one]) => [id, repointed(one)]));
  const made = { own: repointed(own), shared };
  known[io].set(schema, made);
  return made;
}

function repointed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(repointed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' ? String(inner).replace('#/$defs/', '#/components/schemas/') : repointed(inner),
    ]),
  );
}
