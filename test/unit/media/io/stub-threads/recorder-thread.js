// A recorder thread that writes nothing. A call named `die…` kills it at its close, each time.
import { parentPort } from 'node:worker_threads';

const open = new Set();
parentPort.on('message', (message) => {
  if (message.type === 'open') open.add(message.callUuid);
  else {
    if (message.callUuid.startsWith('die')) throw new Error('told to die');
    const wasOpen = open.delete(message.callUuid);
    const recording = { path: `/${message.callUuid}.ogg`, durationMs: message.durationMs };
    const error = wasOpen ? null : 'was not open';
    parentPort.postMessage({ type: 'finished', callUuid: message.callUuid, recording, error });
  }
});
parentPort.postMessage({ type: 'ready' });
