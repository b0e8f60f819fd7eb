/** When a target counts as one that has stopped answering. */
import { describe, expect, test } from 'vitest';
import type { MeasuredCall } from '../../../../../bench/load/contract/measured-call.ts';
import { Silence } from '../../../../../bench/load/run/silence.ts';

const call = (begunAtMs: number, fate: MeasuredCall['fate'], code: string | null = null): MeasuredCall =>
  ({ fate, code, begunAtMs }) as MeasuredCall;

/** Calls that begin so many seconds apart and find nobody at once; after how many it is said. */
function said(everySeconds: number, silence = new Silence(false), more: (nth: number) => void = () => {}): number {
  for (let nth = 1; nth < 1_000; nth++) {
    const atMs = nth * everySeconds * 1_000;
    more(nth);
    if (silence.measured(call(atMs, 'failed', 'ECONNREFUSED'), atMs)) return nth;
  }
  return Number.POSITIVE_INFINITY;
}

describe('a target has stopped answering', () => {
  test('after 20 s and six calls that found nobody', () => {
    expect(said(1)).toBe(21);
    expect(said(10)).toBe(6);
    expect(said(0.1)).toBe(201);
  });

  test('a target that is started again under load may be away for two minutes', () => {
    expect(said(10, new Silence(true))).toBe(13);
  });

  test.each(['ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_SOCKET', 'tool'])('of code %s', (code) => {
    const silence = new Silence(false);
    const told = [0, 10, 20, 30, 40, 50].map((s) => silence.measured(call(s * 1_000, 'failed', code), s * 1_000));
    expect(told).toEqual([false, false, false, false, false, true]);
  });

  test('calls of before that end as planned say nothing of it, one that began later does', () => {
    const silence = new Silence(false);
    expect(said(10, silence, (nth) => nth > 1 && silence.measured(call(nth, 'talked'), nth * 10_000))).toBe(6);
    const heard = new Silence(false);
    expect(said(10, heard, (nth) => nth === 5 && heard.measured(call(45_000, 'talked'), 50_000))).toBe(10);
  });

  test.each([
    ['refused', '503'],
    ['failed', 'garbage'],
    ['failed', 'protocol'],
    ['lost', '1006'],
  ] as const)('not where calls are %s with %s', (fate, code) => {
    const silence = new Silence(false);
    const told = Array.from({ length: 100 }, (_, s) => silence.measured(call(s * 1_000, fate, code), s * 1_000));
    expect(told).not.toContain(true);
  });
});
