/**
 * Deepgram's `listen` (v1) as the ear of one call, in a provider thread: one socket from ringing to the end, words by
 * their audio time. The call decides when a turn is over and asks for its words (`Finalize`); they are told as soon as
 * what was asked for is settled, and with what there is when it is not settled in time.
 */
import type { EarHints, EarListener } from '../../contract/ear.ts';
import {
  ANOTHER_WITHIN_MS,
  ANSWER_WITHIN_MS,
  type EarDeps,
  type EarTurn,
  SocketEar,
} from '../provider/hearing/socket-ear.ts';
import { type ToldWord, textOf } from '../provider/hearing/told-words.ts';
import type { OpenProviderEar, ProviderEarWish } from '../provider/provider-ear.ts';
import { QUIET_REPLAY_MS } from '../provider/sound-socket.ts';
import { deepgramSocket, OwnRequest } from './deepgram-socket.ts';
import { HeardWords } from './heard-words.ts';
import { DEFAULT_LISTEN_MODEL, type ListenSettings, listenUrl } from './listen-url.ts';
import { wordsIn } from './words-in.ts';

interface ListenTurn extends EarTurn {
  /** Words before it are another turn's, and so many behind it. */
  fromMs: number;
  skipped: number;
  wants: 'words' | 'conclusion' | 'final';
  /** What is asked for is known when sound up to here is settled. */
  coverMs: number;
  /** Since when its words have been asked for in vain; NaN: they have not. */
  askedAtMs: number;
}

/** Sound of a turn that is over, whose words had not come. */
interface Late {
  fromMs: number;
  toMs: number;
  /** So many of its words were told with it: what they are settled as, and when, may differ. */
  told: number;
  /** So many were there when the call was told of them. */
  announced: number;
}

const FINALIZE = '{"type":"Finalize"}';
/** The provider closes a socket over which nothing came for 10 s. */
const KEEP_ALIVE = { everyMs: 4_000, message: '{"type":"KeepAlive"}' };
/** A turn's first sound lies so far before it was certain. */
const BEFORE_ONSET_MS = 500;
/**
 * The end of what is asked for is silence already, at least so much of it (`turn-taker.ts`): where all before is
 * settled there is nothing to wait for. A `Finalize` of little sound is not always answered.
 */
const PAUSE_IS_SILENT_MS = 450;
const END_IS_SILENT_MS = 150;
/** For the final, however long was waited in the pause before. */
export const LEAST_WAIT_MS = 300;
/** Words of a turn that is over for longer answer nothing. */
const LATE_WITHIN_MS = 6_000;

export const openListenEar: OpenProviderEar = (wish, deps, listener) => new ListenEar(wish, deps, listener);

class ListenEar extends SocketEar<ListenTurn> {
  readonly #request = new OwnRequest();
  readonly #heard = new HeardWords();
  #late: Late | null = null;

  constructor(wish: ProviderEarWish, deps: EarDeps, listener: EarListener) {
    super(wish, deps, listener, deepgramSocket(wish, KEEP_ALIVE));
  }

  protected get model(): string {
    return (this.wish.settings as ListenSettings).model ?? DEFAULT_LISTEN_MODEL;
  }

  protected url(): string {
    return listenUrl(this.wish.grant, this.wish.settings as ListenSettings, this.hints, this.wish);
  }

  /** Key terms are told when a socket is opened: they hold from the next one on. */
  hint(hints: EarHints): void {
    this.hints = hints;
  }

