/**
 * Deepgram's Flux (v2) as the ear of one call, in a provider thread. It tells turns of its own: their beginning, an end
 * that is likely (`concluded`, unasked), that it was none, and the end. Where the call ends a turn first, Flux is made
 * to end it too, and what it says of sound that is done with is nobody's.
 *
 *   StartOfTurn → speechBegan · Update → words · EagerEndOfTurn → words, concluded
 *   TurnResumed → words · EndOfTurn → final
 */
import type { EarHints, EarListener } from '../../contract/ear.ts';
import type { OpenProviderEar, ProviderEarWish } from '../provider/provider-ear.ts';
import type { ServiceDeps } from '../provider/provider-service.ts';
import { QUIET_REPLAY_MS } from '../provider/sound-socket.ts';
import { ANOTHER_WITHIN_MS, ANSWER_WITHIN_MS, DeepgramEar, type EarTurn } from './deepgram-ear.ts';
import { bytesPerMs } from './deepgram-socket.ts';
import { errorOfFluxCode } from './flux-errors.ts';
import { type DeepgramWord, textOf, wordsIn } from './heard-words.ts';
import { type FluxSettings, fluxModelOf, fluxUrl, keytermsOf } from './listen-url.ts';

/** A turn of Flux's, in audio time. */
interface FluxTurn {
  words: DeepgramWord[];
  state: 'open' | 'eager' | 'over';
  endMs: number;
}

interface CallTurn extends EarTurn {
  onsetMs: number;
  /** Its words are wanted now: there are no others when sound up to `coverMs` was heard. */
  isOver: boolean;
  coverMs: number;
}

const FORCE_END = '{"type":"ForceEndTurn"}';
/** Where no sound comes, no turn ends: half a second of silence takes its place. */
const SILENCE_MS = 500;
/** The end of what is asked for is silence already, at least so much of it. */
const END_IS_SILENT_MS = 300;
/** A turn that has ended before the call knew of it is its turn, if the call's begins no later than so long after. */
const CLAIM_WITHIN_MS = 300;
const MULAW_SILENCE = 0xff;

export const openFluxEar: OpenProviderEar = (wish, deps, listener) => new FluxEar(wish, deps, listener);

class FluxEar extends DeepgramEar<CallTurn> {
  #flux: FluxTurn | null = null;
  /** Flux has told of sound up to here. */
  #heardMs = Number.NEGATIVE_INFINITY;

  constructor(wish: ProviderEarWish, deps: Pick<ServiceDeps, 'clock' | 'openSocket'>, listener: EarListener) {
    const silence = new Uint8Array(SILENCE_MS * bytesPerMs(wish)).fill(wish.codec === 'mulaw' ? MULAW_SILENCE : 0);
    super(wish, deps, listener, { everyMs: SILENCE_MS, silence });
  }

  protected get model(): string {
    return fluxModelOf(this.#settings);
  }

  protected url(): string {
    return fluxUrl(this.wish.grant, this.wish.settings as FluxSettings, this.hints, this.wish);
  }

  get #settings(): FluxSettings {
    return this.wish.settings as FluxSettings;
  }

