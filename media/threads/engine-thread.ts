/**
 * What the worker threads of local engines have in common: their parent sends `{type:'client', port}`, once a client;
 * they post `{type:'ready'}` when they are warm, and serve clients that came before that too; then they report their
 * load.
 */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { systemClock } from '../contract/clock.ts';
import { type Metered, reportLoad } from '../engines/local/work-meter.ts';
import { nameThisThread } from '../io/threads/os-thread.ts';

/** Call it before anything is awaited, so that no client is missed. A `load` that rejects ends the thread. */
export async function runEngineThread<Scheduler extends Metered>(
  name: string,
  load: () => Promise<Scheduler>,
  serve: (port: MessagePort, scheduler: Scheduler) => void,
): Promise<void> {
  if (parentPort === null) throw new Error(`${name} is a worker thread: start it with new Worker(…)`);
  const parent = parentPort;
  nameThisThread(name);
  const early: MessagePort[] = [];
  let accept = (port: MessagePort): void => {
    early.push(port);
  };
  parent.on('message', (message: { type: string; port?: MessagePort }) => {
    if (message.type === 'client' && message.port !== undefined) accept(message.port);
  });
  const scheduler = await load();
  accept = (port) => serve(port, scheduler);
  for (const port of early) accept(port);
  parent.postMessage({ type: 'ready' });
  reportLoad(systemClock, scheduler, (one) => parent.postMessage(one));
}
