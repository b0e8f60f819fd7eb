/**
 * The jitter buffer of agent speech, at the device's rate: a ring, the utterances that lie in it, and what is played
 * when. Pure arithmetic; the playback worklet owns it and calls `render` for each 128 samples.
 *
 * It waits for `targetMs` before an utterance begins. Each underrun raises the target by 40 ms up to 250, each 5 s
 * without one lowers it by 10 down to 60. A gap is faded out and in over 5 ms, a flush over 10. When a stalled network
 * delivers late what was due, speech runs 3 % faster until the lead is back to normal.
 */

export interface PlayoutEvents {
  started(utterance: number): void;
  done(utterance: number, playedMs: number): void;
  flushed(utterance: number, playedMs: number, droppedMs: number): void;
  underrun(utterance: number, targetMs: number): void;
}

interface Utterance {
  id: number;
  /** In samples since the beginning; the end is null until it is known. */
  from: number;
  to: number | null;
  hasStarted: boolean;
}

const FADE_MS = 5;
const FLUSH_MS = 10;
const TARGET_MIN_MS = 60;
const TARGET_MAX_MS = 250;
const TARGET_UP_MS = 40;
const TARGET_DOWN_MS = 10;
const CALM_MS = 5_000;
const CAPACITY_MS = 8_000;
/** The server leads by 200 ms; what lies beyond this came late. */
const SPEED_UP_ABOVE_MS = 420;
const SPEED_UP_RATIO = 1.03;

export class PlayoutBuffer {
  readonly #events: PlayoutEvents;
  readonly #perMs: number;
  readonly #ring: Float32Array;
  readonly #utterances: Utterance[] = [];
  #written = 0;
  /** Fractional while speech runs faster. */
  #read = 0;
  #isPlaying = false;
  /** 0 to 1, and its change a sample. */
  #gain = 0;
  #slope = 0;
  #flushing: Utterance | null = null;
  #targetMs = TARGET_MIN_MS;
  #calmSamples = 0;

  constructor(rateHz: number, events: PlayoutEvents) {
    this.#events = events;
    this.#perMs = rateHz / 1000;
    this.#ring = new Float32Array(Math.ceil((CAPACITY_MS * rateHz) / 1000));
  }

  get targetMs(): number {
    return this.#targetMs;
  }

