/**
 * A reply step by step, from the end of the caller's last sound to the first frame that the leg was given: put together
 * from what the hearing, the models, the voice and the speaker have noted. Pure; called by the reporter as a reply
 * begins to be heard.
 */
import type { ModelRequestFacts, ReplyStages, ServedBy } from '../contract/conversation.ts';
import type { EngineChoice, EngineUse } from '../contract/engine-kinds.ts';

/** The caller's side of a reply's latency, all in ms of stream. */
export interface ReplyAnchor {
  /** End of the caller's last sound. */
  speechEndMs: number;
  /** When it was decided that the turn is over. */
  decidedAtMs: number;
  /** When the final recognition result was there. */
  recognisedAtMs: number;
  /** Typed, or an operator's: no recogniser had a part in it. */
  isTyped?: boolean;
}

/** A question to a model: by its place in the agent's choice, ms of stream. NaN: no word of it yet. */
export interface AskTimes {
  model: number;
  askedAtMs: number;
  firstTokenAtMs: number;
}

/** The agent's side, ms of stream; NaN: there was no such step. */
export interface SpeakTimes {
  /** Who spoke: the place among the agent's voices. */
  voice: number;
  clauseAtMs: number;
  audioAtMs: number;
  ringAtMs: number;
  frameAtMs: number;
}

export function replyStages(
  anchor: ReplyAnchor,
  ask: AskTimes | null,
  spoken: SpeakTimes,
  choice: EngineChoice | null,
): ReplyStages {
  const since = (atMs: number): number => Math.round(atMs - anchor.speechEndMs);
  const sinceIf = (atMs: number): number | null => (Number.isNaN(atMs) ? null : since(atMs));
  const isSpoken = !Number.isNaN(spoken.clauseAtMs);
  return {
    speechEndAtMs: Math.round(anchor.speechEndMs),
    decidedMs: since(anchor.decidedAtMs),
    finalWordsMs: since(anchor.recognisedAtMs),
    askedMs: ask === null ? null : since(ask.askedAtMs),
    firstTokenMs: ask === null ? null : sinceIf(ask.firstTokenAtMs),
    firstClauseMs: sinceIf(spoken.clauseAtMs),
    firstAudioMs: sinceIf(spoken.audioAtMs),
    ringMs: since(spoken.ringAtMs),
    firstFrameMs: since(spoken.frameAtMs),
    listen: anchor.isTyped === true ? null : servedBy(choice?.ear),
    think: ask === null ? null : servedBy(choice?.models?.[ask.model]),
    speak: isSpoken ? servedBy(spoken.voice === 0 ? choice?.voice : choice?.standbyVoices?.[spoken.voice - 1]) : null,
  };
}

/** Of a question that is over. */
export function requestFacts(
  { model, askedAtMs, firstTokenAtMs }: AskTimes,
  endedAtMs: number,
  end: Pick<ModelRequestFacts, 'outcome' | 'fault' | 'usage'>,
  choice: EngineChoice,
): ModelRequestFacts | null {
  const served = servedBy(choice.models?.[model]);
  if (served === null) return null;
  return {
    served,
    askedAtMs: Math.round(askedAtMs),
    firstTokenMs: Number.isNaN(firstTokenAtMs) ? null : Math.round(firstTokenAtMs - askedAtMs),
    ms: Math.round(endedAtMs - askedAtMs),
    ...end,
  };
}

function servedBy(use: EngineUse | null | undefined): ServedBy | null {
  if (use === null || use === undefined) return null;
  const model = use.settings?.['model'];
  return {
    provider: use.engine,
    connection: use.connection ?? null,
    model: typeof model === 'string' ? model : null,
  };
}
