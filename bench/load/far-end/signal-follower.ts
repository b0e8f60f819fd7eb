/**
 * Finds lost and repeated audio in what a target sends, where that is the known signal (`known-signal.ts`). Fed by
 * the judge with each message's bytes, in the order in which they came; knows samples, no instants. Where the place
 * in the signal jumps ahead audio was lost, where it jumps back it came twice, and what stands in the place of a
 * piece (silence, a concealed frame) is lost too.
 *
 * Every 5 ms the strongest tone of the last 10 is found; a place is known when the tones of 120 ms fit one place alone.
 */
import { decodeMulaw } from '../../../media/audio/g711.ts';
import { LOWEST_TONE_HZ, PIECE_MS, SIGNAL_MS, SIGNAL_TONES, TONE_STEP_HZ, TONES } from './known-signal.ts';

const RATE_HZ = 8_000;
const HOP_MS = 5;
const HOP_SAMPLES = 40;
const WINDOW_SAMPLES = 80;
/** Of a window's power in its strongest tone: a pure one has 1, half of one 0.25, three quarters of one 0.56. */
const LEAST_PURITY = 0.4;
/** Above the second strongest: a window that lies half in each of two pieces is neither's. */
const LEAST_LEAD = 2;
/** Mean square, full scale is 1: nothing is played. */
const SILENT_POWER = 1e-5;
const NO_TONE = 255;
const SILENCE = 254;
/** History, a power of two. */
const KEPT_HOPS = 1_024;
/**
 * So many hops have to fit (whole pieces, so that none weighs more): by chance once in thousands; for a far jump, or
 * at first, never.
 */
const NEAR_HOPS = 24;
const FAR_HOPS = 40;
const NEAR_MS = 1_000;
/** After so long without a place the signal is taken to have begun anew. */
const FORGOTTEN_HOPS = 400;
/** A window that lies farther from a piece's middle is half outside of it. */
const MOST_OF_PIECE_MS = 8.8;
/** Less is no jump but how well a place can be told. */
const LEAST_JUMP_MS = 2.5;

const cosines = new Float64Array(TONES * WINDOW_SAMPLES);
const sines = new Float64Array(TONES * WINDOW_SAMPLES);
for (let tone = 0; tone < TONES; tone++) {
  const turn = (2 * Math.PI * (LOWEST_TONE_HZ + TONE_STEP_HZ * tone)) / RATE_HZ;
  for (let i = 0; i < WINDOW_SAMPLES; i++) {
    cosines[tone * WINDOW_SAMPLES + i] = Math.cos(turn * i);
    sines[tone * WINDOW_SAMPLES + i] = Math.sin(turn * i);
  }
}

export class SignalFollower {
  #lostMs = 0;
  #repeatedMs = 0;
  #wasFound = false;
  readonly #samples = new Int16Array(HOP_SAMPLES);
  #filled = 0;
  /** Tone of the window that ends with each hop. */
  readonly #tones = new Uint8Array(KEPT_HOPS).fill(NO_TONE);
  #hop = -1;
  readonly #real = new Float64Array(TONES);
  readonly #imaginary = new Float64Array(TONES);
  #power = 0;
  /** Place in the signal minus place in what came, ms; meaningless before a place was known. */
  #offsetMs = 0;
  #state: 'unknown' | 'following' | 'lost' = 'unknown';
  #matchedHop = -1;

