/**
 * The phone at the far end of one answered call: every 20 ms it says what its plan has, plays what the target sends,
 * and judges it. Made by whoever speaks a carrier's media protocol, which gives it the target's audio and clears, and
 * sends its frames. It is a session of the process's one frame clock.
 */
import type { Clock } from '../../../media/contract/clock.ts';
import type { FrameSession } from '../../emulators/frame-clock.ts';
import { createRandom } from '../../harness/seeded-random.ts';
import type { PlannedCall } from '../contract/planned-call.ts';
import type { CallRecording } from './call-recording.ts';
import { createLine, type SendFrame } from './line-impairments.ts';
import { type Clip, SILENT_FRAME } from './said-sound.ts';
import { SoundJudge, type SoundJudged } from './sound-judge.ts';
import { createTalkPlan, patienceOf, type TalkPlan } from './talk-plan.ts';

export interface PhoneOptions {
  planned: PlannedCall;
  answeredAtMs: number;
  /** Of the run; the frame clock's too. */
  clock: Clock;
  clips: readonly Clip[];
  /** A frame that the target is to get; `streamMs` is its time in the stream. */
  send: SendFrame;
  /** For the tool's own lateness. */
  frameSent(lateMs: number): void;
  recording: CallRecording | null;
  gapBufferMs: number;
  expectSignal: boolean;
}

export class Phone implements FrameSession {
  readonly #judge: SoundJudge;
  readonly #plan: TalkPlan;
  readonly #send: SendFrame;
  readonly #options: PhoneOptions;
  #frames = 0;

  constructor(options: PhoneOptions) {
    const { planned, answeredAtMs, gapBufferMs, expectSignal } = options;
    this.#options = options;
    const patienceMs = patienceOf(planned.talk);
    this.#judge = new SoundJudge({ answeredAtMs, gapBufferMs, patienceMs, expectSignal });
    // Chances of their own: a plan draws the same whatever the line draws.
    this.#plan = createTalkPlan(planned.talk, options.clips, createRandom(planned.seed));
    this.#send = createLine(planned.network, options.clock, createRandom(planned.seed + 1), options.send);
  }

  /** When all that came will have been heard: what waits for the end of it is answered then. */
  get playedOutAtMs(): number {
    return this.#judge.playedOutAtMs;
  }

  frame(dueAtMs: number, nowMs: number): void {
    this.#options.frameSent(nowMs - dueAtMs);
    const frame = this.#plan.frame(nowMs, this.#judge.targetHeardMs(nowMs));
    if (frame !== SILENT_FRAME) this.#judge.farEndFrame(nowMs, frame.mulaw);
    this.#options.recording?.said(nowMs, frame.mulaw);
    this.#send(frame, this.#frames++ * 20);
  }

  /** The target's mu-law 8 kHz; not kept. */
  heard(arrivedAtMs: number, mulaw: Uint8Array): void {
    const playAtMs = this.#judge.agentFrame(arrivedAtMs, mulaw);
    this.#options.recording?.heard(playAtMs, mulaw);
  }

  cleared(atMs: number): void {
    this.#judge.cleared(atMs);
    this.#options.recording?.cleared(atMs);
  }

  /** Once, when the call is over. */
  finish(endMs: number): SoundJudged {
    return this.#judge.finish(endMs);
  }
}
