/**
 * Text in pieces for the voice engine: of a whole text all at once, of a feed each as soon as it is sure where it ends,
 * so that a sentence is spoken while the next is still being thought of. Used by the renderer.
 */
import { TextFeed } from '../../contract/speech-source.ts';
import { type Piece, piecesOf } from './sentences.ts';

export interface PieceSource {
  /** The next piece; null when there is none, or none yet. */
  next(): Piece | null;
  /** There will be none any more. */
  readonly isOver: boolean;
}

export function textPieces(text: string): PieceSource {
  const pieces = piecesOf(text);
  let at = 0;
  return {
    next: () => pieces[at++] ?? null,
    get isOver() {
      return at >= pieces.length;
    },
  };
}

export class FeedPieces implements PieceSource {
  readonly #feed: TextFeed;
  #from = 0;
  #ready: Piece[] = [];

  constructor(feed: TextFeed) {
    this.#feed = feed;
  }

  get isOver(): boolean {
    if (this.#ready.length === 0) this.#cut();
    return this.#feed.isFinished && this.#ready.length === 0;
  }

  next(): Piece | null {
    if (this.#ready.length === 0) this.#cut();
    const piece = this.#ready.shift() ?? null;
    if (piece !== null) this.#from = piece.charStart + piece.text.length;
    return piece;
  }

  /** The last piece may go on, unless something stands behind its end or nothing can come any more. */
  #cut(): void {
    const { text, isFinished } = this.#feed;
    const rest = text.slice(this.#from);
    const pieces = piecesOf(rest, this.#from === 0, !isFinished);
    const last = pieces.at(-1);
    if (last !== undefined && !isFinished && !endsSentence(rest.slice(last.charStart))) pieces.pop();
    this.#ready = pieces.map((piece) => ({ ...piece, charStart: piece.charStart + this.#from }));
  }
}

/** It would be cut off from whatever comes after it. */
function endsSentence(text: string): boolean {
  return /\s$/.test(text) && piecesOf(`${text}next`, false).length > 1;
}

/** What a feed still has to give, after `lead`; the feed is then nobody else's. */
export function restOfFeed(feed: TextFeed, lead: string): TextFeed {
  const rest = new TextFeed();
  let taken = feed.text.length;
  const follow = (): void => {
    rest.push(feed.text.slice(taken));
    taken = feed.text.length;
    if (!feed.isFinished) return;
    if (feed.error === null) rest.finish();
    else rest.fail(feed.error);
  };
  rest.push(lead);
  rest.onAbandon = () => feed.abandon();
  feed.onChange = follow;
  follow();
  return rest;
}
