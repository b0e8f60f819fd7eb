/**
 * A grammar for an emulated recogniser: any of the phrases it expects, one after another, with anything between them
 * that is no phrase. Made once a vocabulary by the recogniser's thread. The decoder can only tell words that it was
 * given, so a scenario says what may be said; what is said decides which of it comes back, and when.
 */
import type { Grammar } from '../../../media/contract/engines.ts';
import {
  type CompiledGrammar,
  compileGrammar,
  FINAL_STATE,
  GrammarError,
  START_STATE,
} from '../../../media/engines/local/grammar.ts';
import type { Lexicon } from '../../../media/engines/local/lexicon.ts';

/**
 * Above the 9 that the gateway's own recogniser pays: at 20 a short phrase alone (`Yes.`, `Wait, stop.`) was taken for
 * sounds, at 30 it came back; at 45 so did words that nobody said, out of sentences beside the vocabulary.
 */
const SOUND_NATS = 30;
/**
 * What another phrase costs after one: else each noise behind a word becomes a short one (`yes no`). Real phrases are
 * worth far more.
 */
const AGAIN_NATS = 30;
const NOTHING: CompiledGrammar = {
  key: 'nothing',
  anywhere: true,
  phrases: [],
  arcs: [],
  states: 2,
  words: new Map(),
};

/** Phrases that the dictionary does not have are left out, as a recogniser does not know every name. */
export function createLoopedGrammars(lexicon: Lexicon): (grammar: Grammar) => CompiledGrammar {
  const grammars = new Map<string, CompiledGrammar>();
  return ({ phrases }) => {
    const key = phrases.join('\n');
    let grammar = grammars.get(key);
    if (grammar === undefined) {
      grammar = looped(phrases, lexicon);
      grammars.set(key, grammar);
    }
    return grammar;
  };
}

function looped(phrases: readonly string[], lexicon: Lexicon): CompiledGrammar {
  const known = [...new Set(phrases.flatMap(clausesOf))].filter((phrase) => isKnown(phrase, lexicon));
  if (known.length === 0) return NOTHING;
  const once = compileGrammar(known, true, lexicon);
  const again = once.arcs
    .filter(({ from }) => from === START_STATE)
    .map((arc) => ({ ...arc, from: FINAL_STATE, nats: AGAIN_NATS }));
  return { ...once, key: `looped|${once.key}`, soundNats: SOUND_NATS, arcs: [...once.arcs, ...again] };
}

/**
 * A phrase and, where it has several, its clauses: speakers pause at commas, and what stands before the pause may be
 * all that is asked for.
 */
export function clausesOf(phrase: string): string[] {
  const clauses = phrase.match(/[^,;:.!?]+[,;:.!?]*/g) ?? [];
  const spoken = clauses.map((clause) => clause.trim()).filter((clause) => /[a-z]/i.test(clause));
  return spoken.length < 2 ? [phrase] : [phrase, ...spoken];
}

function isKnown(phrase: string, lexicon: Lexicon): boolean {
  try {
    compileGrammar([phrase], true, lexicon);
    return true;
  } catch (error) {
    if (error instanceof GrammarError) return false;
    throw error;
  }
}
