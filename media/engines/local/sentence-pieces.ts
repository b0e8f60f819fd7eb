/**
 * Cuts a text into the pieces that are spoken one at a time: sentences, and clauses of sentences that would take too
 * long to make. Called by the speech scheduler. Pieces joined are the text, letter for letter, so that what was heard
 * can be told from what was said. Never cuts inside a number, a time or an abbreviation while
 * the piece is of sane length.
 */

/** What ends a piece: it decides how much silence is kept after it. */
export type PieceEnd = 'sentence' | 'clause' | 'none' | 'text';

export interface Piece {
  text: string;
  end: PieceEnd;
}

/** About 8 s of speech and 100 ms of CPU with `slt`. */
const PIECE_COST = 120;
/** A digit takes about four letters' time to say. */
const DIGIT_COST = 4;
/** A comma nearer to the start than this makes a clause too short to stand alone. */
const CLAUSE_COST = 25;

const SENTENCE_END = /(?:[.!?]+["')\]”’]*(?=\s)|[\n\r]+)\s*/g;
const ABBREVIATION =
  /(?:^|[\s("'])(?:dr|mr|mrs|ms|st|jr|sr|vs|etc|inc|ltd|co|no|ext|dept|approx|e\.g|i\.e|a\.m|p\.m|u\.s|[a-z])\.$/i;
/** After these a capital letter tells nothing: a name or a number follows. */
const TITLE = /(?:^|[\s("'])(?:dr|mr|mrs|ms|st|no|ext|vs|e\.g|i\.e|[a-z])\.$/i;

export function sentencePieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  for (const sentence of sentences(text)) cutLong(sentence, pieces);
  const last = pieces.at(-1);
  if (last !== undefined) last.end = 'text';
  return pieces;
}

function sentences(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  for (const match of text.matchAll(SENTENCE_END)) {
    const end = match.index + match[0].length;
    const upTo = text.slice(start, match.index + match[0].trimEnd().length);
    const next = text[end];
    if (!/[\n\r]/.test(match[0]) && next !== undefined && ABBREVIATION.test(upTo)) {
      if (TITLE.test(upTo) || !/[A-Z]/.test(next)) continue;
    }
    if (upTo.trim() === '' && found.length === 0) continue;
    found.push(text.slice(start, end));
    start = end;
  }
  if (start < text.length) found.push(text.slice(start));
  return found;
}

function cutLong(sentence: string, pieces: Piece[]): void {
  let rest = sentence;
  for (;;) {
    const fits = fittingLength(rest);
    if (fits >= rest.length) break;
    const { at, end } = bestCut(rest, fits);
    pieces.push({ text: rest.slice(0, at), end });
    rest = rest.slice(at);
  }
  pieces.push({ text: rest, end: 'sentence' });
}

/** How many characters of `text` cost at most one piece. */
function fittingLength(text: string): number {
  let cost = 0;
  for (let i = 0; i < text.length; i++) {
    cost += isDigit(text.charCodeAt(i)) ? DIGIT_COST : 1;
    if (cost > PIECE_COST) return Math.max(1, i);
  }
  return text.length;
}

function bestCut(text: string, fits: number): { at: number; end: PieceEnd } {
  for (let at = fits; at > CLAUSE_COST; at--) {
    if (/[,;:\u2013\u2014]/.test(text[at - 2] ?? '') && /\s/.test(text[at - 1]!)) return { at, end: 'clause' };
  }
  for (let at = fits; at > 1; at--) if (/\s/.test(text[at - 1]!)) return { at, end: 'none' };
  const code = text.charCodeAt(fits - 1);
  // Not between the halves of a surrogate pair.
  return { at: code >= 0xd800 && code <= 0xdbff && fits > 1 ? fits - 1 : fits, end: 'none' };
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
