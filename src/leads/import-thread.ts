/**
 * Worker thread that reads one file of leads, and ends. `workerData` is an `ImportOrder`; every message to it asks for
 * one answer, an `ImportAnswer`: the summary of the file, or its next group of rows. Started by `import-reading.ts`.
 */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { ImportRefused } from './import-reader.ts';
import type { ImportAnswer, ImportOrder } from './import-reading.ts';
import { groupsOf, summaryOf } from './import-rows.ts';

if (parentPort === null) throw new Error('import-thread is a worker thread: start it with new Worker(…)');
const port = parentPort;
// On Linux this is the calling thread alone.
if (process.platform === 'linux') setPriority(0, 10);
const order = workerData as ImportOrder;
const groups = order.kind === 'rows' ? groupsOf(order.rows) : null;

function next(): ImportAnswer {
  if (order.kind === 'summary') return { summary: summaryOf(order.file) };
  return { rows: groups?.next().value ?? null };
}

port.on('message', () => {
  try {
    port.postMessage(next());
  } catch (error) {
    if (!(error instanceof ImportRefused)) throw error;
    port.postMessage({ refused: { code: error.code, message: error.message } } satisfies ImportAnswer);
  }
});
