/**
 * Worker thread of an emulated recogniser: the local decoder with looped grammars, whose results carry words with
 * times. Speaks the messages of the listen thread.
 */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { systemClock } from '../../../media/contract/clock.ts';
import { createDecoderPool } from '../../../media/engines/local/decoder-pool.ts';
import { loadLexicon } from '../../../media/engines/local/lexicon.ts';
import {
  createPhraseDecoder,
  type DecoderRateHz,
  type PhraseDecoder,
} from '../../../media/engines/local/phrase-decoder.ts';
import { loadSoundswallower } from '../../../media/engines/local/soundswallower-module.ts';
import { createSttScheduler } from '../../../media/engines/local/stt-scheduler.ts';
import { serveSttClient } from '../../../media/engines/local/stt-service.ts';
import { withGermanWords } from './german-words.ts';
import { createLoopedGrammars } from './looped-grammar.ts';

const MAX_DECODERS = 24;
const WARM_UP_MS = 400;

if (parentPort === null) throw new Error('word-recogniser-thread is a worker thread: start it with new Worker(…)');
const parent = parentPort;

const [module, lexicon] = await Promise.all([loadSoundswallower(), loadLexicon()]);
const compile = createLoopedGrammars(withGermanWords(lexicon));
const create = async (rateHz: DecoderRateHz): Promise<PhraseDecoder> =>
  withWords(await createPhraseDecoder(module, rateHz));
const pool = createDecoderPool({
  create,
  limit: MAX_DECODERS,
  onFree: () => scheduler.wake(),
  onError(error) {
    setImmediate(() => {
      throw error;
    });
  },
});
const scheduler = createSttScheduler({ compile, pool, yieldThen: setImmediate, clock: systemClock });
const warm = await create(8000);
warm.begin(compile({ phrases: ['yes', 'no'] }));
warm.push(new Int16Array(8 * WARM_UP_MS));
warm.finish();
pool.adopt(8000, warm);

parent.on('message', ({ port }: { port: MessagePort }) => serveSttClient(port, scheduler));
parent.postMessage({ type: 'ready' });

/** Its hypotheses take their words along: the scheduler hands on what it is given. */
function withWords(decoder: PhraseDecoder): PhraseDecoder {
  return {
    get grammarKey() {
      return decoder.grammarKey;
    },
    begin: (grammar) => decoder.begin(grammar),
    push: (monoSamples) => decoder.push(monoSamples),
    partial() {
      const hypothesis = decoder.partial();
      return { ...hypothesis, words: decoder.words() };
    },
    finish() {
      const hypothesis = decoder.finish();
      return { ...hypothesis, words: decoder.words() };
    },
    words: () => decoder.words(),
    abandon: () => decoder.abandon(),
  };
}
