/**
 * Ears for emulated recognisers: the project's own decoder and voice gate, in a thread of the emulator's process. They
 * know nothing but the sound and the phrases that may be in it. Started once a process; runs from `dist/`, because
 * worker threads load built files only.
 */
import { MessageChannel, Worker } from 'node:worker_threads';
import type { Recognition, RecognitionStream, VoiceActivity } from '../../../media/contract/engines.ts';
import type { TimedWord } from '../../../media/engines/local/rejection.ts';
import { createSpeechToTextClients } from '../../../media/engines/local/speech-to-text-client.ts';
import { loadVoiceActivity } from '../../../media/engines/local/voice-activity.ts';
import { builtEntry } from '../../../src/config/built-entry.ts';
import { startNeuralGates } from './voice-scoring.ts';

export type RecogniserRateHz = 8000 | 16000;

/** Words so far; times count from the first sample that was pushed. */
export interface HeardWords {
  words: readonly TimedWord[];
  final: boolean;
  concluded: boolean;
}

export interface WordRecogniser {
  /** `phrases`: what may be said, in any order and with anything between; unknown words are left out. */
  open(
    rateHz: RecogniserRateHz,
    phrases: readonly string[],
    onWords: (heard: HeardWords) => void,
    onError: (error: Error) => void,
  ): RecognitionStream;
  createVoiceActivity(rateHz: RecogniserRateHz): VoiceActivity;
  /** Its voice activity tells voices from other sounds: words in what is none are mistakes. */
  tellsVoices: boolean;
  close(): Promise<void>;
}

/**
 * Resolves when it is warm. `onDeath`: the thread ended by itself, and nobody is heard any more. `tellsVoices`: with
 * the neural voice activity.
 */
export async function startWordRecogniser(
  onDeath: (error: Error) => void,
  { tellsVoices = false } = {},
): Promise<WordRecogniser> {
  const worker = new Worker(builtEntry('bench/emulators/providers/word-recogniser-thread.js'));
  let isClosing = false;
  const ready = new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.on('error', (error) => {
      reject(error);
      onDeath(error);
    });
    worker.on('exit', (code) => {
      const error = new Error(`the emulated recogniser's thread ended with code ${code}`);
      reject(error);
      if (!isClosing) onDeath(error);
    });
  });
  const [gate] = await Promise.all([loadVoiceActivity(), ready]);
  const neural = tellsVoices ? startNeuralGates(gate) : null;
  const { port1, port2 } = new MessageChannel();
  worker.postMessage({ port: port2 }, [port2]);
  const clientAt = createSpeechToTextClients(port1);
  return {
    open(rateHz, phrases, onWords, onError) {
      const onResult = (result: Recognition & { words?: TimedWord[] }): void =>
        onWords({ words: result.words ?? [], final: result.final, concluded: result.concluded === true });
      return clientAt(rateHz).open({ phrases, anywhere: true }, onResult, onError);
    },
    createVoiceActivity: (rateHz) => (neural === null ? gate(rateHz) : neural.create(rateHz)),
    tellsVoices,
    async close() {
      isClosing = true;
      port1.close();
      await Promise.all([worker.terminate(), neural?.close()]);
    },
  };
}
