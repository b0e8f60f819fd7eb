/**
 * Is a connection of any use? One real request to its provider, and one short answer of a model where one is named, so
 * that a wrong key, address or model shows before a call needs them. Through the guarded client; never rejects for what
 * the provider does. Called by the settings API and the command line.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { ConnectionGrant } from '../../media/contract/grant.ts';
import { isProviderName } from '../../media/contract/providers.ts';
import type { OutboundHttp, OutboundResult } from '../../media/net/outbound-http.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Queryable } from '../store/database.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { connectionsOf } from './grants.ts';
import { PROVIDER_REQUESTS, type ProviderRequests } from './provider-requests.ts';
import { saidBy } from './provider-words.ts';
import { type ConnectionNamed, unknownConnection } from './stored-connections.ts';

export const TRIAL_FAULTS = [
  'key_refused',
  'address_refused',
  'tls',
  'unreachable',
  'timeout',
  'model_unknown',
  'throttled',
  'provider_error',
  'rejected',
  'nonsense',
] as const;
export type TrialFault = (typeof TRIAL_FAULTS)[number];

export interface ConnectionTrial {
  ok: boolean;
  /** That was tried. */
  version: number;
  ms: number;
  fault: TrialFault | null;
  /** What is wrong, and the way out; of a key that serves and may not list models, that. */
  problem: string | null;
  /** The first hundred, where the provider lists them. */
  models: string[] | null;
}

export interface TrialDeps {
  http: OutboundHttp;
  clock: Clock;
}

type Verdict = Pick<ConnectionTrial, 'fault' | 'problem' | 'models'>;

const MOST_MODELS = 100;
const MOST_BYTES = 1024 * 1024;
const CONNECT_MS = 5_000;
const ANSWER_MS = 15_000;
const LONGEST_MODEL = 120;

export async function tryConnection(
  database: Queryable,
  sealer: Pick<Sealer, 'open'>,
  deps: TrialDeps,
  args: ConnectionNamed & { model?: string | undefined },
): Promise<ConnectionTrial> {
  const { id } = await findWorkspace(database, args.slug);
  const { grants, missing } = await connectionsOf(database, sealer, id, [args.name]);
  const [grant] = grants;
  if (grant === undefined) {
    if (missing[0]?.why !== 'unreadable') throw unknownConnection(args);
    throw new OperatorError(
      'refused',
      `The credentials of '${args.name}' were sealed under another master key: store them again.`,
    );
  }
  return tryGrant(deps, grant, args.model);
}

export async function tryGrant(
  deps: TrialDeps,
  grant: ConnectionGrant,
  model: string | undefined,
): Promise<ConnectionTrial> {
  const { provider } = grant;
  if (!isProviderName(provider)) throw new OperatorError('invalid', `There is no provider '${provider}'.`);
  const requests = PROVIDER_REQUESTS[provider];
  if (model !== undefined && (model === '' || model.length > LONGEST_MODEL || /\p{Cc}/u.test(model))) {
    throw new OperatorError('invalid', `\`model\` must be 1 to ${LONGEST_MODEL} characters, as the provider names it.`);
  }
  const beganAtMs = deps.clock.nowMs();
  const verdict = await verdictOn(deps, grant, requests, model);
  const ms = Math.round(deps.clock.nowMs() - beganAtMs);
  return { ok: verdict.fault === null, version: grant.version, ms, ...verdict };
}

async function verdictOn(
  deps: TrialDeps,
  grant: ConnectionGrant,
  requests: ProviderRequests,
  model: string | undefined,
): Promise<Verdict> {
  const secrets = Object.values(grant.credentials);
  const listed = await askForKey(deps, grant, requests);
  const isAnswered = listed.kind === 'answered' && listed.status >= 200 && listed.status < 300;
  const isLimited = listed.kind === 'answered' && requests.isLimitedKey?.(listed.body) === true;
  // A server without a list may still serve a model that is named.
  const mayGoOn =
    listed.kind === 'answered' && listed.status === 404 && requests.modelTrial !== undefined && model !== undefined;
  if (!isAnswered && !isLimited && !mayGoOn) return faultOf(listed, secrets, requests);
  const models = isAnswered ? requests.modelsIn(listed.body) : null;
  if (isAnswered && models === null && requests.modelTrial !== undefined && model === undefined) {
    return fault(
      'nonsense',
      `it answered ${listed.status}, and not with a list of models: is ${grant.baseUrl} the base URL?`,
    );
  }
  const shown = models === null ? null : models.slice(0, MOST_MODELS);
  const served = { fault: null, problem: isLimited ? LIMITED : null, models: shown };
  if (model === undefined) return served;
  if (requests.modelTrial === undefined) {
    return models === null || models.includes(model) ? served : { ...unknownModel(model, models), models: shown };
  }
  return { ...(await askModel(deps, grant, requests, model, models)), models: shown };
}

