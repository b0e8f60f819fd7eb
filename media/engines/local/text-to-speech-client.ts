/**
 * The `TextToSpeech` port, spoken by the TTS thread at the other end of `port`. Called by the pipeline; any number of
 * requests at once. It keeps the event loop alive only while it waits for an answer. When the thread dies, every
 * request fails with a `VoiceError` of code `engine_gone`, and so does each later one: make a
 * new client with a new port then.
 */
import type { MessagePort } from 'node:worker_threads';
import type { SpeechChunk, TextToSpeech } from '../../contract/engines.ts';
import { LOCAL_VOICES } from '../../contract/local-voices.ts';
import { VoiceError } from '../voice-error.ts';
import { FLITE_RATE_HZ } from './flite-voice.ts';
import type { FromTts, ToTts } from './tts-messages.ts';

interface Pending {
  onChunk: (chunk: SpeechChunk) => void;
  onQueued: (() => void) | undefined;
  settle: (error: Error | null) => void;
}

export function createTextToSpeechClient(port: MessagePort): TextToSpeech {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let gone = false;

  function settle(id: number, error: Error | null): void {
    const request = pending.get(id);
    if (request === undefined) return;
    pending.delete(id);
    if (pending.size === 0) port.unref();
    request.settle(error);
  }

  function give(id: number, chunk: SpeechChunk): void {
    try {
      pending.get(id)?.onChunk(chunk);
    } catch (error) {
      send({ type: 'cancel', id });
      settle(id, error instanceof Error ? error : new Error(String(error)));
    }
  }

  const send = (message: ToTts): void => port.postMessage(message);

  port.on('message', (message: FromTts) => {
    if (message.type === 'chunk') give(message.id, { samples: message.samples, text: message.text });
    else if (message.type === 'done') settle(message.id, null);
    else if (message.type === 'working') for (const { onQueued } of pending.values()) onQueued?.();
    else if (message.type === 'failed') settle(message.id, new VoiceError(message.code, message.message));
  });
  port.on('close', () => {
    gone = true;
    for (const id of [...pending.keys()]) settle(id, goneError());
  });
  port.unref();

  return {
    outputRateHz: FLITE_RATE_HZ,
    voices: LOCAL_VOICES,
    synthesize({ text, voice, signal, ahead = false, isFixed = false, onQueued }, onChunk) {
      if (signal.aborted) return Promise.reject(abortError());
      if (gone) return Promise.reject(goneError());
      const id = ++lastId;
      return new Promise<void>((resolve, reject) => {
        const abort = (): void => {
          send({ type: 'cancel', id });
          settle(id, abortError());
        };
        pending.set(id, {
          onChunk,
          onQueued,
          settle(error) {
            signal.removeEventListener('abort', abort);
            if (error === null) resolve();
            else reject(error);
          },
        });
        signal.addEventListener('abort', abort);
        port.ref();
        send({ type: 'synthesize', id, text, voice, ahead, isFixed });
      });
    },
  };
}

function abortError(): Error {
  return new DOMException('The speech was cancelled.', 'AbortError');
}

function goneError(): VoiceError {
  return new VoiceError('engine_gone', 'The speech thread is gone.');
}
