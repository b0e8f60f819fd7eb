/**
 * What the local voice and recogniser cost on this machine, as one line of JSON: ms of work for a second of speech
 * made, and for a second heard. `parley doctor` runs it in a process of its own and tells from it how many calls of an
 * agent the machine carries. Takes a second or two.
 */
import { loadFliteVoice } from './engines/local/flite-voice.ts';
import { createGrammarCache } from './engines/local/grammar-cache.ts';
import { loadLexicon } from './engines/local/lexicon.ts';
import { createPhraseDecoder } from './engines/local/phrase-decoder.ts';
import { loadSoundswallower } from './engines/local/soundswallower-module.ts';

const RATE_HZ = 16_000;
const TIMES = 5;
const SENTENCE = {
  text: 'Yes please, that would be very kind of you.',
  voice: 'slt',
  isFirst: true,
  end: 'text' as const,
};
const PHRASES = ['yes', 'yes please', 'no', 'no thank you', 'that would be very kind of you'];

/** Processor time, whatever else runs beside; the least of some. The first time compiles, and does not count. */
function msOf(work: () => void): number {
  work();
  let leastMs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TIMES; i++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    leastMs = Math.min(leastMs, (user + system) / 1000);
  }
  return leastMs;
}

const voice = await loadFliteVoice();
let samples = voice.speak(SENTENCE);
const voiceMs = msOf(() => {
  samples = voice.speak(SENTENCE);
});
const decoder = await createPhraseDecoder(await loadSoundswallower(), RATE_HZ);
const grammar = createGrammarCache(await loadLexicon())({ phrases: PHRASES });
const recogniserMs = msOf(() => {
  decoder.begin(grammar);
  decoder.push(samples);
  decoder.finish();
});
const seconds = samples.length / RATE_HZ;
process.stdout.write(
  `${JSON.stringify({ voiceMsPerSecond: voiceMs / seconds, recogniserMsPerSecond: recogniserMs / seconds })}\n`,
);
