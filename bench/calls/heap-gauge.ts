/**
 * Loaded into a subject by `--import`, on its main thread: tells on file descriptor 4, a JSON line each, what its
 * garbage collector did. Works on signals, so that it costs nothing while CPU is measured: the first SIGUSR2 reads
 * memory, the second begins to count collections, the third ends that, samples the heap every 2 ms for 0.8 s (growth
 * between samples is garbage made), and reads memory. Node 20 has no counter of allocated bytes; what was made between
 * the last sample and a collection (at most 2 ms) is missed.
 */
import { writeSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

export interface MemoryReading {
  heapBytes: number;
  externalBytes: number;
  residentBytes: number;
}

export interface HeapReading {
  /** After a full collection. */
  memory: MemoryReading;
  /** Of the sampled time; zero in the first reading. */
  allocatedBytes: number;
  sampledMs: number;
  collections: number;
  collectionMs: number;
  longestCollectionMs: number;
}

const GAUGE_FD = 4;
const SAMPLE_EVERY_MS = 2;
const SAMPLE_MS = 800;

function readMemory(): MemoryReading {
  const collect = runInNewContext('gc') as () => void;
  // Buffers that the first has freed are given back beside it; the second waits for that.
  collect();
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, externalBytes: external, residentBytes: rss };
}

if (isMainThread) {
  setFlagsFromString('--expose-gc');
  const counts = { collections: 0, collectionMs: 0, longestCollectionMs: 0 };
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      counts.collections++;
      counts.collectionMs += duration;
      counts.longestCollectionMs = Math.max(counts.longestCollectionMs, duration);
    }
  });
  const tell = (reading: HeapReading): void => void writeSync(GAUGE_FD, `${JSON.stringify(reading)}\n`);

  const sample = (): void => {
    const beganAtMs = performance.now();
    let last = getHeapStatistics().used_heap_size;
    let allocatedBytes = 0;
    const take = (): void => {
      const used = getHeapStatistics().used_heap_size;
      if (used > last) allocatedBytes += used - last;
      last = used;
      const sampledMs = performance.now() - beganAtMs;
      if (sampledMs < SAMPLE_MS) setTimeout(take, SAMPLE_EVERY_MS);
      else tell({ memory: readMemory(), allocatedBytes, sampledMs, ...counts });
    };
    setTimeout(take, SAMPLE_EVERY_MS);
  };

  let signals = 0;
  process.on('SIGUSR2', () => {
    signals++;
    if (signals === 1) tell({ memory: readMemory(), allocatedBytes: 0, sampledMs: 0, ...counts });
    else if (signals === 2) observer.observe({ entryTypes: ['gc'] });
    else if (signals === 3) {
      observer.disconnect();
      sample();
    }
  });
}
