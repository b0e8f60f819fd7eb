/**
 * What a passkey is asked to sign: 256 random bits, answered once, within five minutes, for what and whom they were
 * made. Stored as a hash. Over all nodes, so that an answer may go to another one than the question came from.
 */
import type { Queryable } from '../store/database.ts';
import { secretToken, tokenHash } from './sessions.ts';

/** `userId` null: whose passkey answers is not known before. */
export type ChallengeUse =
  | { purpose: 'sign_in'; userId: null }
  | { purpose: 'second_factor'; userId: string }
  | { purpose: 'new_passkey'; userId: string };

/** Base64url. Those that nobody has answered are removed on the way. */
export async function newChallenge(tx: Queryable, { purpose, userId }: ChallengeUse): Promise<string> {
  const challenge = secretToken();
  await tx.query('DELETE FROM passkey_challenges WHERE expires_at < now()');
  await tx.query(
    `INSERT INTO passkey_challenges (challenge_sha256, purpose, user_id, expires_at)
     VALUES ($1, $2, $3, now() + interval '5 minutes')`,
    [tokenHash(challenge), purpose, userId],
  );
  return challenge;
}

/** Whether it was open for this use; it is not any more. */
export async function takeChallenge(
  tx: Queryable,
  challenge: string,
  { purpose, userId }: ChallengeUse,
): Promise<boolean> {
  const rows = await tx.query(
    `DELETE FROM passkey_challenges WHERE challenge_sha256 = $1 AND purpose = $2 AND user_id IS NOT DISTINCT FROM $3
       AND expires_at > now() RETURNING purpose`,
    [tokenHash(challenge), purpose, userId],
  );
  return rows.length > 0;
}
