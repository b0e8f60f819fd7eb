/**
 * Do the quotes really stand in the turns? What is found is given back letter for letter as it stands there; what is
 * not is counted. Pure; everything that a model quotes goes through here.
 */
import type { Turn } from '../../media/contract/conversation.ts';
import { BOUNDS, type Evidence } from '../calls/findings.ts';

export interface CheckedEvidence {
  evidence: Evidence[];
  /** Quotes that stand in no such turn. */
  invented: number;
}

/** Case, blanks and the kind of quotation marks do not matter; words do. Only what was heard counts. */
export function checkEvidence(claims: readonly Evidence[], turns: readonly Turn[]): CheckedEvidence {
  const byId = new Map(turns.map((turn) => [turn.turnId, turn]));
  const evidence: Evidence[] = [];
  let invented = 0;
  for (const claim of claims) {
    const turn = byId.get(claim.turnId);
    const quote = turn === undefined ? null : standsIn(claim.quote, turn.heardText);
    if (quote === null) invented++;
    else if (
      evidence.length < BOUNDS.evidence &&
      !evidence.some((one) => one.turnId === claim.turnId && one.quote === quote)
    ) {
      evidence.push({ turnId: claim.turnId, quote });
    }
  }
  return { evidence, invented };
}

/** The part of `text` that says `quote`; null when it does not. */
function standsIn(quote: string, text: string): string | null {
  const wanted = fold(quote.replace(/^[\s"'“”‘’…]+|[\s"'“”‘’…]+$/gu, '')).folded;
  if (wanted === '' || wanted.length > BOUNDS.quoteCharacters) return null;
  const { folded, places } = fold(text);
  for (let at = folded.indexOf(wanted); at !== -1; at = folded.indexOf(wanted, at + 1)) {
    const end = at + wanted.length;
    // A word and not a part of one.
    if (isLetter(folded[at - 1]) && isLetter(folded[at])) continue;
    if (isLetter(folded[end]) && isLetter(folded[end - 1])) continue;
    return text.slice(places[at], places[end - 1]! + 1);
  }
  return null;
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}

/** Lower case, single blanks, plain apostrophes; `places` says where each character stood. */
function fold(text: string): { folded: string; places: number[] } {
  let folded = '';
  const places: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    const lower = /\s/u.test(character) ? ' ' : /[’‘`]/u.test(character) ? "'" : character.toLowerCase();
    // A few capitals become two characters; as they are they still equal themselves.
    const kept = lower.length === 1 ? lower : character;
    if (kept === ' ' && (folded === '' || folded.endsWith(' '))) continue;
    folded += kept;
    places.push(at);
  }
  if (folded.endsWith(' ')) {
    folded = folded.slice(0, -1);
    places.pop();
  }
  return { folded, places };
}
