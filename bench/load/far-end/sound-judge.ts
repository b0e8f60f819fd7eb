/**
 * Judges one call by what its far end hears: fed with each message of the target's as it comes, each frame that the
 * far end says, each clear; asked once, at the end. Plays out what comes as a phone would, so that a sound counts
 * from when it is heard, not from when it was received, and what is cleared was never heard. It knows no clock: all
 * instants are given, in milliseconds of the run, and never go back. Nothing is allocated for a frame; half a
 * microsecond a frame (signal following apart).
 */
import type { MeasuredCall } from '../contract/measured-call.ts';
import { BLOCK_SAMPLES, isAudible, SAMPLES_PER_MS } from './audible.ts';
import { PlayOut } from './play-out.ts';
import { SignalFollower } from './signal-follower.ts';
import { SoundRuns } from './sound-runs.ts';
import { turnsHeard } from './turns-heard.ts';

export interface SoundJudgeOptions {
  /** When the call was answered; a first word counts from here. */
  answeredAtMs: number;
  /** Of the far end's jitter buffer, behind which gaps are judged. */
  gapBufferMs: number;
  /**
   * A silence of the target's that is as long after a turn of the far end is a turn unanswered; null: none is
   * expected.
   */
  patienceMs: number | null;
  /** The target plays the known signal: lost and repeated audio is looked for. */
  expectSignal: boolean;
}

export type SoundJudged = Pick<MeasuredCall, 'firstWordMs' | 'replies' | 'unanswered' | 'bargeIns' | 'sound'>;

export class SoundJudge {
  readonly #options: SoundJudgeOptions;
  readonly #playOut: PlayOut;
  readonly #target = new SoundRuns();
  readonly #farEnd = new SoundRuns();
  readonly #signal: SignalFollower | null;

  constructor(options: SoundJudgeOptions) {
    this.#options = options;
    this.#playOut = new PlayOut(options.gapBufferMs);
    this.#signal = options.expectSignal ? new SignalFollower() : null;
  }

  /** When all that came will have been heard; minus infinity before anything did. */
  get playedOutAtMs(): number {
    return this.#playOut.headMs;
  }

  /** When the target was last heard, up to `nowMs`; minus infinity: never yet. */
  targetHeardMs(nowMs: number): number {
    return this.#target.lastSoundMs(nowMs);
  }

  /**
   * A message of the target's: mu-law 8 kHz of any length, that came at `arrivedAtMs`. Returns when its first sample is
   * heard.
   */
  agentFrame(arrivedAtMs: number, mulaw: Uint8Array): number {
    if (mulaw.length === 0) return Math.max(arrivedAtMs, this.#playOut.headMs);
    const lengthMs = mulaw.length / SAMPLES_PER_MS;
    const playAtMs = this.#playOut.arrive(arrivedAtMs, lengthMs, this.#farEnd.lastSoundMs(arrivedAtMs));
    let firstSoundMs = -1;
    let soundEndMs = 0;
    for (let start = 0; start < mulaw.length; start += BLOCK_SAMPLES) {
      const end = Math.min(start + BLOCK_SAMPLES, mulaw.length);
      if (!isAudible(mulaw, start, end)) continue;
      if (firstSoundMs < 0) firstSoundMs = start / SAMPLES_PER_MS;
      soundEndMs = end / SAMPLES_PER_MS;
      this.#target.add(playAtMs + start / SAMPLES_PER_MS, playAtMs + soundEndMs);
    }
    this.#playOut.content(lengthMs, firstSoundMs, lengthMs - soundEndMs);
    this.#signal?.push(mulaw);
    return playAtMs;
  }

  /** The far end sent a frame at `atMs`: its last sample was said then. */
  farEndFrame(atMs: number, mulaw: Uint8Array): void {
    const beganMs = atMs - mulaw.length / SAMPLES_PER_MS;
    for (let start = 0; start < mulaw.length; start += BLOCK_SAMPLES) {
      const end = Math.min(start + BLOCK_SAMPLES, mulaw.length);
      if (!isAudible(mulaw, start, end)) continue;
      this.#farEnd.add(beganMs + start / SAMPLES_PER_MS, beganMs + end / SAMPLES_PER_MS);
    }
  }

  /** The target dropped what had not been played. */
  cleared(atMs: number): void {
    this.#target.cutAt(atMs);
    this.#playOut.cleared(atMs);
    this.#signal?.restart();
  }

  /** The call is over: what had not been played was not heard. */
  finish(endMs: number): SoundJudged {
    this.#target.cutAt(endMs);
    this.#farEnd.cutAt(endMs);
    const { answeredAtMs, patienceMs } = this.#options;
    const heard = this.#playOut.finish(endMs);
    return {
      ...turnsHeard({ farEnd: this.#farEnd, target: this.#target, answeredAtMs, endMs, patienceMs }),
      sound: { ...heard, ...(this.#signal?.result ?? { lostMs: null, repeatedMs: null }) },
    };
  }
}
