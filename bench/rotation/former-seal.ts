/** Seals as versions did whose values were bound to no place: what a database that was upgraded still holds. */
import { createCipheriv, createHash, randomBytes } from 'node:crypto';

export function sealedAsFormerly(plain: string, masterKeyHex: string): Buffer {
  const key = Buffer.from(masterKeyHex, 'hex');
  const id = createHash('sha256').update(key).digest().subarray(0, 1);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(id);
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([id, nonce, cipher.getAuthTag(), body]);
}
