/**
 * What an observation of a call changes, pure: the row as it is and what was seen go in, the changed properties, the
 * lines for the call's log and the effects to do after the commit come out. Observations arrive late, doubled and in
 * any order; whatever no longer fits is recorded and changes no status. `transition.ts` is the only caller.
 */
import { type CallStatus, ENDED_REASONS, type EndedReason, type HangupBy } from '../../media/contract/call-outcome.ts';
import type { StreamEnd } from '../../media/contract/link-messages.ts';
import { type CallRecord, RECORDING_FAILED } from '../calls/call-record.ts';
import type { CallPatch, CallRow, Ending } from '../calls/call-row.ts';
import { fittingReason, isTerminal, mayMove, rankOf } from '../calls/state-machine.ts';
import { isDue, nextDeadline, type TimerKind } from '../calls/timers.ts';
import type { CarrierEnd } from '../carriers/carrier.ts';

export interface EndReport {
  reason: EndedReason;
  hangupBy: HangupBy | null;
  error?: CallRecord['error'];
}

export type Observation =
  | { type: 'submission.accepted'; carrierRequestId: string }
  | ({ type: 'submission.refused'; carrierCode: string } & EndReport)
  | { type: 'submission.unknown'; why: string }
  | { type: 'carrier.ringing'; carrierCallId: string }
  | { type: 'carrier.answered'; carrierCallId: string }
  /** The carrier has no stream any more, and somebody is still on the phone. */
  | { type: 'carrier.stream_over'; carrierCallId: string }
  | { type: 'carrier.ended'; carrierCallId: string; end: CarrierEnd }
  /** Somebody wants the call over (agent, API, a timer): it is hung up at the carrier, whose word then finishes it. */
  | ({ type: 'end.asked'; disposition?: string | null } & EndReport)
  | {
      type: 'media.stopped';
      why: StreamEnd;
      durationMs: number;
      latency: Record<string, unknown> | null;
    }
  /** A web session is over for good; `media.stopped` finishes it. */
  | { type: 'web.ended'; why: StreamEnd }
  /**
   * The call is over now: a timer ran out, or the carrier knows it no more. An ending that was noted before wins.
   * With `ifDue` only while that timer is still over: what was seen since the reaper looked may have stopped it.
   */
  | ({ type: 'finish'; ifDue?: TimerKind } & EndReport);

/** What to do once the change is committed; each may be done twice without harm. */
export type SideEffect = 'hang_up' | 'stop_media' | 'prepare_greeting';

export interface Change {
  patch: CallPatch;
  /** Lines of `call_events`. */
  log: { kind: string; data: Record<string, unknown> }[];
  effects: SideEffect[];
  /** The patch makes the call terminal. */
  finished: boolean;
  /** The submission became known: a client that waits with its key can be answered. */
  settled: 'accepted' | 'failed' | null;
}

/** Works on a private copy; never touches `call`. `timerScale`: see `timers.ts`. */
export function observe(call: CallRow, observation: Observation, nowEpochMs: number, timerScale = 1): Change {
  const draft = new Draft(call, nowEpochMs, timerScale);
  const late = isTerminal(call.status);
  switch (observation.type) {
    case 'submission.accepted':
      if (draft.call.carrierRequestId === null) draft.set({ carrierRequestId: observation.carrierRequestId });
      if (late) draft.cameTooLate(observation);
      else draft.accepted(observation);
      break;
    case 'submission.refused':
      // A callback says that it was dialled after all: then the refusal was not about this call.
      if (late || call.submission !== null || call.status !== 'dialing') draft.recordLate(observation);
      else {
        draft.record(observation).set({ submission: 'refused', submissionAt: draft.now });
        draft.finish(observation);
      }
      break;
    case 'submission.unknown':
      if (late || call.submission !== null) draft.recordLate(observation);
      else draft.set({ submission: 'unknown', submissionAt: draft.now }).record(observation);
      break;
    case 'carrier.ringing':
    case 'carrier.answered':
      draft.reached(observation, observation.type === 'carrier.ringing' ? 'ringing' : 'in_progress');
      break;
    case 'carrier.stream_over':
      draft.streamOver(observation);
      break;
    case 'carrier.ended':
      draft.carrierEnded(observation);
      break;
    case 'end.asked':
      if (late) draft.recordLate(observation);
      else draft.endAsked(observation);
      break;
    case 'media.stopped':
      draft.mediaStopped(observation);
      break;
    case 'web.ended':
      if (late) draft.recordLate(observation);
      else draft.record(observation).webEnded(observation.why);
      break;
    case 'finish':
      if (late || (observation.ifDue !== undefined && !isDue(call, observation.ifDue, nowEpochMs, timerScale))) {
        draft.recordLate(observation);
      } else {
        draft.record(observation).finish(observation);
      }
      break;
  }
  return draft.change();
}

