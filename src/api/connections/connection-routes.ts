/**
 * `/api/developer/connections`: a workspace's connections to providers of speech and language, whose credentials go in
 * and never come out. The rules are `src/connections/`; the command line runs the same functions.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EngineDeclaration, engineDeclaration, engineNames } from '../../../media/contract/engine-list.ts';
import { PROVIDER_NAMES, type ProviderAbility, providerDeclaration } from '../../../media/contract/providers.ts';
import type { AddressCheck } from '../../../media/net/target-check.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import type { Connection } from '../../connections/connection-rows.ts';
import { type TrialDeps, tryConnection } from '../../connections/provider-trial.ts';
import {
  addConnection,
  changeConnection,
  listConnections,
  listConnectionVersions,
  removeConnection,
  showConnection,
} from '../../connections/stored-connections.ts';
import { changedBy, type Guard } from '../guard.ts';
import { ETAG, json } from '../openapi/operation.ts';
import { routesOn } from '../route.ts';
import { type CreateOnceDeps, createOnce } from '../settings/create-once.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';
import {
  connectionAnswer,
  connectionsAnswer,
  connectionTrialAnswer,
  connectionVersionsAnswer,
  providersAnswer,
  storedConnectionAnswer,
} from './answers.ts';

export interface ConnectionRouteDeps extends CreateOnceDeps {
  clock: TrialDeps['clock'];
  /** Where a provider's URL may lead. */
  modelAddress: Omit<AddressCheck, 'clock'>;
  /** Guarded in the same way. */
  modelHttp: TrialDeps['http'];
}

export const CONNECTIONS_PATH = '/api/developer/connections';
export const PROVIDERS_PATH = '/api/developer/providers';

const known = PROVIDER_NAMES.map((name) => {
  const { credentials, settings } = providerDeclaration(name);
  return { name, credentials: credentials.map((one) => one.name), settings: settings.map((one) => one.name) };
});
const listed = (part: 'credentials' | 'settings'): string =>
  known.map((one) => `${one.name}: ${one[part].join(', ')}`).join('; ');

const limit = z.int().min(1).nullish();
const parts = {
  baseUrl: z
    .string()
    .trim()
    .min(1)
    .max(2_000)
    .optional()
    .meta({ description: "Default the provider's own. Public https, or inside the operator's MODEL_ALLOW_CIDRS" }),
  credentials: z
    .record(z.string().max(64), z.string().min(1).max(4_096))
    .nullish()
    .meta({ description: `Write-only. By provider: ${listed('credentials')}` }),
  limits: z
    .strictObject({ concurrent: limit, requestsPerMinute: limit, tokensPerMinute: limit })
    .optional()
    .meta({ description: 'Null takes one away. `tokensPerMinute` is for language models' }),
  settings: z
    .record(z.string().max(64), z.union([z.string().max(200), z.boolean(), z.null()]))
    .optional()
    .meta({ description: `Null takes one away. By provider: ${listed('settings')}` }),
};

const nameText = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be 1 to 63 small letters, digits, - and _');
export const connectionParams = z.object({ connectionName: z.string().min(1).max(63) });
/** Undefined: the usual words. */
const wayToCredentials = ({ code, keys = [] }: { code?: string; keys?: readonly string[] }): string | undefined => {
  const names = new Set(known.flatMap(({ credentials }) => credentials));
  const misplaced = keys.filter((key) => names.has(key));
  if (code !== 'unrecognized_keys' || misplaced.length === 0) return undefined;
  const right = misplaced.map((key) => `credentials.${key}`).join(', ');
  return `holds what is unknown here: ${keys.join(', ')}; a credential stands in \`credentials\`: ${right}`;
};
export const newConnectionBody = z
  .strictObject(
    {
      name: nameText.meta({ description: 'By which agents name it' }),
      provider: z.enum(PROVIDER_NAMES),
      ...parts,
    },
    { error: (issue) => wayToCredentials(issue as { code?: string; keys?: string[] }) },
  )
  .meta({ id: 'NewConnection' });
