/**
 * Signs the end of a chain with a key made from the master key, which the database does not hold: whoever rewrites a whole
 * chain in the database cannot make its seals. Pure.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface ChainSealer {
  macOf(chain: string, position: number, hash: Buffer): Buffer;
  isOurs(chain: string, position: number, hash: Buffer, mac: Buffer): boolean;
}

/** `masterKeyHex`: 64 hexadecimal digits. */
export function createChainSealer(masterKeyHex: string): ChainSealer {
  const key = createHmac('sha256', Buffer.from(masterKeyHex, 'hex')).update('parley audit seal 1').digest();
  const macOf = (chain: string, position: number, hash: Buffer): Buffer =>
    createHmac('sha256', key)
      .update(`${chain}\n${position}\n${hash.toString('hex')}`)
      .digest();
  return {
    macOf,
    isOurs(chain, position, hash, mac) {
      const own = macOf(chain, position, hash);
      return mac.length === own.length && timingSafeEqual(mac, own);
    },
  };
}
