/**
 * The encrypted files of clips on this machine, as the pipeline plays them: the clip itself, and what was rendered of
 * it, beside it and under the same key (`<id>.<codec>-<rate>.sealed`). Control makes the former and removes all of
 * them. A pipeline thread waits for nothing here: pieces are small, and it goes on with its calls between them.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { WAV_HEADER_BYTES } from '../audio/wav.ts';
import type { LegFormat } from '../contract/audio-format.ts';
import type { ClipFile } from '../contract/clip.ts';
import { FILE_CHUNK_BYTES } from '../files/encrypted-file.ts';
import { EncryptedFileReader } from '../files/encrypted-file-reader.ts';
import { EncryptedFileWriter } from '../files/encrypted-file-writer.ts';

const SUFFIX = '.sealed';

export function createClipSound() {
  return {
    async *sound(clip: ClipFile): AsyncGenerator<Int16Array, void, undefined> {
      for await (const piece of plain(clip.path, clip.keyHex, WAV_HEADER_BYTES)) {
        // Pieces begin at even places of the sound: chunks and the header are even.
        const samples = new Int16Array(piece.length >> 1);
        for (let i = 0; i < samples.length; i++) samples[i] = piece.readInt16LE(2 * i);
        yield samples;
        await new Promise(setImmediate);
      }
    },

    async kept(clip: ClipFile, format: LegFormat): Promise<Uint8Array | null> {
      const pieces: Buffer[] = [];
      try {
        for await (const piece of plain(renderedPath(clip, format), clip.keyHex, 0)) pieces.push(piece);
        return Buffer.concat(pieces);
      } catch {
        // Not there, or damaged: it is rendered anew.
        return null;
      }
    },

    async keep(clip: ClipFile, format: LegFormat, frames: Uint8Array): Promise<void> {
      const path = renderedPath(clip, format);
      const temporary = `${path}.${randomUUID()}.part`;
      const fd = openSync(temporary, 'wx', 0o600);
      try {
        const encrypted = new EncryptedFileWriter(Buffer.from(clip.keyHex, 'hex'), fd, writeSync);
        for (let at = 0; at < frames.length; at += FILE_CHUNK_BYTES) {
          encrypted.add(frames.subarray(at, at + FILE_CHUNK_BYTES));
          await new Promise(setImmediate);
        }
        encrypted.finish();
        await rename(temporary, path);
      } finally {
        closeSync(fd);
        await rm(temporary, { force: true });
      }
    },
  };
}

function renderedPath({ path }: ClipFile, { codec, rateHz }: LegFormat): string {
  return `${path.slice(0, -SUFFIX.length)}.${codec}-${rateHz}${SUFFIX}`;
}

async function* plain(path: string, keyHex: string, from: number): AsyncGenerator<Buffer, void, undefined> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const encrypted = await EncryptedFileReader.open(Buffer.from(keyHex, 'hex'), size, async (start, end) => {
      const bytes = new Uint8Array(end - start);
      return bytes.subarray(0, (await file.read(bytes, 0, bytes.length, start)).bytesRead);
    });
    yield* encrypted.range(from, Math.max(from + 1, encrypted.plainBytes));
  } finally {
    await file.close();
  }
}
