/** What a recogniser of a provider tells beside its words, of a kind that nobody expects: the words are heard. */
import { afterEach, expect, it } from 'vitest';
import { EARS } from '../../../../media/engines/registry.ts';
import { EarBench } from './call-ear-conformance.ts';
import { EAR_CASES } from './fake-engines.ts';

let close: (() => void | Promise<void>) | undefined;
afterEach(() => close?.());

const ears = EARS.filter(({ traits }) => traits.tellsWordTimes).map(({ name }) => name);

/** Of each word. */
function confident(value: unknown, as: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => confident(one, as));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, name === 'confidence' ? as : confident(one, as)]),
  );
}

it.each(ears.flatMap((engine) => [1e300, -3, 'sure', null].map((as) => [engine, as] as const)))(
  'a confidence that is none is told as 0 to 1: %s, %s',
  async (engine, as) => {
    const bench = await EarBench.open(EAR_CASES[engine]!['mu-law 8 kHz']!, (message) => [confident(message, as)]);
    close = bench.opened.close;
    await bench.silence(400);
    const { text, confidence } = await bench.turn(1, 'yes please');
    expect(text).toBe('yes please');
    expect(confidence).toBe(typeof as === 'number' && as > 1 ? 1 : 0);
  },
);

it.each([5, {}, true, [null], [7]])(
  'a result of Deepgram with %o in place of its readings is one without words',
  async (alternatives) => {
    const odd = (message: object): object[] => {
      const { type, channel } = message as { type?: string; channel?: object };
      return type === 'Results'
        ? [{ ...message, is_final: false, channel: { ...channel, alternatives } }, message]
        : [message];
    };
    const bench = await EarBench.open(EAR_CASES['deepgram']!['mu-law 8 kHz']!, odd);
    close = bench.opened.close;
    await bench.silence(400);
    expect((await bench.turn(1, 'yes please')).text).toBe('yes please');
    expect(bench.failures).toEqual([]);
  },
);
