/**
 * Loaded into the media process of the tool's own service by `--import`, on each of its threads: writes down once a
 * second how many bytes its heap has allocated so far, which is the garbage that it makes. Read by `garbage-count.ts`.
 *
 * Node 20 has no counter of that; what a heap holds before a collection, less what it held after the one before, is it.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GCProfiler, getHeapStatistics } from 'node:v8';
import { threadId } from 'node:worker_threads';

const EVERY_MS = 1_000;
const folder = process.env['PARLEY_LOAD_GARBAGE'];

if (folder !== undefined && /media[\\/]main\.js$/.test(process.argv[1] ?? '')) {
  const path = join(folder, `${process.pid}-${threadId}`);
  let heapBytes = getHeapStatistics().used_heap_size;
  let allocatedBytes = 0;
  let profiler = new GCProfiler();
  profiler.start();
  setInterval(() => {
    for (const { beforeGC, afterGC } of profiler.stop().statistics) {
      allocatedBytes += Math.max(0, beforeGC.heapStatistics.usedHeapSize - heapBytes);
      heapBytes = afterGC.heapStatistics.usedHeapSize;
    }
    profiler = new GCProfiler();
    profiler.start();
    // Of what has not been collected yet.
    const sinceBytes = Math.max(0, getHeapStatistics().used_heap_size - heapBytes);
    writeFileSync(path, String(allocatedBytes + sinceBytes));
  }, EVERY_MS).unref();
}
