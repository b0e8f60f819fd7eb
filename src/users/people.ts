/**
 * People as the database has them, apart from what they may in a workspace (`memberships.ts`). Somebody who is removed
 * keeps id and name for the audit, and nothing with which to come in. Used by the rest of this folder, the console's
 * routes and the command line.
 */
import { v7 as uuidv7 } from 'uuid';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';

export interface Person {
  id: string;
  email: string;
  name: string;
  /** Of the whole installation. */
  isOperator: boolean;
  /** False: the invitation was not taken yet, or the person signs in otherwise. */
  hasPassword: boolean;
  /** One-time passwords are asked for. */
  totp: boolean;
  /** How many; with one or more a password alone is not enough. */
  passkeys: number;
  createdAt: Date;
}

/** Of `u`. */
export const PERSON_COLUMNS = `u.id, u.email, u.name, u.is_operator AS "isOperator", u.password_hash IS NOT NULL AS "hasPassword",
  u.totp_confirmed_at IS NOT NULL AS totp, (SELECT count(*)::int FROM user_passkeys k WHERE k.user_id = u.id) AS passkeys,
  u.created_at AS "createdAt"`;

const EMAIL = /^[^\s@\p{C}]{1,64}@[^\s@\p{C}]{1,190}$/u;
const NAME_CHARACTERS = 120;

export async function findPerson(tx: Queryable, email: string): Promise<Person | null> {
  const [row] = await tx.query<Person>(
    `SELECT ${PERSON_COLUMNS} FROM users u WHERE lower(u.email) = lower($1) AND u.removed_at IS NULL`,
    [email.trim()],
  );
  return row ?? null;
}

/** Throws `not_found`. */
export async function personMustExist(tx: Queryable, email: string): Promise<Person> {
  const found = await findPerson(tx, email);
  if (found !== null) return found;
  throw new OperatorError('not_found', `There is no user '${email}'`, 'see: parley user list');
}

export function listPeople(tx: Queryable): Promise<Person[]> {
  return tx.query<Person>(`SELECT ${PERSON_COLUMNS} FROM users u WHERE u.removed_at IS NULL ORDER BY u.created_at`);
}

/** The first comes by a link of the operator; later ones are invited. */
export async function hasAnybody(tx: Queryable): Promise<boolean> {
  return (await tx.query('SELECT 1 AS one FROM users WHERE removed_at IS NULL LIMIT 1')).length > 0;
}

/** Throws `invalid` and `exists`. */
export async function createPerson(tx: Queryable, wanted: { email: string; name: string }): Promise<Person> {
  const email = wanted.email.trim();
  if (!EMAIL.test(email)) throw new OperatorError('invalid', `'${email}' is no e-mail address like jo@example.com.`);
  const name = nameOf(wanted.name);
  const [row] = await tx.query<Person>(
    `INSERT INTO users AS u (id, email, name) VALUES ($1, $2, $3)
     ON CONFLICT (lower(email)) WHERE removed_at IS NULL DO NOTHING RETURNING ${PERSON_COLUMNS}`,
    [uuidv7(), email, name],
  );
  if (row === undefined) throw new OperatorError('exists', `There already is a user '${email}'.`);
  return row;
}

export async function renamePerson(tx: Queryable, userId: string, name: string): Promise<void> {
  await tx.query('UPDATE users SET name = $2 WHERE id = $1', [userId, nameOf(name)]);
}

/** `hash`: of `password.ts`. */
export async function setPassword(tx: Queryable, userId: string, hash: string): Promise<void> {
  await tx.query('UPDATE users SET password_hash = $2 WHERE id = $1', [userId, hash]);
}

function nameOf(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= NAME_CHARACTERS) return name;
  throw new OperatorError('invalid', `A name has 1 to ${NAME_CHARACTERS} characters.`);
}

/** Other sessions with former rights end, and links that were made for somebody who was less. */
export async function setOperator(
  database: Database,
  args: { email: string; isOperator: boolean; by: ChangedBy },
): Promise<Person> {
  return database.transaction(async (tx) => {
    const person = await personMustExist(tx, args.email);
    if (person.isOperator === args.isOperator) return person;
    await tx.query('UPDATE users SET is_operator = $2 WHERE id = $1', [person.id, args.isOperator]);
    await tx.query('UPDATE user_sessions SET revoked_at = now() WHERE user_id = $1 AND revoked_at IS NULL', [
      person.id,
    ]);
    await endLinks(tx, person.id);
    await recordAudit(tx, {
      workspaceId: null,
      by: args.by,
      action: 'user.operator_changed',
      target: `user:${person.id}`,
      before: { isOperator: person.isOperator },
      after: { isOperator: args.isOperator },
    });
    return { ...person, isOperator: args.isOperator };
  });
}

/**
 * Whoever has a link is the person: one that somebody kept must not be worth more than when it was made. Where the
 * person gets a password, or rights that who made the link may not give, it ends.
 */
export async function endLinks(tx: Queryable, userId: string): Promise<void> {
  await tx.query('DELETE FROM user_links WHERE user_id = $1 AND used_at IS NULL', [userId]);
}

/** With sessions, links, passkeys, identities and memberships; id and name stay for the audit. */
export async function removePerson(tx: Queryable, userId: string): Promise<void> {
  await tx.query(
    `UPDATE users SET removed_at = now(), password_hash = NULL, totp_sealed = NULL, totp_confirmed_at = NULL,
            is_operator = false WHERE id = $1`,
    [userId],
  );
  await tx.query('DELETE FROM memberships WHERE user_id = $1', [userId]);
  await tx.query('DELETE FROM user_links WHERE user_id = $1', [userId]);
  await tx.query('DELETE FROM user_passkeys WHERE user_id = $1', [userId]);
  await tx.query('DELETE FROM user_identities WHERE user_id = $1', [userId]);
  await tx.query('DELETE FROM user_sessions WHERE user_id = $1', [userId]);
}
