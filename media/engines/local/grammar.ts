/**
 * Compiles what a step listens for into a graph of words for the decoder. Called by the STT
 * thread, once a set of phrases.
 *
 * A phrase is 1 to 20 words between spaces. A word is an English word of the packaged dictionary (letters, apostrophe,
 * and a full stop or hyphen where the dictionary has one; case does not matter), or one of the classes
 *   `<digits>`  one or more spoken digits: zero, oh, one … nine        `<name>`  a first name of `first-names.ts`
 * The marks `, . ! ? ; :` after a word are dropped, and a hyphenated word that is not in the dictionary is taken as two
 * words. Numbers are written as words. Letters that are spelled are single letters (`p m`). At most 400 phrases.
 *
 * The graph is a trie: state 0 starts, state 1 ends, each phrase is a path. `rejection.ts` adds the paths for
 * everything else: beside the phrases, or around them for phrases that are looked for inside longer speech.
 */
import { FIRST_NAMES } from './first-names.ts';
import type { Lexicon } from './lexicon.ts';

export const DIGIT_WORDS: readonly string[] = 'zero oh one two three four five six seven eight nine'.split(' ');
const CLASSES: ReadonlyMap<string, readonly string[]> = new Map([
  ['<digits>', DIGIT_WORDS],
  ['<name>', FIRST_NAMES],
]);
const MAX_PHRASES = 400;
const MAX_PHRASE_WORDS = 20;

export const START_STATE = 0;
export const FINAL_STATE = 1;

export interface Arc {
  from: number;
  to: number;
  word: string;
  /** What it costs to go this way, as a natural logarithm; default nothing. */
  nats?: number;
}

export interface CompiledGrammar {
  /** Equal for equal phrases in any order: decoders that hold it need not load it again. */
  key: string;
  /** Phrases may stand anywhere in the utterance; else the utterance is a phrase. */
  anywhere: boolean;
  /** What a sound outside of the phrases costs when they may stand anywhere; default in `rejection.ts`. */
  soundNats?: number;
  /** Each phrase once, its words between single blanks. */
  phrases: readonly string[];
  arcs: readonly Arc[];
  states: number;
  /** Each word of the arcs once, with its pronunciations. */
  words: ReadonlyMap<string, readonly string[]>;
}

/** `faults` has one line for each thing that is wrong, each naming its phrase. */
export class GrammarError extends Error {
  override readonly name = 'GrammarError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The phrases cannot be listened for: ${faults.slice(0, 5).join('; ')}${faults.length > 5 ? '; …' : ''}`);
    this.faults = faults;
  }
}

/** Throws `GrammarError`. */
export function compileGrammar(phrases: readonly string[], anywhere: boolean, lexicon: Lexicon): CompiledGrammar {
  const faults: string[] = [];
  if (phrases.length === 0) faults.push('there is no phrase');
  if (phrases.length > MAX_PHRASES) faults.push(`${phrases.length} phrases are more than ${MAX_PHRASES}`);
  const graph = new Graph(lexicon);
  const normal = new Set<string>();
  for (const phrase of phrases.slice(0, MAX_PHRASES)) {
    const tokens = phraseTokens(phrase, lexicon);
    const fault = tokens.length === 0 ? 'has no word' : faultOf(tokens, lexicon);
    if (fault !== null) {
      faults.push(`"${phrase.slice(0, 80)}" ${fault}`);
      continue;
    }
    normal.add(tokens.join(' '));
  }
  if (faults.length > 0) throw new GrammarError(faults);
  const sorted = [...normal].sort();
  for (const phrase of sorted) graph.addPath(phrase.split(' '));
  const key = `${anywhere ? 'anywhere' : 'whole'}|${sorted.join('|')}`;
  return { key, anywhere, phrases: sorted, arcs: graph.arcs, states: graph.states, words: graph.words };
}

/** The words of a phrase as the decoder knows them. */
export function phraseTokens(phrase: string, lexicon: Lexicon): string[] {
  const tokens: string[] = [];
  for (const raw of phrase.toLowerCase().replaceAll('’', "'").split(/\s+/)) {
    if (CLASSES.has(raw)) {
      tokens.push(raw);
      continue;
    }
    const bare = raw.replace(/[,!?;:"]+/g, '');
    const word = lexicon.pronunciationsOf(bare).length > 0 ? bare : bare.replace(/\.+$/, '');
    if (word === '') continue;
    if (lexicon.pronunciationsOf(word).length === 0 && /^[a-z']+(?:[.-][a-z']+)+$/.test(word)) {
      tokens.push(...word.split(/[.-]/));
    } else {
      tokens.push(word);
    }
  }
  return tokens;
}

function faultOf(tokens: readonly string[], lexicon: Lexicon): string | null {
  if (tokens.length > MAX_PHRASE_WORDS) return `has ${tokens.length} words, more than ${MAX_PHRASE_WORDS}`;
  for (const token of tokens) {
    if (CLASSES.has(token)) continue;
    if (/^<.*>$/.test(token)) return `has the class ${token}: there are ${[...CLASSES.keys()].join(' and ')}`;
    if (/\d/.test(token)) return `has the number ${token}: write it as words`;
    if (lexicon.pronunciationsOf(token).length === 0) return `has the word "${token}", which is not in the dictionary`;
  }
  return null;
}

class Graph {
  readonly arcs: Arc[] = [];
  readonly words = new Map<string, readonly string[]>();
  states = 2;
  readonly #lexicon: Lexicon;
  readonly #known = new Set<string>();
  /** State behind a path of tokens: phrases that begin alike share their states. */
  readonly #prefixes = new Map<string, number>();

  constructor(lexicon: Lexicon) {
    this.#lexicon = lexicon;
  }

  /**
   * The last word of a phrase leads to the final state, and also to a state of its own when a
   * longer phrase goes on from there.
   */
  addPath(tokens: readonly string[]): void {
    let from = START_STATE;
    let prefix = '';
    tokens.forEach((token, i) => {
      prefix = `${prefix} ${token}`;
      const isLast = i === tokens.length - 1;
      const repeats = token === '<digits>';
      let to = this.#prefixes.get(prefix);
      if (to === undefined && (!isLast || repeats)) {
        to = this.states++;
        this.#prefixes.set(prefix, to);
      }
      for (const word of CLASSES.get(token) ?? [token]) {
        if (to !== undefined) this.#addArc(from, to, word);
        if (to !== undefined && repeats) this.#addArc(to, to, word);
        if (isLast) this.#addArc(from, FINAL_STATE, word);
        if (isLast && to !== undefined && repeats) this.#addArc(to, FINAL_STATE, word);
      }
      from = to ?? FINAL_STATE;
    });
  }

  #addArc(from: number, to: number, word: string): void {
    const key = `${from} ${to} ${word}`;
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.arcs.push({ from, to, word });
    if (!this.words.has(word)) this.words.set(word, this.#lexicon.pronunciationsOf(word));
  }
}
