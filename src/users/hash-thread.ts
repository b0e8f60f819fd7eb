/** The thread that hashes and compares passwords, one after the other. Started by `password.ts`. */
import { parentPort } from 'node:worker_threads';
import { carriedOut, type HashOrder } from './password.ts';

if (parentPort === null) throw new Error('hash-thread is a worker thread: start it with new Worker(…)');
const port = parentPort;
port.on('message', (order: HashOrder) => {
  carriedOut(order).then(
    (answer) => port.postMessage(answer),
    (error: unknown) => port.postMessage({ fault: String(error) }),
  );
});
