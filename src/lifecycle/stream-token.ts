/**
 * The one-time token in a media stream's address. It is made of the call and of how often its stream was claimed, under
 * a key that only control has: so a doubled answer callback gets the same address, not one that kills the other, and
 * nothing but the token's digest is stored. The claim that wins burns it; what comes after a claim is another token.
 */
import { createHash, createHmac } from 'node:crypto';
import { type GivenKeys, hkdfKeys } from '../sealing/master-keys.ts';

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
