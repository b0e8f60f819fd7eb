/**
 * Cuts what the agent says into pieces for the voice engine: sentences, and the first of them at a comma when it is
 * long, because the caller waits for the first piece only. Pure. Never cuts inside numbers, times or addresses (a
 * boundary needs white space after it), nor after a title or an initial.
 */

export interface Piece {
  text: string;
  /** Where the piece begins in the whole text. */
  charStart: number;
  /** Cut within a sentence: the voice pauses only shortly after it. */
  isClause: boolean;
}

/**
 * A first sentence over this many characters is cut at its first comma, colon or semicolon after `FIRST_CLAUSE_CHARS`.
 */
const LONG_FIRST_CHARS = 60;
const FIRST_CLAUSE_CHARS = 25;

const SENTENCE_END = /[.!?]+["')\]]*(?=\s)/g;
const CLAUSE_END = /[,;:](?=\s)/g;
const ABBREVIATIONS = new Set(
  'mr mrs ms dr prof st jr sr vs no vol fig approx dept est etc inc ltd co a.m p.m e.g i.e u.s'.split(' '),
);

/**
 * `isStart`: the caller waits for the first of them. `grows`: more of the text comes, so that nobody knows yet how long
 * its first sentence is.
 */
export function piecesOf(text: string, isStart = true, grows = false): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(SENTENCE_END)) {
    const end = match.index + match[0].length;
    if (match[0] === '.' && isAbbreviation(text.slice(from, match.index), text.slice(end))) continue;
    addPiece(pieces, text, from, end, false);
    from = end;
  }
  addPiece(pieces, text, from, text.length, false);
  const first = pieces[0];
  const isUnfinished = grows && pieces.length === 1;
  if (isStart && first !== undefined && (isUnfinished || first.text.length > LONG_FIRST_CHARS)) {
    for (const match of first.text.matchAll(CLAUSE_END)) {
      if (match.index < FIRST_CLAUSE_CHARS) continue;
      const cut = first.charStart + match.index + 1;
      const clauses: Piece[] = [];
      addPiece(clauses, text, first.charStart, cut, true);
      addPiece(clauses, text, cut, first.charStart + first.text.length, false);
      pieces.splice(0, 1, ...clauses);
      break;
    }
  }
  return pieces;
}

function addPiece(pieces: Piece[], text: string, from: number, to: number, isClause: boolean): void {
  const raw = text.slice(from, to);
  const piece = raw.trim();
  if (/[\p{L}\p{N}]/u.test(piece)) pieces.push({ text: piece, charStart: from + raw.indexOf(piece), isClause });
}

/** The word before a full stop is a title, an initial or such, and no new sentence follows for sure. */
function isAbbreviation(before: string, after: string): boolean {
  const word = before.slice(Math.max(before.lastIndexOf(' '), before.lastIndexOf('\n')) + 1).toLowerCase();
  if (/^[a-z]$/.test(word) && word !== 'i') return true;
  if (!ABBREVIATIONS.has(word.replace(/^[("']+/, ''))) return false;
  return !/^(a\.m|p\.m|etc|inc|ltd|co|u\.s|jr|sr|no)$/.test(word) || !/^\s+\p{Lu}/u.test(after);
}
