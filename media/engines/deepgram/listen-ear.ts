/**
 * Deepgram's `listen` (v1) as the ear of one call, in a provider thread: one socket from ringing to the end, words by
 * their audio time. The call decides when a turn is over and asks for its words (`Finalize`); they are told as soon as
 * what was asked for is settled, and with what there is when it is not settled in time.
 */
import type { EarHints, EarListener } from '../../contract/ear.ts';
import type { OpenProviderEar, ProviderEar, ProviderEarWish } from '../provider/provider-ear.ts';
import type { ProviderError } from '../provider/provider-error.ts';
import type { ServiceDeps } from '../provider/provider-service.ts';
import { QUIET_REPLAY_MS, type SoundSocket } from '../provider/sound-socket.ts';
import { deepgramSocket, OwnRequest } from './deepgram-socket.ts';
import { confidenceOf, HeardWords, textOf, wordsIn } from './heard-words.ts';
import { DEFAULT_LISTEN_MODEL, type ListenSettings, listenUrl } from './listen-url.ts';

interface Turn {
  number: number;
  /** Words before it are another turn's. */
  fromMs: number;
  wants: 'words' | 'conclusion' | 'final';
  /** What is asked for is known when sound up to here is settled. */
  coverMs: number;
  told: string;
  /** Since when its words have been asked for in vain; NaN: they have not. */
  askedAtMs: number;
  /** Its socket was lost. */
  wasLost: boolean;
  cancelWait: () => void;
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
/** From the first asking in a pause: the caller waits for more than this answer. The call waits 1.5 s for a final. */
const ANSWER_WITHIN_MS = 800;
/** For the final, however long was waited in the pause before. */
const LEAST_WAIT_MS = 300;

export const openListenEar: OpenProviderEar = (wish, deps, listener) => new ListenEar(wish, deps, listener);

class ListenEar implements ProviderEar {
  readonly #wish: ProviderEarWish;
  readonly #deps: Pick<ServiceDeps, 'clock' | 'openSocket'>;
  readonly #listener: EarListener;
  readonly #socket: SoundSocket;
  readonly #own = new OwnRequest();
  readonly #heard = new HeardWords();
  #hints: EarHints = { phrases: [] };
  #turn: Turn | null = null;
  /** Sound before it belongs to turns that are over. */
  #doneMs = Number.NEGATIVE_INFINITY;
  /** Why there is no socket. */
  #error: ProviderError | null = null;
  #isLost = false;
  #isClosed = false;

