/**
 * The `latency` of a call log entry (contract §13), pure: the stages that the pipeline measured of each reply, and
 * above them the waveform's own answer once the recording is there. Called when media stops and
 * when a recording is told.
 *
 *   caller's last sound │ eou │ stt │ tts (script and voice) │ transport │ first sound of the reply
 *                       └──────────── stagesMs, by the pipeline's clock ─┘
 *                       mouthToEarMs, by the waveform, is the same stretch
 */
import type { ReplyStages, SoundMap, Turn, TurnLatency } from '../../media/contract/conversation.ts';
import { longestSilenceMs, turnGaps } from './turn-gaps.ts';

export interface Spread {
  p50: number;
  p90: number;
  p95: number;
  p99: number;
  max: number;
  count: number;
}

/**
 * One reply. Stages are ms and add up to `stagesMs`; `agentMs` is until the reply's first frame
 * was handed to the carrier.
 */
export interface ReplyLatency {
  turnId: string;
  eouMs: number;
  sttMs: number;
  ttsMs: number;
  /** From there until the far end played it; null when it is not known when that was. */
  transportMs: number | null;
  agentMs: number;
  stagesMs: number | null;
  /** By the waveform; null where it has no value. */
  mouthToEarMs: number | null;
  /** The waveform's answer less the sum of the stages. */
  differenceMs: number | null;
  /** Step by step, each from the end of the caller's last sound; null: it was told by a version that knew none. */
  steps: ReplySteps | null;
}

export interface ReplySteps extends ReplyStages {
  /** The far end began to play it; null when it is not known when that was. */
  firstPlayedMs: number | null;
}

const STAGES = ['eouMs', 'sttMs', 'ttsMs', 'transportMs', 'agentMs', 'stagesMs'] as const;
/** Further apart, the two turns are no question and answer. */
const LONGEST_REPLY_MS = 60_000;

/**
 * Null when no reply was measured. Without a sound map `mouthToEarMs` is the sum of the stages and `method` says
 * `pipeline`; with one it holds the waveform's values alone, and `differenceMs` says how far the two are apart.
 */
export function summariseLatencies(
  latencies: readonly TurnLatency[],
  turns: readonly Turn[],
  sound: SoundMap | null = null,
): Record<string, unknown> | null {
  if (latencies.length === 0) return null;
  const replies = withWaveform(
    latencies.map((latency) => stagesOf(latency, turns)),
    turns,
    sound,
  );
  const spread = (name: Exclude<keyof ReplyLatency, 'turnId' | 'steps'>): Spread | null =>
    spreadOf(replies.flatMap((reply) => reply[name] ?? []));
  const isMeasured = replies.some((reply) => reply.mouthToEarMs !== null);
  const spreads = Object.fromEntries(STAGES.map((stage) => [stage, spread(stage)]));
  return {
    mouthToEarMs: isMeasured ? spread('mouthToEarMs') : spreads['stagesMs'],
    ...spreads,
    ...(isMeasured ? { differenceMs: spread('differenceMs') } : {}),
    method: isMeasured ? 'waveform' : 'pipeline',
    ...(sound === null ? {} : { longestSilenceMs: longestSilenceMs(sound) }),
    turns: replies,
  };
}

/** What media tells counts from the end of the caller's last sound; here each stage by itself. */
function stagesOf({ turnId, eouMs, sttMs, ttsMs, agentMs, stages }: TurnLatency, turns: readonly Turn[]): ReplyLatency {
  const at = turns.findIndex((turn) => turn.turnId === turnId);
  const caller = turns
    .slice(0, Math.max(0, at))
    .findLast((turn) => turn.role === 'user' && turn.kind !== 'backchannel');
  const playedMs = caller === undefined ? Number.NaN : turns[at]!.startMs - caller.endMs;
  const isPlausible = playedMs >= ttsMs && playedMs <= LONGEST_REPLY_MS;
  return {
    turnId,
    eouMs,
    sttMs: Math.max(0, sttMs - eouMs),
    ttsMs: Math.max(0, ttsMs - sttMs),
    transportMs: isPlausible ? playedMs - ttsMs : null,
    agentMs,
    stagesMs: isPlausible ? playedMs : null,
    mouthToEarMs: null,
    differenceMs: null,
    steps:
      stages === undefined
        ? null
        : { ...stages, firstPlayedMs: playedAfter(stages, isPlausible ? turns[at] : undefined) },
  };
}

function playedAfter({ speechEndAtMs }: ReplyStages, turn: Turn | undefined): number | null {
  return turn === undefined ? null : turn.startMs - speechEndAtMs;
}

function withWaveform(replies: ReplyLatency[], turns: readonly Turn[], sound: SoundMap | null): ReplyLatency[] {
  if (sound === null) return replies;
  const gaps = turnGaps(sound, turns, new Set(replies.map((reply) => reply.turnId)));
  const byTurn = new Map(gaps.map((gap) => [gap.turnId, gap.mouthToEarMs]));
  return replies.map((reply) => {
    const mouthToEarMs = byTurn.get(reply.turnId) ?? null;
    const isBoth = mouthToEarMs !== null && reply.stagesMs !== null;
    return { ...reply, mouthToEarMs, differenceMs: isBoth ? mouthToEarMs - reply.stagesMs! : null };
  });
}

/** Nearest-rank percentiles, whole milliseconds. */
export function spreadOf(valuesMs: readonly number[]): Spread | null {
  const sorted = valuesMs.filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const at = (ratio: number): number => Math.round(sorted[Math.max(0, Math.ceil(ratio * sorted.length) - 1)]!);
  return { p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), max: at(1), count: sorted.length };
}
