/** Words that a recogniser is told to look out for. Pure. */
import type { EarHints } from '../../../contract/ear.ts';

/** What the provider takes. */
export interface KeytermLimits {
  terms: number;
  chars: number;
}

/** The agent's, and what is expected now; classes such as `<digits>` are no words. */
export function keytermsOf(
  { keyterms = [] }: { keyterms?: readonly string[] },
  { phrases }: EarHints,
  most: KeytermLimits,
): string[] {
  const terms = [...keyterms, ...phrases].filter((term) => term.trim() !== '' && !/[<>]/.test(term));
  return [...new Set(terms)].filter((term) => term.length <= most.chars).slice(0, most.terms);
}
