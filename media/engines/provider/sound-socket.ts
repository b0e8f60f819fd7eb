/**
 * The sound of one call on its way to a provider, over a socket that may be lost: batches go out as they come; after a
 * loss another socket is dialled and what the provider has not settled is sent again, faster than it was spoken and yet
 * at a bounded rate. Orders keep their place in it (`orders-in-sound.ts`), the provider's time becomes audio time
 * (`stream-anchors.ts`). Sockets are watched by what they must say, not by being open. Used by ears of providers.
 *
 *   push → kept (the last 10 s) → next ──► socket          provider's ms ──► anchors ──► audio ms
 */
import type { GuardedSocket, SocketEnd } from '../../net/guarded-socket.ts';
import { OrdersInSound } from './orders-in-sound.ts';
import { PongWatch } from './pong-watch.ts';
import { errorOfEnd, ProviderError } from './provider-error.ts';
import type { ServiceDeps } from './provider-service.ts';
import { StreamAnchors } from './stream-anchors.ts';

export interface SoundSocketOptions {
  /** As people write it. */
  provider: string;
  /** Of the next socket: hints may have changed it. */
  url(): string;
  headers: Readonly<Record<string, string>>;
  /** Of sound. */
  bytesPerMs: number;
  /** What keeps the socket open while no sound comes. */
  keepAlive: { everyMs: number; message: string } | { everyMs: number; silence: Uint8Array } | null;
  /** Said when a socket stands, before any sound. */
  greeting?(): string | null;
  /** Of sound; default: the sound itself. */
  messageOf?(sound: Uint8Array): string;
  /** Said before it is closed; null: nothing. */
  goodbye: string | null;
  /** Shorter pieces of sound are refused: what is shorter waits for the next. Default: none is too short. */
  leastBatchMs?: number;
  /** What is behind is sent so many times as fast as it was spoken; default `REPLAY_SPEED`. */
  replaySpeed?: number;
  /** While somebody speaks it says something at least so often; default `SAYS_NOTHING_MS`. */
  saysNothingMs?: number;
  /** Of a close with a code of the provider's own; null: it is told as any other. */
  errorOfClose?(code: number, reason: string): ProviderError | null;
}

export interface SoundSocketListener {
  /** A socket stands, its stream begins anew. `requestId`: as the upgrade's answer says it. */
  opened(requestId: string | null): void;
  /** One that is JSON. */
  message(message: Record<string, unknown>): void;
  /** From which audio time on sound is to be sent again. */
  settledMs(): number;
  /** Sound that waits and ends before this audio time is nobody's. */
  unwantedMs(): number;
  /** A message that is lost now may be what is waited for. */
  isInTurn(): boolean;
  /** The socket is lost. `isLasting`: no other is dialled. */
  lost(error: ProviderError, isLasting: boolean): void;
}

interface Batch {
  sound: Uint8Array;
  atMs: number;
}

/** What is kept for another socket, and the most that waits. */
export const KEPT_MS = 10_000;
/** Of what is sent again while nobody speaks: it may be the beginning of a turn. */
export const QUIET_REPLAY_MS = 2_000;
export const REPLAY_SPEED = 4;
const CONNECT_MS = 4_000;
const MOST_MESSAGE_BYTES = 1024 * 1024;
const MOST_UNSENT_BYTES = 256 * 1024;
const PING_EVERY_MS = 10_000;
/** Doubled after each time that another socket said nothing either. */
const SAYS_NOTHING_MS = 2_000;
const LONGEST_SAYS_NOTHING_MS = 16_000;
const WATCH_EVERY_MS = 250;
/** Of one that owes an answer, where nothing is to be said while somebody speaks. */
const ANSWERS_NOTHING_MS = 4_000;
/** No sound for so long: it does not flow. */
const FLOWS_MS = 500;
/** For an answer that it owes, one is given up once in so long. */
const FOUND_DEAD_EVERY_MS = 20_000;
const DIAL_AFTER_MS = [0, 250, 1_000, 2_000, 4_000];
/** After a refusal that says not how long. */
const THROTTLED_MS = 1_000;
/** Messages in a row that cannot be read: what comes is no answer. */
const MOST_GARBAGE = 3;

