/**
 * What is counted and not timed: fates, codes, interruptions, shares of audio. Calls that warm up are none of it. Used
 * by the gatherer.
 */
import type { CallFate, MeasuredCall } from '../contract/measured-call.ts';
import type { RunResult } from '../contract/run-result.ts';

/** Codes are the target's own words: they are bounded in number and length. */
const MOST_CODES = 40;
const LONGEST_CODE = 80;
const NO_CODE = 'no code';
const OTHER_CODES = 'other';
/** Less is too little to tell a share by. */
const LEAST_STREAMED_MS = 1_000;

type Calls = Omit<RunResult['calls'], 'mostAtOnce'>;
type Counts = Pick<
  RunResult['measures'],
  | 'gapsPerCallMinute'
  | 'realTimeShareWorst'
  | 'realTimeShareMean'
  | 'bargeIns'
  | 'bargeInsThatStopped'
  | 'turnsUnanswered'
  | 'lostShare'
  | 'repeatedShare'
  | 'errorShare'
>;

export interface Tally {
  add(call: MeasuredCall): void;
  calls(): Calls;
  measures(): Counts;
}

export function createTally(): Tally {
  const fates: Record<CallFate, number> = {
    talked: 0,
    unanswered: 0,
    refused: 0,
    failed: 0,
    lost: 0,
    held_back: 0,
    cut: 0,
  };
  const codes = { refused: new Map<string, number>(), failed: new Map<string, number>() };
  let talkMs = 0;
  let heardTalkMs = 0;
  let gaps = 0;
  let bargeIns = 0;
  let stopped = 0;
  let unanswered = 0;
  const audio = { ms: 0, streamedMs: 0, worst: null as number | null };
  const known = { ms: 0, lostMs: 0, repeatedMs: 0, calls: 0 };

  function add(call: MeasuredCall): void {
    fates[call.fate]++;
    if (call.fate === 'refused') countCode(codes.refused, call.code);
    if (call.fate === 'failed' || call.fate === 'lost') countCode(codes.failed, call.code);
    bargeIns += call.bargeIns.length;
    stopped += call.bargeIns.filter(({ stoppedAfterMs }) => stoppedAfterMs !== null).length;
    unanswered += call.unanswered;
    const lengthMs = call.answeredAtMs === null ? 0 : Math.max(0, (call.endedAtMs ?? 0) - call.answeredAtMs);
    talkMs += lengthMs;
    if (call.sound !== null) addSound(call.sound, lengthMs);
  }

  function addSound(sound: NonNullable<MeasuredCall['sound']>, lengthMs: number): void {
    heardTalkMs += lengthMs;
    gaps += sound.gaps.length;
    if (sound.streamedMs >= LEAST_STREAMED_MS) {
      audio.ms += sound.audioMs;
      audio.streamedMs += sound.streamedMs;
      audio.worst = Math.min(audio.worst ?? Number.POSITIVE_INFINITY, sound.audioMs / sound.streamedMs);
    }
    if (sound.lostMs === null && sound.repeatedMs === null) return;
    known.calls++;
    known.ms += sound.audioMs;
    known.lostMs += sound.lostMs ?? 0;
    known.repeatedMs += sound.repeatedMs ?? 0;
  }

  function measures(): Counts {
    const begun = Object.values(fates).reduce((sum, count) => sum + count, 0) - fates.held_back;
    const sent = known.ms + known.lostMs;
    return {
      gapsPerCallMinute: heardTalkMs === 0 ? null : gaps / (heardTalkMs / 60_000),
      realTimeShareWorst: audio.worst,
      realTimeShareMean: audio.streamedMs === 0 ? null : audio.ms / audio.streamedMs,
      bargeIns,
      bargeInsThatStopped: stopped,
      turnsUnanswered: unanswered,
      lostShare: known.calls === 0 || sent === 0 ? null : known.lostMs / sent,
      repeatedShare: known.calls === 0 || sent === 0 ? null : known.repeatedMs / sent,
      errorShare: begun === 0 ? 0 : (fates.failed + fates.refused + fates.lost) / begun,
    };
  }

  const calls = (): Calls => ({
    planned: Object.values(fates).reduce((sum, count) => sum + count, 0),
    talked: fates.talked,
    unanswered: fates.unanswered,
    refused: fates.refused,
    failed: fates.failed,
    lost: fates.lost,
    heldBack: fates.held_back,
    cut: fates.cut,
    talkMs,
    refusedBy: mostFirst(codes.refused),
    failedBy: mostFirst(codes.failed),
  });

  return { add, calls, measures };
}

function countCode(counts: Map<string, number>, code: string | null): void {
  // No object can have a key of that name by being given it.
  const given = code === '__proto__' ? `"${code}"` : code;
  const named = given === null || given === '' ? NO_CODE : given.slice(0, LONGEST_CODE);
  const name = counts.has(named) || counts.size < MOST_CODES ? named : OTHER_CODES;
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

const mostFirst = (counts: Map<string, number>): Record<string, number> =>
  Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
