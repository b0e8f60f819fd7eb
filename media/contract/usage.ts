/**
 * What a call used of its providers, counted where it was used (media) and priced where it is kept (`src/usage`). One
 * list of units, which the price table has too. Types and one table.
 */

/** As the parts of a call's cost are called in the call log. */
export type CostKind = 'stt' | 'llm' | 'tts';

export interface UsageUnitFacts {
  kind: CostKind;
  /** A price is for so many of them. */
  per: number;
  /** For people: what a price is for. */
  about: string;
}

export const USAGE_UNITS = {
  listen_seconds: { kind: 'stt', per: 1, about: 'a second of sound that was listened to' },
  input_tokens: { kind: 'llm', per: 1_000, about: '1,000 tokens of a request that the provider did not have already' },
  cached_input_tokens: { kind: 'llm', per: 1_000, about: '1,000 tokens of a request that the provider still had' },
  output_tokens: { kind: 'llm', per: 1_000, about: '1,000 tokens of an answer' },
  characters: { kind: 'tts', per: 1_000, about: '1,000 characters of text that was spoken' },
  speech_seconds: { kind: 'tts', per: 1, about: 'a second of sound that was made' },
} as const satisfies Record<string, UsageUnitFacts>;

export type UsageUnit = keyof typeof USAGE_UNITS;

export const USAGE_UNIT_NAMES = Object.keys(USAGE_UNITS) as UsageUnit[];

/** One line of what a call used. A line never changes, and one that is told twice counts once. */
export interface UsageLine {
  /** Made by who counts, unique in the call; 1 to 64 characters. */
  usageId: string;
  /** The turn that it was used for, where it was for one. */
  turnId: string | null;
  connection: string;
  version: number;
  provider: string;
  model: string;
  unit: UsageUnit;
  /** Not negative; to a thousandth. */
  quantity: number;
  /** Paid for, and thrown away because the caller went on. */
  speculative: boolean;
}
