/**
 * One client of the speech thread: reads `ToSpeech` from its port and answers `FromSpeech`. Called by the thread once a client.
 * A client that goes away takes its requests with it. A message that is none of ours is ignored.
 */
import type { MessagePort } from 'node:worker_threads';
import type { FromSpeech, ToSpeech } from './speech-messages.ts';
import type { SpeechScheduler } from './speech-scheduler.ts';

export function serveSpeechClient(port: MessagePort, scheduler: SpeechScheduler): void {
  const cancels = new Map<number, () => void>();
  const send = (message: FromSpeech, transfer?: ArrayBuffer): void =>
    port.postMessage(message, transfer === undefined ? [] : [transfer]);

  port.on('message', (message: ToSpeech | null) => {
    if (message === null) return;
    if (message.type === 'cancel') {
      cancels.get(message.id)?.();
      cancels.delete(message.id);
      return;
    }
    if (message.type !== 'synthesize') return;
    const { id } = message;
    let over = false;
    const cancel = scheduler.request(String(message.text), String(message.voice), {
      onChunk: ({ samples, text }) => send({ type: 'chunk', id, samples, text }, samples.buffer),
      onDone() {
        over = true;
        cancels.delete(id);
        send({ type: 'done', id });
      },
      onError(error) {
        over = true;
        cancels.delete(id);
        send({ type: 'failed', id, code: error.code, message: error.message });
      },
    });
    if (!over) cancels.set(id, cancel);
  });
  port.on('close', () => {
    for (const cancel of cancels.values()) cancel();
    cancels.clear();
  });
}
