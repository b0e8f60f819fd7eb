/**
 * The longest silence that the agent owed in a call, from the far end's own recording: before its first word, after
 * each line of the callee's up to its last sound, and behind a filler that no answer followed. Pure.
 */
import { heardAfter, type Run, runsOf } from '../../../bench/turns/far-end.ts';

export interface OwedSilence {
  ms: number;
  /** Place among the callee's lines; -1: before the first. */
  line: number;
}

export interface CallSound {
  /** Stereo: callee left, agent right. */
  wav: Buffer;
  /** Where the media stream opened in it. */
  openedMs: number;
  /** Where the callee's lines begin in it. */
  saidAtMs: readonly number[];
  endMs: number;
  /** What of the agent's was a filler. */
  fillers: readonly Run[];
}

/** A run and a turn of the transcript that are the same sound. */
const SAME_MS = 400;

export function owedSilences({ wav, openedMs, saidAtMs, endMs, fillers }: CallSound): OwedSilence[] {
  const callee = runsOf(wav, 0);
  const agent = runsOf(wav, 1);
  const firstMs = agent[0]?.startMs ?? endMs;
  const first = { ms: Math.max(0, Math.min(firstMs, saidAtMs[0] ?? endMs) - openedMs), line: -1 };
  const rest = saidAtMs.map((startMs, line) => {
    const untilMs = saidAtMs[line + 1] ?? endMs;
    const { owedMs } = heardAfter({ startMs, untilMs }, callee, agent);
    const last = agent.findLast((run) => run.startMs >= startMs && run.startMs < untilMs);
    const isFiller =
      last !== undefined &&
      fillers.some((filler) => last.startMs >= filler.startMs - SAME_MS && last.endMs <= filler.endMs + SAME_MS);
    const behindMs = last !== undefined && isFiller ? untilMs - last.endMs : 0;
    return { ms: Math.max(owedMs, behindMs), line };
  });
  return [first, ...rest];
}
