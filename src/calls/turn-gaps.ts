/**
 * The waveform's own answer: for each reply, from the end of the caller's energy to the first sound of the agent, out
 * of a recording's sound map and the turns that the pipeline knows. Pure. Turns say which pauses lie inside a caller's
 * turn and which sound is a murmur or a breath after it; where both do not fit together there is no value, never a
 * guess. Accuracy: docs/decisions/waveform-latency.md.
 */
import type { SoundMap, SoundRun, Turn } from '../../media/contract/conversation.ts';

export interface TurnGap {
  /** Of the agent's reply. */
  turnId: string;
  callerEndMs: number;
  agentStartMs: number;
  /** From the one to the other. */
  mouthToEarMs: number;
}

/**
 * The pipeline's voice-activity gate may hear the end of a turn a little early: sound that begins so
 * soon after it is part of it.
 */
const TURN_END_EARLY_MS = 120;
const TURN_START_LATE_MS = 250;
/** The waveform and the gate may differ by so much; more, and one of them heard something else. */
const MOST_APART_MS = 600;
/** Rendered speech begins with up to 30 ms of near silence, the recording is placed to 40 ms. */
const ONSET_EARLY_MS = 60;
const ONSET_LATE_MS = 700;
/** Sound so far below the loudest of a turn is a breath, not its last word. */
const BREATH_BELOW_DB = 20;

/** `replies`: ids of the agent's turns that answer the caller. Values come in the order of the turns. */
export function turnGaps(sound: SoundMap, turns: readonly Turn[], replies: ReadonlySet<string>): TurnGap[] {
  const gaps: TurnGap[] = [];
  let caller: Turn | null = null;
  for (const turn of turns) {
    if (turn.role === 'user') {
      if (turn.kind !== 'backchannel') caller = turn;
      continue;
    }
    if (caller === null || !replies.has(turn.turnId)) continue;
    const agentStartMs = onsetOf(sound.agent, turn);
    const callerEndMs = agentStartMs === null ? null : endOf(sound.caller, caller, agentStartMs);
    if (agentStartMs === null || callerEndMs === null || agentStartMs < callerEndMs) continue;
    gaps.push({ turnId: turn.turnId, callerEndMs, agentStartMs, mouthToEarMs: agentStartMs - callerEndMs });
  }
  return gaps;
}

function onsetOf(runs: readonly SoundRun[], turn: Turn): number | null {
  const at = firstAfter(runs, turn.startMs - ONSET_EARLY_MS);
  const run = runs[at];
  if (run === undefined || run.startMs > turn.startMs + ONSET_LATE_MS) return null;
  // Sound that was there before: something else of the agent's runs into this turn.
  return run.startMs < turn.startMs - ONSET_EARLY_MS ? null : run.startMs;
}

function endOf(runs: readonly SoundRun[], turn: Turn, beforeMs: number): number | null {
  const candidates: SoundRun[] = [];
  const latestStartMs = Math.min(turn.endMs + TURN_END_EARLY_MS, beforeMs);
  for (let at = firstAfter(runs, turn.startMs - TURN_START_LATE_MS); at < runs.length; at++) {
    if (runs[at]!.startMs >= latestStartMs) break;
    candidates.push(runs[at]!);
  }
  const loudest = Math.max(...candidates.map((run) => run.peakDbfs));
  const last = candidates.findLast((run) => run.peakDbfs >= loudest - BREATH_BELOW_DB);
  if (last === undefined || Math.abs(last.endMs - turn.endMs) > MOST_APART_MS) return null;
  return last.endMs;
}

/** Index of the first run that ends after `ms`. */
function firstAfter(runs: readonly SoundRun[], ms: number): number {
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (runs[middle]!.endMs > ms) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The longest stretch in which neither side made a sound, between the first sound of the call and the last; 0 when
 * there is none.
 */
export function longestSilenceMs({ caller, agent }: SoundMap): number {
  const runs = [...caller, ...agent].sort((a, b) => a.startMs - b.startMs);
  let longest = 0;
  let untilMs = runs[0]?.endMs ?? 0;
  for (const run of runs) {
    longest = Math.max(longest, run.startMs - untilMs);
    untilMs = Math.max(untilMs, run.endMs);
  }
  return longest;
}
