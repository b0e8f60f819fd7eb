/**
 * What rejected speech would have been, had it had to be one of the phrases: the phrase whose sounds lie nearest to a
 * stretch of those that were decoded. Pure; called by a decoder with what its rejection loop heard, under a
 * millisecond. A guess for people, and a poor one: half of the sounds of a loop are wrong.
 * Phrases with classes are not guessed.
 */
import type { Guess } from '../../contract/engines.ts';
import type { CompiledGrammar } from './grammar.ts';

const VOWELS = new Set('AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW'.split(' '));
/** Of a sound that is another of its kind; of another kind, or one too many or too few, it is 1. */
const SAME_KIND_COST = 0.6;

const soundsOf = new WeakMap<CompiledGrammar, { phrase: string; sounds: string[] }[]>();

/**
 * Null where nothing resembles a phrase. The confidence is twice the sounds that agree, by all sounds of both: 1 for
 * the phrase itself, less the more was said around it.
 */
export function nearestPhrase(heard: readonly string[], grammar: CompiledGrammar): Guess | null {
  let best: Guess | null = null;
  for (const { phrase, sounds } of phrasesOf(grammar)) {
    const agreeing = sounds.length - costWithin(sounds, heard);
    const confidence = (2 * agreeing) / (sounds.length + heard.length);
    if (confidence > (best?.confidence ?? 0)) best = { text: phrase, confidence };
  }
  return best;
}

function phrasesOf(grammar: CompiledGrammar): { phrase: string; sounds: string[] }[] {
  let phrases = soundsOf.get(grammar);
  if (phrases === undefined) {
    phrases = grammar.phrases
      .filter((phrase) => !phrase.includes('<'))
      .map((phrase) => {
        const sounds = phrase.split(' ').flatMap((word) => grammar.words.get(word)?.[0]?.split(' ') ?? []);
        return { phrase, sounds };
      });
    soundsOf.set(grammar, phrases);
  }
  return phrases;
}

/**
 * Edit distance of the sounds from the nearest stretch of what was heard: what lies before and behind costs nothing.
 */
function costWithin(sounds: readonly string[], heard: readonly string[]): number {
  let before = new Float64Array(heard.length + 1);
  let row = new Float64Array(heard.length + 1);
  for (const [i, sound] of sounds.entries()) {
    row[0] = i + 1;
    for (let j = 1; j <= heard.length; j++) {
      const other = heard[j - 1]!;
      const changed = before[j - 1]! + costOf(sound, other);
      row[j] = Math.min(changed, before[j]! + 1, row[j - 1]! + 1);
    }
    [before, row] = [row, before];
  }
  return Math.min(...before);
}

function costOf(sound: string, other: string): number {
  if (sound === other) return 0;
  return VOWELS.has(sound) === VOWELS.has(other) ? SAME_KIND_COST : 1;
}
