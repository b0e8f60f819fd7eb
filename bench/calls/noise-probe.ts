/**
 * How noisy the machine is while a run is measured: a thread that sleeps 1 ms at a time and notes by how much it
 * overslept. When the neighbours take the processor away, so much of any lateness is theirs; over the limit the run is
 * void.
 */
import { Worker } from 'node:worker_threads';
import { type Spread, spreadOf } from './tally.ts';

/** The spread is that of the oversleep. */
export interface Noise extends Spread {
  /** Share of the processor that others took (steal), 0–1, over the whole machine. */
  stealRatio: number;
}

const PROBE = `
  const { parentPort } = require('node:worker_threads');
  const word = new Int32Array(new SharedArrayBuffer(4));
  const over = [];
  let ends = false;
  parentPort.once('message', () => { ends = true; });
  (function turn() {
    for (let i = 0; i < 50; i++) {
      const began = performance.now();
      Atomics.wait(word, 0, 0, 1);
      over.push(performance.now() - began - 1);
    }
    if (ends) parentPort.postMessage(Float64Array.from(over));
    else setImmediate(turn);
  })();`;

export function startNoiseProbe(readSteal: () => { stealMs: number; totalMs: number }): { stop(): Promise<Noise> } {
  const worker = new Worker(PROBE, { eval: true });
  const before = readSteal();
  return {
    async stop() {
      const over = await new Promise<Float64Array>((done) => {
        worker.once('message', done);
        worker.postMessage('end');
      });
      await worker.terminate();
      const after = readSteal();
      return {
        ...spreadOf(over),
        stealRatio: (after.stealMs - before.stealMs) / Math.max(1, after.totalMs - before.totalMs),
      };
    },
  };
}
