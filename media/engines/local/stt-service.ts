/**
 * One client of the STT thread: reads `ToStt` from its port and answers `FromStt`. Called by the thread once a client.
 * A client that goes away takes its streams with it. Audio for a stream that is over is ignored.
 */
import type { MessagePort } from 'node:worker_threads';
import type { FromStt, ToStt } from './stt-messages.ts';
import type { SttScheduler, SttStream } from './stt-scheduler.ts';

export function serveSttClient(port: MessagePort, scheduler: SttScheduler): void {
  const streams = new Map<number, SttStream>();
  const send = (message: FromStt): void => port.postMessage(message);

  function open(message: ToStt & { type: 'open' }): void {
    const { id } = message;
    if (message.rateHz !== 8000 && message.rateHz !== 16000) {
      send({ type: 'failed', id, message: `The local recogniser hears 8000 or 16000 Hz, not ${message.rateHz}` });
      return;
    }
    try {
      const stream = scheduler.open(message.rateHz, message.grammar, {
        onResult(result) {
          if (result.final) streams.delete(id);
          send({ type: 'result', id, result });
        },
        onError(text) {
          streams.delete(id);
          send({ type: 'failed', id, message: text });
        },
      });
      streams.set(id, stream);
    } catch (error) {
      send({ type: 'failed', id, message: error instanceof Error ? error.message : String(error) });
    }
  }

  port.on('message', (message: ToStt | null) => {
    if (message === null) return;
    if (message.type === 'audio') {
      if (message.samples instanceof Int16Array) streams.get(message.id)?.push(message.samples);
    } else if (message.type === 'finish') streams.get(message.id)?.finish();
    else if (message.type === 'conclude') streams.get(message.id)?.conclude();
    else if (message.type === 'go-on') streams.get(message.id)?.goOn();
    else if (message.type === 'open') open(message);
    else if (message.type === 'cancel') {
      streams.get(message.id)?.cancel();
      streams.delete(message.id);
    }
  });
  port.on('close', () => {
    for (const stream of streams.values()) stream.cancel();
    streams.clear();
  });
}
