/**
 * Worker thread of the emulated voices: speaks one text after the other for `emulated-voice.ts`, so that the emulator's
 * own clock does not wait for a sentence to be made. Posts `{ready}` when it is warm.
 */
import { parentPort } from 'node:worker_threads';
import { FLITE_VOICES } from '../../../../media/engines/local/flite-voice.ts';
import { loadTimedVoice, type TimedSpeech } from './timed-flite.ts';

export interface ToVoiceThread {
  id: number;
  text: string;
  voice: string;
  speed: number;
}

export type FromVoiceThread = { ready: true } | { id: number; speech: TimedSpeech } | { id: number; error: string };

const WARM_UP_TEXT = 'Thank you for calling, how can I help you today?';

if (parentPort === null) throw new Error('voice-thread is a worker thread: start it with new Worker(…)');
const parent = parentPort;
const post = (message: FromVoiceThread, transfer: ArrayBuffer[] = []): void => parent.postMessage(message, transfer);
const voice = await loadTimedVoice();
for (const name of FLITE_VOICES) voice.speak(WARM_UP_TEXT, name, 1);
voice.prepare();
parent.on('message', ({ id, text, voice: name, speed }: ToVoiceThread) => {
  try {
    const speech = voice.speak(text, name, speed);
    post({ id, speech }, [speech.samples.buffer]);
  } catch (error) {
    post({ id, error: error instanceof Error ? error.message : String(error) });
  }
  setImmediate(() => voice.prepare());
});
post({ ready: true });