  constructor(wish: ProviderEarWish, deps: Pick<ServiceDeps, 'clock' | 'openSocket'>, listener: EarListener) {
    this.#wish = wish;
    this.#deps = deps;
    this.#listener = listener;
    const settings = wish.settings as ListenSettings;
    this.#socket = deepgramSocket(
      wish,
      deps,
      { url: () => listenUrl(wish.grant, settings, this.#hints, wish), keepAlive: KEEP_ALIVE },
      {
        opened: (requestId) => this.#opened(requestId),
        message: (message) => this.#said(message),
        settledMs: () => Math.max(this.#heard.settledMs, this.#doneMs, this.#turn?.fromMs ?? this.#quietMs),
        isInTurn: () => this.#turn !== null,
        lost: (error, isLasting) => this.#lost(error, isLasting),
      },
    );
  }

  /** Key terms are told when a socket is opened: they hold from the next one on. */
  hint(hints: EarHints): void {
    this.#hints = hints;
  }

  push(sound: Uint8Array, atMs: number): void {
    this.#socket.push(sound, atMs);
  }

  turnBegan(turn: number, onsetMs: number): void {
    this.turnDropped();
    const fromMs = Math.max(onsetMs - BEFORE_ONSET_MS, this.#doneMs);
    this.#heard.forget(fromMs);
    this.#turn = {
      number: turn,
      fromMs,
      wants: 'words',
      coverMs: 0,
      told: '',
      askedAtMs: Number.NaN,
      wasLost: false,
      cancelWait: () => {},
    };
    this.#socket.expect(true);
    if (this.#isLost) this.#later(() => this.#fail());
    else if (this.#heard.since(fromMs).length > 0) this.#later(() => this.#tell());
  }

  mayBeOver(): void {
    this.#want('conclusion', PAUSE_IS_SILENT_MS);
  }

  wentOn(): void {
    const turn = this.#turn;
    if (turn === null) return;
    turn.askedAtMs = Number.NaN;
    if (turn.wants !== 'conclusion') return;
    turn.cancelWait();
    turn.wants = 'words';
    this.#socket.expect(true);
  }

  turnOver(): void {
    this.#want('final', END_IS_SILENT_MS);
  }

  turnDropped(): void {
    if (this.#turn === null) return;
    this.#turn.cancelWait();
    this.#turn = null;
    this.#doneMs = this.#socket.pushedMs;
    this.#socket.expect(false);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.turnDropped();
    this.#socket.close();
    const { model = DEFAULT_LISTEN_MODEL } = this.#wish.settings as ListenSettings;
    this.#wish.used(model, this.#socket.sentMs / 1_000);
  }

  // ── What the call wants ───────────────────────────────────────────────────────────────────────────────

  #want(wants: 'conclusion' | 'final', silentMs: number): void {
    const turn = this.#turn;
    if (turn === null) return;
    turn.cancelWait();
    turn.wants = wants;
    turn.coverMs = this.#socket.pushedMs - silentMs;
    // Nobody speaks: it need not say anything, and what it owes has a limit of its own.
    this.#socket.expect(false);
    if (this.#isSettled(turn)) turn.cancelWait = this.#later(() => this.#answer());
    else {
      this.#socket.say(FINALIZE);
      const nowMs = this.#deps.clock.nowMs();
      if (Number.isNaN(turn.askedAtMs)) turn.askedAtMs = nowMs;
      const waitMs = Math.max(LEAST_WAIT_MS, turn.askedAtMs + ANSWER_WITHIN_MS - nowMs);
      turn.cancelWait = this.#deps.clock.after(waitMs, () => this.#answer());
    }
  }

  /** Nobody speaks: what lies before it is not sent again. */
  get #quietMs(): number {
    return this.#socket.pushedMs - QUIET_REPLAY_MS;
  }

  #isSettled({ coverMs }: Turn): boolean {
    return !this.#heard.hasInterim && this.#heard.settledMs >= coverMs;
  }

  #answer(): void {
    const turn = this.#turn;
    if (turn === null || turn.wants === 'words') return;
    const isFinal = turn.wants === 'final';
    // Nothing was heard because nobody could hear it.
    const isDeaf = (turn.wasLost || !this.#socket.isOpen) && !this.#isSettled(turn);
    if (isFinal && isDeaf && this.#heard.since(turn.fromMs).length === 0) {
      this.#fail();
      return;
    }
    turn.cancelWait();
    turn.wants = 'words';
    this.#words(turn, isFinal ? { final: true } : { final: false, concluded: true });
    if (isFinal) this.turnDropped();
  }

  #fail(): void {
    const turn = this.#turn;
    if (turn === null) return;
    this.turnDropped();
    this.#listener.failed(turn.number, this.#error ?? new Error('Deepgram is not connected'));
  }

  #tell(): void {
    const turn = this.#turn;
    if (turn === null) return;
    if (turn.wants !== 'words') {
      if (this.#isSettled(turn)) this.#answer();
    } else if (textOf(this.#heard.since(turn.fromMs)) !== turn.told) this.#words(turn, { final: false });
  }

  #words(turn: Turn, kind: { final: boolean; concluded?: true }): void {
    const words = this.#heard.since(turn.fromMs);
    const text = textOf(words);
    turn.told = text;
    const confidence = confidenceOf(words);
    this.#listener.words({
      turn: turn.number,
      text,
      rejected: false,
      ...kind,
      words: words.map(({ text: written, startMs, endMs }) => ({ text: written, startMs, endMs })),
      ...(confidence === undefined ? {} : { confidence }),
    });
  }

  #later(run: () => void): () => void {
    return this.#deps.clock.after(0, run);
  }

  // ── What Deepgram says ────────────────────────────────────────────────────────────────────────────────

  #opened(requestId: string | null): void {
    this.#own.opened(requestId);
    this.#error = null;
    this.#heard.dropInterim();
    if (this.#turn !== null && this.#turn.wants !== 'words') this.#socket.say(FINALIZE);
  }

  #lost(error: ProviderError, isLasting: boolean): void {
    this.#error = error;
    this.#isLost = isLasting;
    if (this.#turn !== null) this.#turn.wasLost = true;
    if (isLasting) this.#later(() => this.#fail());
  }

  #said(message: Record<string, unknown>): void {
    const { type, start, duration, is_final: isFinal, channel, metadata } = message;
    if (type !== 'Results' || typeof start !== 'number' || typeof duration !== 'number') return;
    const fault = this.#own.faultOf((metadata as { request_id?: unknown } | undefined)?.request_id);
    if (fault !== null) {
      this.#socket.distrust(fault);
      return;
    }
    this.#socket.heardFrom();
    const [best] = (channel as { alternatives?: { words?: unknown }[] } | undefined)?.alternatives ?? [];
    const words = wordsIn(best?.words, (streamMs) => this.#socket.audioMs(streamMs));
    this.#heard.take(words, isFinal === true, this.#socket.audioMs((start + duration) * 1_000));
    if (this.#turn === null) this.#heard.forget(this.#doneMs);
    this.#tell();
  }
}