  hint(hints: EarHints): void {
    const before = keytermsOf(this.#settings, this.hints);
    this.hints = hints;
    const keyterms = keytermsOf(this.#settings, hints);
    if (keyterms.join('\n') !== before.join('\n')) this.socket.say(JSON.stringify({ type: 'Configure', keyterms }));
  }

  turnBegan(turn: number, onsetMs: number): void {
    if (this.turn !== null) this.turnDropped();
    this.turn = { ...this.newTurn(turn), onsetMs, isOver: false, coverMs: 0 };
    this.socket.expect(true);
    if (this.isLost) this.later(() => this.fail());
    else if (this.#flux !== null) this.later(() => this.#claim());
  }

  /** It says itself when the end is likely. Asked, it says what it has. */
  mayBeOver(): void {
    const flux = this.#flux;
    if (this.turn === null || flux === null || flux.state === 'eager' || flux.words.length === 0) return;
    this.later(() => this.tellWords(flux.words, { final: false, concluded: true }));
  }

  wentOn(): void {}

  turnOver(): void {
    const turn = this.turn;
    if (turn === null || turn.isOver) return;
    turn.isOver = true;
    this.socket.expect(false);
    turn.coverMs = this.socket.pushedMs - END_IS_SILENT_MS;
    if (this.#isFluxOpen) this.socket.say(FORCE_END);
    const isHeard = !this.#isFluxOpen && this.#heardMs >= turn.coverMs;
    turn.cancelWait = this.deps.clock.after(isHeard ? 0 : ANSWER_WITHIN_MS, () => this.#answer());
  }

  turnDropped(): void {
    if (this.turn === null) return;
    this.endTurn();
    this.doneMs = this.socket.pushedMs;
    if (this.#isFluxOpen) this.socket.say(FORCE_END);
    this.#flux = null;
  }

  // ── Turns of the call ─────────────────────────────────────────────────────────────────────────────────

  /** What was heard before the call knew of the turn. */
  #claim(): void {
    const [turn, flux] = [this.turn, this.#flux];
    if (turn === null || flux === null) return;
    if (flux.state === 'over') {
      if (turn.onsetMs > flux.endMs + CLAIM_WITHIN_MS) this.#flux = null;
      else this.#ended(flux);
    } else if (flux.words.length > 0 && textOf(flux.words) !== turn.told) {
      this.tellWords(flux.words, flux.state === 'eager' ? { final: false, concluded: true } : { final: false });
    }
  }

  #answer(): void {
    const turn = this.turn;
    if (turn === null || !turn.isOver) return;
    const words = this.#flux?.words ?? [];
    const isHeard = !this.#isFluxOpen && this.#heardMs >= turn.coverMs;
    if (words.length === 0 && (turn.wasLost || !this.socket.isOpen)) this.fail();
    else if (words.length === 0 && !isHeard && this.isDead(turn))
      turn.cancelWait = this.deps.clock.after(ANOTHER_WITHIN_MS, () => this.#answer());
    else if (isHeard) this.#final(words, this.socket.pushedMs);
    else this.#final(words, words.at(-1)?.endMs ?? this.doneMs, true);
  }

  #ended(flux: FluxTurn): void {
    this.#final(flux.words, flux.endMs);
  }

  /** `isLate`: what Flux says of the rest, when it comes, is a turn of its own. */
  #final(words: readonly DeepgramWord[], doneMs: number, isLate = false): void {
    this.tellWords(words, isLate ? { final: true, isLate } : { final: true });
    this.endTurn();
    this.doneMs = Math.max(this.doneMs, doneMs);
    this.#flux = null;
  }

  get #isFluxOpen(): boolean {
    return this.#flux !== null && this.#flux.state !== 'over';
  }

  protected settledMs(): number {
    const isOpen = this.turn !== null || this.#isFluxOpen;
    const quietMs = isOpen ? Number.NEGATIVE_INFINITY : this.socket.pushedMs - QUIET_REPLAY_MS;
    return Math.max(this.doneMs, quietMs, this.#flux?.state === 'over' ? this.#flux.endMs : quietMs);
  }

  // ── What Flux says ────────────────────────────────────────────────────────────────────────────────────

  protected opened(): void {
    // What it had heard is sent again.
    if (this.#flux?.state !== 'over') this.#flux = null;
  }

  protected said(message: Record<string, unknown>): void {
    const fault = this.own.faultOf(message['request_id']);
    if (fault !== null) this.socket.distrust(fault);
    else if (message['type'] === 'Error')
      this.socket.distrust(errorOfFluxCode(message['code'], message['description']));
    else if (message['type'] === 'TurnInfo') this.#turnInfo(message);
  }

  #turnInfo({ event, words: said, audio_window_start: fromS, audio_window_end: toS }: Record<string, unknown>): void {
    this.answered();
    const audioMs = (seconds: unknown): number =>
      this.socket.audioMs((typeof seconds === 'number' ? seconds : 0) * 1_000);
    const words = wordsIn(said, (streamMs) => this.socket.audioMs(streamMs)).filter(
      ({ startMs, endMs }) => (startMs + endMs) / 2 > this.doneMs,
    );
    this.#heardMs = audioMs(toS);
    const isOver = this.turn?.isOver === true;
    // A turn that nobody wants any more, or silence.
    if (words.length === 0) {
      if (isOver && !this.#isFluxOpen && this.#heardMs >= this.turn!.coverMs) this.later(() => this.#answer());
      return;
    }
    if (isOver && event !== 'EndOfTurn') this.socket.say(FORCE_END);
    const wasEager = this.#flux?.state === 'eager';
    const isNew = this.#flux === null || this.#flux.state === 'over';
    if (this.#flux?.state === 'over') this.doneMs = Math.max(this.doneMs, this.#flux.endMs);
    const state = event === 'EndOfTurn' ? 'over' : event === 'EagerEndOfTurn' ? 'eager' : this.#nextState(event);
    const flux: FluxTurn = { words, state, endMs: audioMs(toS) };
    this.#flux = flux;
    if (this.turn === null) {
      // The call begins a turn, or does not want one now; it is told of each once.
      if (isNew) this.listener.speechBegan?.(Math.max(words[0]!.startMs, audioMs(fromS), this.doneMs));
      if (this.turn === null) return;
    }
    if (state === 'over') this.#ended(flux);
    else if (state === 'eager') {
      if (!wasEager) this.tellWords(words, { final: false, concluded: true });
    } else if (event === 'TurnResumed' || textOf(words) !== this.turn.told) this.tellWords(words, { final: false });
  }

  /** An update does not take back that the end is likely. */
  #nextState(event: unknown): FluxTurn['state'] {
    return event === 'Update' && this.#flux?.state === 'eager' ? 'eager' : 'open';
  }
}
