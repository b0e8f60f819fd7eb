/**
 * Is an encrypted file the one that was recorded? Decrypts all of it and compares size and
 * SHA-256 with what media measured.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { EncryptedFileBroken } from '../../media/files/encrypted-file.ts';
import { EncryptedFileReader, type ReadRange } from '../../media/files/encrypted-file-reader.ts';
import type { SoundFacts } from '../calls/call-record.ts';

/** Rejects with `EncryptedFileBroken` when it is not, and as `read` does. */
export async function compareEncrypted(
  facts: Pick<SoundFacts, 'sizeBytes' | 'sha256'> | null,
  dataKey: Uint8Array,
  encryptedBytes: number,
  read: ReadRange,
): Promise<void> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const encrypted = await EncryptedFileReader.open(dataKey, encryptedBytes, read);
  for await (const piece of encrypted.all()) {
    hash.update(piece);
    sizeBytes += piece.length;
  }
  const expected = Buffer.from(facts?.sha256 ?? '', 'hex');
  const found = hash.digest();
  if (sizeBytes !== facts?.sizeBytes || expected.length !== found.length || !timingSafeEqual(expected, found)) {
    throw new EncryptedFileBroken('it is not the file that was recorded');
  }
}
