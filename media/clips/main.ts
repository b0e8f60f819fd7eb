/**
 * The clip process: converts one file that somebody sent, and ends. Started by control (`src/clips/convert-file.ts`)
 * for each file, with a small heap, no settings and no secrets; what a hostile file does to it happens to nobody else.
 */
import { setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { ClipOrder, ClipVerdict } from '../contract/clip.ts';
import { ClipRefused } from './clip-refused.ts';
import { convertClip } from './convert-clip.ts';

/** Longer than control waits: should it be gone, a file that is read without end still ends. */
const LAST_MOMENT_MS = 60_000;

new Worker(`setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${LAST_MOMENT_MS})`, { eval: true }).unref();
if (process.platform === 'linux') setPriority(10);
// Control is gone: nobody waits.
process.on('disconnect', () => process.exit(1));
process.on('message', ({ file }: ClipOrder) => {
  convertClip(file).then(tell, (error: unknown) => {
    if (error instanceof ClipRefused) tell({ ok: false, problem: error.message });
    else throw error;
  });
});

function tell(verdict: ClipVerdict): void {
  process.send?.(verdict, undefined, {}, () => process.exit(0));
}
