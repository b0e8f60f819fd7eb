/**
 * Worker thread that speaks with providers: the only one that holds credentials. Its parent, the media process's I/O
 * thread, posts `ToProviderThread` and reads `FromProviderThread`; pipeline threads open lines over the ports that they
 * were given. It beats each 100 ms; a silent one is ended and another put in its place, and the lines of the dead one
 * are over. Started with the first grant: a service without connections has none.
 */
import { performance } from 'node:perf_hooks';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { destination, pino } from 'pino';
import { systemClock } from '../contract/clock.ts';
import { safeLogOptions } from '../contract/log-safety.ts';
import type { FromProviderThread, ToProviderThread } from '../contract/thread-messages.ts';
import { ProviderDesk } from '../engines/provider/provider-desk.ts';
import { SERVICES } from '../engines/provider/services.ts';
import { nameThisThread, osThreadId } from '../io/threads/os-thread.ts';
import { createAddressGuard } from '../net/address-guard.ts';
import { openGuardedSocket } from '../net/guarded-socket.ts';
import { createGuardedStreams } from '../net/guarded-stream.ts';

export interface ProviderThreadData {
  threadIndex: number;
  threads: number;
  allowCidrs: readonly string[];
  logLevel: string;
}

const BEAT_MS = 100;

if (parentPort === null) throw new Error('provider-thread is a worker thread: start it with new Worker(…)');
const parent = parentPort;
const data = workerData as ProviderThreadData;
nameThisThread(`provider-${data.threadIndex}`);
const clock = systemClock;
const tell = (message: FromProviderThread): void => parent.postMessage(message);
const log = pino(
  { level: data.logLevel, base: { thread: `provider-${data.threadIndex}` }, ...safeLogOptions() },
  destination({ dest: 1, sync: false }),
);
const guard = createAddressGuard(data.allowCidrs, 'MODEL_ALLOW_CIDRS');
const desk = new ProviderDesk({
  clock,
  log,
  streams: createGuardedStreams({ guard, clock }),
  openSocket: (request, listener) => openGuardedSocket(request, { guard, clock }, listener),
  services: SERVICES,
  threads: data.threads,
  tell,
});

let before = performance.eventLoopUtilization();
function beat(): void {
  const dueAtMs = clock.nowMs() + BEAT_MS;
  clock.after(BEAT_MS, () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    tell({ type: 'load', busyRatio: utilization, lateMs: Math.max(0, clock.nowMs() - dueAtMs) });
    beat();
  });
}

parent.on('message', (message: ToProviderThread<MessagePort>) => desk.told(message));
tell({ type: 'ready', osThreadId: osThreadId() });
beat();
