import { expect, test } from 'vitest';
import { addWords, type SpokenWord, voicedSpan } from '../../../../../media/call/speaking/word-table.ts';

test('the voiced part leaves out silence of 50 ms before and 30 ms after, to 10 ms', () => {
  const samples = new Int16Array(8_000);
  samples.fill(3_000, 400, 7_760);
  samples[7_999] = 100;
  expect(voicedSpan(samples, 8_000)).toEqual({ start: 400, end: 7_760 });
  expect(voicedSpan(new Int16Array(800), 8_000)).toEqual({ start: 0, end: 0 });
});

test('words fill their time without holes, in proportion to how long they take to say', () => {
  const text = 'No, tomorrow at 1042.';
  const table: SpokenWord[] = [];
  addWords(table, text, 0, text.length, 1_000, 3_000);
  expect(table.map((word) => text.slice(word.charStart, word.charEnd))).toEqual(['No,', 'tomorrow', 'at', '1042.']);
  expect(table[0]!.startMs).toBe(1_000);
  expect(table.at(-1)!.endMs).toBeCloseTo(3_000, 6);
  for (let i = 1; i < table.length; i++) expect(table[i]!.startMs).toBe(table[i - 1]!.endMs);
  const lengthMs = table.map((word) => word.endMs - word.startMs);
  expect(lengthMs[1]!).toBeGreaterThan(2 * lengthMs[0]!);
  expect(lengthMs[3]!).toBeGreaterThan(lengthMs[1]!);
});
