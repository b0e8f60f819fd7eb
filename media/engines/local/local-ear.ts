/**
 * The local recogniser as the registry gives it: ears of calls over the STT thread. A stream is opened on the thread
 * of now, so that a call goes on listening, from its next turn on, when the thread died and another has taken its
 * place.
 */
import type { MessagePort } from 'node:worker_threads';
import type { ListenRateHz, OpenEar } from '../../contract/engine-kinds.ts';
import type { SpeechToText } from '../../contract/engines.ts';
import { grammarEarOf } from './grammar-ear.ts';
import { createSpeechToTextClients } from './speech-to-text-client.ts';

export function localEarOf(portNow: () => MessagePort): OpenEar {
  let port: MessagePort | null = null;
  let clientAt: (rateHz: ListenRateHz) => SpeechToText;
  const clientNow = (rateHz: ListenRateHz): SpeechToText => {
    const now = portNow();
    if (now !== port) clientAt = createSpeechToTextClients(now);
    port = now;
    return clientAt(rateHz);
  };
  return (rateHz) => {
    // As the registry declares.
    const ownRateHz = rateHz as ListenRateHz;
    return grammarEarOf({
      inputRateHz: ownRateHz,
      open: (grammar, onResult, onError) => clientNow(ownRateHz).open(grammar, onResult, onError),
    });
  };
}
