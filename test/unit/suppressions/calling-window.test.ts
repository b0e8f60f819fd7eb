import { afterEach, expect, it, vi } from 'vitest';
import { localTimesOf } from '../../../src/suppressions/calling-window.ts';

afterEach(() => void vi.restoreAllMocks());

/** The same zone in as many spellings as it has letters to spell large. */
function spellings(count: number): string[] {
  const name = 'america/los_angeles';
  return Array.from({ length: count }, (_none, number) =>
    [...name].map((letter, place) => ((number >> place) & 1 ? letter.toUpperCase() : letter)).join(''),
  );
}

it('keeps the formats of some hundred zones, however many spellings of them leads bring, and those in use longest', () => {
  const { DateTimeFormat } = Intl;
  const made = vi.spyOn(Intl, 'DateTimeFormat').mockImplementation(function make(...of) {
    return new DateTimeFormat(...of);
  });
  const count = (zone: string): number => {
    const before = made.mock.calls.length;
    expect(localTimesOf([zone], Date.UTC(2026, 10, 22, 12))[0]!.clock).toBe('04:00');
    return made.mock.calls.length - before;
  };
  const [first = '', ...others] = spellings(2_000);
  const inUse = 'America/Vancouver';
  count(first);
  count(inUse);
  for (const other of others) {
    count(other);
    expect(count(inUse)).toBe(0);
  }
  expect(count(first)).toBe(1);
  expect(count(others.at(-1)!)).toBe(0);
});
