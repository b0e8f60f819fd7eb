/**
 * By what somebody comes in: a password, passkeys, accounts at an OpenID provider. Whoever takes one away keeps
 * another, and who gives up the password keeps two: one that is lost must not be the only one.
 */
import { OperatorError } from '../errors/operator-error.ts';
import type { Queryable } from '../store/database.ts';

/** SQL, of `u`: nobody has taken an invitation who has none. */
export const HAS_WAY_IN = `(u.password_hash IS NOT NULL OR EXISTS (SELECT 1 FROM user_passkeys k WHERE k.user_id = u.id)
  OR EXISTS (SELECT 1 FROM user_identities i WHERE i.user_id = u.id))`;

/** SQL, of `u`: a password alone signs nobody in. */
export const HAS_SECOND_FACTOR = `(u.totp_confirmed_at IS NOT NULL OR EXISTS (SELECT 1 FROM user_passkeys k WHERE k.user_id = u.id))`;

/** Within the transaction that takes one away: other such ones wait for it. */
export async function holdWaysIn(tx: Queryable, userId: string): Promise<void> {
  await tx.query('SELECT 1 FROM users WHERE id = $1 FOR UPDATE', [userId]);
}

/** After one was taken away, under `holdWaysIn`. Throws `refused`, so that it stays. */
export async function wayInMustStay(tx: Queryable, userId: string): Promise<void> {
  const [row] = await tx.query<{ has: boolean }>(`SELECT ${HAS_WAY_IN} AS has FROM users u WHERE u.id = $1`, [userId]);
  if (row?.has === true) return;
  throw new OperatorError('refused', 'It is your only way in; set a password, or add another passkey, first.');
}

/** The person signs in with passkeys alone from now on. Throws `refused` where there are not two for this host. */
export async function forgetPassword(tx: Queryable, { userId, host }: { userId: string; host: string }): Promise<void> {
  await holdWaysIn(tx, userId);
  const [row] = await tx.query<{ passkeys: number }>(
    'SELECT count(*)::int AS passkeys FROM user_passkeys WHERE user_id = $1 AND rp_id = $2',
    [userId, host],
  );
  if ((row?.passkeys ?? 0) < 2) {
    throw new OperatorError(
      'refused',
      'Without a password you need two passkeys for this address, so that one can be lost.',
    );
  }
  await tx.query('UPDATE users SET password_hash = NULL WHERE id = $1', [userId]);
}
