/** Is a sealed file the one that was recorded? Decrypts all of it and compares size and SHA-256 with what media measured. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { SealBroken } from '../../media/sealed/sealed-file.ts';
import { type ReadRange, SealedReader } from '../../media/sealed/sealed-reader.ts';
import type { SoundFacts } from '../calls/call-record.ts';

/** Rejects with `SealBroken` when it is not, and as `read` does. */
export async function compareSealed(
  facts: Pick<SoundFacts, 'sizeBytes' | 'sha256'> | null,
  dataKey: Uint8Array,
  sealedBytes: number,
  read: ReadRange,
): Promise<void> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const sealed = await SealedReader.open(dataKey, sealedBytes, read);
  for await (const piece of sealed.all()) {
    hash.update(piece);
    sizeBytes += piece.length;
  }
  const expected = Buffer.from(facts?.sha256 ?? '', 'hex');
  const found = hash.digest();
  if (sizeBytes !== facts?.sizeBytes || expected.length !== found.length || !timingSafeEqual(expected, found)) {
    throw new SealBroken('it is not the file that was recorded');
  }
}
