/**
 * Who talks in one browser session: says what the talk plan says, hears what the speaker plays, judges and records
 * both, whichever socket there is just now. Made by the browser session once the target has answered; instants are the
 * run's.
 */
import { writeFile } from 'node:fs/promises';
import type { Clock } from '../../../../media/contract/clock.ts';
import type { MeasuredCall } from '../../contract/measured-call.ts';
import type { PlannedCall } from '../../contract/planned-call.ts';
import { CallRecording } from '../../far-end/call-recording.ts';
import { SILENT_FRAME } from '../../far-end/said-sound.ts';
import { SoundJudge } from '../../far-end/sound-judge.ts';
import { patienceOf, type TalkPlan } from '../../far-end/talk-plan.ts';
import { toLine, toMicrophone } from './line-sound.ts';

export interface VisitorOptions {
  planned: PlannedCall;
  talk: TalkPlan;
  clock: Clock;
  gapBufferMs: number;
  /** Its sound is kept in memory until it is over. */
  keepsSound: boolean;
}

/** Mu-law that is no sound: the lowest steps around zero. */
const LOUDEST_SILENCE = 0x1c;

export class Visitor {
  readonly answeredAtMs: number;
  readonly resumes: MeasuredCall['resumes'] = [];
  readonly #clock: Clock;
  readonly #talk: TalkPlan;
  readonly #judge: SoundJudge;
  readonly #recording: CallRecording | null;

  constructor({ planned, talk, clock, gapBufferMs, keepsSound }: VisitorOptions) {
    this.#clock = clock;
    this.#talk = talk;
    this.answeredAtMs = clock.nowMs();
    this.#judge = new SoundJudge({
      answeredAtMs: this.answeredAtMs,
      gapBufferMs,
      patienceMs: patienceOf(planned.talk),
      expectSignal: false,
    });
    this.#recording = keepsSound ? new CallRecording(this.answeredAtMs) : null;
  }

  /** The next 20 ms of the microphone. */
  speak(frame: Int16Array): void {
    const nowMs = this.#clock.nowMs();
    const said = this.#talk.frame(nowMs, this.#judge.targetHeardMs(nowMs));
    toMicrophone(said.mulaw, frame);
    if (said !== SILENT_FRAME) this.#judge.farEndFrame(nowMs, said.mulaw);
    this.#recording?.said(nowMs, said.mulaw);
  }

  hear(samples: Int16Array, rateHz: number): void {
    const mulaw = toLine(samples, rateHz);
    const nowMs = this.#clock.nowMs();
    // By itself: behind a `?.` the judge would hear only what is kept.
    const playedAtMs = this.#judge.agentFrame(nowMs, mulaw);
    this.#recording?.heard(playedAtMs, mulaw);
    const last = this.resumes.at(-1);
    if (last?.resumedAfterMs === null && mulaw.some(isSound)) last.resumedAfterMs = nowMs - last.atMs;
  }

  cleared(): void {
    const nowMs = this.#clock.nowMs();
    this.#judge.cleared(nowMs);
    this.#recording?.cleared(nowMs);
  }

  /** Its socket is gone: how long until it hears something again is measured from now on. */
  lostSocket(): void {
    this.resumes.push({ atMs: this.#clock.nowMs(), resumedAfterMs: null });
  }

  /** Once, when the session is over. */
  judged(endedAtMs: number): ReturnType<SoundJudge['finish']> {
    return this.#judge.finish(endedAtMs);
  }

  /** Null: none was kept, or a full disk took it: that costs the sound, not the run. */
  async writeSound(path: string, endedAtMs: number): Promise<string | null> {
    if (this.#recording === null) return null;
    return writeFile(path, this.#recording.toWav(endedAtMs)).then(
      () => path,
      () => null,
    );
  }
}

const isSound = (mulaw: number): boolean => (~mulaw & 0x7f) > LOUDEST_SILENCE;
