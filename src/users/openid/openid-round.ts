/**
 * One way to the provider and back. The browser alone has the secret, in a cookie, and state, nonce and code verifier
 * are made of it: what the database and the provider see opens nothing by itself, an answer counts in the browser in
 * which it was asked for, and it counts once.
 */
import { createHash } from 'node:crypto';
import type { Queryable } from '../../store/database.ts';
import { isToken, secretToken, tokenHash } from '../sessions.ts';

export interface OpenIdRound {
  /** Goes to the provider and comes back. */
  state: string;
  /** In the token that the provider signs. */
  nonce: string;
  /** Whose hash the provider has (RFC 7636). */
  codeVerifier: string;
}

/** `sessionId`: of somebody who adds an identity; null: of somebody who signs in. */
export interface RoundUse {
  sessionId: string | null;
}

function partsOf(secret: string): OpenIdRound {
  const part = (name: string): string => createHash('sha256').update(`${name} ${secret}`).digest('base64url');
  return { state: part('state'), nonce: part('nonce'), codeVerifier: part('code verifier') };
}

/** `secret` is for the browser, for ten minutes. Those that came to nothing are removed on the way. */
export async function beginRound(tx: Queryable, use: RoundUse): Promise<{ secret: string; round: OpenIdRound }> {
  const secret = secretToken();
  const round = partsOf(secret);
  await tx.query('DELETE FROM openid_sign_ins WHERE expires_at < now()');
  await tx.query(
    `INSERT INTO openid_sign_ins (state_sha256, session_id, expires_at) VALUES ($1, $2, now() + interval '10 minutes')`,
    [tokenHash(round.state), use.sessionId],
  );
  return { secret, round };
}

/** Null: the state is not of this browser, was used, or is too old. */
export async function takeRound(
  tx: Queryable,
  { secret, state }: { secret: string; state: string },
): Promise<(RoundUse & { round: OpenIdRound }) | null> {
  if (!isToken(secret)) return null;
  const round = partsOf(secret);
  if (round.state !== state) return null;
  const [row] = await tx.query<RoundUse>(
    `DELETE FROM openid_sign_ins WHERE state_sha256 = $1 AND expires_at > now() RETURNING session_id AS "sessionId"`,
    [tokenHash(state)],
  );
  return row === undefined ? null : { ...row, round };
}
