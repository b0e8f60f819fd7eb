/**
 * Runs the clip process (`media/clips/main.ts`) for one file: two at once, of a workspace one; a few wait, the rest are
 * told to come again, first those of whoever has the most waiting.
 * The process gets the file and nothing else, no setting and no secret, and is killed with all that it started when its
 * time is over.
 */
import { type ChildProcess, fork } from 'node:child_process';
import type { ClipOrder, ClipVerdict } from '../../media/contract/clip.ts';
import { systemClock } from '../../media/contract/clock.ts';
import { createFairQueue } from '../limits/fair-queue.ts';

/** Rejects with `ClipsBusy`. */
export type ConvertFile = (file: Uint8Array, workspaceId: string) => Promise<ClipVerdict>;

/** Too many files wait already. */
export class ClipsBusy extends Error {}

const AT_ONCE = 2;
/**
 * As many as are at work: who waits and is then converted has an answer before a client, or a proxy before us, gives up
 * after a minute.
 */
const MOST_WAITING = 2;
const LIMIT_MS = 25_000;
const HEAP_MB = 192;

/** `entry`: the built clip process. `commandPath`: where it finds FFmpeg. `limitMs`: for its turn, and for a file. */
export function convertInProcess(entry: () => string, commandPath: string, limitMs = LIMIT_MS): ConvertFile {
  const turns = createFairQueue({
    clock: systemClock,
    slots: AT_ONCE,
    slotsPerKey: 1,
    mostWaiting: MOST_WAITING,
    longestWaitMs: limitMs,
  });
  return async (file, workspaceId) => {
    const leave = await turns.enter(workspaceId, 'inbound');
    if (leave === null) throw new ClipsBusy('too many clips are being converted');
    try {
      return await convert(entry(), commandPath, file, limitMs);
    } finally {
      leave();
    }
  };
}

function convert(entry: string, commandPath: string, file: Uint8Array, limitMs: number): Promise<ClipVerdict> {
  return new Promise((resolve, reject) => {
    const child = fork(entry, [], {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      env: { PATH: commandPath },
      // FFmpeg is looked for in the working directory too.
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // A group of its own, FFmpeg in it.
      detached: true,
    });
    const timer = setTimeout(() => {
      resolve({ ok: false, problem: `it could not be read within ${limitMs / 1000} s` });
      killGroup(child);
    }, limitMs);
    child.on('message', (verdict: ClipVerdict) => resolve(verdict));
    child.on('error', reject);
    child.on('exit', () => {
      clearTimeout(timer);
      killGroup(child);
      resolve({ ok: false, problem: 'reading it brought its reader down: it is damaged, or made to do so' });
    });
    child.send({ file } satisfies ClipOrder, (error) => {
      if (error !== null) killGroup(child);
    });
  });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it is gone.
  }
}
