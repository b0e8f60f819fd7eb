/**
 * The embedded voice and recogniser for callees, in threads of the emulator's own process: the gateway's are not
 * theirs. Started by `main.ts` when a persona speaks. Runs from `dist/`, because worker threads load built files only.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { SpeechToText } from '../../../media/contract/engines.ts';
import { createSpeechToTextClient } from '../../../media/engines/local/speech-to-text-client.ts';
import { createTextToSpeechClient } from '../../../media/engines/local/text-to-speech-client.ts';
import { loadVoiceActivity } from '../../../media/engines/local/voice-activity.ts';
import { createLineRenderer } from './line-renderer.ts';
import type { CalleeEngines } from './speaking-callee.ts';

const CALLEE_RATE_HZ = 8_000;

export interface LocalEngines {
  engines: CalleeEngines;
  close(): Promise<void>;
}

/** A callee without cues only hears that somebody speaks. */
const NO_RECOGNISER: SpeechToText = {
  inputRateHz: CALLEE_RATE_HZ,
  open() {
    throw new Error('no persona listens for words, so there is no recogniser');
  },
};

/**
 * Resolves when all is warm. `onDeath` is told when a thread ends by itself: no callee can go on then. `listens`: a
 * callee listens for words; where none does there is no recogniser, which takes longest to load.
 */
export async function startLocalEngines(onDeath: (error: Error) => void, listens = true): Promise<LocalEngines> {
  const speech = startThread(new URL('../../../media/threads/tts-thread.js', import.meta.url), onDeath);
  const listen = listens
    ? startThread(new URL('../../../media/threads/stt-thread.js', import.meta.url), onDeath)
    : null;
  const [createVoiceActivity] = await Promise.all([loadVoiceActivity(), speech.ready, listen?.ready]);
  return {
    engines: {
      renderer: createLineRenderer(createTextToSpeechClient(speech.client())),
      speechToText: listen === null ? NO_RECOGNISER : createSpeechToTextClient(listen.client(), CALLEE_RATE_HZ),
      createVoiceActivity,
    },
    async close() {
      await Promise.all([speech.close(), listen?.close()]);
    },
  };
}

interface EngineThread {
  ready: Promise<void>;
  /** A port to it. */
  client(): MessagePort;
  close(): Promise<void>;
}

function startThread(entry: URL, onDeath: (error: Error) => void): EngineThread {
  const worker = new Worker(entry);
  const name = entry.pathname.split('/').at(-1);
  let closing = false;
  worker.on('error', (error) => onDeath(error));
  worker.on('exit', (code) => {
    if (!closing) onDeath(new Error(`${name} ended with code ${code}`));
  });
  return {
    ready: new Promise((resolve) => {
      worker.on('message', (message: { type: string }) => {
        if (message.type === 'ready') resolve();
      });
    }),
    client() {
      const { port1, port2 } = new MessageChannel();
      worker.postMessage({ type: 'client', port: port2 }, [port2]);
      return port1;
    },
    async close() {
      closing = true;
      await worker.terminate();
    },
  };
}