  /** The utterance at the playhead and how much of it was played; 0 when nothing is. */
  get current(): { utterance: number; playedMs: number } {
    const first = this.#utterances[0];
    if (first === undefined || !first.hasStarted) return { utterance: 0, playedMs: 0 };
    return { utterance: first.id, playedMs: this.#playedMs(first) };
  }

  /** What does not fit is dropped: 8 s is forty times the server's lead. */
  write(utterance: number, samples: Float32Array): void {
    const room = this.#ring.length - (this.#written - Math.floor(this.#read));
    const count = Math.min(samples.length, room);
    const last = this.#utterances.at(-1);
    if (last?.id !== utterance) {
      if (last !== undefined) last.to ??= this.#written;
      this.#utterances.push({ id: utterance, from: this.#written, to: null, hasStarted: false });
    }
    for (let i = 0; i < count; i++) this.#ring[(this.#written + i) % this.#ring.length] = samples[i]!;
    this.#written += count;
  }

  /** No more of it will come. */
  end(utterance: number): void {
    const last = this.#utterances.at(-1);
    if (last?.id === utterance) last.to ??= this.#written;
  }

  /**
   * Everything unplayed goes; what sounds now is faded out first. Always answered by `flushed`, with utterance 0 when
   * nothing was there.
   */
  flush(): void {
    const first = this.#utterances[0];
    if (this.#flushing !== null) return;
    if (first === undefined) {
      this.#events.flushed(0, 0, 0);
      return;
    }
    this.#flushing = first;
    if (!this.#isPlaying || this.#gain === 0) this.#finishFlush();
    else this.#slope = -this.#gain / (FLUSH_MS * this.#perMs);
  }

  /** Fills `target`; returns false when it is all silence. */
  render(target: Float32Array): boolean {
    if (!this.#isPlaying && !this.#mayBegin()) {
      target.fill(0);
      return false;
    }
    const ahead = this.#written - this.#read;
    const speed = ahead > SPEED_UP_ABOVE_MS * this.#perMs ? SPEED_UP_RATIO : 1;
    if (speed === 1) this.#read = Math.floor(this.#read);
    this.#fadeBeforeGap(ahead, target.length);
    let count = 0;
    while (count < target.length && this.#read + 1 <= this.#written && (this.#gain > 0 || this.#slope > 0)) {
      const whole = Math.floor(this.#read);
      const between = this.#read - whole;
      let sample = this.#ring[whole % this.#ring.length]!;
      if (between > 0 && whole + 1 < this.#written) {
        sample += between * (this.#ring[(whole + 1) % this.#ring.length]! - sample);
      }
      this.#gain = Math.min(1, Math.max(0, this.#gain + this.#slope));
      target[count++] = sample * this.#gain;
      this.#read += speed;
    }
    target.fill(0, count);
    if (this.#gain === 1 && this.#slope > 0) this.#slope = 0;
    this.#calm(target.length);
    if (this.#flushing !== null && this.#gain === 0) this.#finishFlush();
    else this.#settle(count < target.length);
    return count > 0;
  }

  /** Begins when the target is there, or all of a short utterance is. */
  #mayBegin(): boolean {
    const first = this.#utterances[0];
    if (first === undefined) return false;
    if (first.to === null && this.#written - this.#read < this.#targetMs * this.#perMs) return false;
    this.#isPlaying = true;
    this.#gain = 0;
    this.#slope = 1 / (FADE_MS * this.#perMs);
    if (!first.hasStarted) {
      first.hasStarted = true;
      this.#events.started(first.id);
    }
    return true;
  }

  /** When less is left than a fade needs and more is to come, the gap is near. */
  #fadeBeforeGap(ahead: number, blockSamples: number): void {
    const last = this.#utterances.at(-1);
    if (last === undefined || last.to !== null || this.#flushing !== null) return;
    const fade = FADE_MS * this.#perMs;
    if (ahead < fade + blockSamples) this.#slope = -1 / fade;
    else if (this.#slope < 0) this.#slope = 1 / fade;
  }

  /** Reports utterances that were passed, and the gap that was reached. */
  #settle(ranDry: boolean): void {
    for (;;) {
      const first = this.#utterances[0];
      if (first === undefined || first.to === null || this.#read < first.to) break;
      this.#utterances.shift();
      this.#events.done(first.id, (first.to - first.from) / this.#perMs);
      const next = this.#utterances[0];
      if (next === undefined) {
        this.#isPlaying = false;
        this.#read = this.#written;
        return;
      }
      if (!next.hasStarted && next.from < this.#written) {
        next.hasStarted = true;
        this.#events.started(next.id);
      }
    }
    if (!ranDry || !this.#isPlaying) return;
    this.#isPlaying = false;
    const first = this.#utterances[0];
    if (first === undefined) return;
    this.#targetMs = Math.min(TARGET_MAX_MS, this.#targetMs + TARGET_UP_MS);
    this.#calmSamples = 0;
    this.#events.underrun(first.id, this.#targetMs);
  }

  #finishFlush(): void {
    const cut = this.#flushing!;
    const droppedMs = (this.#written - this.#read) / this.#perMs;
    const playedMs = this.#playedMs(cut);
    this.#flushing = null;
    this.#utterances.length = 0;
    this.#read = this.#written;
    this.#isPlaying = false;
    this.#gain = 0;
    this.#slope = 0;
    this.#events.flushed(cut.id, playedMs, droppedMs);
  }

  #playedMs(utterance: Utterance): number {
    return Math.max(0, Math.min(this.#read, utterance.to ?? this.#read) - utterance.from) / this.#perMs;
  }

  #calm(samples: number): void {
    this.#calmSamples += samples;
    if (this.#calmSamples < CALM_MS * this.#perMs) return;
    this.#calmSamples = 0;
    this.#targetMs = Math.max(TARGET_MIN_MS, this.#targetMs - TARGET_DOWN_MS);
  }
}
