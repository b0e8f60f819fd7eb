/**
 * Finds recordings that a process or a recorder thread left unfinished when it died: folders of segments that nobody
 * writes any more. Called by the recorder at its start; looks, and touches nothing. A folder is taken when an earlier
 * run of our process slot wrote it (its `owner` begins with our media id) and it has been still for `OWN_STILL_MS`, or
 * when it is anybody's and has been still for `FOREIGN_STILL_MS`: running recordings are appended to each second. What
 * our own run's former thread wrote, the I/O thread opens again. A finished file that lies still for `UNTAKEN_STILL_MS`
 * was perhaps never told of: control takes each away once it has it in the store. One that was finished right before
 * our run began is looked for until it is old enough.
 */
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readOwner } from './segment-files.ts';

export const OWN_STILL_MS = 15_000;
export const FOREIGN_STILL_MS = 3_600_000;
const UNTAKEN_STILL_MS = 120_000;

export interface LeftOver {
  callUuid: string;
  epoch: number;
  /** Of its segments; gone already when the file is finished. */
  folder: string;
  finishedFile: string | null;
}

export interface SalvageScan {
  ready: LeftOver[];
  /**
   * Folders that are ours, but written to so recently that somebody may still be at it, and finished files of an
   * earlier run that may yet be taken: look again after `OWN_STILL_MS`.
   */
  young: number;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** A call's id, and a number where a call had more than one stream. */
const RECORDING = /^([0-9A-Za-z-]{1,64})(?:\.(\d+))?$/;
const FINISHED = /^([0-9A-Za-z-]{1,64})(?:\.(\d+))?\.sealed$/;

/** Of this run, which began at `beganAtEpochMs`. */
export interface ScannedBy {
  mediaId: string;
  runId: string;
  beganAtEpochMs: number;
}

/** Folders under `recordingsDir` that can be finished now. A folder that cannot be read is passed over. */
export async function scanForLeftOvers(
  recordingsDir: string,
  { mediaId, runId, beganAtEpochMs }: ScannedBy,
  nowEpochMs: number,
  isInUse: (folder: string) => boolean,
): Promise<SalvageScan> {
  const scan: SalvageScan = { ready: [], young: 0 };
  for (const day of await foldersIn(recordingsDir)) {
    if (!DAY.test(day)) continue;
    for (const name of await foldersIn(join(recordingsDir, day))) {
      const [, callUuid, number] = RECORDING.exec(name) ?? [];
      const folder = join(recordingsDir, day, name);
      if (callUuid === undefined || isInUse(folder)) continue;
      const stillMs = nowEpochMs - (await lastChangeEpochMs(folder));
      const owner = readOwner(folder);
      const [ownerId, ownerRun, ownerEpoch] = owner?.split(' ') ?? [];
      const isOurs = ownerId === mediaId && ownerRun !== runId;
      const epoch = Number(ownerEpoch ?? number ?? 1);
      if (stillMs >= (isOurs ? OWN_STILL_MS : FOREIGN_STILL_MS))
        scan.ready.push({ callUuid, epoch, folder, finishedFile: null });
      else if (isOurs) scan.young++;
    }
    for (const { changedAtEpochMs, ...file } of await finishedFiles(join(recordingsDir, day), isInUse)) {
      if (nowEpochMs - changedAtEpochMs >= UNTAKEN_STILL_MS) scan.ready.push(file);
      else if (changedAtEpochMs < beganAtEpochMs) scan.young++;
    }
  }
  return scan;
}

async function finishedFiles(
  dayFolder: string,
  isInUse: (folder: string) => boolean,
): Promise<(LeftOver & { changedAtEpochMs: number })[]> {
  const found: (LeftOver & { changedAtEpochMs: number })[] = [];
  for (const name of await readdir(dayFolder).catch(() => [])) {
    const [, callUuid, number] = FINISHED.exec(name) ?? [];
    const finishedFile = join(dayFolder, name);
    const folder = finishedFile.slice(0, -'.sealed'.length);
    if (callUuid === undefined || isInUse(folder) || existsSync(folder)) continue;
    const changedAtEpochMs = await stat(finishedFile).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    );
    found.push({ callUuid, epoch: Number(number ?? 1), folder, finishedFile, changedAtEpochMs });
  }
  return found;
}

async function foldersIn(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  } catch {
    return [];
  }
}

async function lastChangeEpochMs(folder: string): Promise<number> {
  try {
    const names = await readdir(folder);
    const changes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).mtimeMs));
    return Math.max((await stat(folder)).mtimeMs, ...changes);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