class Draft {
  readonly call: CallRow;
  readonly now: Date;
  readonly #timerScale: number;
  readonly #patch: CallPatch = {};
  readonly #log: Change['log'] = [];
  readonly #effects = new Set<SideEffect>();
  #finished = false;
  #settled: Change['settled'] = null;

  constructor(call: CallRow, nowEpochMs: number, timerScale: number) {
    this.#timerScale = timerScale;
    this.call = { ...call };
    this.now = new Date(nowEpochMs);
  }

  set(patch: CallPatch): this {
    Object.assign(this.call, patch);
    Object.assign(this.#patch, patch);
    return this;
  }

  record(observation: Observation): this {
    const { type, ...data } = observation;
    this.#log.push({ kind: type, data });
    return this;
  }

  recordLate(observation: Observation): this {
    const { type, ...data } = observation;
    this.#log.push({ kind: type, data: { ...data, late: true } });
    return this;
  }

  /** A sign of life of a call that is over here: unless the carrier has ended it too, it must not ring or talk on. */
  cameTooLate(observation: Observation): void {
    this.recordLate(observation);
    if (this.call.carrierEndedAt === null) this.effect('hang_up');
  }

  effect(effect: SideEffect): this {
    this.#effects.add(effect);
    return this;
  }

  change(): Change {
    this.set({ deadlineAt: nextDeadline(this.call, this.now.getTime(), this.#timerScale) });
    return {
      patch: this.#patch,
      log: this.#log,
      effects: [...this.#effects],
      finished: this.#finished,
      settled: this.#settled,
    };
  }

  accepted(observation: Observation): void {
    const before = this.call.submission;
    if (before === 'accepted') {
      this.recordLate(observation);
      return;
    }
    this.record(observation);
    this.#resolve(before);
    if (!this.#finished) this.effect('prepare_greeting');
  }

  /** The carrier has the call: what was unknown is known. False when the call had to be ended for it. */
  #resolve(before: CallRow['submission']): boolean {
    if (before === 'accepted') return true;
    if (before === 'unknown' && this.call.lateAcceptance === 'cancel') {
      this.effect('hang_up');
      this.finish({ reason: 'submission_unknown', hangupBy: 'platform' });
      return false;
    }
    this.set({ submission: 'accepted', submissionAt: this.now });
    if (before === 'unknown') this.#settled = 'accepted';
    return true;
  }

  reached(observation: Observation & { carrierCallId: string }, to: 'ringing' | 'in_progress'): void {
    this.#learnCallId(observation.carrierCallId);
    if (isTerminal(this.call.status)) {
      this.cameTooLate(observation);
      return;
    }
    if (rankOf(this.call.status) >= rankOf(to)) {
      this.recordLate(observation);
      return;
    }
    this.record(observation);
    const before = this.call.submission;
    if (!this.#resolve(before)) return;
    if (before === 'unknown') this.effect('prepare_greeting');
    this.#move(to);
  }

  streamOver(observation: Extract<Observation, { type: 'carrier.stream_over' }>): void {
    // The answer's callback may have been lost.
    if (rankOf(this.call.status) < rankOf('in_progress')) this.reached(observation, 'in_progress');
    else if (isTerminal(this.call.status)) this.cameTooLate(observation);
    else this.record(observation);
  }

  carrierEnded(observation: Extract<Observation, { type: 'carrier.ended' }>): void {
    this.#learnCallId(observation.carrierCallId);
    const { end } = observation;
    if (isTerminal(this.call.status) || this.call.carrierEndedAt !== null) {
      this.recordLate(observation);
      return;
    }
    this.record(observation).set({ carrierEndedAt: this.now });
    if (this.call.submission !== 'accepted' && !this.#resolve(this.call.submission)) return;
    const answered = this.call.status === 'in_progress';
    if (!answered && end.reason === null && (end.durationSeconds ?? 0) > 0) {
      // The answer's callback was lost; the carrier's bill says that there was one.
      this.#move('in_progress', new Date(this.now.getTime() - (end.durationSeconds ?? 0) * 1000));
    }
    this.#noteEnding({
      reason: end.reason ?? 'user_hangup',
      hangupBy: end.hangupBy,
      sipCode: end.sipCode,
      carrierCause: end.carrierCause,
      error: null,
    });
    const mediaStillTalks =
      this.call.status === 'in_progress' && this.call.epoch > 0 && this.call.mediaStoppedAt === null;
    if (mediaStillTalks) this.effect('stop_media');
    else this.#finish();
  }

  endAsked(observation: Observation & EndReport): void {
    this.record(observation).effect('hang_up');
    this.#noteEnding(observation);
    if (this.call.status !== 'in_progress') this.#finish();
    else if (observation.hangupBy !== 'agent') this.effect('stop_media');
  }

  mediaStopped(observation: Extract<Observation, { type: 'media.stopped' }>): void {
    if (this.call.mediaStoppedAt !== null) {
      this.recordLate(observation);
      return;
    }
    const { latency, ...logged } = observation;
    this.set({ mediaStoppedAt: this.now });
    // The recording may have come first, and knows better.
    if (latency !== null && this.call.latency?.['method'] !== 'waveform') {
      this.set({ latency: { ...this.call.latency, ...latency } });
    }
    if (this.call.status !== 'in_progress') {
      this.recordLate({ ...logged, latency: null });
      return;
    }
    this.record({ ...logged, latency: null });
    const fault = MEDIA_FAULTS[observation.why];
    if (fault !== undefined && this.call.ending === null) {
      this.#noteEnding({ reason: fault, hangupBy: 'platform' });
      this.effect('hang_up');
    }
    if (this.call.channel === 'web') {
      // No carrier has a word to say.
      this.webEnded(observation.why);
      this.#finish();
    } else if (this.call.carrierEndedAt !== null) this.#finish();
  }

  /** Whoever closed the socket ended the call, unless somebody has ended it before, or it broke. */
  webEnded(why: StreamEnd): void {
    if (this.call.ending !== null) return;
    const fault = MEDIA_FAULTS[why];
    this.#noteEnding(
      fault === undefined ? { reason: 'user_hangup', hangupBy: 'caller' } : { reason: fault, hangupBy: 'platform' },
    );
  }

  finish(report: EndReport): void {
    this.#noteEnding(report);
    this.#finish();
  }

  #learnCallId(carrierCallId: string): void {
    if (this.call.carrierCallId === null && carrierCallId !== '') this.set({ carrierCallId });
  }

  /** The first that ends the call is the one that ended it; a later one only adds the carrier's codes. */
  #noteEnding(report: EndReport & Partial<Ending>): void {
    const { ending } = this.call;
    const next: Ending = {
      reason: ending?.reason ?? report.reason,
      hangupBy: ending?.hangupBy ?? report.hangupBy,
      sipCode: ending?.sipCode ?? report.sipCode ?? null,
      carrierCause: ending?.carrierCause ?? report.carrierCause ?? null,
      error: ending === null ? (report.error ?? null) : ending.error,
      atEpochMs: ending?.atEpochMs ?? this.now.getTime(),
    };
    this.set({ ending: next });
  }

  #move(to: CallStatus, at: Date = this.now): void {
    const { status } = this.call;
    if (!mayMove(status, to)) throw new Error(`A call cannot go from ${status} to ${to}.`);
    this.set({ status: to });
    if (to === 'ringing') this.set({ ringingAt: at });
    if (to === 'in_progress') this.set({ answeredAt: at });
    this.#log.push({ kind: 'status', data: { status: to } });
  }

  /** The call was over when its media or the carrier said so, which may be a while before it is certain. */
  #endedAt(): Date {
    const { carrierEndedAt, mediaStoppedAt, answeredAt } = this.call;
    const earliest = Math.min(
      this.now.getTime(),
      ...[carrierEndedAt, mediaStoppedAt].map((at) => at?.getTime() ?? Infinity),
    );
    return new Date(Math.max(earliest, answeredAt?.getTime() ?? 0));
  }