export class SoundSocket {
  readonly #options: SoundSocketOptions;
  readonly #deps: Pick<ServiceDeps, 'clock' | 'openSocket'>;
  readonly #listener: SoundSocketListener;
  #socket: GuardedSocket | null = null;
  #isOpen = false;
  #isClosed = false;
  /** Too short to be sent. */
  #held: Uint8Array | null = null;
  /** Oldest first; from `#next` on they have not been sent. */
  #kept: Batch[] = [];
  #next = 0;
  readonly #orders = new OrdersInSound();
  readonly #anchors = new StreamAnchors();
  /** Sent over all sockets. */
  #sentMs = 0;
  #paceFromMs = 0;
  #pacedMs = 0;
  #cancelPump: (() => void) | null = null;
  #cancelWatch: (() => void) | null = null;
  #cancelDial: (() => void) | null = null;
  #dials = 0;
  #lastSentAtMs = 0;
  #lastPushAtMs = Number.NEGATIVE_INFINITY;
  #lastSaidAtMs = 0;
  #expectsSince: number | null = null;
  /** Doubled each time that it was found dead; 1 once it has said something. */
  #forbearance = 1;
  #notDeadBeforeMs = Number.NEGATIVE_INFINITY;
  #pingedAtMs = 0;
  readonly #pong = new PongWatch();
  #garbage = 0;
  /** End of the newest sound, audio time. */
  pushedMs = Number.NEGATIVE_INFINITY;
  /** Sound that was never sent, for it had waited too long. */
  droppedMs = 0;
  sockets = 0;

  constructor(
    options: SoundSocketOptions,
    deps: Pick<ServiceDeps, 'clock' | 'openSocket'>,
    listener: SoundSocketListener,
  ) {
    this.#options = options;
    this.#deps = deps;
    this.#listener = listener;
    this.#dial();
  }

