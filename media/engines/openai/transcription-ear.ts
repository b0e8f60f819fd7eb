/**
 * A transcription session of OpenAI's realtime API as the ear of one call, in a provider thread. The call says where
 * turns begin and end: sound of turns alone goes out, and in a pause that may be the end what was sent is committed.
 * Each stretch that is committed becomes an item, whose text comes bit by bit and, at last, whole; nothing says when
 * its words sounded.
 *
 *   turnBegan → append … append → commit (pause) → append … → commit (over)
 *   item 1: delta … completed                      item 2: delta … completed      final: both
 */
import { encodeMulaw } from '../../audio/g711.ts';
import type { EarHints, EarListener } from '../../contract/ear.ts';
import {
  ANOTHER_WITHIN_MS,
  bytesPerMs,
  type EarDeps,
  type EarTurn,
  SocketEar,
} from '../provider/hearing/socket-ear.ts';
import { plainOf } from '../provider/hearing/told-words.ts';
import type { OpenProviderEar, ProviderEarWish } from '../provider/provider-ear.ts';
import { memberOf } from '../provider/told-json.ts';
import { accountHeaders } from './account-headers.ts';
import {
  errorOfSession,
  PCM_RATE_HZ,
  sessionUpdate,
  type TranscriptionSettings,
  tellsAtOnce,
  transcriptionModelOf,
  transcriptionUrl,
} from './transcription-session.ts';

/** Sound between two commits. */
interface Stretch {
  /** Of the call's; null: nobody wants it. */
  turn: number | null;
  /** Audio time of its first sample. */
  fromMs: number;
  ms: number;
  /** By which an error names the commit; null: it was not committed. */
  commitId: string | null;
  /** Null: nothing was said of it yet. */
  itemId: string | null;
  text: string;
  isDone: boolean;
  /** Why it has no text. */
  failure: string | null;
}

interface TranscribedTurn extends EarTurn {
  /** So many words were told with a turn that is over. */
  skipped: number;
  wants: 'words' | 'conclusion' | 'final';
  /** Sound waits: it was asked whether the turn is over. */
  isPaused: boolean;
}

/** A turn that is over, and whose text had not come. */
interface Late {
  turn: number;
  fromMs: number;
  toMs: number;
  /** So many words were told with it. */
  told: number;
  /** So many were there when the call was told of them. */
  announced: number;
}

interface Batch {
  sound: Uint8Array;
  atMs: number;
}

/** Its last words come 1.7 s after the pause at worst; the call waits 1.5 s, from the turn's end. */
export const ANSWER_WITHIN_MS = 1_300;
/** A turn's first sound lies so far before it was certain. */
const BEFORE_ONSET_MS = 500;
/** A commit of less is an error. */
const LEAST_COMMIT_MS = 100;
/** Words of a turn that is over for longer answer nothing. */
const LATE_WITHIN_MS = 6_000;
/** What waits in a pause. */
const MOST_WAITING_MS = 10_000;
/** While somebody speaks, of a model that tells words at once; the others say nothing before they are asked. */
const SAYS_NOTHING_MS = 4_000;
const NEVER_MS = 3_600_000;
const MOST_SAID_CHARS = 300;
/** Items; what is said of one twice is said soon. */
const MOST_OVER = 64;

export const openTranscriptionEar: OpenProviderEar = (wish, deps, listener) =>
  new TranscriptionEar(wish, deps, listener);

class TranscriptionEar extends SocketEar<TranscribedTurn> {
  /** Oldest first: of the turn now, late ones, and what nobody wants until its item has been told. */
  #stretches: Stretch[] = [];
  /** Sound that is not sent: before a turn, and in a pause. */
  #waiting: Batch[] = [];
  #late: Late | null = null;
  /** Items that were told to their end, the newest last: what is said of them again is nobody's. */
  readonly #over = new Set<string>();
  #commits = 0;
  #isTaken = false;

  constructor(wish: ProviderEarWish, deps: EarDeps, listener: EarListener) {
    super(wish, deps, listener, {
      provider: 'OpenAI',
      headers: accountHeaders(wish.grant),
      keepAlive: null,
      goodbye: null,
      messageOf: (sound) => JSON.stringify({ type: 'input_audio_buffer.append', audio: wireSound(sound, wish) }),
      saysNothingMs: tellsAtOnce(wish.settings as TranscriptionSettings) ? SAYS_NOTHING_MS : NEVER_MS,
    });
  }

