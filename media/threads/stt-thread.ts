/**
 * Worker thread of the local recogniser. Its parent sends `{type:'client', port}`, once a client; it posts
 * `{type:'ready'}` when the decoders are warm, and serves clients that came before that too. What it cannot do for one
 * stream it tells that stream; a decoder that cannot be made ends the thread, so that its owner sees it.
 */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { systemClock } from '../contract/clock.ts';
import { serveSttClient } from '../engines/local/stt-service.ts';
import { reportLoad } from '../engines/local/work-meter.ts';
import { withPackages } from '../engines/missing-package.ts';
import { EARS, engineOf } from '../engines/registry.ts';

if (parentPort === null) throw new Error('stt-thread is a worker thread: start it with new Worker(…)');
const parent = parentPort;
const early: MessagePort[] = [];
let accept = (port: MessagePort): void => {
  early.push(port);
};
parent.on('message', (message: { type: string; port?: MessagePort }) => {
  if (message.type === 'client' && message.port !== undefined) accept(message.port);
});

const { packages } = engineOf(EARS, 'recogniser', 'local');
const { loadLocalListener } = await withPackages(
  'The local recogniser',
  packages,
  () => import('../engines/local/local-listener.ts'),
);
const scheduler = await loadLocalListener((error) => {
  setImmediate(() => {
    throw error;
  });
});
accept = (port) => serveSttClient(port, scheduler);
for (const port of early) accept(port);
parent.postMessage({ type: 'ready' });
reportLoad(systemClock, scheduler, (load) => parent.postMessage(load));
