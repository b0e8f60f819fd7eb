/**
 * Compiled grammars by their phrases, the least recently used ones forgotten. Called by the STT thread. A step's
 * phrases come again with each of its utterances, from every call of the same agent.
 */
import type { Grammar } from '../../contract/engines.ts';
import { type CompiledGrammar, compileGrammar } from './grammar.ts';
import type { Lexicon } from './lexicon.ts';

const MAX_GRAMMARS = 1000;

export function createGrammarCache(lexicon: Lexicon): (grammar: Grammar) => CompiledGrammar {
  const grammars = new Map<string, CompiledGrammar>();
  return ({ phrases, anywhere = false }) => {
    const key = `${anywhere}\n${phrases.join('\n')}`;
    let grammar = grammars.get(key);
    if (grammar === undefined) {
      grammar = compileGrammar(phrases, anywhere, lexicon);
      const oldest = grammars.size >= MAX_GRAMMARS ? grammars.keys().next().value : undefined;
      if (oldest !== undefined) grammars.delete(oldest);
    } else {
      grammars.delete(key);
    }
    grammars.set(key, grammar);
    return grammar;
  };
}
