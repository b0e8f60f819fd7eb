/**
 * Where a recording lies: `recordings/<yyyy-mm-dd>/<callUuid>/` with its segments while it runs, `<callUuid>.sealed`
 * beside it when it is finished, until control has taken it to the store; `<callUuid>.2`, `.3`, … for a call's later
 * streams, by their epoch. The day is the UTC day on which the stream began. The file `owner` in a folder says `<media
 * id> <run id> <epoch>`: what wrote it, and which of the call's streams it is.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LegFormat } from '../contract/audio-format.ts';
import { listSegments, readOwner } from './segment-files.ts';

export interface RecordingPlace {
  folder: string;
  /** 0, or the end of what a former thread of this process has written there. */
  firstSample: number;
  /** The call's last finished file, when this is a new folder. */
  earlierFile: string | null;
}

export interface StreamToRecord {
  callUuid: string;
  epoch: number;
  format: LegFormat;
  owner: string;
  dataKey: Uint8Array;
}

export function ownerOf(mediaId: string, runId: string, epoch: number): string {
  return `${mediaId} ${runId} ${epoch}`;
}

const SAFE_NAME = /^[0-9A-Za-z-]{1,64}$/;
const DAY_MS = 86_400_000;

/**
 * The folder that a former thread with the same `owner` was writing, or a fresh one. Throws on
 * an id that is no file name.
 */
export function findPlace(
  recordingsDir: string,
  { callUuid, epoch, format, owner, dataKey }: StreamToRecord,
  nowEpochMs: number,
  isInUse: (folder: string) => boolean,
): RecordingPlace {
  if (!SAFE_NAME.test(callUuid)) throw new Error(`"${callUuid}" cannot name a folder`);
  let earlierFile: string | null = null;
  let fresh = '';
  for (const day of [dayOf(nowEpochMs - DAY_MS), dayOf(nowEpochMs)]) {
    for (let stream = epoch; ; stream++) {
      const folder = join(recordingsDir, day, stream === 1 ? callUuid : `${callUuid}.${stream}`);
      const isThere = existsSync(folder);
      const isFinished = existsSync(`${folder}.sealed`);
      if (!isThere && !isFinished) {
        fresh = folder;
        break;
      }
      if (isFinished && !isThere) earlierFile = `${folder}.sealed`;
      if (!isThere || isInUse(folder) || readOwner(folder) !== owner) continue;
      const found = listSegments(folder, dataKey);
      if (found === null) return { folder, firstSample: 0, earlierFile };
      if (found.format.codec !== format.codec || found.format.rateHz !== format.rateHz) continue;
      return { folder, firstSample: found.totalSamples, earlierFile: null };
    }
  }
  return { folder: fresh, firstSample: 0, earlierFile };
}

function dayOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}
