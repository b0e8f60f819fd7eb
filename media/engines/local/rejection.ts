/**
 * The paths for speech that fits no phrase: loops over the 39 sounds of English, each as a word of its own. A loop can follow
 * anything, so it would always win; it pays for each sound, and to be entered, and what a phrase must beat it by is set by these
 * prices alone, however many phrases there are. Measured in docs/decisions/embedded-engines.md.
 *
 *   whole utterances     0 ─phrase→ 1       0 ─sound→ loop ─sound→ … → 1     (the loop stands beside the phrases)
 *   phrases anywhere     0 ⟲ sounds ─phrase→ 1 ⟲ sounds    0 ─sound→ 1      (the loops stand before and behind them)
 */
import { type CompiledGrammar, FINAL_STATE, START_STATE } from './grammar.ts';

export const SOUNDS: readonly string[] =
  'AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH'.split(' ');

/** Prices in nats (natural logarithm of a likelihood ratio). */
const WHOLE_ENTRY_NATS = 72;
const WHOLE_SOUND_NATS = 4;
const ANYWHERE_SOUND_NATS = 9;

/** The decoder's own word for a pause; it leaves it out of its text. */
const PAUSE = '<sil>';

/** No word of the dictionary begins like this. */
const PREFIX = '~';

export function soundWord(sound: string): string {
  return PREFIX + sound;
}

/** The sounds among the decoder's words. */
export function soundsIn(words: string): string[] {
  return words.split(' ').flatMap((word) => (word.startsWith(PREFIX) ? [word.slice(PREFIX.length)] : []));
}

/**
 * Reads the decoder's words. Whole utterances: a sound among them rejects. Anywhere: the words between the sounds, and a rejection when
 * there are none.
 */
export function hypothesisOf(words: string, anywhere: boolean): { text: string; rejected: boolean } {
  if (!words.includes(PREFIX)) return { text: words, rejected: false };
  if (!anywhere) return { text: '', rejected: true };
  const text = words
    .split(' ')
    .filter((word) => !word.startsWith(PREFIX))
    .join(' ');
  return { text, rejected: text === '' };
}

/** A word of a hypothesis, in ms from the beginning of the utterance. */
export interface TimedWord {
  word: string;
  startMs: number;
  endMs: number;
  /** 0 to 1; the decoder's own, and no measure of right and wrong. */
  confidence: number;
}

/** The words among the decoder's segments, which are in seconds: no sounds, no pauses, and `to(2)` is `to`. */
export function timedWords(segments: readonly { t: string; b: number; d: number; p: number }[]): TimedWord[] {
  return segments
    .filter(({ t }) => !t.startsWith(PREFIX) && !/^[<([]/.test(t))
    .map(({ t, b, d, p }) => ({
      word: t.replace(/\(\d+\)$/, ''),
      startMs: Math.round(b * 1000),
      endMs: Math.round((b + d) * 1000),
      confidence: p,
    }));
}

export interface PricedArc {
  from: number;
  to: number;
  word: string;
  nats: number;
}

/** May use one more state than the grammar has: number `grammar.states`. */
export function rejectionArcs(grammar: CompiledGrammar): PricedArc[] {
  // An utterance of nothing but silence needs a path of its own, or it would be forced into a sound.
  const arcs: PricedArc[] = [{ from: START_STATE, to: FINAL_STATE, word: PAUSE, nats: 0 }];
  for (const sound of SOUNDS) {
    const word = soundWord(sound);
    if (grammar.anywhere) {
      const nats = grammar.soundNats ?? ANYWHERE_SOUND_NATS;
      arcs.push({ from: START_STATE, to: START_STATE, word, nats });
      arcs.push({ from: START_STATE, to: FINAL_STATE, word, nats });
      arcs.push({ from: FINAL_STATE, to: FINAL_STATE, word, nats });
    } else {
      const loop = grammar.states;
      const nats = WHOLE_SOUND_NATS;
      arcs.push({ from: START_STATE, to: loop, word, nats: WHOLE_ENTRY_NATS + nats });
      arcs.push({ from: START_STATE, to: FINAL_STATE, word, nats: WHOLE_ENTRY_NATS + nats });
      arcs.push({ from: loop, to: loop, word, nats });
      arcs.push({ from: loop, to: FINAL_STATE, word, nats });
    }
  }
  return arcs;
}
