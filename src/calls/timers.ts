/**
 * Every timer of a call, pure: which are running is a function of the row alone, so a restart loses none of them.
 * `nextDeadline` is what each transaction writes into `deadline_at`; `dueTimer` is what the reaper acts on.
 * A timer that is over and could not be settled (the carrier is away, say) comes again after `RETRY_MS`.
 * `scale` shortens, for fault runs, what waits for a carrier's word: `PARLEY_CALL_TIMER_SCALE` of `src/config`.
 */

import type { CallRow } from './call-row.ts';
import { isTerminal } from './state-machine.ts';

/**
 * A carrier request takes 5 s at most, twice where a 429 is tried again; without an outcome
 * after this it was interrupted.
 */
export const PLACEMENT_LOST_MS = 15_000;
/** How long an unknown submission is held for a callback or a late acceptance. */
export const SUBMISSION_UNKNOWN_MS = 60_000;
/** From the carrier's acceptance to ringing or answer. */
export const DIALING_MS = 20_000;
/** From the answer to the claim of its media stream. */
export const NO_MEDIA_MS = 10_000;
/** From the carrier's end to the end of media, so that the transcript is whole. */
export const MEDIA_DRAIN_MS = 1_500;
/** Media ends a talk that is too long by itself; control does so later than that. */
export const MAX_DURATION_GRACE_MS = 10_000;
/** From the first sign of an end (media stopped, a hang-up asked for) to the first look-up at the carrier. */
export const CLOSING_LOOKUP_MS = 10_000;
/** After so long the call is finished, whatever the carrier says or does not say. */
export const CLOSING_LIMIT_MS = 40_000;
/**
 * How long a call without an owner waits to come back, or for a definite word of the carrier.
 */
export const ORPHAN_LIMIT_MS = 12_000;
/** The same for a web session: a visitor may come back for 30 s (contract §9), and needs some to be served. */
export const WEB_ORPHAN_LIMIT_MS = 33_000;
export const RETRY_MS = 5_000;
/** A carrier of a fault run has spoken within this, however small the scale. */
const LEAST_SCALED_MS = 8_000;

export type TimerKind =
  /** At the command line. */
  | 'end_asked'
  /** Control died between the row and the carrier's answer: from now on the submission counts as unknown. */
  | 'placement_lost'
  | 'submission_unknown'
  | 'dialing'
  | 'ring'
  | 'media_drain'
  | 'closing_limit'
  | 'closing_lookup'
  | 'max_duration'
  | 'orphan_limit'
  | 'orphan_lookup'
  | 'no_media';

export interface Timer {
  kind: TimerKind;
  atEpochMs: number;
}

/** The running timers, the most decisive first: of several that are over, the reaper acts on the first. */
export function timersOf(call: CallRow, scale = 1): Timer[] {
  if (isTerminal(call.status)) return [];
  const { endAskedAt } = call;
  const isAsked = endAskedAt !== null && call.ending === null;
  return [
    ...(isAsked ? [{ kind: 'end_asked' as const, atEpochMs: endAskedAt.getTime() }] : []),
    ...timersOfState(call, scale),
  ];
}

function scaled(ms: number, scale: number): number {
  return Math.max(Math.min(ms, LEAST_SCALED_MS), ms * scale);
}

function timersOfState(call: CallRow, scale: number): Timer[] {
  if (call.status === 'in_progress') return timersOfTalk(call, scale);
  const dialedAt = (call.dialedAt ?? call.createdAt).getTime();
  if (call.status === 'ringing') {
    const ringMs = scaled(call.ringTimeoutSeconds * 1000, scale);
    return [{ kind: 'ring', atEpochMs: (call.ringingAt?.getTime() ?? dialedAt) + ringMs }];
  }
  if (call.status === 'queued') return [];
  if (call.submission === 'accepted') {
    return [{ kind: 'dialing', atEpochMs: (call.submissionAt?.getTime() ?? dialedAt) + scaled(DIALING_MS, scale) }];
  }
  const timers: Timer[] = [{ kind: 'submission_unknown', atEpochMs: dialedAt + scaled(SUBMISSION_UNKNOWN_MS, scale) }];
  if (call.submission === null) {
    timers.push({ kind: 'placement_lost', atEpochMs: dialedAt + scaled(PLACEMENT_LOST_MS, scale) });
  }
  return timers;
}

function timersOfTalk(call: CallRow, scale: number): Timer[] {
  const answeredAt = (call.answeredAt ?? call.createdAt).getTime();
  const claimed = call.epoch > 0;
  const timers: Timer[] = [];
  if (call.carrierEndedAt !== null) {
    timers.push({ kind: 'media_drain', atEpochMs: call.carrierEndedAt.getTime() + MEDIA_DRAIN_MS });
  }
  const closingSince = Math.min(
    call.mediaStoppedAt?.getTime() ?? Number.POSITIVE_INFINITY,
    call.ending?.atEpochMs ?? Number.POSITIVE_INFINITY,
  );
  if (closingSince !== Number.POSITIVE_INFINITY) {
    timers.push({ kind: 'closing_limit', atEpochMs: closingSince + scaled(CLOSING_LIMIT_MS, scale) });
    if (call.channel === 'phone') {
      timers.push({ kind: 'closing_lookup', atEpochMs: closingSince + scaled(CLOSING_LOOKUP_MS, scale) });
    }
    return timers;
  }
  timers.push({
    kind: 'max_duration',
    atEpochMs: answeredAt + call.maxDurationSeconds * 1000 + MAX_DURATION_GRACE_MS,
  });
  if (!claimed) timers.push({ kind: 'no_media', atEpochMs: answeredAt + NO_MEDIA_MS });
  if (claimed && call.orphanedAt !== null) {
    const limitMs = call.channel === 'web' ? WEB_ORPHAN_LIMIT_MS : ORPHAN_LIMIT_MS;
    timers.push({ kind: 'orphan_limit', atEpochMs: call.orphanedAt.getTime() + limitMs });
    // Of a web session there is nobody to ask.
    if (call.channel === 'phone') timers.push({ kind: 'orphan_lookup', atEpochMs: call.orphanedAt.getTime() });
  }
  return timers;
}

/**
 * The timer to act on, or null when the row was only looked at too early (it has an owner again).
 * `passedEpochMs` is earlier than `nowEpochMs` when the wall clock was set forward since the call began: what is said
 * of orphans is said by the clock of now, the other timers begin at what the row says of the past.
 */
export function dueTimer(
  call: CallRow,
  nowEpochMs: number,
  passedEpochMs: number = nowEpochMs,
  scale = 1,
): TimerKind | null {
  const isOrphans = ({ kind }: Timer): boolean => kind === 'orphan_limit' || kind === 'orphan_lookup';
  const due = timersOf(call, scale).find((timer) => timer.atEpochMs <= (isOrphans(timer) ? nowEpochMs : passedEpochMs));
  return due?.kind ?? null;
}

export function isDue(call: CallRow, kind: TimerKind, nowEpochMs: number, scale = 1): boolean {
  return timersOf(call, scale).some((timer) => timer.kind === kind && timer.atEpochMs <= nowEpochMs);
}

/** When the reaper must look at the call next; null once it is terminal. Never in the past. */
export function nextDeadline(call: CallRow, nowEpochMs: number, scale = 1): Date | null {
  let next = Number.POSITIVE_INFINITY;
  for (const { atEpochMs } of timersOf(call, scale)) {
    next = Math.min(next, atEpochMs > nowEpochMs ? atEpochMs : nowEpochMs + RETRY_MS);
  }
  return next === Number.POSITIVE_INFINITY ? null : new Date(next);
}
