/**
 * Worker thread of the recorder, one a media process. Speaks `ToRecorder` and `FromRecorder` with its parent; audio
 * comes through the calls' record rings. Posts `ready`, then finishes what earlier runs left behind. Started with
 * `RecorderThreadData`.
 */
import { writeSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { pino } from 'pino';
import { loadOpusCodec } from '../audio/opus-codec.ts';
import { systemClock } from '../contract/clock.ts';
import { safeLogOptions } from '../contract/log-safety.ts';
import type { FromRecorder, ToRecorder } from '../contract/thread-messages.ts';
import { nameThisThread } from '../io/threads/os-thread.ts';
import { createRecorder, type RecorderThreadData } from '../recorder/recorder.ts';

if (parentPort === null) throw new Error('recorder-thread is a worker thread: start it with new Worker(…)');
nameThisThread('recorder');
const parent = parentPort;
const { dataDir, mediaId, runId, logLevel } = workerData as RecorderThreadData;
const log = pino({ level: logLevel, base: { mediaId, thread: 'recorder' }, ...safeLogOptions() });
// On Linux this is the calling thread alone: encoding takes what sockets and pipelines leave over. Elsewhere it would
// be the process.
if (process.platform === 'linux') setPriority(0, 10);

const codec = loadOpusCodec();
const recorder = createRecorder({
  dataDir,
  mediaId,
  runId,
  clock: systemClock,
  log,
  codec,
  write: writeSync,
  report: (message: FromRecorder) => parent.postMessage(message),
  letOthersRun: () => nextTurn(),
});

parent.on('message', (message: ToRecorder) => {
  if (message.type === 'open') recorder.open(message);
  else if (message.type === 'key') recorder.key(message.callUuid, message.epoch, message.disposition);
  else recorder.close(message.callUuid, message.durationMs, message.epoch);
});

log.debug({ opus: codec.implementation }, 'recorder ready');
parent.postMessage({ type: 'ready' } satisfies FromRecorder);
await recorder.salvage();
