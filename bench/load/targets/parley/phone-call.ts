/**
 * One emulated phone of one planned call: who answers, what it says and hears, and what became of it. Driven by the
 * tool's carrier as a callee; read by the phone target when the call is over. Instants are the run's.
 */
import type { Clock } from '../../../../media/contract/clock.ts';
import type { CallTruth } from '../../../emulators/call-truth.ts';
import type { Callee } from '../../../emulators/callees/callee.ts';
import type { EmulatorEvent } from '../../../emulators/emulator-event.ts';
import { type Persona, parsePersonas } from '../../../emulators/persona.ts';
import { createRandom } from '../../../harness/seeded-random.ts';
import type { MeasuredCall } from '../../contract/measured-call.ts';
import type { PlannedCall } from '../../contract/planned-call.ts';
import { CallRecording } from '../../far-end/call-recording.ts';
import { SILENT_FRAME } from '../../far-end/said-sound.ts';
import { SoundJudge } from '../../far-end/sound-judge.ts';
import { createTalkPlan, patienceOf, type TalkPlan } from '../../far-end/talk-plan.ts';
import { notBegun } from '../../run/not-begun.ts';
import type { Clips } from '../../speech/clips.ts';
import type { Placed } from './placing.ts';

export interface PhoneDeps {
  clock: Clock;
  clips: Clips;
  gapBufferMs: number;
  expectSignal: boolean;
  /** Its sound is kept in memory until it is over. */
  keepsSound: boolean;
  frameSent(lateMs: number): void;
}

/** Ends of a media socket that are no fault: an ordinary close, and one without a code. */
const ORDINARY_CLOSES = [1000, 1001, 1005];

export class PhoneCall implements Callee {
  readonly planned: PlannedCall;
  readonly persona: Persona;
  readonly begunAtMs: number;
  readonly #deps: PhoneDeps;
  #judge: SoundJudge | null = null;
  #plan: TalkPlan | null = null;
  #recording: CallRecording | null = null;
  #hasArrived = false;
  #rangAtMs: number | null = null;
  #answeredAtMs: number | null = null;
  #streamAtMs: number | null = null;
  #endedAtMs: number | null = null;
  #isCut = false;

  constructor(planned: PlannedCall, number: string, deps: PhoneDeps) {
    this.planned = planned;
    this.#deps = deps;
    this.persona = personaOf(planned, number);
    this.begunAtMs = deps.clock.nowMs();
  }

  /** The carrier was asked to dial it. */
  get hasArrived(): boolean {
    return this.#hasArrived;
  }

  get isOver(): boolean {
    return this.#endedAtMs !== null;
  }

  /** What is told from now on is that the run was stopped under it. */
  cut(): void {
    this.#isCut = true;
  }

  async prepare(): Promise<void> {
    const { talk, seed } = this.planned;
    this.#plan = createTalkPlan(talk, await this.#deps.clips.framesOf(talk), createRandom(seed));
  }

  fill(frame: Uint8Array, lateMs: number): void {
    const nowMs = this.#deps.clock.nowMs();
    this.#deps.frameSent(lateMs);
    const said = this.#plan!.frame(nowMs, this.#judge!.targetHeardMs(nowMs));
    frame.set(said.mulaw);
    if (said !== SILENT_FRAME) this.#judge!.farEndFrame(nowMs, said.mulaw);
    this.#recording?.said(nowMs, said.mulaw);
  }

  /** What is played is judged from what arrives. */
  hear(): void {}

  arrives(audio: Uint8Array): void {
    const playedAtMs = this.#judge!.agentFrame(this.#deps.clock.nowMs(), audio);
    this.#recording?.heard(playedAtMs, audio);
  }

  cleared(): void {
    const nowMs = this.#deps.clock.nowMs();
    this.#judge!.cleared(nowMs);
    this.#recording?.cleared(nowMs);
  }

  close(): void {}

