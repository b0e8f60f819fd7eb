/**
 * The ear of one call whose provider tells turns of its own: that they begin, that their end is likely (`concluded`,
 * unasked), that it was none, and that they end. Where the call ends a turn first, the provider is made to end it too,
 * and what it says of sound that is done with is nobody's. A provider's ear reads its messages and calls `told`.
 *
 *   words of a new turn → speechBegan · words → words · eager → words, concluded · resumed → words · over → final
 */
import { QUIET_REPLAY_MS } from '../sound-socket.ts';
import { ANOTHER_WITHIN_MS, ANSWER_WITHIN_MS, type EarTurn, SocketEar } from './socket-ear.ts';
import { middleOf, type ToldWord, textOf } from './told-words.ts';

/** What the provider says of its turn, in audio time. */
export interface ToldTurn {
  /** `words` does not take back that the end is likely. */
  event: 'words' | 'eager' | 'resumed' | 'over';
  /** All of the turn so far. */
  words: readonly ToldWord[];
  /** Of the turn. */
  fromMs: number;
  /** It has heard so far. */
  heardMs: number;
}

/** A turn of the provider's. */
interface OwnTurn {
  words: readonly ToldWord[];
  state: 'open' | 'eager' | 'over';
  endMs: number;
}

interface CallTurn extends EarTurn {
  onsetMs: number;
  /** Its words are wanted now: there are no others when sound up to `coverMs` was heard. */
  isOver: boolean;
  coverMs: number;
  /** It was asked what the turn would be were it over, and not all was known: at this audio time; NaN: it was not. */
  askedMs: number;
}

/** The end of what is asked for is silence already, at least so much of it. */
const END_IS_SILENT_MS = 300;
/** What is asked for in a pause was said so far before it at most. */
const PAUSE_REACHES_MS = 1_500;
/** A turn that has ended before the call knew of it is its turn, if the call's begins no later than so long after. */
const CLAIM_WITHIN_MS = 300;
/** A turn's first sound lies so far before it was certain. */
const BEFORE_ONSET_MS = 500;

export abstract class TurnTellingEar extends SocketEar<CallTurn> {
  #own: OwnTurn | null = null;
  /** The provider has told of sound up to here. */
  #heardMs = Number.NEGATIVE_INFINITY;

  /** Makes the provider end its turn. `isOpen`: it has told of one. */
  protected abstract force(isOpen: boolean): void;

  turnBegan(turn: number, onsetMs: number): void {
    if (this.turn !== null) this.turnDropped();
    this.turn = { ...this.newTurn(turn), onsetMs, isOver: false, coverMs: 0, askedMs: Number.NaN };
    this.socket.expect(true);
    if (this.isLost) this.later(() => this.fail());
    else if (this.#own !== null) this.later(() => this.#claim());
  }

  /** It says itself when the end is likely. Asked, it says what it has. */
  mayBeOver(): void {
    const { turn } = this;
    const own = this.#own;
    if (turn === null || own?.state === 'eager') return;
    const askedMs = this.socket.pushedMs;
    const isKnown = own !== null && this.#hasReached(askedMs);
    turn.askedMs = isKnown ? Number.NaN : askedMs;
    if (isKnown) this.later(() => this.tellWords(own.words, { final: false, concluded: true }));
  }

  wentOn(): void {
    if (this.turn !== null) this.turn.askedMs = Number.NaN;
  }

  turnOver(): void {
    const turn = this.turn;
    if (turn === null || turn.isOver) return;
    turn.isOver = true;
    this.socket.expect(false);
    turn.coverMs = this.socket.pushedMs - END_IS_SILENT_MS;
    const isHeard = this.#isHeard(turn);
    if (!isHeard) this.force(this.#isOpen);
    turn.cancelWait = this.deps.clock.after(isHeard ? 0 : ANSWER_WITHIN_MS, () => this.#answer());
  }

  turnDropped(): void {
    if (this.turn === null) return;
    this.endTurn();
    this.doneMs = this.socket.pushedMs;
    if (this.#isOpen) this.force(true);
    this.#own = null;
  }

  // ── Turns of the call ─────────────────────────────────────────────────────────────────────────────────

  /** What was heard before the call knew of the turn. */
  #claim(): void {
    const [turn, own] = [this.turn, this.#own];
    if (turn === null || own === null) return;
    if (own.state === 'over') {
      if (turn.onsetMs > own.endMs + CLAIM_WITHIN_MS) this.#own = null;
      else this.#final(own.words, own.endMs);
    } else if (own.words.length > 0 && textOf(own.words) !== turn.told) {
      this.tellWords(own.words, own.state === 'eager' ? { final: false, concluded: true } : { final: false });
    }
  }

  #answer(): void {
    const turn = this.turn;
    if (turn === null || !turn.isOver) return;
    const words = this.#own?.words ?? [];
    const isHeard = this.#isHeard(turn);
    if (words.length === 0 && (turn.wasLost || !this.socket.isOpen)) this.fail();
    else if (words.length === 0 && !isHeard && this.isDead(turn))
      turn.cancelWait = this.deps.clock.after(ANOTHER_WITHIN_MS, () => this.#answer());
    else if (isHeard) this.#final(words, this.socket.pushedMs);
    else this.#final(words, words.at(-1)?.endMs ?? this.doneMs, true);
  }

  /** `isLate`: what the provider says of the rest, when it comes, is a turn of its own. */
  #final(words: readonly ToldWord[], doneMs: number, isLate = false): void {
    this.tellWords(words, isLate ? { final: true, isLate } : { final: true });
    this.endTurn();
    this.doneMs = Math.max(this.doneMs, doneMs);
    this.#own = null;
  }

  /** Words from before a loss, or of the first of what is sent again, would be taken for all. */
  #hasReached(askedMs: number): boolean {
    return this.socket.isUpToDate && this.#heardMs >= askedMs - PAUSE_REACHES_MS;
  }

  get #isOpen(): boolean {
    return this.#own !== null && this.#own.state !== 'over';
  }

  #isHeard({ coverMs }: CallTurn): boolean {
    return !this.#isOpen && this.#heardMs >= coverMs;
  }

