/**
 * The figures of one call: what its own log says, beside what the far end heard and when the voice's bytes left. Pure;
 * given by the scenario, which has fetched all of it.
 */
import type { ReplySteps } from '../../src/calls/latency-summary.ts';
import type { EmulatedCall } from '../harness/emulator-process.ts';

export interface Reply extends ReplySteps {
  turnId: string;
  differenceMs: number | null;
  /** From the voice's first byte to the ring, and to the far end's first sample; null: not told by both. */
  ringAfterByteMs: number | null;
  sampleAfterByteMs: number | null;
}

export interface BargeIn {
  /** By the callee's own audio: the instant of its sound at which the agent decided. */
  decisionToSilenceMs: number | null;
  onsetToSilenceMs: number;
  /** How far the transcript's cut is from the last sample; 0: within the word. */
  cutErrorMs: number | null;
}

export interface Voiced {
  turnId: string;
  text: string;
  askedAtEpochMs: number;
}

interface LoggedTurn {
  turnId: string;
  role: string;
  text: string;
  heardText: string;
  interrupted: boolean;
  startMs: number;
}

export interface CallFacts {
  /** Wall clock of the stream's begin. */
  streamAtEpochMs: number;
  turns: readonly LoggedTurn[];
  latency: { turns?: { turnId: string; differenceMs: number | null; steps: ReplySteps | null }[] } | null;
  /** `barge_in` of the phase `pause`, ms of stream. */
  decisionsAtMs: readonly number[];
  emulated: EmulatedCall;
  /** When each character of a text has sounded, ms from its first sound; null: of another text. */
  endsOf(text: string): readonly number[] | null;
}

/** Of an utterance's first sample, which the far end plays with its next frame. */
const LONGEST_WAY_MS = 500;
const FRAME_MS = 20;

/** What its replies asked the voice for, and when. */
export function voicedBy({ streamAtEpochMs, turns, latency }: CallFacts): Voiced[] {
  return (latency?.turns ?? []).flatMap(({ turnId, steps }) => {
    const text = turns.find((turn) => turn.turnId === turnId)?.text;
    if (steps === null || text === undefined || steps.firstClauseMs === null) return [];
    return [{ turnId, text, askedAtEpochMs: streamAtEpochMs + steps.speechEndAtMs + steps.firstClauseMs }];
  });
}

/** `soundAt`: by the turn, when the voice's first byte left. */
export function repliesOf(
  { streamAtEpochMs, turns, latency, emulated }: CallFacts,
  soundAt: ReadonlyMap<string, number>,
): Reply[] {
  return (latency?.turns ?? []).flatMap(({ turnId, differenceMs, steps }) => {
    const text = turns.find((turn) => turn.turnId === turnId)?.text;
    if (steps === null || text === undefined) return [];
    const at = (ms: number): number => streamAtEpochMs + steps.speechEndAtMs + ms;
    const byteAtEpochMs = soundAt.get(turnId) ?? null;
    const ringAtEpochMs = at(steps.ringMs);
    const heardAtEpochMs = emulated.agentBegan.find(
      ({ atEpochMs }) => atEpochMs >= ringAtEpochMs - FRAME_MS && atEpochMs <= ringAtEpochMs + LONGEST_WAY_MS,
    )?.atEpochMs;
    const since = (epochMs: number | undefined): number | null =>
      byteAtEpochMs === null || epochMs === undefined ? null : epochMs - byteAtEpochMs;
    return [
      {
        ...steps,
        turnId,
        differenceMs,
        ringAfterByteMs: since(ringAtEpochMs),
        sampleAfterByteMs: since(heardAtEpochMs),
      },
    ];
  });
}

export function bargeInsOf({ streamAtEpochMs, turns, decisionsAtMs, emulated, endsOf }: CallFacts): BargeIn[] {
  return emulated.clears.flatMap(({ lastAgentSampleAtEpochMs, calleeSpeechStartAtEpochMs, agentPlayedMs }) => {
    const isOne = emulated.said.some(
      ({ interrupting, startAtEpochMs }) => interrupting && startAtEpochMs === calleeSpeechStartAtEpochMs,
    );
    if (!isOne || lastAgentSampleAtEpochMs === null) return [];
    const silentAtEpochMs = lastAgentSampleAtEpochMs + FRAME_MS;
    const decidedAtMs = decisionsAtMs.findLast((ms) => streamAtEpochMs + ms <= silentAtEpochMs);
    // The answer that it interrupts is all that the agent has said since the callee's line before.
    const asked = emulated.said.findLast(({ startAtEpochMs }) => startAtEpochMs < calleeSpeechStartAtEpochMs!);
    const began = emulated.agentBegan.find(({ atEpochMs }) => atEpochMs > (asked?.endAtEpochMs ?? 0));
    const turn = turns.find(({ role, interrupted }) => role === 'agent' && interrupted);
    const ends = turn === undefined ? null : endsOf(turn.text);
    return [
      {
        decisionToSilenceMs: decidedAtMs === undefined ? null : silentAtEpochMs - streamAtEpochMs - decidedAtMs,
        onsetToSilenceMs: silentAtEpochMs - calleeSpeechStartAtEpochMs!,
        cutErrorMs: ends === null || began === undefined ? null : cutError(turn!, ends, agentPlayedMs - began.playedMs),
      },
    ];
  });
}

/** Between the end of the last word that counts as heard and the end of the next lies the truth, or how far from it. */
function cutError({ text, heardText }: LoggedTurn, ends: readonly number[], playedMs: number): number {
  const heard = heardText.trimEnd().length;
  const next = /^\s*\S+/.exec(text.slice(heard))?.[0].length ?? 0;
  const fromMs = heard === 0 ? 0 : ends[heard - 1]!;
  const toMs = next === 0 ? Number.POSITIVE_INFINITY : ends[heard + next - 1]!;
  if (playedMs < fromMs) return fromMs - playedMs;
  return playedMs > toMs ? playedMs - toMs : 0;
}
