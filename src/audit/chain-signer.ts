/**
 * Signs the end of a chain with a key made from the master key, which the database does not hold: whoever rewrites a
 * whole chain in the database cannot make its signatures (`audit_seals`). Pure.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { derivedKeys, type GivenKeys } from '../sealing/master-keys.ts';

export interface ChainSigner {
  macOf(chain: string, position: number, hash: Buffer): Buffer;
  isOurs(chain: string, position: number, hash: Buffer, mac: Buffer): boolean;
}

export function createChainSigner(masterKeys: GivenKeys): ChainSigner {
  const keys = derivedKeys(masterKeys, (masterKey) =>
    createHmac('sha256', masterKey).update('parley audit seal 1').digest(),
  );
  const macUnder = (key: Buffer, chain: string, position: number, hash: Buffer): Buffer =>
    createHmac('sha256', key)
      .update(`${chain}\n${position}\n${hash.toString('hex')}`)
      .digest();
  return {
    macOf: (chain, position, hash) => macUnder(keys.current(), chain, position, hash),
    isOurs: (chain, position, hash, mac) =>
      keys.all().some((key) => {
        const own = macUnder(key, chain, position, hash);
        return mac.length === own.length && timingSafeEqual(mac, own);
      }),
  };
}
