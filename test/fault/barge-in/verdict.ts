/**
 * What became of one case: did the agent stop, for good or for a moment, how soon, and was anything of its old words
 * heard afterwards? Read from the carrier's recording (caller left, agent right), its account of the call, and the
 * call's own events. Pure; called by `run.ts`.
 */

import type { EmulatedCall } from '../../../bench/harness/emulator-process.ts';
import { type Run, runsOf } from '../../../bench/turns/far-end.ts';
import type { ConversationEvent, Turn } from '../../../media/contract/conversation.ts';
import type { Case } from './plan.ts';
import type { SpokenWord } from './word-times.ts';

/** `unbegun`: what it was about to say was never said. */
export type Outcome = 'stopped' | 'unbegun' | 'resumed' | 'never_paused' | 'stuck';

export interface Verdict {
  one: Case;
  outcome: Outcome;
  isRight: boolean;
  /** From the first sound of the caller to the last of the agent; null where it did not stop or was silent already. */
  silentAfterMs: number | null;
  /** The same, to the decision. */
  decidedAfterMs: number | null;
  /** Frames of 20 ms of the old words that were heard after the decision. */
  staleFrames: number;
  /** How far the words that count as heard are from those of the waveform; null: not cut. */
  heardCutMs: number | null;
  /** What the caller was heard to say. */
  heard: string;
  /** The emulated carrier's own lateness. */
  latenessMs: number;
}

export interface Evidence {
  one: Case;
  clipMs: number;
  turns: readonly Pick<Turn, 'role' | 'startMs' | 'endMs' | 'text' | 'heardText' | 'interrupted' | 'kind'>[];
  events: readonly ConversationEvent[];
  emulated: Pick<EmulatedCall, 'said' | 'clears' | 'streamOpenAtEpochMs' | 'maxFrameLatenessMs'>;
  wav: Buffer;
  words: readonly SpokenWord[];
  /** Of the agent's words that are to be cut, or not. */
  text: string;
}

const FRAME_MS = 20;
/** On the way to the far end when the decision falls. */
const ON_THE_WAY_MS = 80;
const FILLER_ENDS_WITHIN_MS = 300;
/** Two frames of the carrier's clock. */
const EDGE_MS = 60;

export function judge(evidence: Evidence): Verdict {
  const { one, clipMs, turns, events, emulated, wav, text } = evidence;
  const own = emulated.said.find(({ text: said }, at) => said === one.says && at === emulated.said.length - 1);
  const latenessMs = emulated.maxFrameLatenessMs;
  const heard = turns.flatMap(({ role, heardText }) => (role === 'user' ? [heardText] : [])).join(' | ');
  const base = { one, silentAfterMs: null, decidedAfterMs: null, staleFrames: 0, heardCutMs: null, heard, latenessMs };
  if (own === undefined) return { ...base, outcome: 'stuck', isRight: false };
  const onsetMs = own.startMs;
  const agent = runsOf(wav, 1);
  const bargeIns = events.filter((event) => event.type === 'barge_in' && event.atMs >= onsetMs - EDGE_MS);
  const atOf = (phase: string): number | null =>
    bargeIns.flatMap((event) => (event.type === 'barge_in' && event.phase === phase ? [event.atMs] : []))[0] ?? null;
  const [pausedMs, committedMs, resumedMs] = [atOf('pause'), atOf('commit'), atOf('resume')];
  const old = turns.find((turn) => turn.role === 'agent' && text.startsWith(turn.text.slice(0, 20)));
  const isRight = (outcome: Outcome): boolean =>
    one.isInterruption
      ? outcome === 'stopped' || outcome === 'unbegun'
      : outcome === 'resumed' || outcome === 'never_paused';

  if (committedMs !== null || old === undefined || old.heardText === '') {
    const outcome = committedMs === null ? 'unbegun' : 'stopped';
    // Where nothing was cut, what sounds as the caller begins is no answer: a filler, which is not said on.
    const stopMs = committedMs ?? pausedMs ?? onsetMs + FILLER_ENDS_WITHIN_MS;
    const stopped = lastSoundBefore(agent, Math.min(pausedMs ?? stopMs, stopMs) + ON_THE_WAY_MS);
    const isSpeaking = stopped !== null && stopped > onsetMs;
    const nextStartMs =
      turns.find(({ role, startMs }) => role === 'agent' && startMs > stopMs)?.startMs ?? Number.POSITIVE_INFINITY;
    return {
      ...base,
      outcome,
      isRight: isRight(outcome),
      silentAfterMs: isSpeaking ? stopped - onsetMs : null,
      decidedAfterMs: committedMs === null ? null : committedMs - onsetMs,
      staleFrames: framesIn(agent, stopMs + ON_THE_WAY_MS, nextStartMs - EDGE_MS),
      heardCutMs: outcome === 'stopped' && old !== undefined ? heardCut(evidence, agent, old) : null,
    };
  }
  if (pausedMs === null) return { ...base, outcome: 'never_paused', isRight: isRight('never_paused') };
  const goesOn = resumedMs !== null && agent.some(({ endMs }) => endMs > Math.max(resumedMs, onsetMs + clipMs));
  const outcome = goesOn || isWhole(old, text) ? 'resumed' : 'stuck';
  return { ...base, outcome, isRight: isRight(outcome) };
}

const isWhole = ({ heardText }: Pick<Turn, 'heardText'>, text: string): boolean => heardText.trim() === text.trim();

function lastSoundBefore(agent: readonly Run[], beforeMs: number): number | null {
  const run = agent.findLast(({ startMs }) => startMs < beforeMs);
  return run === undefined ? null : Math.min(run.endMs, Math.max(beforeMs, run.endMs));
}

function framesIn(agent: readonly Run[], fromMs: number, toMs: number): number {
  let soundMs = 0;
  for (const { startMs, endMs } of agent) soundMs += Math.max(0, Math.min(endMs, toMs) - Math.max(startMs, fromMs));
  return Math.ceil(soundMs / FRAME_MS);
}

/**
 * Sound that was played of the old words, against the words that count as heard: how much of the last of them was not
 * played, or of the next one was. Of a text that was resumed before it was cut the waveform has words twice: null.
 */
function heardCut(
  { words, events, emulated }: Evidence,
  agent: readonly Run[],
  old: Pick<Turn, 'heardText'>,
): number | null {
  if (events.some((event) => event.type === 'barge_in' && event.phase === 'resume')) return null;
  const [clear] = emulated.clears;
  const [first] = agent;
  if (clear?.lastAgentSampleAtEpochMs == null || emulated.streamOpenAtEpochMs === null || first === undefined)
    return null;
  const playedMs = clear.lastAgentSampleAtEpochMs - emulated.streamOpenAtEpochMs - first.startMs;
  const count = old.heardText.trim() === '' ? 0 : old.heardText.trim().split(/\s+/).length;
  const last = words[count - 1];
  const next = words[count];
  if (last !== undefined && playedMs < last.endMs) return last.endMs - playedMs;
  // A word that was begun may count or not; one that was played to its end was heard.
  return next !== undefined && playedMs > next.endMs ? playedMs - next.endMs : 0;
}