  /** A socket stands and all sound is on its way. */
  get isUpToDate(): boolean {
    return this.#isOpen && this.#next === this.#kept.length;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Of all sockets, what was sent again too. */
  get sentMs(): number {
    return this.#sentMs;
  }

  push(sound: Uint8Array, atMs: number): void {
    if (this.#isClosed || sound.length === 0) return;
    this.pushedMs = atMs + this.#msOf(sound);
    this.#lastPushAtMs = this.#deps.clock.nowMs();
    const held = this.#held;
    const whole = held === null ? sound : Buffer.concat([held, sound]);
    const isShort = this.#msOf(whole) < (this.#options.leastBatchMs ?? 0);
    this.#held = isShort ? whole : null;
    if (isShort) return;
    this.#kept.push({ sound: whole, atMs: this.pushedMs - this.#msOf(whole) });
    this.#forget();
    this.#pump();
  }

  /** Said behind all sound so far, and before what comes after it: now, as a rule. */
  say(message: string): void {
    if (!this.#isClosed && this.#orders.add(message, this.pushedMs)) this.#pump();
  }

  /** What waits to be said is not said: it meant another socket. Default: all of it. */
  unsay(message?: string): void {
    this.#orders.drop(message);
  }

  /** Somebody speaks: the provider must have something to say, or the socket is dead. */
  expect(isSpeaking: boolean): void {
    if (!isSpeaking) this.#expectsSince = null;
    else this.#expectsSince ??= this.#deps.clock.nowMs();
  }

  /** Audio time of a moment of the provider's; nothing sounded before the stream. */
  audioMs(toldMs: number): number {
    return this.#anchors.audioMs(toldMs, this.pushedMs);
  }

  /** What this socket says is of no use: another is dialled. */
  distrust(error: ProviderError): void {
    if (this.#isClosed || this.#socket === null) return;
    this.#socket.terminate();
    this.#lose(error);
  }

  /**
   * It owes an answer. True: it has said nothing since then (clock time), so long that it is dead; another is dialled.
   * Seldom, for who is slow only becomes slower by being sent all of it again.
   */
  isDeadSince(sinceMs: number): boolean {
    const nowMs = this.#deps.clock.nowMs();
    const silentForMs = nowMs - Math.max(sinceMs, this.#lastSaidAtMs);
    const mostMs = this.#borne(Math.min(this.#saysNothingMs, ANSWERS_NOTHING_MS));
    if (!this.#isOpen || silentForMs < mostMs || nowMs < this.#notDeadBeforeMs) return false;
    this.#notDeadBeforeMs = nowMs + FOUND_DEAD_EVERY_MS;
    this.#suspect(silentForMs);
    return true;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopTimers();
    this.#kept = [];
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null) return;
    const { goodbye } = this.#options;
    if (this.#isOpen && (goodbye === null || socket.send(goodbye))) socket.close();
    else socket.terminate();
    this.#isOpen = false;
  }

  // ── The socket ────────────────────────────────────────────────────────────────────────────────────────

  #dial(): void {
    this.#cancelDial = null;
    this.sockets++;
    const { url, headers } = this.#options;
    const socket: GuardedSocket = this.#deps.openSocket(
      {
        url: url(),
        headers,
        connectMs: CONNECT_MS,
        maxMessageBytes: MOST_MESSAGE_BYTES,
        maxUnsentBytes: MOST_UNSENT_BYTES,
      },
      {
        opened: (answer) => {
          if (socket !== this.#socket) return;
          const requestId = answer['dg-request-id'];
          this.#opened(typeof requestId === 'string' ? requestId : null);
        },
        message: (data, isBinary) => {
          if (socket === this.#socket && !isBinary) this.#said(data);
        },
        pong: () => this.#pong.answered(),
        over: (end) => {
          if (socket === this.#socket) this.#over(end);
        },
      },
    );
    this.#socket = socket;
  }

  #opened(requestId: string | null): void {
    const nowMs = this.#deps.clock.nowMs();
    this.#isOpen = true;
    this.#garbage = 0;
    this.#anchors.reset();
    this.#lastSentAtMs = nowMs;
    this.#lastSaidAtMs = nowMs;
    this.#pingedAtMs = nowMs;
    this.#pong.answered();
    const fromMs = this.#listener.settledMs();
    this.#next = this.#kept.findIndex(({ sound, atMs }) => atMs + this.#msOf(sound) > fromMs);
    if (this.#next < 0) this.#next = this.#kept.length;
    this.#paceFromMs = nowMs;
    this.#pacedMs = 0;
    const greeting = this.#options.greeting?.() ?? null;
    if (greeting !== null) this.#socket?.send(greeting);
    this.#listener.opened(requestId);
    this.#watch();
    this.#pump();
  }

  #said(data: Buffer): void {
    const message = parsed(data);
    if (message === null) {
      if (++this.#garbage >= MOST_GARBAGE || this.#listener.isInTurn()) {
        this.distrust(new ProviderError('failed', `${this.#options.provider} says what cannot be read`));
      }
      return;
    }
    this.#garbage = 0;
    this.#listener.message(message);
  }

  /** A message that is an answer to this call: the socket lives. */
  heardFrom(): void {
    this.#lastSaidAtMs = this.#deps.clock.nowMs();
    this.#forbearance = 1;
    this.#dials = 0;
  }

  #over(end: SocketEnd): void {
    const own = end.kind === 'closed' ? this.#options.errorOfClose?.(end.code, end.reason) : null;
    this.#lose(own ?? errorOfEnd(this.#options.provider, end));
  }

  #lose(error: ProviderError): void {
    this.#socket = null;
    this.#isOpen = false;
    this.#cancelPump?.();
    this.#cancelPump = null;
    this.#cancelWatch?.();
    const isLasting = error.fault === 'refused';
    if (!isLasting) {
      const afterMs = DIAL_AFTER_MS[Math.min(this.#dials++, DIAL_AFTER_MS.length - 1)]!;
      const leastMs = error.retryAfterMs ?? (error.fault === 'throttled' ? THROTTLED_MS : 0);
      this.#cancelDial = this.#deps.clock.after(Math.max(afterMs, leastMs), () => this.#dial());
    }
    this.#listener.lost(error, isLasting);
  }

  // ── Sound out ─────────────────────────────────────────────────────────────────────────────────────────

  #pump(): void {
    if (!this.#isOpen) return;
    const nowMs = this.#deps.clock.nowMs();
    const { messageOf, replaySpeed: speed = REPLAY_SPEED } = this.#options;
    while (this.#next < this.#kept.length) {
      const batch = this.#kept[this.#next]!;
      // One batch that waits is no backlog: it came just now.
      const isBehind = this.#next < this.#kept.length - 1;
      if (isBehind && batch.atMs + this.#msOf(batch.sound) <= this.#listener.unwantedMs()) {
        // Nobody wants it any more, and what is wanted waits behind it.
        this.#next++;
        continue;
      }
      if (!this.#sayOrders(batch.atMs)) {
        this.#pumpLater();
        return;
      }
      const isTooFast = isBehind && this.#pacedMs > (nowMs - this.#paceFromMs) * speed;
      if (isTooFast || this.#socket?.send(messageOf?.(batch.sound) ?? batch.sound) !== true) {
        this.#pumpLater();
        return;
      }
      const ms = this.#msOf(batch.sound);
      this.#anchors.sound(batch.atMs, ms);
      this.#sentMs += ms;
      this.#pacedMs += ms;
      this.#next++;
      this.#lastSentAtMs = nowMs;
    }
    this.#paceFromMs = nowMs;
    this.#pacedMs = 0;
    if (!this.#sayOrders(Number.POSITIVE_INFINITY)) this.#pumpLater();
  }

  /** Those that mean sound before `atMs`. False: not all were taken. */
  #sayOrders(atMs: number): boolean {
    return this.#orders.send(atMs, (message) => this.#socket?.send(message) === true);
  }

  #pumpLater(): void {
    this.#cancelPump ??= this.#deps.clock.after(20, () => {
      this.#cancelPump = null;
      this.#pump();
    });
  }

  #forget(): void {
    const fromMs = this.pushedMs - KEPT_MS;
    let gone = 0;
    while (this.#kept[gone]!.atMs < fromMs) gone++;
    if (gone === 0) return;
    for (let i = this.#next; i < gone; i++) this.droppedMs += this.#msOf(this.#kept[i]!.sound);
    this.#kept.splice(0, gone);
    this.#next = Math.max(0, this.#next - gone);
  }

  #msOf(sound: Uint8Array): number {
    return sound.length / this.#options.bytesPerMs;
  }

  // ── What must happen in time ──────────────────────────────────────────────────────────────────────────

  #watch(): void {
    this.#cancelWatch = this.#deps.clock.after(WATCH_EVERY_MS, () => {
      const nowMs = this.#deps.clock.nowMs();
      const silentFor = this.#silentForMs(nowMs);
      const fault = this.#pong.fault(this.#options.provider, nowMs);
      if (silentFor >= this.#borne(this.#saysNothingMs)) this.#suspect(silentFor);
      else if (fault !== null) this.distrust(fault);
      else {
        this.#ping(nowMs);
        this.#keepAlive(nowMs);
        this.#watch();
      }
    });
  }

  #suspect(silentForMs: number): void {
    this.#forbearance *= 2;
    this.distrust(this.#timeout(`said nothing for ${Math.round(silentForMs)} ms while somebody spoke`));
  }

  get #saysNothingMs(): number {
    return this.#options.saysNothingMs ?? SAYS_NOTHING_MS;
  }

