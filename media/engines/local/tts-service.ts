/**
 * One client of the TTS thread: reads `ToTts` from its port and answers `FromTts`. Called by the thread once a client.
 * A client that goes away takes its requests with it. A message that is none of ours is ignored.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Clock } from '../../contract/clock.ts';
import type { FromTts, ToTts } from './tts-messages.ts';
import type { TtsListener, TtsScheduler } from './tts-scheduler.ts';

/** A client that waits is told so often that the thread lives. */
const WORKING_EVERY_MS = 1_000;

export function serveTtsClient(port: MessagePort, scheduler: TtsScheduler, clock: Pick<Clock, 'after'>): void {
  const cancels = new Map<number, () => void>();
  const send = (message: FromTts, transfer?: ArrayBuffer): void =>
    port.postMessage(message, transfer === undefined ? [] : [transfer]);

  let telling = false;
  const tellWorking = (): void => {
    if (telling) return;
    telling = true;
    clock.after(WORKING_EVERY_MS, () => {
      telling = false;
      if (cancels.size === 0) return;
      send({ type: 'working' });
      tellWorking();
    });
  };

  port.on('message', (message: ToTts | null) => {
    if (message === null) return;
    if (message.type === 'cancel') {
      cancels.get(message.id)?.();
      cancels.delete(message.id);
      return;
    }
    if (message.type !== 'synthesize') return;
    const { id } = message;
    let over = false;
    const listener: TtsListener = {
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
    };
    const [text, voice] = [String(message.text), String(message.voice)];
    const cancel = scheduler.request(text, voice, listener, message.ahead === true, message.isFixed === true);
    if (over) return;
    cancels.set(id, cancel);
    tellWorking();
  });
  port.on('close', () => {
    for (const cancel of cancels.values()) cancel();
    cancels.clear();
  });
}
