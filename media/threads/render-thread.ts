/**
 * Worker thread that makes one form of one recording, or joins the parts of one, and ends. Started by control, which
 * does not wait with its own event loop for a decoder; `workerData` is a `RenderOrder` or a `JoinOrder`. Posts the size
 * of the encrypted file, the facts of the whole, or an error's sentence.
 */
import { writeSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { loadOpusCodec } from '../audio/opus-codec.ts';
import { nameThisThread } from '../io/threads/os-thread.ts';
import { type JoinOrder, joinSound } from '../recorder/join-sound.ts';
import { type RenderOrder, renderSound } from '../recorder/render-sound.ts';

if (parentPort === null) throw new Error('render-thread is a worker thread: start it with new Worker(…)');
nameThisThread('render');
// On Linux this is the calling thread alone.
if (process.platform === 'linux') setPriority(0, 10);
try {
  const order = workerData as RenderOrder | JoinOrder;
  const codec = loadOpusCodec();
  parentPort.postMessage(
    'parts' in order
      ? { facts: await joinSound(order, codec, writeSync) }
      : { encryptedBytes: renderSound(order, codec, writeSync) },
  );
} catch (error) {
  parentPort.postMessage({ error: error instanceof Error ? error.message : String(error) });
}
