/**
 * Loaded by `--import` into a process under test and into each of its threads, before Parley: looks for a text in all
 * that is posted from one thread to another, and notes who posted it to whom in a file. Plain JavaScript, for the
 * processes run from `dist/`. `WATCHED_TEXT`: what is looked for; `WATCH_NOTES`: the file.
 */
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { inspect } from 'node:util';
import workerThreads, { isMainThread, MessagePort, threadId } from 'node:worker_threads';

const wanted = process.env.WATCHED_TEXT;
const own = isMainThread ? 'main' : `thread-${threadId}`;

function look(message, to) {
  const text = inspect(message, { depth: 20, maxArrayLength: null, maxStringLength: null, breakLength: Infinity });
  if (text.includes(wanted)) appendFileSync(process.env.WATCH_NOTES, `${own} > ${to}\n`);
}

/** A worker's own post goes by a port too. */
let isWorkers = false;

if (wanted) {
  const post = MessagePort.prototype.postMessage;
  MessagePort.prototype.postMessage = function (message, ...rest) {
    if (!isWorkers) look(message, 'port');
    return post.call(this, message, ...rest);
  };
  workerThreads.Worker = class extends workerThreads.Worker {
    constructor(file, options = {}) {
      super(file, options);
      this.watchedName = options.name ?? 'unnamed';
      look(options.workerData, `${this.watchedName} (workerData)`);
    }

    postMessage(message, ...rest) {
      look(message, this.watchedName);
      isWorkers = true;
      try {
        return super.postMessage(message, ...rest);
      } finally {
        isWorkers = false;
      }
    }
  };
  syncBuiltinESMExports();
}
