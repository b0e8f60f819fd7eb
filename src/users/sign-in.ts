/**
 * Signing in: an unknown person and a wrong password get the same answer for the same work. Beside a password those who
 * have a second factor are asked for one; a passkey that knows its person needs no password. Guesses are bounded
 * (`guessing.ts`). Each sign-in that failed, each that did not, and each sign-out is in the audit of the person's
 * workspaces.
 */
import type { Logger } from 'pino';
import { type Clock, pause } from '../../media/contract/clock.ts';
import type { AuditActor, ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database, Queryable } from '../store/database.ts';
import { type TooMany, type Try, takeTry, takeTryOfAnybody, takeTryOfCode, takeTryOnceMore } from './guessing.ts';
import { takeCode } from './one-time-password.ts';
import type { PasskeyAnswer, PasskeyOptions, RelyingParty } from './passkey-answers.ts';
import { askForPasskey, takePasskey } from './passkey-use.ts';
import { type Hashing, PASSWORD_CHARACTERS } from './password.ts';
import { findPerson, type Person } from './people.ts';
import { createSession, hasComeFrom } from './sessions.ts';

export interface SignInDeps {
  database: Database;
  clock: Clock;
  limitStore: LimitStore;
  sealer: Sealer;
  hashing: Hashing;
  log: Logger;
}

/** From where somebody comes. */
export interface CameFrom {
  address: string;
  agent: string;
  requestId: string;
}

interface PasswordAsked extends CameFrom {
  email: string;
  password: string;
}

export interface SignInAsked extends PasswordAsked {
  /** Of the authenticator app. */
  code?: string | undefined;
  /** To what `askBesidePassword` made. */
  passkey?: PasskeyAnswer | undefined;
  /** Null: passkeys do not work at this address. */
  party: RelyingParty | null;
}

/** What is taken beside the password. */
export interface SecondFactors {
  code: boolean;
  passkey: boolean;
}

export type SignInAnswer =
  | { kind: 'in'; token: string }
  | { kind: 'wrong' }
  /** The password was right. */
  | { kind: 'second_factor'; takes: SecondFactors }
  | TooMany;

const SLOWED_MS = 2_000;
const NOBODY = '00000000-0000-0000-0000-000000000000';

export async function signIn(deps: SignInDeps, asked: SignInAsked): Promise<SignInAnswer> {
  const shown = await showPassword(deps, asked);
  if (shown.kind !== 'right') return shown;
  const { person } = shown;
  if (person.totp || person.passkeys > 0) {
    const { code = '', passkey } = asked;
    if (code === '' && passkey === undefined) {
      return { kind: 'second_factor', takes: { code: person.totp, passkey: person.passkeys > 0 } };
    }
    const ofCode = code === '' || shown.isKnownThere ? null : await takeTryOfCode(deps.limitStore, person.id);
    if (ofCode?.kind === 'too_many') return ofCode;
    if (!(await showSecondFactor(deps, person, asked))) {
      noteFailure(deps, person.id, asked, passkey === undefined ? 'wrong_code' : 'wrong_passkey');
      return { kind: 'wrong' };
    }
    ofCode?.giveBack();
  }
  shown.giveBack();
  return { kind: 'in', token: await enter(deps.database, person.id, asked) };
}

async function showSecondFactor(
  deps: SignInDeps,
  { id: userId, totp }: Person,
  { code = '', passkey: answer, party }: SignInAsked,
): Promise<boolean> {
  const { database } = deps;
  if (code !== '') return totp && (await takeCode(database, deps, { userId, code }));
  if (answer === undefined || party === null) return false;
  return (await takePasskey(database, { by: { purpose: 'second_factor', userId }, answer, party })).isRight;
}

