/**
 * What a conversation was like, from when each side made a sound: the first word, replies, turns that nobody answered,
 * interruptions and how soon the target stopped. Pure; called by the judge once a call.
 */
import type { BargeIn, MeasuredCall, Reply } from '../contract/measured-call.ts';
import type { SoundRun, SoundRuns } from './sound-runs.ts';

/** A shorter pause is part of a turn. */
const TURN_PAUSE_MS = 300;
/** A target that was silent for so long has stopped. */
const STOPPED_MS = 400;
/** Who talks on for longer was not stopped. */
const LONGEST_STOP_MS = 3_000;

export interface TurnsOfCall {
  farEnd: SoundRuns;
  target: SoundRuns;
  answeredAtMs: number;
  endMs: number;
  /** A silence after a turn of the far end that is as long went unanswered; null: the far end expects no answer. */
  patienceMs: number | null;
}

export type TurnsHeard = Pick<MeasuredCall, 'firstWordMs' | 'replies' | 'unanswered' | 'bargeIns'>;

export function turnsHeard({ farEnd, target, answeredAtMs, endMs, patienceMs }: TurnsOfCall): TurnsHeard {
  const own = farEnd.joined(TURN_PAUSE_MS);
  const theirs = target.joined(TURN_PAUSE_MS);
  const replies: Reply[] = [];
  let unanswered = 0;
  let next = 0;
  for (const [index, { endMs: atMs }] of own.entries()) {
    const untilMs = own[index + 1]?.startMs ?? endMs;
    while (next < theirs.length && theirs[next]!.endMs <= atMs) next++;
    const run = theirs[next];
    // It talks already, or again only when the far end does.
    if (run !== undefined && run.startMs < atMs) continue;
    if (run !== undefined && run.startMs < untilMs) replies.push({ atMs, replyMs: run.startMs - atMs });
    else if (patienceMs !== null && untilMs - atMs >= patienceMs) unanswered++;
  }
  return {
    firstWordMs: theirs[0] === undefined ? null : Math.max(0, theirs[0].startMs - answeredAtMs),
    replies,
    unanswered,
    bargeIns: bargeIns(own, target.joined(STOPPED_MS), endMs),
  };
}

/** A turn of the far end that begins while the target talks, who goes on. */
function bargeIns(own: readonly SoundRun[], theirs: readonly SoundRun[], endMs: number): BargeIn[] {
  const found: BargeIn[] = [];
  let next = 0;
  for (const { startMs: atMs } of own) {
    while (next < theirs.length && theirs[next]!.endMs <= atMs) next++;
    const run = theirs[next];
    if (run === undefined || run.startMs >= atMs) continue;
    const afterMs = run.endMs - atMs;
    if (afterMs > LONGEST_STOP_MS) found.push({ atMs, stoppedAfterMs: null });
    // Of a call that ended before there was a silence it cannot be told.
    else if (endMs - run.endMs >= STOPPED_MS) found.push({ atMs, stoppedAfterMs: afterMs });
  }
  return found;
}
