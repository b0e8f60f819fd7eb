/**
 * What an analysis finds in a call (contract §6, §13): its shape, its labels and its bounds. Used by whoever makes one
 * (`heuristic/`, `model-answer.ts`) and whoever shows one. Whatever made it, nothing longer or
 * other than this leaves `src/analysis`.
 */

/** Of an agent that names no intents of its own. */
export const DEFAULT_INTENTS = [
  'book_appointment',
  'not_interested',
  'callback_requested',
  'wrong_number',
  'do_not_call',
  'voicemail',
  'other',
] as const;
/** Always there, so that a call that is about something else has a label. */
export const OTHER_INTENT = 'other';
export const SENTIMENTS = ['positive', 'neutral', 'negative'] as const;
export type Sentiment = (typeof SENTIMENTS)[number];

export const BOUNDS = {
  summaryCharacters: 1_000,
  summarySentences: 4,
  reasonCharacters: 300,
  evidence: 10,
  quoteCharacters: 300,
  dataKeys: 60,
  dataBytes: 16 * 1024,
  labelCharacters: 120,
};

export interface Evidence {
  turnId: string;
  /** Stands in the turn, letter for letter. */
  quote: string;
}

/** As stored with the call. */
export interface Findings {
  summary: string;
  intent: string;
  /** 0 to 1. */
  intentConfidence: number | null;
  sentiment: Sentiment;
  /** Null: not to be told from what was said. */
  successful: boolean | null;
  successReason: string | null;
  /** What the script caught and what fits the agent's schema. */
  data: Record<string, unknown>;
  /** BCP 47. */
  language: string | null;
  /** The script's own word at its end, else what a model says. */
  disposition: string | null;
  evidence: Evidence[];
  /** `parley-heuristic-1`, or the model that was asked. */
  model: string;
}

/** The labels that an analysis may choose from, `other` last. */
export function labelsOf(intents: readonly string[] | undefined): string[] {
  const own = intents === undefined || intents.length === 0 ? DEFAULT_INTENTS : intents;
  return [...new Set([...own.filter((label) => label !== OTHER_INTENT), OTHER_INTENT])];
}

/**
 * One line without control characters or half a character, cut at `longest`; what came from outside is stored only so.
 */
export function plainLine(text: string, longest: number): string {
  const line = wellFormed(text)
    .replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ')
    .trim();
  return line.length <= longest
    ? line
    : `${line
        .slice(0, longest - 1)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd()}…`;
}

/** Half a character is no text: a database would refuse it. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** The first four sentences. */
export function shortSummary(
  text: string,
  sentences = BOUNDS.summarySentences,
  characters = BOUNDS.summaryCharacters,
): string {
  const line = plainLine(text, characters);
  const ends = [...line.matchAll(/[.!?…]["”’)]*(?=\s+\S)/gu)];
  const last = ends[sentences - 1];
  return last === undefined ? line : line.slice(0, last.index + last[0].length);
}
