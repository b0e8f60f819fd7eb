import { describe, expect, it } from 'vitest';
import { destinationOf, isCountry, NUMBER_KINDS } from '../../../src/dialling/number-kinds.ts';
import { COSTLY, OWN } from './destinations.ts';

describe('the country and the kinds of a number', () => {
  it.each([...OWN, ...COSTLY])('$phone is $what', ({ phone, country, kinds }) => {
    expect(destinationOf(phone)).toEqual({ country, kinds });
  });

  it('are told for every kind that there is', () => {
    expect(new Set(COSTLY.flatMap(({ kinds }) => kinds))).toEqual(new Set(NUMBER_KINDS));
  });

  it('of a number of no country are never none: nothing is ordinary there', () => {
    for (let code = 1; code < 1_000; code++) {
      const { country, kinds } = destinationOf(`+${code}${'2345678901234'.slice(0, 12 - String(code).length)}`);
      if (country === null) expect(kinds, `+${code}`).not.toEqual([]);
    }
  });

  it('know the codes that only telephony has', () => {
    expect(['US', 'XK', 'AC', 'ZZ', 'us', ''].map(isCountry)).toEqual([true, true, true, false, false, false]);
  });
});