  /** Words that were late belong to it: to them alone, where they are what it was begun for. */
  turnBegan(turn: number, onsetMs: number): void {
    this.turnDropped();
    const late = this.#isTooLate ? null : this.#late;
    this.#late = null;
    const fromMs = late?.fromMs ?? Math.max(onsetMs - BEFORE_ONSET_MS, this.doneMs);
    this.#heard.forget(fromMs);
    const skipped = late?.told ?? 0;
    this.turn = { ...this.newTurn(turn), fromMs, skipped, wants: 'words', coverMs: 0, askedAtMs: Number.NaN };
    if (late !== null && onsetMs < late.toMs) {
      this.turn.wants = 'final';
      this.turn.coverMs = late.toMs;
      this.turn.cancelWait = this.later(() => this.#answer());
      return;
    }
    this.socket.expect(true);
    if (this.isLost) this.later(() => this.fail());
    else if (this.#wordsOf(this.turn).length > 0) this.later(() => this.#tell());
  }

  mayBeOver(): void {
    this.#want('conclusion', PAUSE_IS_SILENT_MS);
  }

  wentOn(): void {
    const { turn } = this;
    if (turn === null) return;
    turn.askedAtMs = Number.NaN;
    if (turn.wants === 'final') return;
    turn.cancelWait();
    turn.wants = 'words';
    this.socket.expect(true);
  }

  turnOver(): void {
    this.#want('final', END_IS_SILENT_MS);
  }

  turnDropped(): void {
    if (this.turn === null) return;
    this.endTurn();
    this.doneMs = this.socket.pushedMs;
  }

  // ── What the call wants ───────────────────────────────────────────────────────────────────────────────

  #want(wants: 'conclusion' | 'final', silentMs: number): void {
    const { turn } = this;
    if (turn === null) return;
    turn.cancelWait();
    turn.wants = wants;
    turn.coverMs = this.socket.pushedMs - silentMs;
    // Nobody speaks: it need not say anything, and what it owes has a limit of its own.
    this.socket.expect(false);
    if (this.#isSettled(turn)) turn.cancelWait = this.later(() => this.#answer());
    else {
      this.socket.say(FINALIZE);
      const nowMs = this.deps.clock.nowMs();
      if (Number.isNaN(turn.askedAtMs)) turn.askedAtMs = nowMs;
      const waitMs = Math.max(LEAST_WAIT_MS, turn.askedAtMs + ANSWER_WITHIN_MS - nowMs);
      turn.cancelWait = this.deps.clock.after(waitMs, () => this.#answer());
    }
  }

  protected settledMs(): number {
    const fromMs = this.#late?.fromMs ?? this.turn?.fromMs ?? Math.max(this.doneMs, this.#quietMs);
    return Math.max(this.#heard.settledMs, fromMs);
  }

  /** Nobody speaks: what lies before it is not sent again. */
  get #quietMs(): number {
    return this.socket.pushedMs - QUIET_REPLAY_MS;
  }

  #isSettled({ coverMs }: ListenTurn): boolean {
    return !this.#heard.hasInterim && this.#heard.settledMs >= coverMs;
  }

  #wordsOf({ fromMs, skipped }: ListenTurn): ToldWord[] {
    return this.#heard.since(fromMs).slice(skipped);
  }

  #answer(): void {
    const { turn } = this;
    if (turn === null || turn.wants === 'words') return;
    const isFinal = turn.wants === 'final';
    const isSettled = this.#isSettled(turn);
    const words = this.#wordsOf(turn);
    if (isFinal && !isSettled && words.length === 0) {
      // Nothing was heard because nobody could hear it.
      if (turn.wasLost || !this.socket.isOpen) {
        this.fail();
        return;
      }
      if (this.isDead(turn)) {
        turn.cancelWait = this.deps.clock.after(ANOTHER_WITHIN_MS, () => this.#answer());
        return;
      }
    }
    turn.cancelWait();
    turn.wants = 'words';
    if (!isFinal) {
      this.tellWords(words, { final: false, concluded: true });
      return;
    }
    this.tellWords(words, isSettled ? { final: true } : { final: true, isLate: true });
    this.turnDropped();
    const told = turn.skipped + words.length;
    this.#late = isSettled ? null : { fromMs: turn.fromMs, toMs: this.socket.pushedMs, told, announced: told };
  }

  #tell(): void {
    const { turn } = this;
    if (turn === null) return;
    if (turn.wants !== 'words') {
      if (this.#isSettled(turn)) this.#answer();
      return;
    }
    const words = this.#wordsOf(turn);
    if (textOf(words) !== turn.told) this.tellWords(words, { final: false });
  }

  get #isTooLate(): boolean {
    return this.#late !== null && this.socket.pushedMs - this.#late.toMs > LATE_WITHIN_MS;
  }

  /** Words of a turn that is over, now that they have come: the call begins another for them, or has no use for it. */
  #tellLate(late: Late): void {
    const words = this.#heard.settled(late.fromMs, late.toMs);
    if (this.#isTooLate) this.#late = null;
    else if (words.length > late.announced) {
      late.announced = words.length;
      this.listener.speechBegan?.(words[late.told]!.startMs);
    } else if (words.length <= late.told && this.#heard.settledMs >= late.toMs - END_IS_SILENT_MS) this.#late = null;
  }

  // ── What Deepgram says ────────────────────────────────────────────────────────────────────────────────

  protected opened(requestId: string | null): void {
    this.#request.opened(requestId);
    this.#heard.dropInterim();
    this.socket.unsay(FINALIZE);
    if (this.#late !== null || (this.turn !== null && this.turn.wants !== 'words')) this.socket.say(FINALIZE);
  }

  protected said(message: Record<string, unknown>): void {
    const { type, start, duration, is_final: isFinal, channel, metadata } = message;
    if (type !== 'Results' || typeof start !== 'number' || typeof duration !== 'number') return;
    const fault = this.#request.faultOf((metadata as { request_id?: unknown } | undefined)?.request_id);
    if (fault !== null) {
      this.socket.distrust(fault);
      return;
    }
    this.answered();
    const told = (channel as { alternatives?: unknown } | null | undefined)?.alternatives;
    const [best] = Array.isArray(told) ? (told as ({ words?: unknown } | null)[]) : [];
    const audioMs = (streamMs: number): number => this.socket.audioMs(streamMs);
    const endMs = audioMs((start + duration) * 1_000);
    this.#heard.take(wordsIn(best?.words, audioMs, endMs), isFinal === true, endMs);
    if (this.turn !== null) this.#tell();
    else if (this.#late !== null) this.#tellLate(this.#late);
    else this.#heard.forget(this.doneMs);
  }
}