const LIMITED = 'the key is right; it may not list models';

async function askForKey(deps: TrialDeps, grant: ConnectionGrant, requests: ProviderRequests): Promise<OutboundResult> {
  let result: OutboundResult | null = null;
  for (const path of requests.keyPaths) {
    result = await send(deps, grant, requests, { method: 'GET', path, body: null });
    if (result.kind !== 'answered' || result.status !== 404) break;
  }
  return result!;
}

async function askModel(
  deps: TrialDeps,
  grant: ConnectionGrant,
  requests: ProviderRequests,
  model: string,
  models: readonly string[] | null,
): Promise<Omit<Verdict, 'models'>> {
  const { path, bodies } = requests.modelTrial!;
  let result: OutboundResult | null = null;
  for (const body of bodies(model)) {
    result = await send(deps, grant, requests, { method: 'POST', path: path(model), body });
    if (result.kind !== 'answered' || (result.status !== 400 && result.status !== 422)) break;
  }
  const answered = result!;
  if (answered.kind === 'answered') {
    if (answered.status >= 200 && answered.status < 300) return { fault: null, problem: null };
    // The address answered before, so it is the model that is not there.
    if (answered.status === 404 && models !== null) return unknownModel(model, models);
  }
  return faultOf(answered, Object.values(grant.credentials), requests);
}

function send(
  { http }: TrialDeps,
  grant: ConnectionGrant,
  requests: ProviderRequests,
  { method, path, body }: { method: 'GET' | 'POST'; path: string; body: object | null },
): Promise<OutboundResult> {
  return http.send({
    url: `${grant.baseUrl}${path}`,
    method,
    headers: {
      accept: 'application/json',
      'user-agent': 'Parley-Connection-Test/1',
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...requests.headers(grant.credentials, grant.settings),
    },
    body: body === null ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body)),
    limits: {
      connectMs: CONNECT_MS,
      responseMs: ANSWER_MS,
      totalMs: ANSWER_MS,
      bodyMs: ANSWER_MS,
      maxResponseBytes: MOST_BYTES,
    },
  });
}

function faultOf(result: OutboundResult, secrets: readonly string[], requests: ProviderRequests): Verdict {
  if (result.kind === 'refused') return fault('address_refused', result.reason);
  if (result.kind === 'failed') {
    if (result.isTimeout === true) return fault('timeout', result.reason);
    const isTls = result.code !== undefined && /CERT|SSL|TLS|EPROTO|UNABLE_TO_VERIFY/.test(result.code);
    if (!isTls) return fault('unreachable', result.reason);
    const wayOut = 'where an authority of your own vouches for it, name its certificate in NODE_EXTRA_CA_CERTS';
    return fault('tls', `${result.reason}; ${wayOut} and start the service anew`);
  }
  const { status, body } = result;
  const said = `it answered ${status}${saidBy(body, secrets)}`;
  if (status === 401 || status === 403 || requests.isWrongKey?.(body) === true)
    return fault('key_refused', `${said}; give it the right key`);
  if (status === 429) return fault('throttled', `${said}; the key is asked too often, or its quota is used up`);
  if (status >= 500) return fault('provider_error', said);
  if (status >= 300 && status < 400)
    return fault('rejected', `${said}: a redirect, which is not followed; give the address that it leads to`);
  if (status === 404) return fault('rejected', `${said}; is the base URL right?`);
  return fault('rejected', said);
}

function unknownModel(model: string, models: readonly string[]): Verdict {
  const some = models.slice(0, 5).join(', ');
  return fault(
    'model_unknown',
    `it has no model '${model}'${some === '' ? '' : `; it has: ${some}${models.length > 5 ? ', …' : ''}`}`,
  );
}

const fault = (name: TrialFault, problem: string): Verdict => ({ fault: name, problem, models: null });