  #finish(): void {
    const { ending, status } = this.call;
    if (ending === null || isTerminal(status)) throw new Error(`A call in ${status} cannot finish without an ending.`);
    const reason = fittingReason(status as Exclude<CallStatus, 'completed' | 'no_answer' | 'failed'>, ending.reason);
    const { status: to, fault } = ENDED_REASONS[reason];
    if (!mayMove(status, to)) throw new Error(`A call cannot go from ${status} to ${to}.`);
    this.set({
      status: to,
      endedReason: reason,
      fault,
      hangupBy: ending.hangupBy,
      sipCode: ending.sipCode,
      error: ending.error,
      endedAt: this.#endedAt(),
    });
    if (this.call.submission === 'unknown') this.#settled = 'failed';
    // Of a call that ends without its media's last word, no recording can be expected; one that comes still counts.
    if (this.call.recordingStatus === 'pending' && this.call.mediaStoppedAt === null) {
      this.set({ recordingStatus: 'failed', warnings: [...this.call.warnings, RECORDING_FAILED] });
    }
    if (this.call.epoch > 0 && this.call.mediaStoppedAt === null) this.effect('stop_media');
    this.#finished = true;
    this.#log.push({ kind: 'status', data: { status: to, endedReason: reason, hangupBy: ending.hangupBy, fault } });
  }
}

const MEDIA_FAULTS: Partial<Record<StreamEnd, EndedReason>> = {
  bad_stream: 'media_incompatible',
  no_media: 'no_media',
  failed: 'internal_error',
};
