/** What the hearing tells of the caller, and to whom: what follows from it is the floor's and the conversation's. */
import type { WordSense } from '../../contract/agent.ts';
import type { ReplyAnchor } from '../reply-stages.ts';
import type { CallerTurn } from './caller-turn.ts';

/** A caller's turn whose words are final. */
export interface Meaning {
  turn: CallerTurn;
  sense: WordSense;
  anchor: ReplyAnchor;
}

/** Who lets the agent speak, or not. */
export interface InterruptionListener {
  /** Sound that may be an interruption: the agent falls silent and waits. */
  mayInterrupt(): void;
  /** It is one. */
  interrupts(): void;
  /** It was none: the agent goes on. */
  letsGoOn(): void;
  meant(meaning: Meaning): void;
}

export interface HearingListener {
  /** The caller's sound begins or ends, at this audio time. */
  callerSpeaks(speaking: boolean, streamMs: number): void;
  /** A pause that may be the end of the open turn: `text` is what it would mean now, some words. Again with others. */
  callerPaused(text: string): void;
  /** It was a pause only, or the turn will mean nothing. */
  callerWentOn(): void;
  /** Failed again and again. */
  recogniserLost(error: Error): void;
}

/** Shorter speech that nothing can be made of is a noise. */
export const SHORTEST_SPEECH_MS = 250;

/** Somebody spoke, whether or not it was understood. */
export function isSpeech(turn: CallerTurn, sense: WordSense): boolean {
  return sense !== 'nothing' && (sense !== 'rejected' || turn.spokenMs >= SHORTEST_SPEECH_MS);
}

/** Of two that came while the agent was being cut: one turn, with all words of both. */
export function together(first: Meaning, next: Meaning): Meaning {
  const { turn } = first;
  const { text, words, lastSpeechEndMs } = next.turn;
  turn.words = turn.words === undefined || words === undefined ? undefined : [...turn.words, ...words];
  turn.text = `${turn.text} ${text}`.trim();
  turn.lastSpeechEndMs = Math.max(turn.lastSpeechEndMs, lastSpeechEndMs);
  return { turn, sense: first.sense === 'answer' ? first.sense : next.sense, anchor: next.anchor };
}
