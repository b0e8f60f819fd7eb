import { afterEach, expect, test, vi } from 'vitest';
import { readNumber } from '../../../../bench/harness/options.ts';

afterEach(() => vi.restoreAllMocks());

/** What is said of it, and the code that the process ends with; else the number. */
function read(given: string, limits?: Parameters<typeof readNumber>[2]): unknown {
  const said: unknown[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(text) > 0);
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`${code}`);
  });
  try {
    return readNumber('rate', given, limits);
  } catch (error) {
    return [(error as Error).message, ...said];
  }
}

test('takes what is in its range, and ends with 2 and a sentence for all else', () => {
  expect([read('0.5'), read('20'), read('0', { least: 0 })]).toEqual([0.5, 20, 0]);
  for (const given of ['x', '0', '-1', '', ' ', '1x', 'Infinity', 'NaN'])
    expect(read(given)).toEqual(['2', `--rate takes a number above 0, not '${given}'\n`]);
  expect(read('3', { least: 1, most: 2, isWhole: true })).toEqual([
    '2',
    "--rate takes a whole number from 1 to 2, not '3'\n",
  ]);
  expect(read('1.5', { least: 1, isWhole: true })).toEqual(['2', "--rate takes a whole number from 1 on, not '1.5'\n"]);
});
