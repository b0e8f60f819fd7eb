/**
 * The path for speech that fits no phrase: a loop over the 39 sounds of English, each as a word of its own. It can follow anything,
 * so it would always win; it pays to enter and pays for each sound, and what a phrase must beat it by is set by these two
 * prices. They do not depend on how many phrases there are. Measured in docs/decisions/embedded-engines.md.
 */
import { FINAL_STATE, START_STATE } from './grammar.ts';

export const SOUNDS: readonly string[] =
  'AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH'.split(' ');

/** Prices in nats (natural logarithm of a likelihood ratio). */
const ENTRY_NATS = 72;
const SOUND_NATS = 4;

/** No word of the dictionary begins like this. */
const PREFIX = '~';

export function soundWord(sound: string): string {
  return PREFIX + sound;
}

/** True when the decoder's words are, or hold, a path through the loop. */
export function isRejected(words: string): boolean {
  return words.includes(PREFIX);
}

/** What is left without the sounds around it: the key phrase, or nothing. */
export function withoutSounds(words: string): string {
  return words
    .split(' ')
    .filter((word) => !word.startsWith(PREFIX))
    .join(' ');
}

export interface PricedArc {
  from: number;
  to: number;
  word: string;
  nats: number;
}

/** The loop stands on `state`, a state that the grammar does not use. */
export function rejectionArcs(state: number): PricedArc[] {
  const arcs: PricedArc[] = [];
  for (const sound of SOUNDS) {
    const word = soundWord(sound);
    arcs.push({ from: START_STATE, to: state, word, nats: ENTRY_NATS + SOUND_NATS });
    arcs.push({ from: START_STATE, to: FINAL_STATE, word, nats: ENTRY_NATS + SOUND_NATS });
    arcs.push({ from: state, to: state, word, nats: SOUND_NATS });
    arcs.push({ from: state, to: FINAL_STATE, word, nats: SOUND_NATS });
  }
  return arcs;
}

/**
 * Any sounds before a key phrase, after it, and instead of it. Around a key phrase there is always something else, so nothing is paid
 * to enter. At 4 nats a sound 126 of 128 lines (four voices, clean and noisy, 12 phrases) were right and none was taken for a
 * phrase that it did not hold; from 6 nats on there were false ones.
 */
export function soundsAroundArcs(): PricedArc[] {
  const arcs: PricedArc[] = [];
  for (const sound of SOUNDS) {
    const word = soundWord(sound);
    arcs.push({ from: START_STATE, to: START_STATE, word, nats: SOUND_NATS });
    arcs.push({ from: START_STATE, to: FINAL_STATE, word, nats: SOUND_NATS });
    arcs.push({ from: FINAL_STATE, to: FINAL_STATE, word, nats: SOUND_NATS });
  }
  return arcs;
}
