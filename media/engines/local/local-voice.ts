/**
 * The local voice as the registry gives it, over the speech thread: a sentence is asked of the thread of now, so that
 * calls go on speaking when the thread died and another has taken its place.
 */
import type { MessagePort } from 'node:worker_threads';
import type { OpenVoice } from '../../contract/engine-kinds.ts';
import type { TextToSpeech } from '../../contract/engines.ts';
import { FLITE_RATE_HZ, FLITE_VOICES } from './flite-voice.ts';
import { createTextToSpeechClient } from './text-to-speech-client.ts';

export function localVoiceOf(portNow: () => MessagePort): OpenVoice {
  let port: MessagePort | null = null;
  let client: TextToSpeech;
  const voice: TextToSpeech = {
    outputRateHz: FLITE_RATE_HZ,
    voices: FLITE_VOICES,
    synthesize(request, onChunk) {
      const now = portNow();
      if (now !== port) client = createTextToSpeechClient(now);
      port = now;
      return client.synthesize(request, onChunk);
    },
  };
  return () => voice;
}
