import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import {
  CHUNK_TAG_BYTES,
  chunkCountOf,
  chunkStartOf,
  createFileCipher,
  ENCRYPTED_HEADER_BYTES,
  FILE_CHUNK_BYTES,
  openFileCipher,
  plainBytesOf,
} from '../../../../media/files/encrypted-file.ts';
import { EncryptedFileReader } from '../../../../media/files/encrypted-file-reader.ts';
import { EncryptedFileWriter } from '../../../../media/files/encrypted-file-writer.ts';
import { readEncrypted, writeEncrypted } from '../../../support/encrypted-recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-sealed-'));
afterAll(() => rmSync(folder, { recursive: true }));

const KEY = Buffer.alloc(32, 7);
const path = join(folder, 'one.sealed');
const plainOf = (bytes: number): Buffer =>
  Buffer.from(Array.from({ length: bytes }, (_, i) => (i * 31 + (i >> 8)) & 255));

async function rangeOf(file: Buffer, start: number, end: number): Promise<Buffer> {
  const reader = await EncryptedFileReader.open(KEY, file.length, async (from, until) => file.subarray(from, until));
  const pieces: Buffer[] = [];
  for await (const piece of reader.range(start, end)) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('an encrypted file', () => {
  it.each([0, 1, FILE_CHUNK_BYTES - 1, FILE_CHUNK_BYTES, FILE_CHUNK_BYTES + 1, 3 * FILE_CHUNK_BYTES])(
    'of %i bytes comes back as it was, and its length can be told from outside',
    async (bytes) => {
      writeEncrypted(path, KEY, plainOf(bytes));
      const file = readFileSync(path);
      expect(plainBytesOf(file.length, FILE_CHUNK_BYTES)).toBe(bytes);
      expect(file.length).toBe(
        ENCRYPTED_HEADER_BYTES + bytes + CHUNK_TAG_BYTES * Math.max(1, Math.ceil(bytes / FILE_CHUNK_BYTES)),
      );
      expect((await readEncrypted(path, KEY)).equals(plainOf(bytes))).toBe(true);
    },
  );

  it('is written from pieces of any size, and read in any range', async () => {
    const plain = plainOf(200_000);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 90_000 }), { maxLength: 6 }),
        fc.nat({ max: 199_999 }),
        fc.nat({ max: 199_999 }),
        async (sizes, a, b) => {
          const fd = openSync(path, 'w');
          const writer = new EncryptedFileWriter(KEY, fd, writeSync);
          let at = 0;
          for (const size of [...sizes, 200_000]) {
            writer.add(plain.subarray(at, at + size));
            at = Math.min(plain.length, at + size);
          }
          writer.finish();
          const [start, end] = [Math.min(a, b), Math.max(a, b) + 1];
          expect((await rangeOf(readFileSync(path), start, end)).equals(plain.subarray(start, end))).toBe(true);
        },
      ),
      { seed: 6, numRuns: 30 },
    );
  });

  it('of the same sound twice has not a byte of ciphertext in common: each file has a key of its own', () => {
    writeEncrypted(path, KEY, plainOf(4000));
    const first = readFileSync(path);
    writeEncrypted(path, KEY, plainOf(4000));
    const second = readFileSync(path);
    let same = 0;
    for (let i = ENCRYPTED_HEADER_BYTES; i < first.length; i++) if (first[i] === second[i]) same++;
    // By chance one in 256.
    expect(same).toBeLessThan(60);
  });

  it('refuses every single changed byte of its header and its chunks', async () => {
    writeEncrypted(path, KEY, plainOf(100));
    const file = readFileSync(path);
    for (let at = 0; at < file.length; at++) {
      const changed = Buffer.from(file);
      changed[at] = changed[at]! ^ 1;
      await expect(rangeOf(changed, 0, 100), `byte ${at}`).rejects.toThrow();
    }
  });

  it('refuses a file that was cut at a chunk’s end, chunks that changed places, and another key', async () => {
    writeEncrypted(path, KEY, plainOf(3 * FILE_CHUNK_BYTES));
    const file = readFileSync(path);
    const at = (chunk: number): number => chunkStartOf(chunk, FILE_CHUNK_BYTES);
    const cut = file.subarray(0, at(2));
    expect(chunkCountOf(cut.length, FILE_CHUNK_BYTES)).toBe(2);
    await expect(rangeOf(cut, 0, 2 * FILE_CHUNK_BYTES)).rejects.toThrow('chunk 1 of 2');
    const swapped = Buffer.concat([
      file.subarray(0, at(0)),
      file.subarray(at(1), at(2)),
      file.subarray(at(0), at(1)),
      file.subarray(at(2)),
    ]);
    await expect(rangeOf(swapped, 0, 10)).rejects.toThrow('chunk 0 of 3');
    writeFileSync(path, file);
    await expect(readEncrypted(path, Buffer.alloc(32, 8))).rejects.toThrow('does not fit');
  });

  it('says of a segment what it is made of and where it begins, and only to who has the key', () => {
    const format = { codec: 'pcm_s16le', rateHz: 24000 } as const;
    const cipher = createFileCipher(KEY, { chunkBytes: 96_000, sound: { format, firstSample: 1_234_567 } });
    expect(openFileCipher(KEY, cipher.header)).toMatchObject({
      chunkBytes: 96_000,
      sound: { format, firstSample: 1_234_567 },
    });
    expect(() => openFileCipher(Buffer.alloc(32), cipher.header)).toThrow('does not fit');
    expect(() => openFileCipher(KEY, Buffer.from('RIFF'.repeat(20)))).toThrow('no sealed file');
  });
});
