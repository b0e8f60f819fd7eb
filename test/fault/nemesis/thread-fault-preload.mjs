/**
 * Loaded by `--import` into a process under test and into each of its threads, before Parley (`thread-faults.ts` sets
 * that up): the main thread opens a socket, on which it is told what to do to which thread. Plain JavaScript, for
 * the processes run from `dist/`. Not the debugger: attached to a dying thread it now and then takes the process along.
 */
import { rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import workerThreads, { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

const CHANNEL = 'thread-faults';

const FAULTS = {
  throw() {
    throw new Error('a fault was put in');
  },
  spin() {
    for (;;);
  },
  out_of_memory() {
    const held = [];
    for (;;) held.push(new Array(1_000_000).fill(held.length));
  },
  exit: () => process.exit(3),
};

let hasSocket = false;
if (isMainThread) watchWorkers();
else takeFaults();

function takeFaults() {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => {
    if (data.threadId !== threadId) return;
    if (data.fault !== undefined) setImmediate(FAULTS[data.fault]);
    else channel.postMessage({ answerOf: threadId, turns: performance.nodeTiming.uvMetricsInfo.loopCount });
  };
  channel.unref();
}

function watchWorkers() {
  /** @type {Map<string, workerThreads.Worker>} */
  const workers = new Map();
  workerThreads.Worker = class extends workerThreads.Worker {
    constructor(file, options = {}) {
      super(file, options);
      const { name } = options;
      if (name === undefined) return;
      if (!hasSocket) listen(workers);
      hasSocket = true;
      workers.set(name, this);
      this.once('exit', () => workers.get(name) === this && workers.delete(name));
    }
  };
  syncBuiltinESMExports();
}

/** One question a connection, as a line of JSON; one answer. */
function listen(workers) {
  const channel = new BroadcastChannel(CHANNEL);
  const waiting = new Map();
  channel.onmessage = ({ data }) => waiting.get(data.answerOf)?.(data.turns);
  channel.unref();
  const turnsOf = (worker) =>
    new Promise((resolve) => {
      waiting.set(worker.threadId, resolve);
      channel.postMessage({ threadId: worker.threadId });
    });

  const answer = async ({ turns, kill }) => {
    if (turns !== undefined) {
      const asked = [...workers].filter(([name]) => turns.includes(name));
      return Object.fromEntries(await Promise.all(asked.map(async ([name, worker]) => [name, await turnsOf(worker)])));
    }
    if (kill !== undefined) {
      const worker = workers.get(kill.thread);
      if (worker === undefined) return { gone: true };
      if (kill.death === 'terminate') void worker.terminate();
      else channel.postMessage({ threadId: worker.threadId, fault: kill.death });
    }
    return { names: [...workers.keys()] };
  };

  const path = join(process.env.THREAD_FAULT_SOCKETS, `${process.pid}.sock`);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    let asked = '';
    socket.setEncoding('utf8').on('data', async (text) => {
      asked += text;
      if (asked.endsWith('\n')) socket.end(JSON.stringify(await answer(JSON.parse(asked))));
    });
  });
  server.listen(path).unref();
  process.once('exit', () => rmSync(path, { force: true }));
}
