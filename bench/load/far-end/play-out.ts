/**
 * The phone's play-out of what a target sends: when each piece is heard, how late frames came, where play-out ran
 * dry, what share of real time came. Fed by the judge with each message's arrival and length; numbers only, no
 * allocation but for a gap.
 *
 * A span is a stretch in which the target streams without a pause of its own. In it two play heads run: one plays at
 * once, as the carrier's queue does, and says what is heard when; the other has a jitter buffer in front, and a gap is
 * where even that ran dry. The line that frames are late against is the earliest that the last seconds allow.
 */
import type { HeardSound } from '../contract/measured-call.ts';

/** Play-out that waited for less is jitter, whatever sounded before: the span goes on. */
const ALWAYS_JITTER_MS = 100;
/** A wait for more is a pause of the target's, even in the middle of a word. */
const LONGEST_STALL_MS = 2_000;
/** Sound that ends so shortly before play-out ran dry was cut off. */
const CUT_OFF_MS = 100;
/** A target that sends so much silence sends it always: it does not pause by not sending. */
const SENDS_SILENCE_MS = 1_000;
/** The far end's own sound so shortly before a wait, or in it, is a reason to be silent: of a wait that is so long. */
const YIELDS_WITHIN_MS = 1_000;
const LEAST_YIELD_MS = 400;
/** Shorter waits for audio are not heard as gaps. */
const LEAST_GAP_MS = 20;
/** Who was ever further ahead does not send in real time: then a frame is late only if play-out waited for it. */
const LARGEST_LEAD_MS = 250;
/** Clocks differ and timers drift: the line is that of the last one to two windows. */
const LINE_WINDOW_MS = 5_000;
/** The last bucket holds all beyond. */
const MOST_LATE_MS = 2_000;
const FIRST_BUCKETS = 64;

export class PlayOut {
  readonly #bufferMs: number;
  #late = new Uint32Array(FIRST_BUCKETS);
  #frames = 0;
  #isAhead = false;
  /** When all that came will have been played: at once, and behind the jitter buffer. */
  #headMs = Number.NEGATIVE_INFINITY;
  #bufferedHeadMs = Number.NEGATIVE_INFINITY;
  #inSpan = false;
  #spanBeganMs = 0;
  #spanAudioMs = 0;
  /** Silence at the end of what came. */
  #silentTailMs = 0;
  /** The least offset of this window and of the one before it. */
  #lineMs = Number.POSITIVE_INFINITY;
  #lineBeforeMs = Number.POSITIVE_INFINITY;
  #windowEndsMs = 0;
  #audioMs = 0;
  #streamedMs = 0;
  readonly #gaps: HeardSound['gaps'] = [];
  /** A gap that is one only if sound follows at once; NaN: none. */
  #gapAtMs = Number.NaN;
  #gapMs = 0;
  #sinceGapMs = 0;

  /** `bufferMs`: of the jitter buffer behind which gaps are judged. */
  constructor(bufferMs: number) {
    this.#bufferMs = bufferMs;
  }

  /** When all that came will have been played. */
  get headMs(): number {
    return this.#headMs;
  }

