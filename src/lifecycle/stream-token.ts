/**
 * The one-time token in a media stream's address. It is made of the call and of how often its stream was claimed, under
 * a key that only control has: so a doubled answer callback gets the same address, not one that kills the other, and
 * nothing but the token's digest is stored. The claim that wins burns it; what comes after a claim is another token.
 */
import { createHash, createHmac } from 'node:crypto';
import type { CallPatch } from '../calls/call-row.ts';
import { type GivenKeys, hkdfKeys } from '../sealing/master-keys.ts';
import type { Queryable } from '../store/database.ts';

export interface StreamTokens {
  /**
   * 43 characters of base64url: 32 bytes that nobody without the key can tell from chance. Under each master key that
   * is good, the newest first: what was given out before a new key's turn is the second.
   */
  tokensOf(call: { callUuid: string; epoch: number }): string[];
}

export function createStreamTokens(masterKeys: GivenKeys): StreamTokens {
  const keys = hkdfKeys(masterKeys, 'parley stream token');
  const under = (key: Buffer, { callUuid, epoch }: { callUuid: string; epoch: number }): string =>
    createHmac('sha256', key).update(`${callUuid} ${epoch}`).digest('base64url');
  return {
    tokensOf: (call) => keys.all().map((key) => under(key, call)),
  };
}

/** What the database keeps of a token. */
export function sha256OfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * The token to tell the carrier. While the master key is rotated a doubled callback may come after the turn: the
 * address that was given stays the one.
 */
export async function givenToken(
  database: Queryable,
  call: { callUuid: string; epoch: number },
  tokens: StreamTokens,
): Promise<string> {
  const [newest = '', ...former] = tokens.tokensOf(call);
  if (former.length === 0) return newest;
  const [row] = await database.query<{ sha256: Buffer | null }>(
    'SELECT media_token_sha256 AS sha256 FROM calls WHERE call_uuid = $1',
    [call.callUuid],
  );
  return former.find((token) => row?.sha256?.equals(sha256OfToken(token)) === true) ?? newest;
}

/** From now on the stream is claimed with this token, once. */
export function waitingForStream(token: string): CallPatch {
  return { mediaTokenSha256: sha256OfToken(token), mediaTokenUsedAt: null };
}
