/**
 * One-time passwords of an authenticator app (RFC 6238: SHA-1, six digits, 30 s), as the second factor of a sign-in.
 * The secret is sealed; a code is used once, over all nodes. Set in two steps, so that nobody locks himself out with
 * an app that did not take the secret.
 */
import { Secret, TOTP } from 'otpauth';
import type { Clock } from '../../media/contract/clock.ts';
import { sealedPlace } from '../sealing/sealed-places.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Queryable } from '../store/database.ts';

const STEP_SECONDS = 30;
const SECRET_BYTES = 20;
/** Codes of the step before and after are taken too: clocks differ, and people type slowly. */
const STEPS_AROUND = 1;

export interface OneTimePasswordDeps {
  sealer: Sealer;
  clock: Pick<Clock, 'epochMs'>;
}

const totpOf = (secret: string, label = ''): TOTP =>
  new TOTP({
    issuer: 'Parley',
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: STEP_SECONDS,
    secret: Secret.fromBase32(secret),
  });

/** A new secret, which holds once `confirmOneTimePassword` has seen a code of it. Null: a confirmed one is there. */
export async function beginOneTimePassword(
  tx: Queryable,
  { sealer }: Pick<OneTimePasswordDeps, 'sealer'>,
  user: { id: string; email: string },
): Promise<{ secret: string; uri: string } | null> {
  const secret = new Secret({ size: SECRET_BYTES }).base32;
  const rows = await tx.query(
    `UPDATE users SET totp_sealed = $2, totp_last_step = NULL
     WHERE id = $1 AND removed_at IS NULL AND totp_confirmed_at IS NULL RETURNING id`,
    [user.id, sealer.seal(secret, sealedPlace.oneTimePassword(user.id))],
  );
  return rows.length === 0 ? null : { secret, uri: totpOf(secret, user.email).toString() };
}

/** False: wrong code, or nothing was begun. */
export async function confirmOneTimePassword(
  tx: Queryable,
  deps: OneTimePasswordDeps,
  asked: { userId: string; code: string },
): Promise<boolean> {
  if (!(await takeCode(tx, deps, asked))) return false;
  const rows = await tx.query(
    'UPDATE users SET totp_confirmed_at = now() WHERE id = $1 AND totp_confirmed_at IS NULL RETURNING id',
    [asked.userId],
  );
  return rows.length > 0;
}

/** Whether the code is right and was not used; it is used now. */
export async function takeCode(
  tx: Queryable,
  { sealer, clock }: OneTimePasswordDeps,
  { userId, code }: { userId: string; code: string },
): Promise<boolean> {
  const [row] = await tx.query<{ sealed: Buffer | null }>('SELECT totp_sealed AS sealed FROM users WHERE id = $1', [
    userId,
  ]);
  const token = code.replaceAll(' ', '');
  if (row?.sealed == null || !/^\d{6}$/.test(token)) return false;
  const timestamp = clock.epochMs();
  const totp = totpOf(sealer.open(row.sealed, sealedPlace.oneTimePassword(userId)));
  const delta = totp.validate({ token, timestamp, window: STEPS_AROUND });
  if (delta === null) return false;
  const step = Math.floor(timestamp / 1000 / STEP_SECONDS) + delta;
  const taken = await tx.query(
    `UPDATE users SET totp_last_step = $2 WHERE id = $1 AND (totp_last_step IS NULL OR totp_last_step < $2) RETURNING id`,
    [userId, step],
  );
  return taken.length > 0;
}

/** Whether there was one. */
export async function removeOneTimePassword(tx: Queryable, userId: string): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE users u SET totp_sealed = NULL, totp_confirmed_at = NULL, totp_last_step = NULL
     FROM (SELECT totp_confirmed_at AS had FROM users WHERE id = $1) before WHERE id = $1 AND had IS NOT NULL RETURNING id`,
    [userId],
  );
  return rows.length > 0;
}
