/**
 * A call that stood out, as the result has it: in sentences, with marks on its recording, its waveform and its sound.
 * Used by the gatherer when the run is over.
 */
import type { Distribution } from '../contract/distribution.ts';
import type { WorstCall } from '../contract/run-result.ts';
import { counted, formatAt, formatFigure } from './format-figure.ts';
import { type Excerpt, readExcerpt } from './recording.ts';
import { type KeptCall, longestReply } from './worst-calls.ts';

type Mark = WorstCall['marks'][number];

/** Against which a call stands out. */
interface Usual {
  replyMs: Distribution;
  firstWordMs: Distribution;
}

const MOST_MARKS = 40;
const MOST_TEXT = 300;
const ms = (value: number | null): string => formatFigure('time', value);

export function describeCall(call: KeptCall, listenAtMs: number, usual: Usual): WorstCall {
  const why = reasonsOf(call, usual);
  const answeredAtMs = call.answeredAtMs ?? call.begunAtMs;
  const { excerpt, fault } = excerptOf(call, listenAtMs - answeredAtMs);
  if (fault !== null) why.push(fault);
  if (excerpt !== null && excerpt.fromMs > 0)
    why.push(`The sound begins ${formatAt(excerpt.fromMs)} after the answer.`);
  return {
    index: call.index,
    caller: call.caller,
    why,
    fate: call.fate,
    answeredAtMs: call.answeredAtMs,
    endedAtMs: call.endedAtMs,
    marks: marksWithin(marksOf(call, usual), answeredAtMs, excerpt),
    waveform: excerpt?.waveform ?? null,
    soundBase64: excerpt?.soundBase64 ?? null,
  };
}

const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
const cutOff = (text: string): string => (text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text);

function reasonsOf(call: KeptCall, usual: Usual): string[] {
  const reply = longestReply(call);
  const gapMs = call.gaps.reduce((sum, gap) => sum + gap.gapMs, 0);
  const unstopped = call.bargeIns.filter(({ stoppedAfterMs }) => stoppedAfterMs === null).length;
  const lostLines = call.resumes.filter(({ resumedAfterMs }) => resumedAfterMs === null).length;
  const said = call.why === null ? '' : `: ${cutOff(call.why)}`;
  const code = call.code === null ? '' : ` (${cutOff(call.code)})`;
  const why: (string | false)[] = [
    call.fate === 'lost' && sentence(`It was answered, and its stream broke${code}${said}`),
    call.fate === 'failed' && sentence(`It failed${code}${said}`),
    call.fate === 'refused' && sentence(`The target refused it${code}${said}`),
    lostLines > 0 && `It lost its socket ${counted(lostLines, 'time')} and did not come back.`,
    unstopped > 0 && `${counted(unstopped, 'interruption')} did not stop the target.`,
    call.gaps.length > 0 && `${counted(call.gaps.length, 'gap')} in its sound, ${ms(gapMs)} together.`,
    call.audioShare !== null &&
      call.audioShare < 0.995 &&
      `Only ${formatFigure('share', call.audioShare)} of the audio that its time asks for.`,
    call.unanswered > 0 && `Nobody replied to ${counted(call.unanswered, 'turn')} of the caller.`,
    reply !== undefined &&
      reply.replyMs >= (usual.replyMs.p95 ?? 0) &&
      `Its longest reply took ${ms(reply.replyMs)} (half of all: ${ms(usual.replyMs.p50)}).`,
    call.firstWordMs !== null &&
      call.firstWordMs > (usual.firstWordMs.p95 ?? 0) &&
      `Its first word came after ${ms(call.firstWordMs)} (half of all: ${ms(usual.firstWordMs.p50)}).`,
  ];
  const reasons = why.filter((reason) => reason !== false);
  // Of few calls that all went well the slowest is shown too.
  return reasons.length > 0 ? reasons : ['Nothing is wrong with it.'];
}

/** By the run's own instants. */
function marksOf(call: KeptCall, usual: Usual): Mark[] {
  const slowMs = usual.replyMs.p95 ?? 0;
  const longest = longestReply(call);
  const marks: Mark[] = [
    ...call.gaps.map(({ atMs, gapMs }): Mark => ({ atMs, lengthMs: gapMs, kind: 'gap', text: `gap ${ms(gapMs)}` })),
    ...call.bargeIns.map(
      ({ atMs, stoppedAfterMs }): Mark => ({
        atMs,
        lengthMs: stoppedAfterMs ?? 0,
        kind: 'barge_in',
        text:
          stoppedAfterMs === null ? 'interruption: did not stop' : `interruption: stopped after ${ms(stoppedAfterMs)}`,
      }),
    ),
    ...call.resumes.map(
      ({ atMs, resumedAfterMs }): Mark => ({
        atMs,
        lengthMs: resumedAfterMs ?? 0,
        kind: 'resume',
        text:
          resumedAfterMs === null ? 'socket lost: did not come back' : `socket lost: back after ${ms(resumedAfterMs)}`,
      }),
    ),
    ...call.replies
      .filter((reply) => reply === longest || reply.replyMs >= slowMs)
      .map(({ atMs, replyMs }): Mark => ({ atMs, lengthMs: replyMs, kind: 'reply', text: `reply ${ms(replyMs)}` })),
  ];
  if (call.fate === 'lost' && call.endedAtMs !== null) {
    marks.push({
      atMs: call.endedAtMs,
      lengthMs: 0,
      kind: 'error',
      text: `stream broke${call.code === null ? '' : `: ${cutOff(call.code)}`}`,
    });
  }
  return marks;
}

/** Those of the excerpt, by its own instants; without one those of the whole call. */
function marksWithin(marks: Mark[], answeredAtMs: number, excerpt: Excerpt | null): Mark[] {
  const fromMs = answeredAtMs + (excerpt?.fromMs ?? 0);
  const lengthMs = excerpt?.lengthMs ?? Number.POSITIVE_INFINITY;
  return (
    marks
      .map((mark) => ({ ...mark, atMs: mark.atMs - fromMs }))
      // A stream that broke ends its own recording, some milliseconds before the instant at which it was noticed.
      .map((mark) => (mark.kind === 'error' ? { ...mark, atMs: Math.min(mark.atMs, lengthMs) } : mark))
      .filter(({ atMs, lengthMs: length }) => atMs + length >= 0 && atMs <= lengthMs)
      .map((mark) => ({ ...mark, lengthMs: Math.min(mark.lengthMs, lengthMs - mark.atMs) }))
      .sort((a, b) => a.atMs - b.atMs)
      .slice(0, MOST_MARKS)
  );
}

function excerptOf(call: KeptCall, aroundMs: number): { excerpt: Excerpt | null; fault: string | null } {
  if (call.recordingPath === null) return { excerpt: null, fault: null };
  try {
    return { excerpt: readExcerpt(call.recordingPath, aroundMs), fault: null };
  } catch (error) {
    return { excerpt: null, fault: `Its recording could not be read: ${(error as Error).message}` };
  }
}
