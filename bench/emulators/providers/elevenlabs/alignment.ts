/**
 * Times of characters in the shape in which they are sent: whole milliseconds, relative to the sound beside which they
 * stand. Pure.
 */
import type { Speech } from '../voice/emulated-voice.ts';
import type { CharTimes } from '../voice/phone-alignment.ts';

/** Documents say the one, the service sends the other: clients should take both. */
export type DurationsKey = 'charDurationsMs' | 'charsDurationsMs';

export interface TimedText {
  chars: string[];
  startMs: number[];
  endMs: number[];
}

/** The text as it was given. Characters beyond the basic plane stay whole. */
export function givenText(text: string, { times }: Speech): TimedText {
  return timed(text, times);
}

/** As it was spoken: numbers and signs in words, between two spaces, as the service has it. */
export function normalizedText({ spoken, spokenTimes }: Speech): TimedText {
  const { chars, startMs, endMs } = timed(spoken, spokenTimes);
  const firstMs = startMs[0] ?? 0;
  const lastMs = endMs.at(-1) ?? 0;
  return {
    chars: [' ', ...chars, ' '],
    startMs: [firstMs, ...startMs, lastMs],
    endMs: [firstMs, ...endMs, lastMs],
  };
}

function timed(text: string, times: CharTimes): TimedText {
  const result: TimedText = { chars: [], startMs: [], endMs: [] };
  let at = 0;
  for (const char of text) {
    result.chars.push(char);
    result.startMs.push(times.startMs[at] ?? 0);
    result.endMs.push(times.endMs[at + char.length - 1] ?? 0);
    at += char.length;
  }
  return result;
}

/** Characters that begin in [`fromMs`, `toMs`), relative to `fromMs`; null when none do. */
export function alignmentOf(
  { chars, startMs, endMs }: TimedText,
  fromMs: number,
  toMs: number,
  key: DurationsKey,
): object | null {
  const indexes = chars.flatMap((_char, i) => (startMs[i]! >= fromMs && startMs[i]! < toMs ? [i] : []));
  if (indexes.length === 0) return null;
  const starts = indexes.map((i) => Math.round(startMs[i]! - fromMs));
  return {
    charStartTimesMs: starts,
    [key]: indexes.map((i, at) => Math.max(0, Math.round(endMs[i]! - fromMs) - starts[at]!)),
    chars: indexes.map((i) => chars[i]!),
  };
}
