// A recorder thread that writes nothing. A call named `finds…` makes it find what an earlier run left behind. A call
// named `die…` kills it at its close, each time.
import { parentPort } from 'node:worker_threads';

const open = new Set();
parentPort.on('message', (message) => {
  const { epoch } = message;
  const key = `${message.callUuid} ${epoch}`;
  if (message.type === 'open') {
    open.add(key);
    if (!message.callUuid.startsWith('finds')) return;
    const recording = { path: '/left-over.2.ogg', durationMs: 7 };
    parentPort.postMessage({ type: 'finished', callUuid: 'left-over', epoch: 2, recording, error: null });
  } else {
    if (message.callUuid.startsWith('die')) throw new Error('told to die');
    const wasOpen = open.delete(key);
    const recording = { path: `/${message.callUuid}.ogg`, durationMs: message.durationMs };
    const error = wasOpen ? null : 'was not open';
    parentPort.postMessage({ type: 'finished', callUuid: message.callUuid, epoch, recording, error });
  }
});
parentPort.postMessage({ type: 'ready' });
