/**
 * The voice of emulated providers: speaks the text that it is given (with Flite, in a thread) in the form that a client
 * asked for, with the time of each character. What was said before is kept, so that load runs send sound that was made
 * once. Given to the emulators of providers that speak; started by `main.ts` and by tests.
 */
import { Worker } from 'node:worker_threads';
import { builtEntry } from '../../../../src/config/built-entry.ts';
import type { CharTimes } from './phone-alignment.ts';
import { encoded, type SoundFormat } from './sound-format.ts';
import type { TimedSpeech } from './timed-flite.ts';
import type { FromVoiceThread, ToVoiceThread } from './voice-thread.ts';

export interface SpeechRequest {
  text: string;
  /** One of Flite's: `slt`, `rms`, `awb`, `kal16`. */
  voice: string;
  speed: number;
  format: SoundFormat;
}

export interface Speech {
  /** In the format that was asked for; empty when there is nothing to say. */
  bytes: Buffer;
  /** Of the text as it was given: one entry a UTF-16 unit. */
  times: CharTimes;
  /** The text in words, and its times. */
  spoken: string;
  spokenTimes: CharTimes;
}

export interface EmulatedVoice {
  /** Rejects when the engine fails or its thread is gone. */
  speak(request: SpeechRequest): Promise<Speech>;
  close(): Promise<void>;
}

/** About 3 MB of sound each at most. */
const MOST_KEPT = 500;

type Pending = { resolve: (speech: TimedSpeech) => void; reject: (error: Error) => void };

/** Needs a build: threads load built files. Resolves when the voice is warm. */
export async function startEmulatedVoice(): Promise<EmulatedVoice> {
  const worker = new Worker(builtEntry('bench/emulators/providers/voice/voice-thread.js'));
  const pending = new Map<number, Pending>();
  const kept = new Map<string, Promise<Speech>>();
  let lastId = 0;
  let gone: Error | null = null;

  const fail = (error: Error): void => {
    gone ??= error;
    for (const { reject } of pending.values()) reject(gone);
    pending.clear();
  };
  worker.on('error', fail);
  worker.on('exit', (code) => fail(new Error(`the emulated voice ended with code ${code}`)));
  await new Promise<void>((resolve, reject) => {
    worker.once('error', reject);
    worker.on('message', (message: FromVoiceThread) => {
      if ('ready' in message) return resolve();
      const waiting = pending.get(message.id);
      pending.delete(message.id);
      if ('speech' in message) waiting?.resolve(message.speech);
      else waiting?.reject(new Error(message.error));
    });
  });

  function timed(text: string, voice: string, speed: number): Promise<TimedSpeech> {
    if (gone !== null) return Promise.reject(gone);
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      pending.set(id, { resolve, reject });
      worker.postMessage({ id, text, voice, speed } satisfies ToVoiceThread);
    });
  }

  async function speakAnew({ text, voice, speed, format }: SpeechRequest): Promise<Speech> {
    const { samples, times, spoken, spokenTimes } = await timed(text, voice, speed);
    return { bytes: await encoded(samples, format), times, spoken, spokenTimes };
  }

  return {
    speak(request) {
      const key = JSON.stringify(request);
      const known = kept.get(key);
      // The latest asked for is the last to be forgotten.
      kept.delete(key);
      const speech = known ?? speakAnew(request);
      kept.set(key, speech);
      speech.catch(() => kept.delete(key));
      if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
      return speech;
    },
    async close() {
      await worker.terminate();
    },
  };
}