  /** Both null before the signal was ever found. */
  get result(): { lostMs: number | null; repeatedMs: number | null } {
    if (!this.#wasFound) return { lostMs: null, repeatedMs: null };
    return { lostMs: this.#lostMs, repeatedMs: this.#repeatedMs };
  }

  /** What comes next need not go on where this ended. */
  restart(): void {
    this.#state = 'unknown';
    this.#tones.fill(NO_TONE);
  }

  push(mulaw: Uint8Array): void {
    for (let at = 0; at < mulaw.length; ) {
      const taken = Math.min(HOP_SAMPLES - this.#filled, mulaw.length - at);
      decodeMulaw(mulaw, at, taken, this.#samples, this.#filled);
      at += taken;
      this.#filled += taken;
      if (this.#filled < HOP_SAMPLES) return;
      this.#filled = 0;
      this.#hop++;
      this.#tones[this.#hop % KEPT_HOPS] = this.#toneOfWindow();
      this.#follow();
    }
  }

  /** Takes the hop into the window and the one before it out. */
  #toneOfWindow(): number {
    const half = (this.#hop & 1) * HOP_SAMPLES;
    let power = 0;
    for (let i = 0; i < HOP_SAMPLES; i++) power += (this.#samples[i]! / 32_768) ** 2;
    const windowPower = power + this.#power;
    this.#power = power;
    let strongest = 0;
    let second = 0;
    let best = NO_TONE;
    for (let tone = 0; tone < TONES; tone++) {
      const table = tone * WINDOW_SAMPLES + half;
      let real = 0;
      let imaginary = 0;
      for (let i = 0; i < HOP_SAMPLES; i++) {
        const sample = this.#samples[i]! / 32_768;
        real += sample * cosines[table + i]!;
        imaginary += sample * sines[table + i]!;
      }
      const strength = (real + this.#real[tone]!) ** 2 + (imaginary + this.#imaginary[tone]!) ** 2;
      this.#real[tone] = real;
      this.#imaginary[tone] = imaginary;
      if (strength > strongest) {
        second = strongest;
        strongest = strength;
        best = tone;
      } else if (strength > second) second = strength;
    }
    if (power < SILENT_POWER * HOP_SAMPLES) return SILENCE;
    const isClear = strongest >= LEAST_LEAD * second;
    return isClear && (2 * strongest) / (WINDOW_SAMPLES * windowPower) >= LEAST_PURITY ? best : NO_TONE;
  }

  #follow(): void {
    const hop = this.#hop;
    if (this.#state === 'following') {
      const fits = this.#fits(hop, this.#offsetMs);
      if (fits === 1) this.#matchedHop = hop;
      if (fits >= 0) return;
      this.#state = 'lost';
    }
    if (this.#state === 'lost' && hop - this.#matchedHop > FORGOTTEN_HOPS) this.restart();
    const foundMs = this.#search();
    if (Number.isNaN(foundMs)) return;
    if (this.#state === 'lost') this.#countJump(foundMs);
    this.#offsetMs = foundMs;
    this.#state = 'following';
    this.#wasFound = true;
    this.#matchedHop = hop;
  }

  /** 1: the tone is the one of this place, -1: it is not, 0: the window does not lie within a piece. */
  #fits(hop: number, offsetMs: number): -1 | 0 | 1 {
    // The window's middle.
    const atMs = modulo(hop * HOP_MS + offsetMs, SIGNAL_MS);
    const inPieceMs = atMs % PIECE_MS;
    if (inPieceMs < 4.99 || inPieceMs > 15.01) return 0;
    return this.#tones[hop % KEPT_HOPS] === SIGNAL_TONES[Math.floor(atMs / PIECE_MS)] ? 1 : -1;
  }

  /** The offset that fits the last hops; NaN: none, or not yet. */
  #search(): number {
    if (this.#tones[this.#hop % KEPT_HOPS]! >= SILENCE) return Number.NaN;
    let best = Number.NaN;
    let bestMs = Number.POSITIVE_INFINITY;
    for (let placeMs = 0; placeMs < SIGNAL_MS; placeMs += HOP_MS) {
      const offsetMs = placeMs - this.#hop * HOP_MS;
      const jumpMs = this.#state === 'lost' ? Math.abs(shortWay(offsetMs - this.#offsetMs)) : Number.MAX_VALUE;
      if (jumpMs < bestMs && this.#fitsLast(offsetMs, jumpMs > NEAR_MS ? FAR_HOPS : NEAR_HOPS)) {
        best = offsetMs;
        bestMs = jumpMs;
      }
    }
    return Number.isNaN(best) ? best : this.#refined(best);
  }

  #fitsLast(offsetMs: number, hops: number): boolean {
    if (this.#hop < hops) return false;
    for (let hop = this.#hop; hop > this.#hop - hops; hop--) if (this.#fits(hop, offsetMs) < 0) return false;
    return true;
  }

  /** Pieces need not begin with a hop: the windows that hold one tone lie around its piece's middle. */
  #refined(offsetMs: number): number {
    let sumMs = 0;
    let windows = 0;
    for (let hop = this.#hop - NEAR_HOPS + 1; hop <= this.#hop; hop++) {
      const tone = this.#tones[hop % KEPT_HOPS]!;
      const atMs = modulo(hop * HOP_MS + offsetMs, SIGNAL_MS);
      const fromMiddleMs = (atMs % PIECE_MS) - PIECE_MS / 2;
      if (tone !== SIGNAL_TONES[Math.floor(atMs / PIECE_MS)] || Math.abs(fromMiddleMs) > MOST_OF_PIECE_MS) continue;
      sumMs += fromMiddleMs;
      windows++;
    }
    return offsetMs - sumMs / windows;
  }

  #countJump(foundMs: number): void {
    const jumpMs = shortWay(foundMs - this.#offsetMs);
    let first = this.#hop - NEAR_HOPS + 1;
    while (first - 1 > this.#matchedHop && this.#fits(first - 1, foundMs) >= 0) first--;
    while (this.#fits(first, foundMs) === 0) first++;
    const strangeMs = (first - 1) * HOP_MS - (this.#matchedHop + 1) * HOP_MS;
    if (Math.abs(jumpMs) < LEAST_JUMP_MS) {
      this.#lostMs += Math.max(0, strangeMs);
      return;
    }
    let silentMs = 0;
    for (let hop = this.#matchedHop + 1; hop < first; hop++) {
      if (this.#tones[hop % KEPT_HOPS] === SILENCE) silentMs += HOP_MS;
    }
    this.#lostMs += Math.max(0, jumpMs + silentMs);
    this.#repeatedMs += Math.max(0, -jumpMs - silentMs);
  }
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

/** The same place within half a round, ahead or back. */
function shortWay(differenceMs: number): number {
  return modulo(differenceMs + SIGNAL_MS / 2, SIGNAL_MS) - SIGNAL_MS / 2;
}
