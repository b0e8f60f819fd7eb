/**
 * Signing in: an unknown person and a wrong password get the same answer for the same work. Whoever guesses is slowed
 * by address, and by person and address together; guesses at one person from everywhere only make new addresses wait
 * a little, so that nobody can lock a person out. Each sign-in that failed, each that did not, and each sign-out is
 * in the audit of the person's workspaces.
 */
import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { type Clock, pause } from '../../media/contract/clock.ts';
import type { AuditActor, ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { perMinute, rateAsk } from '../limits/gcra.ts';
import { rateNames } from '../limits/limit-names.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import { takeFromRate } from '../limits/rate-limit.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database, Queryable } from '../store/database.ts';
import { takeCode } from './one-time-password.ts';
import { type Hashing, PASSWORD_CHARACTERS } from './password.ts';
import { findPerson } from './people.ts';
import { createSession, hasComeFrom } from './sessions.ts';

export interface SignInDeps {
  database: Database;
  clock: Clock;
  limitStore: LimitStore;
  sealer: Sealer;
  hashing: Hashing;
  log: Logger;
}

export interface SignInAsked {
  email: string;
  password: string;
  /** Of the authenticator app. */
  code?: string | undefined;
  address: string;
  agent: string;
  requestId: string;
}

export type SignInAnswer =
  | { kind: 'in'; token: string }
  | { kind: 'wrong' }
  /** The password was right. */
  | { kind: 'second_factor' }
  | { kind: 'too_many'; retryAfterSeconds: number };

/** Tries from one address, of whomever. */
const OF_ADDRESS = perMinute(20);
/** Tries at one person from one address. */
const OF_PERSON_THERE = { perSecond: 1 / 30, burst: 10 };
/** Tries at one person from everywhere; beyond it they wait, and are looked at all the same. */
const OF_PERSON = { perSecond: 1 / 60, burst: 60 };
const SLOWED_MS = 2_000;
const NOBODY = '00000000-0000-0000-0000-000000000000';

export async function signIn(deps: SignInDeps, asked: SignInAsked): Promise<SignInAnswer> {
  const { database, limitStore, hashing } = deps;
  const { address } = asked;
  const named = createHash('sha256').update(asked.email.trim().toLowerCase()).digest('base64url');
  const bounds = [
    [rateNames.signInAddress(address), OF_ADDRESS],
    [rateNames.signInPersonThere(named, address), OF_PERSON_THERE],
  ] as const;
  for (const [name, rate] of bounds) {
    const taken = await takeFromRate(limitStore, name, rate);
    if (!taken.ok) return { kind: 'too_many', retryAfterSeconds: taken.retryAfterSeconds };
  }
  const person = await findPerson(database, asked.email);
  // Who is nobody is looked for as somebody is.
  const userId = person?.id ?? NOBODY;
  const isKnownThere = await hasComeFrom(database, userId, address);
  const isCalm = (await takeFromRate(limitStore, rateNames.signInPerson(named), OF_PERSON)).ok;
  if (!isCalm && !isKnownThere) await pause(deps.clock, SLOWED_MS);

  const hash = await passwordHash(database, userId);
  const isRight = await hashing.matches(hash, asked.password.slice(0, 4 * PASSWORD_CHARACTERS.most));
  if (person === null || !isRight) {
    if (person !== null) noteFailure(deps, person.id, asked, 'wrong_password');
    return { kind: 'wrong' };
  }
  if (person.totp) {
    if (asked.code === undefined || asked.code === '') return { kind: 'second_factor' };
    if (!(await takeCode(database, deps, { userId: person.id, code: asked.code }))) {
      noteFailure(deps, person.id, asked, 'wrong_code');
      return { kind: 'wrong' };
    }
  }
  const taken = isCalm ? [...bounds, [rateNames.signInPerson(named), OF_PERSON] as const] : bounds;
  for (const [name, rate] of taken) {
    limitStore.giveBack(rateAsk(name, rate)).catch(() => {});
  }
  return { kind: 'in', token: await enter(database, person.id, asked) };
}

/** A session for somebody who has shown who he is. Returns its token, this once. */
export async function enter(
  database: Database,
  userId: string,
  { address, agent, requestId }: Pick<SignInAsked, 'address' | 'agent' | 'requestId'>,
): Promise<string> {
  return database.transaction(async (tx) => {
    const { token, sessionId } = await createSession(tx, { userId, address, agent });
    const by = { actor: `user:${userId}` as const, ip: address, requestId };
    await auditPerson(tx, userId, by, 'user.signed_in', { session: sessionId });
    return token;
  });
}

async function passwordHash(database: Queryable, userId: string): Promise<string | null> {
  const [row] = await database.query<{ hash: string | null }>('SELECT password_hash AS hash FROM users WHERE id = $1', [
    userId,
  ]);
  return row?.hash ?? null;
}

/** For somebody who is signed in and does something that wants the password again; as often as at the sign-in. */
export async function passwordOnceMore(
  { database, hashing, limitStore }: Pick<SignInDeps, 'database' | 'hashing' | 'limitStore'>,
  asked: { userId: string; password: string; address: string },
): Promise<{ kind: 'right' | 'wrong' } | Extract<SignInAnswer, { kind: 'too_many' }>> {
  const name = rateNames.signInPersonThere(asked.userId, asked.address);
  const taken = await takeFromRate(limitStore, name, OF_PERSON_THERE);
  if (!taken.ok) return { kind: 'too_many', retryAfterSeconds: taken.retryAfterSeconds };
  const isRight = await hashing.matches(await passwordHash(database, asked.userId), asked.password);
  if (isRight) limitStore.giveBack(rateAsk(name, OF_PERSON_THERE)).catch(() => {});
  return { kind: isRight ? 'right' : 'wrong' };
}

/** Not waited for: how long it takes would tell that there is such a person. */
function noteFailure(deps: SignInDeps, userId: string, asked: SignInAsked, reason: string): void {
  const actor: AuditActor = 'system:sign-in';
  const by = { actor, ip: asked.address, requestId: asked.requestId };
  deps.database
    .transaction((tx) => auditPerson(tx, userId, by, 'user.sign_in_failed', { reason }))
    .catch((err: unknown) => deps.log.error({ userId, err }, 'a sign-in that failed could not be audited'));
}

/** What a person did to himself, in the audit of each of his workspaces; of the service where he is in none. */
export async function auditPerson(
  tx: Queryable,
  userId: string,
  by: ChangedBy,
  action: string,
  after: unknown = null,
): Promise<void> {
  const rows = await tx.query<{ workspaceId: string }>(
    'SELECT workspace_id AS "workspaceId" FROM memberships WHERE user_id = $1 ORDER BY workspace_id',
    [userId],
  );
  const chains = rows.length === 0 ? [null] : rows.map(({ workspaceId }) => workspaceId);
  for (const workspaceId of chains) {
    await recordAudit(tx, { workspaceId, by, action, target: `user:${userId}`, after });
  }
}
