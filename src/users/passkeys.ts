/**
 * Passkeys of people as the database has them: listing, naming, removing. What browsers and authenticators say is
 * understood by `passkey-answers.ts`. Whoever has a passkey signs in with it alone, and is asked for it (or for a
 * one-time password) beside a password; so each is a way back in where another was lost.
 */
import { OperatorError } from '../errors/operator-error.ts';
import type { Queryable } from '../store/database.ts';
import { holdWaysIn, wayInMustStay } from './ways-in.ts';

export interface PasskeyView {
  id: string;
  name: string;
  /** The host at which it works. */
  host: string;
  /** Kept by a service of its maker, on more than one device. */
  isSynced: boolean;
  createdAt: Date;
  /** Null: not since it was made. */
  lastUsedAt: Date | null;
}

/** What an answer of it is held to. */
export interface StoredPasskey {
  id: string;
  userId: string;
  /** Base64url, as all of these. */
  credentialId: string;
  publicKey: string;
  signCount: number;
  transports: string[];
}

const MOST_PASSKEYS = 20;
const NAME_CHARACTERS = 60;

const VIEW = `id, name, rp_id AS host, is_synced AS "isSynced", created_at AS "createdAt", last_used_at AS "lastUsedAt"`;
const STORED = `k.id, k.user_id AS "userId", k.credential_id AS "credentialId", k.public_key AS "publicKey",
  k.sign_count::float8 AS "signCount", k.transports`;

export function listPasskeys(tx: Queryable, userId: string): Promise<PasskeyView[]> {
  return tx.query<PasskeyView>(`SELECT ${VIEW} FROM user_passkeys WHERE user_id = $1 ORDER BY created_at, id`, [
    userId,
  ]);
}

/** Those of the person that work at a host. */
export function passkeysAt(tx: Queryable, of: { userId: string; host: string }): Promise<StoredPasskey[]> {
  return tx.query<StoredPasskey>(
    `SELECT ${STORED} FROM user_passkeys k WHERE k.user_id = $1 AND k.rp_id = $2 ORDER BY k.created_at, k.id`,
    [of.userId, of.host],
  );
}

/** Null: nobody has it at this host. */
export async function findPasskey(
  tx: Queryable,
  of: { credentialId: string; host: string },
): Promise<StoredPasskey | null> {
  const [row] = await tx.query<StoredPasskey>(
    `SELECT ${STORED} FROM user_passkeys k JOIN users u ON u.id = k.user_id AND u.removed_at IS NULL
     WHERE k.credential_id = $1 AND k.rp_id = $2`,
    [of.credentialId, of.host],
  );
  return row ?? null;
}

/** Throws `refused` beyond `MOST_PASSKEYS`, `exists` and `invalid`. */
export async function storePasskey(
  tx: Queryable,
  { host, name, isSynced, ...key }: StoredPasskey & { host: string; name: string; isSynced: boolean },
): Promise<PasskeyView> {
  await holdWaysIn(tx, key.userId);
  if ((await listPasskeys(tx, key.userId)).length >= MOST_PASSKEYS) {
    throw new OperatorError('refused', `A person has at most ${MOST_PASSKEYS} passkeys; remove one first.`);
  }
  const [row] = await tx.query<PasskeyView>(
    `INSERT INTO user_passkeys (id, user_id, credential_id, public_key, sign_count, rp_id, transports, is_synced, name)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (credential_id) DO NOTHING RETURNING ${VIEW}`,
    [
      ...[key.id, key.userId, key.credentialId, key.publicKey, key.signCount],
      ...[host, key.transports, isSynced, nameOf(name)],
    ],
  );
  if (row === undefined) throw new OperatorError('exists', 'This passkey is there already.');
  return row;
}

/** Null: the person has no such passkey. Throws `invalid`. */
export async function renamePasskey(
  tx: Queryable,
  { userId, passkeyId, name }: { userId: string; passkeyId: string; name: string },
): Promise<PasskeyView | null> {
  const [row] = await tx.query<PasskeyView>(
    `UPDATE user_passkeys SET name = $3 WHERE id = $2 AND user_id = $1 RETURNING ${VIEW}`,
    [userId, passkeyId, nameOf(name)],
  );
  return row ?? null;
}

/** Whether there was one. Throws `refused` for the last way in of somebody without a password. */
export async function removePasskey(
  tx: Queryable,
  { userId, passkeyId }: { userId: string; passkeyId: string },
): Promise<boolean> {
  await holdWaysIn(tx, userId);
  const rows = await tx.query('DELETE FROM user_passkeys WHERE id = $2 AND user_id = $1 RETURNING id', [
    userId,
    passkeyId,
  ]);
  if (rows.length > 0) await wayInMustStay(tx, userId);
  return rows.length > 0;
}

/** All of them: of somebody who has lost the device. How many there were. */
export async function removePasskeys(tx: Queryable, userId: string): Promise<number> {
  return (await tx.query('DELETE FROM user_passkeys WHERE user_id = $1 RETURNING id', [userId])).length;
}

/** False: a use of the passkey that counted further has come meanwhile, so this one is of a copy. */
export async function notePasskeyUse(
  tx: Queryable,
  { passkeyId, signCount }: { passkeyId: string; signCount: number },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE user_passkeys SET sign_count = $2, last_used_at = now()
     WHERE id = $1 AND (sign_count < $2 OR (sign_count = 0 AND $2 = 0)) RETURNING id`,
    [passkeyId, signCount],
  );
  return rows.length > 0;
}

function nameOf(text: string): string {
  const name = text.trim();
  if (name !== '' && [...name].length <= NAME_CHARACTERS) return name;
  throw new OperatorError('invalid', `A passkey's name has 1 to ${NAME_CHARACTERS} characters.`);
}
