/**
 * Who is at the console? The check before every route below `/api/console/`: a session by its cookie, nothing from
 * another site where something may change, the workspace of the path as far as the person is in it, and the right that
 * the route names. A workspace that the person is not in is as one that is not there. Nothing is kept between requests:
 * what is revoked or taken away holds at once.
 */
import type { FastifyRequest } from 'fastify';
import { VOUCHED_HEADER, vouchedByKey } from '../../../media/contract/vouched.ts';
import { rateNames } from '../../limits/limit-names.ts';
import type { LimitStore } from '../../limits/limit-store.ts';
import type { Database } from '../../store/database.ts';
import { hasAnybody, type Person } from '../../users/people.ts';
import { type Right, rightsOf, scopesAmong, seesNumbers } from '../../users/roles.ts';
import { type Membership, readSession, type SignedIn, sessionsHold } from '../../users/sessions.ts';
import type { KeyUse, Principal } from '../authentication.ts';
import { countRequest, type Guard } from '../guard.ts';
import { numberFilters } from '../masking.ts';
import { Refusal } from '../refusal.ts';
import { isLocal, sessionToken } from './session-cookie.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by this guard. */
    signedIn: SignedIn | null;
  }
}

/** A page asks much at once, and then hardly anything. */
const RATE = { perSecond: 20, burst: 200 };
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export function createSessionGuard(deps: { database: Database; limitStore: LimitStore }): Guard {
  return (need, right) => async (request, reply) => {
    refuseOtherSites(request);
    const { enterprise = null } = request.params as { enterprise?: string };
    const signedIn = await signedInBy(deps.database, request, enterprise);
    const { person, membership } = signedIn;
    reply.header(VOUCHED_HEADER, vouchedByKey(membership?.workspaceId ?? 'console'));
    await countRequest(deps.limitStore, { rate: { name: rateNames.person(person.id), ...RATE } }, reply);
    request.signedIn = signedIn;
    if (need === 'operator') {
      if (!person.isOperator)
        throw new Refusal('operator_only', { message: 'Only operators of the service may do this' });
      request.operator = `user:${person.id}`;
    }
    if (enterprise === null) return;
    if (membership === null) throw new Refusal('workspace_not_found');
    const principal = principalOf(signedIn, membership);
    const needed = right ?? (need === 'person' || need === 'operator' ? null : need);
    mayDo(rightsOf(membership.role, membership.hears), needed, membership);
    if (principal.masking !== null) refuseNumberFilters(request);
    request.principal = principal;
  };
}

/** In the order of `uses`: whether each session still has the rights with which something began. */
export async function sessionsStillHold(database: Database, uses: readonly KeyUse[]): Promise<boolean[]> {
  const asked = uses.map(({ keyId }) => {
    const [sessionId = '', workspaceId = '', version = ''] = keyId.split(' ');
    return { sessionId, workspaceId, version: Number(version) };
  });
  return sessionsHold(database, asked);
}

/** Who is signed in; of a route with this guard. */
export function personAt(request: FastifyRequest): Person {
  if (request.signedIn === null) throw new Error('This route has no guard that lets people in.');
  return request.signedIn.person;
}

/** Throws for what may change something and was not sent by a page of ours. */
export function refuseOtherSites(request: FastifyRequest): void {
  if (SAFE_METHODS.has(request.method)) return;
  const site = request.headers['sec-fetch-site'];
  const { origin, host } = request.headers;
  const isOurs = site === undefined ? isOurOrigin(request, origin) : site === 'same-origin';
  if (host === undefined || !isOurs) throw new Refusal('cross_site_request');
}

/** In clear only on this machine: else whoever is on the way could put a page before somebody. */
function isOurOrigin(request: FastifyRequest, origin: string | undefined): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { host, protocol } = new URL(origin);
  return host === request.headers.host && (protocol === 'https:' || isLocal(request));
}

async function signedInBy(database: Database, request: FastifyRequest, enterprise: string | null): Promise<SignedIn> {
  const token = sessionToken(request);
  const signedIn = token === null ? null : await readSession(database, token, enterprise);
  if (signedIn !== null) return signedIn;
  const details = (await hasAnybody(database))
    ? []
    : [{ field: 'setup', issue: 'is needed: open the link of `npx parley user link`, which makes the first user' }];
  throw new Refusal('session_needed', { details });
}

function principalOf({ sessionId, person }: SignedIn, membership: Membership): Principal {
  const { workspaceId, enterprise, role, hears, version, requestRate } = membership;
  const rights = rightsOf(role, hears);
  return {
    keyId: null,
    actor: `user:${person.id}`,
    holder: `${sessionId} ${workspaceId} ${version}`,
    masking: seesNumbers(role) ? null : { hears: rights.includes('recordings:read') },
    workspaceId,
    slug: enterprise,
    scopes: scopesAmong(rights),
    allowedCidrs: [],
    expiresAt: null,
    requestRate,
  };
}

function mayDo(rights: readonly Right[], needed: Right | null, { role }: Membership): void {
  if (needed === null || rights.includes(needed)) return;
  const issue = `needs the right ${needed}, which the role ${role} does not have`;
  throw new Refusal('role_insufficient', { details: [{ field: '', issue }] });
}

function refuseNumberFilters(request: FastifyRequest): void {
  const found = numberFilters(request.query as Record<string, unknown>);
  if (found.length === 0) return;
  const issue = 'looks for a number, and your role does not see numbers';
  throw new Refusal('masked_filter', { details: found.map((field) => ({ field, issue })) });
}