  /** A limit after another socket, or several, said nothing either. */
  #borne(ms: number): number {
    return Math.max(ms, Math.min(ms * this.#forbearance, LONGEST_SAYS_NOTHING_MS));
  }

  #silentForMs(nowMs: number): number {
    if (this.#expectsSince === null || nowMs - this.#lastPushAtMs > FLOWS_MS) return 0;
    return nowMs - Math.max(this.#expectsSince, this.#lastSaidAtMs);
  }

  #ping(nowMs: number): void {
    if (nowMs - this.#pingedAtMs < PING_EVERY_MS) return;
    this.#pingedAtMs = nowMs;
    this.#pong.pinged(nowMs);
    this.#socket?.ping();
  }

  #keepAlive(nowMs: number): void {
    const { keepAlive } = this.#options;
    if (keepAlive === null || nowMs - this.#lastSentAtMs < keepAlive.everyMs || this.#next < this.#kept.length) return;
    this.#lastSentAtMs = nowMs;
    if ('message' in keepAlive) this.#socket?.send(keepAlive.message);
    else if (this.#socket?.send(keepAlive.silence) === true) {
      const ms = this.#msOf(keepAlive.silence);
      this.#anchors.filler(this.pushedMs, ms);
      this.#sentMs += ms;
    }
  }

  #timeout(what: string): ProviderError {
    return new ProviderError('timeout', `${this.#options.provider} ${what}`);
  }

  #stopTimers(): void {
    this.#cancelPump?.();
    this.#cancelWatch?.();
    this.#cancelDial?.();
  }
}

function parsed(data: Buffer): Record<string, unknown> | null {
  try {
    const message: unknown = JSON.parse(data.toString('utf8'));
    return typeof message === 'object' && message !== null && !Array.isArray(message)
      ? (message as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
