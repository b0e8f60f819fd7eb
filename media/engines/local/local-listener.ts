/**
 * Puts the local recogniser together: module, dictionary, decoders, scheduler. Called by the STT thread, and by tests
 * that need the recogniser without a thread. Two decoders are made and run ahead of the first utterance.
 */
import { systemClock } from '../../contract/clock.ts';
import { createDecoderPool } from './decoder-pool.ts';
import { createGrammarCache } from './grammar-cache.ts';
import { loadLexicon } from './lexicon.ts';
import { createPhraseDecoder } from './phrase-decoder.ts';
import { loadSoundswallower } from './soundswallower-module.ts';
import { createSttScheduler, type SttScheduler } from './stt-scheduler.ts';

/** At 4 to 6 % of a core per speaking caller more could not keep up; each takes 7 MB. */
const MAX_DECODERS = 24;
const WARM_DECODERS = 2;
const WARM_UP_MS = 400;

/** `onError` gets what the recogniser could not do for reasons of its own: a decoder that cannot be made. */
export async function loadLocalListener(onError: (error: unknown) => void): Promise<SttScheduler> {
  const [module, lexicon] = await Promise.all([loadSoundswallower(), loadLexicon()]);
  const compile = createGrammarCache(lexicon);
  const pool = createDecoderPool({
    create: (rateHz) => createPhraseDecoder(module, rateHz),
    limit: MAX_DECODERS,
    onFree: () => scheduler.wake(),
    onError,
  });
  const scheduler = createSttScheduler({ compile, pool, yieldThen: setImmediate, clock: systemClock });
  for (let i = 0; i < WARM_DECODERS; i++) {
    const decoder = await createPhraseDecoder(module, 8000);
    decoder.begin(compile({ phrases: ['yes', 'no'] }));
    decoder.push(new Int16Array(8 * WARM_UP_MS));
    decoder.finish();
    pool.adopt(8000, decoder);
  }
  return scheduler;
}
