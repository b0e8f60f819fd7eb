/**
 * Recordings for tests of control: a key in the row, a finished encrypted file on the disk, or one in a store that is
 * ready to be read.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createOggOpusWriter } from '../../media/audio/ogg-opus-writer.ts';
import { loadOpusCodec, MAX_OPUS_PACKET_BYTES } from '../../media/audio/opus-codec.ts';
import type { RecordingFacts } from '../../media/contract/conversation.ts';
import { EncryptedFileReader } from '../../media/files/encrypted-file-reader.ts';
import { EncryptedFileWriter } from '../../media/files/encrypted-file-writer.ts';
import { objectKeyOf, type RecordingStore } from '../../src/recordings/recording-store.ts';
import { sealedPlace } from '../../src/sealing/sealed-places.ts';
import type { Sealer } from '../../src/sealing/sealer.ts';
import type { Queryable } from '../../src/store/database.ts';

export function writeEncrypted(path: string, dataKey: Uint8Array, plain: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const fd = openSync(path, 'w');
  const encrypted = new EncryptedFileWriter(dataKey, fd, writeSync);
  encrypted.add(plain);
  encrypted.finish();
  closeSync(fd);
}

export async function readEncrypted(path: string, dataKey: Uint8Array): Promise<Buffer> {
  const file = readFileSync(path);
  const reader = await EncryptedFileReader.open(dataKey, statSync(path).size, async (start, end) =>
    file.subarray(start, end),
  );
  const pieces: Buffer[] = [];
  for await (const piece of reader.all()) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Two tones in Ogg/Opus, as the recorder makes them: the caller's left, the agent's right. */
export function toneFile(seconds: number, callerHz = 440, agentHz = 880): Buffer {
  const pages: Uint8Array[] = [];
  const encoder = loadOpusCodec().createEncoder({ rateHz: 8000, channels: 2, bitsPerSec: 48000, complexity: 1 });
  const ogg = createOggOpusWriter({
    channels: 2,
    preSkipTicks: encoder.lookaheadTicks,
    inputRateHz: 8000,
    serial: 7,
    vendor: 'parley',
    comments: { TITLE: 'tones' },
    write: (page) => void pages.push(page.slice()),
  });
  const packet = new Uint8Array(MAX_OPUS_PACKET_BYTES);
  const frame = new Int16Array(320);
  const packets = Math.ceil((seconds * 48000 + encoder.lookaheadTicks) / 960);
  for (let at = 0; at < packets; at++) {
    for (let i = 0; i < 160; i++) {
      const t = (at * 160 + i) / 8000;
      frame[2 * i] = 9000 * Math.sin(2 * Math.PI * callerHz * t);
      frame[2 * i + 1] = 9000 * Math.sin(2 * Math.PI * agentHz * t);
    }
    ogg.addPacket(packet, 0, encoder.encode(frame, packet, 0), 960);
  }
  ogg.finish(seconds * 48000);
  encoder.close();
  return Buffer.concat(pages);
}

/** The row's key, made now unless the stream was claimed before. */
export async function keyOfRecording(
  database: Queryable,
  sealer: Sealer,
  { callUuid, epoch }: { callUuid: string; epoch: number },
): Promise<Buffer> {
  const [call] = await database.query<{ workspaceId: string }>(
    'SELECT workspace_id AS "workspaceId" FROM calls WHERE call_uuid = $1',
    [callUuid],
  );
  const place = sealedPlace.recordingKey({ callUuid, epoch, workspaceId: call!.workspaceId });
  const [row] = await database.query<{ key: Buffer }>(
    'SELECT key_sealed AS key FROM call_recordings WHERE call_uuid = $1 AND epoch = $2',
    [callUuid, epoch],
  );
  if (row !== undefined) return Buffer.from(sealer.open(row.key, place), 'hex');
  const key = randomBytes(32);
  await database.query(
    `INSERT INTO call_recordings (call_uuid, epoch, workspace_id, key_sealed)
     SELECT call_uuid, $2, workspace_id, $3 FROM calls WHERE call_uuid = $1`,
    [callUuid, epoch, sealer.seal(key.toString('hex'), place)],
  );
  return key;
}

export function factsOf(path: string, plain: Uint8Array, durationMs: number): RecordingFacts {
  const sha256 = createHash('sha256').update(plain).digest('hex');
  return { path, format: 'ogg_opus', channels: 2, rateHz: 8000, durationMs, sizeBytes: plain.length, sha256 };
}

/** As the uploader leaves it: in the store, the row and the call saying so. Returns what lies there, plain. */
export async function putStored(
  { database, sealer, store }: { database: Queryable; sealer: Sealer; store: RecordingStore },
  { callUuid, epoch = 1, plain = toneFile(1) }: { callUuid: string; epoch?: number; plain?: Buffer },
): Promise<{ objectKey: string; plain: Buffer; dataKey: Buffer }> {
  const dataKey = await keyOfRecording(database, sealer, { callUuid, epoch });
  const folder = mkdtempSync(join(tmpdir(), 'parley-stored-'));
  const path = join(folder, 'one.sealed');
  writeEncrypted(path, dataKey, plain);
  const [row] = await database.query<{ createdAt: Date }>(
    'SELECT created_at AS "createdAt" FROM call_recordings WHERE call_uuid = $1 AND epoch = $2',
    [callUuid, epoch],
  );
  const objectKey = objectKeyOf(callUuid, epoch, row!.createdAt);
  await store.put(objectKey, path);
  const { path: _path, ...facts } = factsOf(path, plain, 1000);
  await database.query(
    `UPDATE call_recordings SET state = 'stored', store = $3, object_key = $4, sealed_bytes = $5, facts = $6
      WHERE call_uuid = $1 AND epoch = $2`,
    [callUuid, epoch, store.kind, objectKey, statSync(path).size, JSON.stringify(facts)],
  );
  await database.query(
    `UPDATE calls SET recording_status = 'ready', recordings = recordings || $2::jsonb, recording = coalesce(recording, $3::jsonb)
      WHERE call_uuid = $1`,
    [callUuid, JSON.stringify([{ ...facts, epoch }]), JSON.stringify(facts)],
  );
  rmSync(folder, { recursive: true });
  return { objectKey, plain, dataKey };
}