/** What a browser asks a passkey, of somebody whose password is right: passkeys of the person are named in it. */
export async function askBesidePassword(
  deps: SignInDeps,
  asked: PasswordAsked & { party: RelyingParty },
): Promise<{ kind: 'asked'; options: PasskeyOptions } | { kind: 'wrong' } | TooMany> {
  const shown = await showPassword(deps, asked);
  if (shown.kind !== 'right') return shown;
  const by = { purpose: 'second_factor', userId: shown.person.id } as const;
  return { kind: 'asked', options: await askForPasskey(deps.database, { by, party: asked.party }) };
}

/** Who has a passkey that knows its person (by a finger, a face, a PIN) needs nothing else. */
export async function signInByPasskey(
  deps: SignInDeps,
  asked: CameFrom & { answer: PasskeyAnswer; party: RelyingParty },
): Promise<Exclude<SignInAnswer, { kind: 'second_factor' }>> {
  const taken = await takeTryOfAnybody(deps.limitStore, asked.address);
  if (taken.kind === 'too_many') return taken;
  const { answer, party } = asked;
  const by = { purpose: 'sign_in', userId: null } as const;
  const { isRight, userId } = await takePasskey(deps.database, { by, answer, party });
  if (!isRight || userId === null) {
    if (userId !== null) noteFailure(deps, userId, asked, 'wrong_passkey');
    return { kind: 'wrong' };
  }
  taken.giveBack();
  return { kind: 'in', token: await enter(deps.database, userId, asked) };
}

/** What a browser asks a passkey of whomever. */
export async function askAnyPasskey(
  { database, limitStore }: Pick<SignInDeps, 'database' | 'limitStore'>,
  { address, party }: { address: string; party: RelyingParty },
): Promise<{ kind: 'asked'; options: PasskeyOptions } | TooMany> {
  const taken = await takeTryOfAnybody(limitStore, address);
  if (taken.kind === 'too_many') return taken;
  const options = await askForPasskey(database, { by: { purpose: 'sign_in', userId: null }, party });
  return { kind: 'asked', options };
}

async function showPassword(
  deps: SignInDeps,
  asked: PasswordAsked,
): Promise<
  { kind: 'right'; person: Person; isKnownThere: boolean; giveBack: Try['giveBack'] } | { kind: 'wrong' } | TooMany
> {
  const { database, hashing } = deps;
  const taken = await takeTry(deps.limitStore, asked);
  if (taken.kind === 'too_many') return taken;
  const person = await findPerson(database, asked.email);
  // Who is nobody is looked for as somebody is.
  const userId = person?.id ?? NOBODY;
  const isKnownThere = await hasComeFrom(database, userId, asked.address);
  if (!taken.isCalm && !isKnownThere) await pause(deps.clock, SLOWED_MS);

  const hash = await passwordHash(database, userId);
  const isRight = await hashing.matches(hash, asked.password.slice(0, 4 * PASSWORD_CHARACTERS.most), !isKnownThere);
  if (person !== null && isRight) return { kind: 'right', person, isKnownThere, giveBack: taken.giveBack };
  if (person !== null) noteFailure(deps, person.id, asked, 'wrong_password');
  return { kind: 'wrong' };
}

/** A session for somebody who has shown who he is. Returns its token, this once. */
export async function enter(
  database: Database,
  userId: string,
  { address, agent, requestId, issuer }: CameFrom & { issuer?: string },
): Promise<string> {
  return database.transaction(async (tx) => {
    const { token, sessionId } = await createSession(tx, { userId, address, agent, issuer });
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
): Promise<{ kind: 'right' | 'wrong' } | TooMany> {
  const taken = await takeTryOnceMore(limitStore, asked);
  if (taken.kind === 'too_many') return taken;
  const isRight = await hashing.matches(await passwordHash(database, asked.userId), asked.password);
  if (isRight) taken.giveBack();
  return { kind: isRight ? 'right' : 'wrong' };
}

/** Not waited for: how long it takes would tell that there is such a person. */
function noteFailure(deps: SignInDeps, userId: string, asked: CameFrom, reason: string): void {
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
