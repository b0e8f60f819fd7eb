/**
 * Loaded into the media process by `--import`, on each of its threads: at SIGUSR2 all of them collect their garbage and
 * tell what they still hold, and the main thread writes it to a file. Costs nothing between two readings.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

/** One thread after a full collection. */
interface ThreadReading {
  threadId: number;
  heapBytes: number;
  externalBytes: number;
  /** Timers, sockets and the like that keep an event loop alive, by their kind. */
  resources: Record<string, number>;
}

export interface GaugeReading {
  residentBytes: number;
  threads: ThreadReading[];
}

const ANSWERS_WITHIN_MS = 2_000;
const folder = process.env['PARLEY_BENCH_GAUGE'];

if (folder !== undefined && /media[\\/]main\.js$/.test(process.argv[1] ?? '')) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const read = (): ThreadReading => {
    // Buffers that the first has freed are given back beside it; the second waits for that.
    collect();
    collect();
    const resources: Record<string, number> = {};
    for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
    const { heapUsed, external } = process.memoryUsage();
    return { threadId, heapBytes: heapUsed, externalBytes: external, resources };
  };
  const channel = new BroadcastChannel('parley-bench-gauge') as BroadcastChannel & { unref(): void };
  channel.unref();
  if (isMainThread) {
    writeFileSync(join(folder, `${process.pid}.pid`), '');
    let threads: ThreadReading[] = [];
    channel.onmessage = (event) => {
      const { data } = event as unknown as { data: ThreadReading | 'read' };
      if (data !== 'read') threads.push(data);
    };
    process.on('SIGUSR2', () => {
      threads = [read()];
      channel.postMessage('read');
      setTimeout(() => {
        const reading: GaugeReading = { residentBytes: process.memoryUsage.rss(), threads };
        writeFileSync(join(folder, 'reading.part'), JSON.stringify(reading));
        renameSync(join(folder, 'reading.part'), join(folder, `${process.pid}.json`));
      }, ANSWERS_WITHIN_MS);
    });
  } else {
    channel.onmessage = (event) => {
      if ((event as unknown as { data: unknown }).data === 'read') channel.postMessage(read());
    };
  }
}