  /** Of the carrier's events about this call. */
  heard({ event }: EmulatorEvent): void {
    const nowMs = this.#deps.clock.nowMs();
    if (event === 'placed') this.#hasArrived = true;
    else if (event === 'ringing') this.#rangAtMs = nowMs;
    else if (event === 'answered') this.#answered(nowMs);
    else if (event === 'stream_open') this.#streamAtMs ??= nowMs;
    else if (event === 'hangup') this.#endedAtMs = nowMs;
  }

  #answered(atMs: number): void {
    const { talk } = this.planned;
    this.#answeredAtMs = atMs;
    this.#judge = new SoundJudge({
      answeredAtMs: atMs,
      gapBufferMs: this.#deps.gapBufferMs,
      patienceMs: patienceOf(talk),
      expectSignal: this.#deps.expectSignal,
    });
    if (this.#deps.keepsSound) this.#recording = new CallRecording(atMs);
  }

  /** Stereo, from the answer; null: none was kept. */
  wav(): Uint8Array | null {
    return this.#recording?.toWav(this.#endedAtMs ?? this.#deps.clock.nowMs()) ?? null;
  }

  /** Of a call that is over. `placementMs`: from its planned instant to the answer to its placement. */
  measured(placed: Placed, placementMs: number, truth: CallTruth): MeasuredCall {
    const { planned, begunAtMs } = this;
    const source = truth.hangup?.source;
    const judged = this.#judge?.finish(this.#endedAtMs ?? this.#deps.clock.nowMs());
    return {
      ...notBegun(planned, ...this.#fate(placed, truth), begunAtMs),
      placementMs,
      // A phone that is busy never rings.
      dialledMs: this.#rangAtMs === null ? null : this.#rangAtMs - planned.atMs,
      answeredAtMs: this.#answeredAtMs,
      endedAtMs: this.#endedAtMs,
      endedBy: source === 'Callee' || source === 'Carrier' || source === 'Plivo' ? 'far_end' : 'target',
      ...judged,
    };
  }

  #fate(placed: Placed, truth: CallTruth): [MeasuredCall['fate'], string | null, string | null] {
    const hangup = truth.hangup;
    const how = hangup === null ? 'it did not end' : `${hangup.name} (${hangup.code}, ${hangup.source})`;
    if (this.#isCut) return ['cut', null, 'the run was stopped under it'];
    if (placed.fate !== null) return [placed.fate, placed.code, placed.why];
    if (this.#answeredAtMs === null) {
      if (this.planned.outcome !== 'answer' && hangup?.source !== 'API Request') return ['unanswered', null, null];
      return ['failed', String(hangup?.code ?? 'none'), `it ended before anybody answered: ${how}`];
    }
    if (this.#streamAtMs === null) {
      const refused = truth.refusedUpgrades.at(-1);
      const why = refused === undefined ? `it had no stream: ${how}` : `its stream was refused with ${refused}: ${how}`;
      return ['failed', refused ?? String(hangup?.code ?? 'none'), why];
    }
    if (hangup?.source === 'Error') return ['lost', String(hangup.code), `the target broke off: ${how}`];
    const broken = truth.streams.at(-1);
    // A stream that the hang-up itself ends has not closed yet.
    if (broken?.closeCode != null && !ORDINARY_CLOSES.includes(broken.closeCode)) {
      return ['lost', String(broken.closeCode), `its stream broke with close code ${broken.closeCode}`];
    }
    return ['talked', null, null];
  }
}

function personaOf(planned: PlannedCall, number: string): Persona {
  const { network, seed } = planned;
  const isPoor = network.delayMs > 0 || network.jitterMs > 0 || network.lossShare > 0;
  return parsePersonas([
    {
      kind: 'silent',
      name: planned.caller,
      number,
      ringMs: planned.ringMs,
      outcome: planned.outcome,
      hangsUpAfterMs: Math.max(1, planned.lengthMs),
      faults: { media: isPoor ? [{ kind: 'poor_line', ...network, seed }] : [] },
    },
  ])[0]!;
}
