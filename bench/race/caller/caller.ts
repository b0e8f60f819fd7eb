/**
 * One caller of the race: speaks its lines in turn, waits for the answer to each, interrupts every third. What it hears
 * it times: the answer after its own last sound, the silence after its first one. Knows no socket.
 */
import { MANNERS } from '../conversation.ts';
import type { Line } from './line.ts';
import { Playout } from './playout.ts';

/** All since `take` was called last. */
export interface Heard {
  turns: number;
  /** From the last sound of a line to the first of its answer, ms. */
  repliesMs: number[];
  /** Lines that had no answer in time. */
  unanswered: number;
  /** Answers that began while the caller spoke. */
  tooEarly: number;
  /** From the first sound of an interruption to silence, ms. */
  silencedMs: number[];
  /** Interruptions that did not stop the agent. */
  talkedOver: number;
  /** Of what was heard, so much came too late. */
  lateMs: number;
  playedMs: number;
}

interface Speaking {
  kind: 'speaks';
  line: Line;
  /** Of its frames, the next. */
  at: number;
  interrupts: boolean;
  /** Of its first and its last sound. */
  onsetMs: number;
  endMs: number;
}

type State =
  | { kind: 'thinks'; untilMs: number }
  | Speaking
  | { kind: 'waits'; sinceMs: number }
  | { kind: 'listens'; sinceMs: number };

const nothing = (): Heard => ({
  turns: 0,
  repliesMs: [],
  unanswered: 0,
  tooEarly: 0,
  silencedMs: [],
  talkedOver: 0,
  lateMs: 0,
  playedMs: 0,
});

export class Caller {
  readonly #lines: readonly Line[];
  readonly #noise: readonly Uint8Array[];
  readonly #playout = new Playout();
  #state: State;
  #turn: number;
  #frames = 0;
  #heard = nothing();

  /** `turn`: of a conversation, that in which it begins, so that not all interrupt at once. */
  constructor(lines: readonly Line[], noise: readonly Uint8Array[], turn: number, beginsAtMs: number) {
    this.#lines = lines;
    this.#noise = noise;
    this.#turn = turn;
    this.#state = { kind: 'thinks', untilMs: beginsAtMs };
  }

  /** What it sends now, a frame in base64. */
  frame(nowMs: number): Uint8Array {
    this.#decide(nowMs);
    const state = this.#state;
    if (state.kind !== 'speaks') return this.#noise[this.#frames++ % this.#noise.length]!;
    const { line } = state;
    const payload = line.frames[state.at]!;
    if (state.at === line.firstLoud) state.onsetMs = nowMs;
    if (state.at === line.lastLoud) state.endMs = nowMs;
    state.at++;
    if (state.at >= line.frames.length) this.#spoken(state, nowMs);
    return payload;
  }

  sound(samples: number, isLoud: boolean, nowMs: number): void {
    const state = this.#state;
    if (isLoud && state.kind === 'waits') {
      this.#heard.repliesMs.push(nowMs - state.sinceMs);
      this.#playout.beginAnswer();
      this.#state = { kind: 'listens', sinceMs: nowMs };
    } else if (isLoud && state.kind === 'speaks' && this.#playout.isSilent(nowMs)) this.#heard.tooEarly++;
    this.#playout.receive(samples, nowMs);
  }

  cleared(nowMs: number): void {
    this.#playout.clear(nowMs);
  }

  /** When what was sent so far will have been played, ms. */
  playedAtMs(nowMs: number): number {
    return Math.max(nowMs, this.#playout.endsAtMs);
  }

  take(): Heard {
    const heard = { ...this.#heard, ...this.#playout.take() };
    this.#heard = nothing();
    return heard;
  }

  #decide(nowMs: number): void {
    const state = this.#state;
    if (state.kind === 'thinks') {
      if (nowMs >= state.untilMs) this.#speak(false);
    } else if (state.kind === 'waits') {
      if (nowMs - state.sinceMs < MANNERS.patienceMs) return;
      this.#heard.unanswered++;
      this.#speak(false);
    } else if (state.kind === 'listens') {
      const isSilent = this.#playout.isSilent(nowMs);
      if (isSilent && nowMs - this.#playout.endsAtMs >= MANNERS.thinksMs) this.#speak(false);
      else if (!isSilent && this.#interrupts && nowMs - state.sinceMs >= MANNERS.interruptsAfterMs) this.#speak(true);
    }
  }

  get #interrupts(): boolean {
    return this.#turn % MANNERS.interruptsEvery === 0;
  }

  #speak(interrupts: boolean): void {
    const line = this.#lines[this.#turn % this.#lines.length]!;
    this.#turn++;
    this.#heard.turns++;
    this.#state = { kind: 'speaks', line, at: 0, interrupts, onsetMs: 0, endMs: 0 };
  }

  #spoken({ onsetMs, endMs, interrupts }: Speaking, nowMs: number): void {
    if (interrupts && !this.#playout.isSilent(nowMs)) {
      this.#heard.talkedOver++;
      this.#state = { kind: 'listens', sinceMs: nowMs };
      return;
    }
    if (interrupts) this.#heard.silencedMs.push(Math.max(0, this.#playout.endsAtMs - onsetMs));
    this.#state = { kind: 'waits', sinceMs: endMs };
  }
}