  /**
   * A message of `lengthMs` came at `atMs`; `farEndSoundMs` is when the far end itself last made a sound. Returns when
   * its first sample is heard. `content` of the same message follows.
   */
  arrive(atMs: number, lengthMs: number, farEndSoundMs: number): number {
    this.#frames++;
    const waitedMs = atMs - this.#headMs;
    const isMidSound = this.#silentTailMs < CUT_OFF_MS;
    const yielded = waitedMs > LEAST_YIELD_MS && farEndSoundMs > this.#headMs - YIELDS_WITHIN_MS;
    if (!this.#inSpan || !this.#goesOn(waitedMs, isMidSound, yielded)) this.#begin(atMs);
    else if (atMs > this.#bufferedHeadMs) {
      const starvedMs = atMs - this.#bufferedHeadMs;
      if (starvedMs > LEAST_GAP_MS && isMidSound) {
        this.#gapAtMs = this.#bufferedHeadMs;
        this.#gapMs = starvedMs;
        this.#sinceGapMs = 0;
      }
      this.#bufferedHeadMs = atMs + this.#bufferMs;
    }
    this.#count(this.#lateness(atMs, Math.max(0, waitedMs)));
    const playAtMs = Math.max(atMs, this.#headMs);
    this.#headMs = playAtMs + lengthMs;
    this.#bufferedHeadMs += lengthMs;
    this.#spanAudioMs += lengthMs;
    if (this.#headMs - atMs - lengthMs > LARGEST_LEAD_MS) this.#isAhead = true;
    return playAtMs;
  }

  /** What the message held: `firstSoundMs` into it (negative: none), and silence at its end. */
  content(lengthMs: number, firstSoundMs: number, silentTailMs: number): void {
    this.#silentTailMs = firstSoundMs < 0 ? this.#silentTailMs + lengthMs : silentTailMs;
    if (Number.isNaN(this.#gapAtMs)) return;
    if (firstSoundMs >= 0 && this.#sinceGapMs + firstSoundMs < CUT_OFF_MS) {
      this.#gaps.push({ atMs: this.#gapAtMs, gapMs: this.#gapMs });
      this.#gapAtMs = Number.NaN;
    }
    this.#sinceGapMs += lengthMs;
    if (this.#sinceGapMs >= CUT_OFF_MS) this.#gapAtMs = Number.NaN;
  }

  /** What waits to be played is dropped. */
  cleared(atMs: number): void {
    if (!this.#inSpan) return;
    if (this.#headMs > atMs) {
      this.#spanAudioMs -= this.#headMs - atMs;
      this.#headMs = atMs;
    }
    this.#endSpan();
  }

  /** Of the whole call, which ends at `endMs`. */
  finish(endMs: number): Omit<HeardSound, 'lostMs' | 'repeatedMs'> {
    this.cleared(endMs);
    let buckets = this.#late.length;
    while (buckets > 0 && this.#late[buckets - 1] === 0) buckets--;
    return {
      frames: this.#frames,
      audioMs: this.#audioMs,
      streamedMs: this.#streamedMs,
      lateMs: Array.from(this.#late.subarray(0, buckets)),
      gaps: this.#gaps.filter(({ atMs }) => atMs < endMs),
    };
  }

  #goesOn(waitedMs: number, isMidSound: boolean, yielded: boolean): boolean {
    if (waitedMs <= ALWAYS_JITTER_MS) return true;
    if (waitedMs > LONGEST_STALL_MS) return false;
    return this.#silentTailMs >= SENDS_SILENCE_MS || (isMidSound && !yielded);
  }

  #begin(atMs: number): void {
    if (this.#inSpan) this.#endSpan();
    this.#inSpan = true;
    this.#spanBeganMs = atMs;
    this.#spanAudioMs = 0;
    this.#bufferedHeadMs = atMs + this.#bufferMs;
    this.#lineMs = Number.POSITIVE_INFINITY;
    this.#lineBeforeMs = Number.POSITIVE_INFINITY;
    this.#windowEndsMs = atMs + LINE_WINDOW_MS;
    this.#gapAtMs = Number.NaN;
  }

  #endSpan(): void {
    this.#inSpan = false;
    this.#audioMs += this.#spanAudioMs;
    this.#streamedMs += this.#headMs - this.#spanBeganMs;
    this.#gapAtMs = Number.NaN;
  }

  #lateness(atMs: number, waitedMs: number): number {
    if (this.#spanAudioMs === 0) {
      this.#lineMs = atMs;
      return 0;
    }
    if (atMs > this.#windowEndsMs) {
      this.#lineBeforeMs = this.#lineMs;
      this.#lineMs = Number.POSITIVE_INFINITY;
      this.#windowEndsMs = atMs + LINE_WINDOW_MS;
    }
    const offsetMs = atMs - this.#spanAudioMs;
    if (offsetMs < this.#lineMs) this.#lineMs = offsetMs;
    if (this.#isAhead) return waitedMs;
    return offsetMs - Math.min(this.#lineMs, this.#lineBeforeMs);
  }

  #count(lateMs: number): void {
    const bucket = Math.min(MOST_LATE_MS, Math.round(lateMs));
    if (bucket >= this.#late.length) {
      const larger = new Uint32Array(Math.min(MOST_LATE_MS + 1, 2 ** Math.ceil(Math.log2(bucket + 1))));
      larger.set(this.#late);
      this.#late = larger;
    }
    this.#late[bucket]!++;
  }
}
