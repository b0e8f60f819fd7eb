/**
 * Worker thread that makes one form of one recording and ends. Started by control, which does not wait with its own event loop for a
 * decoder; `workerData` is a `RenderOrder`. Posts the size of the sealed file, or an error's sentence.
 */
import { writeSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { loadOpusCodec } from '../audio/opus-codec.ts';
import { type RenderOrder, renderSound } from '../recorder/render-sound.ts';

if (parentPort === null) throw new Error('render-thread is a worker thread: start it with new Worker(…)');
// On Linux this is the calling thread alone.
if (process.platform === 'linux') setPriority(0, 10);
try {
  parentPort.postMessage({ sealedBytes: renderSound(workerData as RenderOrder, loadOpusCodec(), writeSync) });
} catch (error) {
  parentPort.postMessage({ error: error instanceof Error ? error.message : String(error) });
}
