import { MessageChannel } from 'node:worker_threads';
import { loadFliteVoice } from '../../../../../media/engines/local/flite-voice.ts';
import { grammarEarOf } from '../../../../../media/engines/local/grammar-ear.ts';
import { loadLocalListener } from '../../../../../media/engines/local/local-listener.ts';
import { createSpeechToTextClient } from '../../../../../media/engines/local/speech-to-text-client.ts';
import { serveSttClient } from '../../../../../media/engines/local/stt-service.ts';
import { describeCallEar } from '../call-ear-conformance.ts';
import { overTheLine } from '../speech-fixtures.ts';

const voice = await loadFliteVoice();
const scheduler = await loadLocalListener(() => {});

describeCallEar('The local recogniser', async (listener) => {
  const { port1, port2 } = new MessageChannel();
  serveSttClient(port1, scheduler);
  const ear = grammarEarOf(createSpeechToTextClient(port2, 8000))(listener);
  return {
    ear,
    speech: (text) => overTheLine(voice, text),
    step: () => new Promise((resolve) => setTimeout(resolve, 1)),
    close: () => port2.close(),
  };
});
