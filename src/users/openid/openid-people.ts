/**
 * Who somebody is of whom the provider told. An identity that is known is its person. One that is not becomes the
 * person of the same e-mail address only where that one was invited and has never come in; else an address that
 * somebody gets at the provider would be enough to take an account over. Whoever has a way in adds the identity while
 * signed in.
 */
import { v7 as uuidv7 } from 'uuid';
import type { ChangedBy } from '../../audit/audit-entry.ts';
import type { OpenIdSettings } from '../../config/openid-settings.ts';
import { OperatorError } from '../../errors/operator-error.ts';
import type { Database, Queryable } from '../../store/database.ts';
import { createPerson, endLinks, findPerson, type Person } from '../people.ts';
import { auditPerson } from '../sign-in.ts';
import { HAS_WAY_IN, holdWaysIn, wayInMustStay } from '../ways-in.ts';
import type { OpenIdClaims } from './openid-provider.ts';
import { giveRoles, rolesIn } from './openid-roles.ts';

export type OpenIdAnswer =
  | { kind: 'person'; userId: string }
  /** Codes of `errors/codes/console.ts`. */
  | { kind: 'refused'; code: 'openid_email_refused' | 'openid_not_invited' | 'openid_not_linked' };

export interface IdentityView {
  id: string;
  issuer: string;
  email: string | null;
  createdAt: Date;
  lastUsedAt: Date | null;
}

const VIEW = `id, issuer, email, created_at AS "createdAt", last_used_at AS "lastUsedAt"`;

/** Somebody signs in. `by`: without the actor, who is found here. */
export async function personOf(
  database: Database,
  claims: OpenIdClaims,
  { settings, by }: { settings: OpenIdSettings; by: Omit<ChangedBy, 'actor'> },
): Promise<OpenIdAnswer> {
  const isDomainRight = settings.domains.length === 0 || settings.domains.includes(domainOf(claims.email));
  return database.transaction(async (tx): Promise<OpenIdAnswer> => {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`${claims.issuer} ${claims.subject}`]);
    const known = await knownPerson(tx, claims);
    // An address that the provider does not vouch for is nobody's.
    const isAddressGood = claims.isEmailVerified && claims.email !== null && isDomainRight;
    if (!isAddressGood && (known === null || settings.domains.length > 0)) {
      return { kind: 'refused', code: 'openid_email_refused' };
    }
    const found =
      known === null ? await newPerson(tx, claims, { settings, by }) : ({ kind: 'person', userId: known } as const);
    if (found.kind === 'refused') return found;
    const { userId } = found;
    await noteUse(tx, claims);
    await giveRoles(tx, { userId, settings, claims, by: { ...by, actor: 'system:openid' } });
    return found;
  });
}

/** Somebody who is signed in has come back. Throws `exists` where the identity is another person's. */
export async function linkIdentity(
  database: Database,
  claims: OpenIdClaims,
  { userId, by }: { userId: string; by: ChangedBy },
): Promise<void> {
  await database.transaction(async (tx) => {
    const known = await knownPerson(tx, claims);
    if (known === userId) return noteUse(tx, claims);
    if (known !== null || !(await insertIdentity(tx, claims, userId))) {
      throw new OperatorError('exists', 'This account of the provider belongs to somebody else here.');
    }
    await auditPerson(tx, userId, by, 'user.identity_added', { issuer: claims.issuer });
  });
}

export function listIdentities(tx: Queryable, userId: string): Promise<IdentityView[]> {
  return tx.query<IdentityView>(`SELECT ${VIEW} FROM user_identities WHERE user_id = $1 ORDER BY created_at, id`, [
    userId,
  ]);
}

/** Whether there was one. Throws `refused` for the last way in. */
export async function removeIdentity(
  tx: Queryable,
  { userId, identityId }: { userId: string; identityId: string },
): Promise<boolean> {
  await holdWaysIn(tx, userId);
  const rows = await tx.query('DELETE FROM user_identities WHERE id = $2 AND user_id = $1 RETURNING id', [
    userId,
    identityId,
  ]);
  if (rows.length > 0) await wayInMustStay(tx, userId);
  return rows.length > 0;
}

async function knownPerson(tx: Queryable, { issuer, subject }: OpenIdClaims): Promise<string | null> {
  const [row] = await tx.query<{ userId: string }>(
    `SELECT i.user_id AS "userId" FROM user_identities i JOIN users u ON u.id = i.user_id AND u.removed_at IS NULL
     WHERE i.issuer = $1 AND i.subject = $2`,
    [issuer, subject],
  );
  return row?.userId ?? null;
}

async function newPerson(
  tx: Queryable,
  claims: OpenIdClaims,
  { settings, by }: { settings: OpenIdSettings; by: Omit<ChangedBy, 'actor'> },
): Promise<OpenIdAnswer> {
  const email = claims.email!;
  const invited = await findPerson(tx, email);
  if (invited !== null && (await hasWayIn(tx, invited))) return { kind: 'refused', code: 'openid_not_linked' };
  if (invited === null && rolesIn(claims, settings).size === 0) return { kind: 'refused', code: 'openid_not_invited' };
  const { id: userId } = invited ?? (await createPerson(tx, { email, name: (claims.name ?? email).slice(0, 120) }));
  await insertIdentity(tx, claims, userId);
  // The link of the invitation would be a second way in for whoever finds it.
  await endLinks(tx, userId);
  await auditPerson(tx, userId, { ...by, actor: 'system:openid' }, 'user.identity_added', { issuer: claims.issuer });
  return { kind: 'person', userId };
}

async function hasWayIn(tx: Queryable, { id }: Person): Promise<boolean> {
  await holdWaysIn(tx, id);
  const [row] = await tx.query<{ has: boolean }>(`SELECT ${HAS_WAY_IN} AS has FROM users u WHERE u.id = $1`, [id]);
  return row?.has ?? true;
}

async function insertIdentity(
  tx: Queryable,
  { issuer, subject, email }: OpenIdClaims,
  userId: string,
): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO user_identities (id, issuer, subject, user_id, email, last_used_at) VALUES ($1, $2, $3, $4, $5, now())
     ON CONFLICT (issuer, subject) DO NOTHING RETURNING id`,
    [uuidv7(), issuer, subject, userId, email],
  );
  return rows.length > 0;
}

async function noteUse(tx: Queryable, { issuer, subject, email }: OpenIdClaims): Promise<void> {
  await tx.query('UPDATE user_identities SET last_used_at = now(), email = $3 WHERE issuer = $1 AND subject = $2', [
    issuer,
    subject,
    email,
  ]);
}

const domainOf = (email: string | null): string => email?.split('@').at(-1)?.toLowerCase() ?? '';
