/**
 * The one-time token in a media stream's address. It is made of the call and of how often its stream was claimed, under a
 * key that only control has: so a doubled answer callback gets the same address, not one that kills the other, and nothing
 * but the token's digest is stored. The claim that wins burns it; what comes after a claim is another token.
 */
import { createHash, createHmac, hkdfSync } from 'node:crypto';

export interface StreamTokens {
  /** 43 characters of base64url: 32 bytes that nobody without the key can tell from chance. */
  tokenOf(call: { callUuid: string; epoch: number }): string;
}

export function createStreamTokens(masterKeyHex: string): StreamTokens {
  const key = Buffer.from(hkdfSync('sha256', Buffer.from(masterKeyHex, 'hex'), '', 'parley stream token', 32));
  return {
    tokenOf: ({ callUuid, epoch }) => createHmac('sha256', key).update(`${callUuid} ${epoch}`).digest('base64url'),
  };
}

/** What the database keeps of a token. */
export function sha256OfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
