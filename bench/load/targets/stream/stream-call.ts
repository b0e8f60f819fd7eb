/**
 * One planned call to a voice bot, from its instant to its end: the phone rings, is answered, the stream is found and
 * dialled, the two talk. Made by the stream target; gives back what became of it and never rejects.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Dispatcher } from 'undici';
import { type Clock, pause } from '../../../../media/contract/clock.ts';
import type { FrameClock } from '../../../emulators/frame-clock.ts';
import type { CallFate, MeasuredCall } from '../../contract/measured-call.ts';
import type { PlannedCall } from '../../contract/planned-call.ts';
import { CallRecording } from '../../far-end/call-recording.ts';
import { Phone } from '../../far-end/phone.ts';
import type { Clip } from '../../far-end/said-sound.ts';
import { notBegun } from '../../run/not-begun.ts';
import { CallFault } from './call-fault.ts';
import { dialStream } from './dial-stream.ts';
import { findStream } from './find-stream.ts';
import { PROTOCOLS } from './protocols.ts';
import type { StreamPlan } from './stream-plan.ts';
import { type SessionEnd, StreamSession } from './stream-session.ts';

export interface StreamCallDeps {
  plan: StreamPlan;
  /** Of the run. */
  clock: Clock;
  frameClock: FrameClock;
  dispatcher: Dispatcher;
  clipsOf(planned: PlannedCall): Promise<readonly Clip[]>;
  frameSent(lateMs: number): void;
  /** There is room in memory for the sound of a call more. */
  mayRecord(): boolean;
}

/** Ends of a socket that are no fault: an ordinary close, one that goes away, and one without a code. */
const ORDINARY_CLOSES = [1000, 1001, 1005];

export class StreamCall {
  readonly planned: PlannedCall;
  /** The carrier's id of it, which the target is told. */
  readonly callId: string;
  readonly #deps: StreamCallDeps;
  readonly #over = new AbortController();
  #session: StreamSession | null = null;
  #recording: CallRecording | null = null;

  constructor(planned: PlannedCall, deps: StreamCallDeps) {
    this.planned = planned;
    this.callId = PROTOCOLS[deps.plan.protocol].newCallId();
    this.#deps = deps;
  }

  get recordedBytes(): number {
    return this.#recording?.bytes ?? 0;
  }

  /** The run is stopped. */
  cut(): void {
    this.#over.abort();
    this.#session?.hangUp();
  }

  async run(): Promise<MeasuredCall> {
    const { planned } = this;
    const { clock, plan } = this.#deps;
    const begunAtMs = clock.nowMs();
    const measured = notBegun(planned, 'failed', null, null, begunAtMs);
    try {
      const clips = await this.#deps.clipsOf(planned);
      await pause(clock, planned.atMs + planned.ringMs - clock.nowMs(), this.#over.signal);
      if (planned.outcome !== 'answer' && !this.#over.signal.aborted) return { ...measured, fate: 'unanswered' };
      // How long the phone rang is no delay of the target's.
      const answersAtMs = planned.atMs + planned.ringMs;
      const pickedUpAtMs = clock.nowMs();
      const deps = { clock, dispatcher: this.#deps.dispatcher, signal: this.#over.signal };
      const found = await findStream(plan, this.callId, deps);
      if (found.documentAtMs !== null) measured.placementMs = found.documentAtMs - answersAtMs;
      const socket = await dialStream(found.url, plan, this.#over.signal);
      const openAtMs = clock.nowMs();
      measured.dialledMs = openAtMs - answersAtMs;
      // Who picked up a phone hears nothing while the document is asked for; a stream by itself begins with itself.
      measured.answeredAtMs = found.documentAtMs === null ? openAtMs : pickedUpAtMs;
      await this.#talk(measured, socket, found.parameters, clips);
    } catch (error) {
      const fault = error instanceof CallFault ? error : new CallFault('failed', 'tool', String(error));
      Object.assign(measured, { fate: fault.fate, code: fault.code, why: fault.message });
    }
    if (this.#over.signal.aborted) {
      Object.assign(measured, { fate: 'cut', code: null, why: 'the run was stopped under it' });
    }
    return measured;
  }

  async #talk(
    measured: MeasuredCall,
    socket: Awaited<ReturnType<typeof dialStream>>,
    parameters: Readonly<Record<string, string>>,
    clips: readonly Clip[],
  ): Promise<void> {
    const { planned } = this;
    const { plan, clock, frameClock, frameSent, mayRecord } = this.#deps;
    const { gapBufferMs, expectSignal } = plan;
    const answeredAtMs = measured.answeredAtMs!;
    this.#recording = plan.soundFolder !== null && mayRecord() ? new CallRecording(answeredAtMs) : null;
    const shared = { planned, answeredAtMs, clock, clips, frameSent, gapBufferMs, expectSignal };
    const wire = PROTOCOLS[plan.protocol].createWire({ callId: this.callId, parameters, epochMs: clock.epochMs });
    let phone: Phone | null = null;
    const end = await new Promise<SessionEnd>((onEnd) => {
      this.#session = new StreamSession({
        socket,
        wire,
        clock,
        frameClock,
        lengthMs: answeredAtMs + planned.lengthMs - clock.nowMs(),
        answer: (send) => {
          phone = new Phone({ ...shared, send, recording: this.#recording });
          return phone;
        },
        onEnd,
      });
      if (this.#over.signal.aborted) this.#session.hangUp();
    });
    const judged = phone!.finish(end.endedAtMs);
    const hadSound = (judged.sound?.frames ?? 0) > 0;
    Object.assign(measured, judged, fateOf(end, hadSound), { endedAtMs: end.endedAtMs, endedBy: end.endedBy });
    measured.recordingPath = await this.#keepSound(end.endedAtMs);
  }

  /** Null: none is kept, or it could not be written: a full disk costs the sound, not the run. */
  async #keepSound(endMs: number): Promise<string | null> {
    const recording = this.#recording;
    const { soundFolder } = this.#deps.plan;
    if (recording === null || soundFolder === null) return null;
    const path = join(soundFolder, `call-${this.planned.index}.wav`);
    try {
      await writeFile(path, recording.toWav(endMs));
      return path;
    } catch {
      return null;
    } finally {
      this.#recording = null;
    }
  }
}

function fateOf(end: SessionEnd, hadSound: boolean): { fate: CallFate; code: string | null; why: string | null } {
  const { closeCode, faults, firstFault } = end;
  if (end.isStalled) return { fate: 'lost', code: 'stalled', why: 'the target stopped reading its socket' };
  if (closeCode !== null && !ORDINARY_CLOSES.includes(closeCode)) {
    return { fate: 'lost', code: String(closeCode), why: `the target's socket broke with close code ${closeCode}` };
  }
  if (faults === 0) return { fate: 'talked', code: null, why: null };
  const why = `${faults} of the target's messages were against the protocol, the first: ${firstFault}`;
  return hadSound ? { fate: 'talked', code: null, why } : { fate: 'failed', code: 'protocol', why };
}