export const connectionChangeBody = z
  .strictObject(parts, { error: (issue) => wayToCredentials(issue as { code?: string; keys?: string[] }) })
  .meta({
    id: 'ConnectionChange',
    description: 'What is absent stays. Another host wants its credentials anew: what is stored is not sent to it.',
  });
export const connectionTestBody = z
  .strictObject({
    model: z
      .string()
      .trim()
      .min(1)
      .max(120)
      .optional()
      .meta({ description: 'Asked for one token, where the provider has models' }),
  })
  .nullish()
  .meta({ id: 'ConnectionTest' });
export const removalQuery = z.object({
  force: z.enum(['true', 'false']).optional().meta({ description: '`true`: although agents or the analysis use it' }),
});

export function registerConnections(app: FastifyInstance, guard: Guard, deps: ConnectionRouteDeps): void {
  const route = routesOn(app, guard);
  const { database, sealer } = deps;
  const one = `${CONNECTIONS_PATH}/:connectionName`;
  const check = (): AddressCheck => ({ ...deps.modelAddress, clock: deps.clock });

  route({
    method: 'get',
    path: PROVIDERS_PATH,
    id: 'listProviders',
    tag: 'Settings',
    summary: 'The providers that connections can be made to',
    description:
      'With what each can do, the credentials, settings and limits that it knows, and the engines by which agents use it.',
    scope: 'settings:read',
    answers: { 200: json('All of them.', providersAnswer) },
    handler: () => ({ data: PROVIDER_NAMES.map(providerView), nextCursor: null }),
  });

  route({
    method: 'get',
    path: CONNECTIONS_PATH,
    id: 'listConnections',
    tag: 'Settings',
    summary: "The workspace's connections to providers",
    description: 'The newest version of each, without its credentials.',
    scope: 'settings:read',
    answers: { 200: json('All of them.', connectionsAnswer) },
    handler: async (request) => ({
      data: await listConnections(database, { slug: request.principal.slug }),
      nextCursor: null,
    }),
  });

  route({
    method: 'post',
    path: CONNECTIONS_PATH,
    id: 'createConnection',
    tag: 'Settings',
    summary: 'Add a connection to a provider',
    description: 'Agents name it in what they listen, think and speak with. Try it with `…/test`.',
    scope: 'settings:write',
    once: true,
    body: newConnectionBody,
    answers: { 201: json('The connection.', storedConnectionAnswer, ETAG) },
    errors: ['already_exists', 'setting_refused'],
    handler: (request, reply) =>
      createOnce<Connection>(deps, request, reply, {
        run: (once) => {
          const { name, provider, ...change } = request.body;
          const wanted = {
            slug: request.principal.slug,
            name,
            provider,
            ...given(change),
            by: changedBy(request),
            check: check(),
          };
          return refusing('connection_not_found', addConnection(once, sealer, wanted));
        },
        answer: (connection) => ({
          status: 201,
          body: { success: true, connection },
          headers: { etag: etagOf(connection) },
        }),
      }),
  });

  route({
    method: 'get',
    path: one,
    id: 'readConnection',
    tag: 'Settings',
    summary: 'A connection',
    description: 'Its newest version, without the credentials.',
    scope: 'settings:read',
    params: connectionParams,
    answers: { 200: json('The connection.', connectionAnswer, ETAG) },
    errors: ['connection_not_found'],
    async handler(request, reply) {
      const named = { slug: request.principal.slug, name: request.params.connectionName };
      const connection = await refusing('connection_not_found', showConnection(database, named));
      reply.header('etag', etagOf(connection));
      return connection;
    },
  });

  route({
    method: 'get',
    path: `${one}/versions`,
    id: 'listConnectionVersions',
    tag: 'Settings',
    summary: 'The versions of a connection',
    description: 'Newest first. A version never changes; its credentials are gone a day after it was replaced.',
    scope: 'settings:read',
    params: connectionParams,
    answers: { 200: json('All of them.', connectionVersionsAnswer) },
    errors: ['connection_not_found'],
    async handler(request) {
      const named = { slug: request.principal.slug, name: request.params.connectionName };
      return {
        data: await refusing('connection_not_found', listConnectionVersions(database, named)),
        nextCursor: null,
      };
    },
  });

  route({
    method: 'patch',
    path: one,
    id: 'changeConnection',
    tag: 'Settings',
    summary: 'Make the next version of a connection',
    description: 'Calls that begin from now on use it; calls that run keep theirs.',
    scope: 'settings:write',
    ifMatch: true,
    params: connectionParams,
    body: connectionChangeBody,
    answers: { 200: json('The connection.', storedConnectionAnswer, ETAG) },
    errors: ['connection_not_found', 'setting_refused'],
    async handler(request, reply) {
      const wanted = {
        slug: request.principal.slug,
        name: request.params.connectionName,
        ...given(request.body),
        by: changedBy(request),
        check: check(),
        expect: expectMatch<Connection>(request, (current) => current),
      };
      const connection = await refusing('connection_not_found', changeConnection(database, sealer, wanted));
      reply.header('etag', etagOf(connection));
      return { success: true, connection };
    },
  });

  route({
    method: 'post',
    path: `${one}/test`,
    id: 'testConnection',
    tag: 'Settings',
    summary: 'Try a connection by one real request',
    description: 'Answers 200 whether it serves or not: `ok` says which, `fault` and `problem` what is wrong.',
    scope: 'settings:write',
    params: connectionParams,
    body: connectionTestBody,
    bodyOptional: true,
    answers: { 200: json('What came of it.', connectionTrialAnswer) },
    errors: ['connection_not_found', 'setting_refused'],
    async handler(request) {
      const { workspaceId, slug } = request.principal;
      const name = request.params.connectionName;
      const named = { slug, name, model: request.body?.model };
      const trying = tryConnection(database, sealer, { http: deps.modelHttp, clock: deps.clock }, named);
      const trial = await refusing('connection_not_found', trying);
      const by = changedBy(request);
      await recordAudit(database, { workspaceId, by, action: 'connection.tested', target: `connection:${name}` });
      return trial;
    },
  });

  route({
    method: 'delete',
    path: one,
    id: 'deleteConnection',
    tag: 'Settings',
    summary: 'Remove a connection',
    description:
      'Refused while an agent or the analysis names it, unless `force`: then their calls do without it. Calls that run go on with it.',
    scope: 'settings:write',
    ifMatch: true,
    params: connectionParams,
    query: removalQuery,
    answers: { 200: json('What was there.', storedConnectionAnswer) },
    errors: ['connection_not_found', 'setting_refused'],
    async handler(request) {
      const wanted = {
        slug: request.principal.slug,
        name: request.params.connectionName,
        force: request.query.force === 'true',
        by: changedBy(request),
        expect: expectMatch<Connection>(request, (current) => current),
      };
      return { success: true, connection: await refusing('connection_not_found', removeConnection(database, wanted)) };
    },
  });
}

function providerView(provider: (typeof PROVIDER_NAMES)[number]): object {
  const { title, can, defaultBaseUrl, credentials, settings, limits } = providerDeclaration(provider);
  return {
    provider,
    title,
    can,
    defaultBaseUrl,
    credentials: credentials.map(({ name, about, required }) => ({ name, about, required })),
    settings,
    limits,
    engines: can.flatMap((ability) => enginesOf(provider, ability)),
  };
}

function enginesOf(provider: (typeof PROVIDER_NAMES)[number], ability: ProviderAbility): object[] {
  return engineNames(ability).flatMap((name) => {
    const declared = engineDeclaration(ability, name);
    return declared?.provider === provider ? [{ name, can: ability, settings: settingsOf(declared) }] : [];
  });
}

function settingsOf({ settings }: EngineDeclaration): object[] {
  return Object.entries(settings).map(([name, setting]) => ({
    name,
    type: setting.type,
    about: setting.about,
    ...(setting.type === 'number' ? { least: setting.least, most: setting.most } : {}),
  }));
}