  protected get model(): string {
    return transcriptionModelOf(this.wish.settings as TranscriptionSettings);
  }

  protected url(): string {
    return transcriptionUrl(this.wish);
  }

  protected override greeting(): string {
    return sessionUpdate(this.wish, this.hints);
  }

  hint(hints: EarHints): void {
    const before = this.greeting();
    this.hints = hints;
    if (this.greeting() !== before && this.socket.isOpen) this.socket.say(this.greeting());
  }

  override push(sound: Uint8Array, atMs: number): void {
    const { turn } = this;
    if (turn !== null && turn.wants !== 'final' && !turn.isPaused) this.#send({ sound, atMs }, turn.number);
    else {
      this.#waiting.push({ sound, atMs });
      this.#keepWaiting(turn === null ? BEFORE_ONSET_MS : MOST_WAITING_MS);
    }
  }

  turnBegan(turn: number, onsetMs: number): void {
    this.turnDropped();
    const late = this.#isTooLate ? null : this.#late;
    this.#late = null;
    for (const stretch of this.#stretches)
      stretch.turn = stretch.turn !== null && stretch.turn === late?.turn ? turn : null;
    this.turn = { ...this.newTurn(turn), skipped: late?.told ?? 0, wants: 'words', isPaused: false };
    // Begun for the words that were late: nothing is said now.
    if (late !== null && onsetMs < late.toMs) {
      this.#want('final');
      return;
    }
    this.#flush(onsetMs - BEFORE_ONSET_MS);
    this.socket.expect(true);
    if (this.isLost) this.later(() => this.fail());
  }

  mayBeOver(): void {
    if (this.turn !== null) this.#want('conclusion');
  }

  wentOn(): void {
    const { turn } = this;
    if (turn === null || !turn.isPaused) return;
    turn.cancelWait();
    turn.wants = 'words';
    turn.isPaused = false;
    this.#flush(Number.NEGATIVE_INFINITY);
    this.socket.expect(true);
  }

  turnOver(): void {
    if (this.turn !== null) this.#want('final');
  }

  turnDropped(): void {
    const { turn } = this;
    if (turn === null) return;
    // Its item is to be told, so that its words are known for nobody's.
    this.#commit();
    for (const stretch of this.#stretches) if (stretch.turn === turn.number) stretch.turn = null;
    this.#end();
  }

  // ── What the call wants ───────────────────────────────────────────────────────────────────────────────

  #want(wants: 'conclusion' | 'final'): void {
    const turn = this.turn!;
    turn.cancelWait();
    turn.wants = wants;
    turn.isPaused = true;
    // What it owes has a limit of its own.
    this.socket.expect(false);
    this.#commit();
    const isSettled = this.#isSettled(turn);
    turn.cancelWait = isSettled
      ? this.later(() => this.#answer())
      : this.deps.clock.after(ANSWER_WITHIN_MS, () => this.#answer());
  }

  #commit(): void {
    const open = this.#open;
    if (open === undefined || open.ms < LEAST_COMMIT_MS) return;
    open.commitId = `commit-${++this.#commits}`;
    this.socket.say(JSON.stringify({ type: 'input_audio_buffer.commit', event_id: open.commitId }));
  }

  /** That is being sent. */
  get #open(): Stretch | undefined {
    const last = this.#stretches.at(-1);
    return last?.commitId === null ? last : undefined;
  }

  #send({ sound, atMs }: Batch, turn: number): void {
    const open = this.#open;
    const ms = sound.length / bytesPerMs(this.wish);
    if (open === undefined) {
      this.#stretches.push({
        turn,
        fromMs: atMs,
        ms,
        commitId: null,
        itemId: null,
        text: '',
        isDone: false,
        failure: null,
      });
    } else {
      open.turn = turn;
      open.ms += ms;
    }
    this.socket.push(sound, atMs);
  }

  /** What waits, from `fromMs` on. */
  #flush(fromMs: number): void {
    const { number } = this.turn!;
    for (const batch of this.#waiting.splice(0))
      if (batch.atMs + batch.sound.length / bytesPerMs(this.wish) > fromMs) this.#send(batch, number);
  }

  #keepWaiting(ms: number): void {
    const untilMs = this.#waiting.at(-1)!.atMs - ms;
    while (this.#waiting[0]!.atMs < untilMs) this.#waiting.shift();
  }

  #of(turn: number): Stretch[] {
    return this.#stretches.filter((stretch) => stretch.turn === turn);
  }

  /** Less than can be committed is silence. */
  #isSettled({ number }: TranscribedTurn): boolean {
    return this.#of(number).every(({ isDone, ms }) => isDone || ms < LEAST_COMMIT_MS);
  }

  #wordsOf(turn: number): string[] {
    return this.#of(turn)
      .flatMap(({ text }) => text.split(/\s+/).map(plainOf))
      .filter((word) => word !== '');
  }

  #answer(): void {
    const { turn } = this;
    if (turn === null || turn.wants === 'words') return;
    const isSettled = this.#isSettled(turn);
    const words = this.#wordsOf(turn.number).slice(turn.skipped);
    if (turn.wants === 'conclusion') {
      // Half of what was said would be taken for all of it.
      if (isSettled) this.tellText(words.join(' '), { final: false, concluded: true });
      return;
    }
    const failure = this.#failureOf(turn);
    if (words.length === 0 && (!isSettled || failure !== undefined)) {
      if (turn.wasLost || !this.socket.isOpen || failure !== undefined) {
        this.fail(failure);
        return;
      }
      if (this.isDead(turn)) {
        turn.cancelWait = this.deps.clock.after(ANOTHER_WITHIN_MS, () => this.#answer());
        return;
      }
    }
    this.tellText(words.join(' '), isSettled ? { final: true } : { final: true, isLate: true });
    if (isSettled) this.#stretches = this.#stretches.filter((stretch) => stretch.turn !== turn.number);
    else {
      const told = turn.skipped + words.length;
      const [first] = this.#of(turn.number);
      this.#late = { turn: turn.number, fromMs: first!.fromMs, toMs: this.socket.pushedMs, told, announced: told };
    }
    this.#end();
  }

  #failureOf({ number }: TranscribedTurn): Error | undefined {
    const failed = this.#of(number).find(({ failure }) => failure !== null);
    return failed === undefined ? undefined : new Error(`OpenAI could not transcribe: ${failed.failure}`);
  }

  #end(): void {
    this.endTurn();
    if (this.#waiting.length > 0) this.#keepWaiting(BEFORE_ONSET_MS);
  }

  get #isTooLate(): boolean {
    return this.#late !== null && this.#nowMs - this.#late.toMs > LATE_WITHIN_MS;
  }

  /** End of the newest sound, sent or not. */
  get #nowMs(): number {
    return Math.max(this.socket.pushedMs, this.#waiting.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY);
  }

  // ── What OpenAI says ──────────────────────────────────────────────────────────────────────────────────

  /** What had no text yet is sent again, as one. */
  protected opened(): void {
    this.#isTaken = false;
    this.#over.clear();
    // Behind a commit of before this one's would find nothing: refused, it would take the words along.
    this.socket.unsay();
    const wanted = this.turn?.number ?? this.#late?.turn;
    const again = this.#stretches.filter(({ turn, isDone }) => turn === wanted && !isDone);
    this.#stretches = this.#stretches.filter(({ turn, isDone }) => turn === wanted && isDone);
    const [first] = again;
    if (first === undefined) return;
    const ms = again.reduce((sum, stretch) => sum + stretch.ms, 0);
    this.#stretches.push({ ...first, ms, commitId: null, itemId: null, text: '', failure: null });
    if (this.turn === null || this.turn.wants !== 'words') this.#commit();
  }

  protected settledMs(): number {
    const wanted = this.turn?.number ?? this.#late?.turn;
    return this.#stretches.find(({ turn, isDone }) => turn === wanted && !isDone)?.fromMs ?? this.socket.pushedMs;
  }

  protected said(message: Record<string, unknown>): void {
    const { type } = message;
    if (type === 'session.updated') this.#isTaken = true;
    else if (type === 'error') this.#error(message['error']);
    else if (type === 'input_audio_buffer.committed') this.#stretchOf(message['item_id']);
    else if (typeof type === 'string' && type.startsWith(TOLD)) this.#told(type.slice(TOLD.length), message);
  }

  #told(what: string, { item_id: itemId, delta, transcript, error }: Record<string, unknown>): void {
    const stretch = this.#stretchOf(itemId);
    if (stretch === undefined || stretch.isDone) return;
    if (what === 'delta') stretch.text += typeof delta === 'string' ? delta : '';
    else if (what === 'completed') {
      stretch.isDone = true;
      stretch.text = typeof transcript === 'string' ? transcript : stretch.text;
    } else if (what === 'failed') {
      stretch.isDone = true;
      const said = memberOf(error, 'message');
      stretch.failure = typeof said === 'string' ? said.slice(0, MOST_SAID_CHARS) : 'no reason given';
    } else return;
    if (stretch.isDone) this.#noteOver(stretch.itemId!);
    if (stretch.turn === null) this.#stretches = this.#stretches.filter((one) => one !== stretch || !one.isDone);
    else if (this.turn !== null) this.#tell(this.turn);
    else if (this.#late !== null) this.#tellLate(this.#late);
  }

  /** Items come in the order of the stretches. */
  #stretchOf(itemId: unknown): Stretch | undefined {
    if (typeof itemId !== 'string') return undefined;
    this.answered();
    const known = this.#stretches.find((stretch) => stretch.itemId === itemId);
    if (known === undefined && this.#over.has(itemId)) return undefined;
    const stretch = known ?? this.#stretches.find((one) => one.itemId === null);
    if (stretch !== undefined) stretch.itemId = itemId;
    return stretch;
  }

  #noteOver(itemId: string): void {
    this.#over.add(itemId);
    const [oldest] = this.#over;
    if (this.#over.size > MOST_OVER) this.#over.delete(oldest!);
  }

  #tell(turn: TranscribedTurn): void {
    if (turn.wants !== 'words') {
      if (this.#isSettled(turn)) this.#answer();
      return;
    }
    const text = this.#wordsOf(turn.number).slice(turn.skipped).join(' ');
    if (text !== turn.told && text !== '') this.tellText(text, { final: false });
  }

  /** Words of a turn that is over, now that they have come: the call begins another for them, or has no use for it. */
  #tellLate(late: Late): void {
    const words = this.#wordsOf(late.turn).length;
    const isSettled = this.#of(late.turn).every(({ isDone }) => isDone);
    if (this.#isTooLate) this.#late = null;
    else if (isSettled && words > late.announced) {
      late.announced = words;
      this.listener.speechBegan?.(late.fromMs);
    } else if (isSettled) this.#late = null;
  }

  #error(error: unknown): void {
    const failed = errorOfSession(error, this.#isTaken);
    if (failed !== null) {
      this.socket.distrust(failed);
      return;
    }
    // A commit that was refused makes no item.
    const commitId = memberOf(error, 'event_id');
    const refused = this.#stretches.find((stretch) => stretch.commitId !== null && stretch.commitId === commitId);
    if (refused === undefined) return;
    this.answered();
    this.#stretches = this.#stretches.filter((stretch) => stretch !== refused);
    if (this.turn !== null) this.#tell(this.turn);
  }
}

const TOLD = 'conversation.item.input_audio_transcription.';

/** Base64 of what the session was told: mu-law, or PCM of 24 kHz. */
function wireSound(sound: Uint8Array, { codec, rateHz }: Pick<ProviderEarWish, 'codec' | 'rateHz'>): string {
  if (codec === 'mulaw' || rateHz === PCM_RATE_HZ)
    return Buffer.from(sound.buffer, sound.byteOffset, sound.length).toString('base64');
  const samples = new Int16Array(sound.length >> 1);
  for (let i = 0; i < samples.length; i++) samples[i] = sound[2 * i]! | (sound[2 * i + 1]! << 8);
  const bytes = Buffer.alloc(samples.length);
  encodeMulaw(samples, 0, samples.length, bytes, 0);
  return bytes.toString('base64');
}
