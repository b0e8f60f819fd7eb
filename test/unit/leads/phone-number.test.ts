import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalisePhone, PHONE_FIELDS, readPhoneFields } from '../../../src/leads/phone-number.ts';

const e164 = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.stringMatching(/^\d{6,14}$/))
  .map(([first, rest]) => `+${first}${rest}`);
const separators = fc.stringMatching(/^[ \-()\u00a0\u2011\u2013\u200e]{0,3}$/);

describe('a telephone number', () => {
  it('comes out as E.164 whatever blanks, dashes and parentheses stand between its digits', () => {
    fc.assert(
      fc.property(e164, fc.array(separators, { minLength: 17, maxLength: 17 }), (number, between) => {
        const written = [...number].map((character, index) => `${between[index]}${character}`).join('') + between[16];
        fc.pre(written.length <= 64 && !/\(\s*0\s*\)/.test(written));
        expect(normalisePhone(written)).toBe(number);
      }),
    );
  });

  it('is E.164 or nothing, and what came out stays as it is (any text)', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[+0-9 ()\-.]{0,24}$/)), (text) => {
        const number = normalisePhone(text);
        if (number === null) return;
        expect(number).toMatch(/^\+[1-9]\d{6,14}$/);
        expect(normalisePhone(number)).toBe(number);
        expect(number.slice(1)).toBe(text.replace(/\D/g, ''));
      }),
    );
  });

  it.each([
    ['+1 (415) 555-0123', '+14155550123'],
    ['\u202a+44\u00a020\u20137946\u20110958\u202c', '+442079460958'],
    ['+1234567', '+1234567'],
    ['+123456789012345', '+123456789012345'],
  ])('%s is %s', (written, number) => expect(normalisePhone(written)).toBe(number));

  it.each([
    ['no country', '4155550123'],
    ['a country guessed from 00', '004420794609'],
    ['6 digits', '+123456'],
    ['16 digits', '+1234567890123456'],
    ['a zero first', '+0415555012'],
    ['the zero that is dialled at home only', '+44 (0)20 7946 0958'],
    ['letters', '+1 415 CALLNOW'],
    ['dots', '+1.415.555.0123'],
    ['two pluses', '++14155550123'],
    ['a plus inside', '+1415+5550123'],
    ['an extension', '+14155550123x7'],
    ['digits of another script', '+١٤١٥٥٥٥٠١٢٣'],
    ['100,000 characters', `+1415555${' '.repeat(100_000)}0123`],
    ['a number', 14155550123],
    ['an object', { phone: '+14155550123' }],
    ['nothing', ''],
  ])('%s is refused', (_what, written) => expect(normalisePhone(written)).toBeNull());
});

describe('the three fields of a number', () => {
  const spelt = fc.constantFrom('+14155550123', '+1 415 555-0123', '+1 (415) 5550123');
  const absent = fc.constantFrom(undefined, null, '');

  it('give the same number whichever of them holds it, and when several hold it in other spellings', () => {
    fc.assert(
      fc.property(fc.tuple(...PHONE_FIELDS.map(() => fc.oneof(spelt, absent))), (values) => {
        const given = Object.fromEntries(PHONE_FIELDS.map((field, index) => [field, values[index]]));
        const some = values.some((value) => typeof value === 'string' && value !== '');
        expect(readPhoneFields(given)).toEqual(
          some ? { ok: true, phone: '+14155550123' } : { ok: false, code: 'missing_fields' },
        );
      }),
    );
  });

  it('conflict when they mean different numbers, or one of them means none', () => {
    const conflict = { ok: false, code: 'conflicting_phone_fields' };
    expect(readPhoneFields({ phone: '+14155550123', mobile: '+14155550124' })).toEqual(conflict);
    expect(readPhoneFields({ phone: 'soon', phone_number: '+14155550124' })).toEqual(conflict);
    expect(readPhoneFields({ phone: '+14155550123', mobile: 14155550123 })).toEqual(conflict);
    expect(readPhoneFields({ phone: 'soon', mobile: 'later' })).toEqual(conflict);
    expect(readPhoneFields({ phone: 'soon', mobile: 'soon' })).toEqual({ ok: false, code: 'invalid_phone' });
  });
});