  protected settledMs(): number {
    const own = this.#own;
    const onsetsMs = [this.turn?.onsetMs, this.#isOpen ? own?.words[0]?.startMs : undefined].filter(isKnown);
    const fromMs =
      onsetsMs.length === 0 ? this.socket.pushedMs - this.quietReplayMs : Math.min(...onsetsMs) - BEFORE_ONSET_MS;
    return Math.max(this.doneMs, fromMs, own?.state === 'over' ? own.endMs : fromMs);
  }

  /** Behind a turn that the provider has ended there may be the next: the call knows of none yet. */
  protected override unwantedMs(): number {
    return this.turn === null ? this.doneMs : this.settledMs();
  }

  /** Of what is sent again while nobody speaks. */
  protected get quietReplayMs(): number {
    return QUIET_REPLAY_MS;
  }

  // ── What the provider says ────────────────────────────────────────────────────────────────────────────

  protected opened(_requestId: string | null): void {
    // What it had heard is sent again.
    if (this.#own?.state !== 'over') this.#own = null;
  }

  protected told({ event: said, words: all, fromMs, heardMs }: ToldTurn): void {
    this.answered();
    const words = all.filter((word) => middleOf(word) > this.doneMs);
    this.#heardMs = heardMs;
    // A pause within what is sent again is not the one that was asked about.
    const isBehind = this.turn !== null && !Number.isNaN(this.turn.askedMs) && !this.#hasReached(this.turn.askedMs);
    const event = said === 'eager' && isBehind ? 'words' : said;
    const isOver = this.turn?.isOver === true;
    // A turn that nobody wants any more, or silence.
    if (words.length === 0) {
      // What it took for words was none.
      if (event === 'over' && this.#isOpen) this.#own = null;
      if (isOver && this.#isHeard(this.turn!)) this.later(() => this.#answer());
      return;
    }
    if (isOver && event !== 'over') this.force(true);
    const before = this.#own?.state ?? 'over';
    if (this.#own?.state === 'over') this.doneMs = Math.max(this.doneMs, this.#own.endMs);
    const own: OwnTurn = { words, state: stateAfter(event, before), endMs: heardMs };
    this.#own = own;
    if (this.turn === null) {
      // The call begins a turn, or does not want one now; it is told of each once.
      if (before === 'over') this.listener.speechBegan?.(Math.max(words[0]!.startMs, fromMs, this.doneMs));
      if (this.turn === null) return;
    }
    const isNews = textOf(words) !== this.turn.told;
    const isAsked = this.#hasReached(this.turn.askedMs);
    if (isAsked) this.turn.askedMs = Number.NaN;
    if (own.state === 'over') this.#final(own.words, own.endMs);
    else if (own.state === 'eager' || isAsked) {
      if (before !== 'eager' || isNews) this.tellWords(words, { final: false, concluded: true });
    } else if (event === 'resumed' || isNews) this.tellWords(words, { final: false });
  }
}

function stateAfter(event: ToldTurn['event'], before: OwnTurn['state']): OwnTurn['state'] {
  if (event === 'over' || event === 'eager') return event;
  return event === 'words' && before === 'eager' ? 'eager' : 'open';
}

function isKnown(ms: number | undefined): ms is number {
  return ms !== undefined;
}
