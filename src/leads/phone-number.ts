/**
 * Telephone numbers as clients write them, made E.164 (contract §4), pure. Used for leads, their import and the
 * suppression list. No country is ever guessed: what does not begin with + and a country code
 * is refused, not completed.
 */

const E164 = /^\+[1-9]\d{6,14}$/;
/** Blanks of every kind, dashes of every kind, parentheses, and the invisible marks that address books copy along. */
const SEPARATORS = /[\s()\p{Pd}\u2212\p{Cf}]/gu;
/**
 * `+44 (0)20 …`: the zero is dialled at home only. Without it the number is another, and with it too; nobody knows
 * which was meant.
 */
const TRUNK_ZERO = /\(\s*0\s*\)/;
/** No number needs more to be written. */
const LONGEST_TEXT = 64;

/** `+1 (415) 555-0123` gives `+14155550123`. Null for what is no number in international form. */
export function normalisePhone(text: unknown): string | null {
  if (typeof text !== 'string' || text.length > LONGEST_TEXT || TRUNK_ZERO.test(text)) return null;
  const number = text.replace(SEPARATORS, '');
  return E164.test(number) ? number : null;
}

/** In order of precedence: the first that is given counts. */
export const PHONE_FIELDS = ['phone', 'phone_number', 'mobile'] as const;

export type PhoneReading =
  | { ok: true; phone: string }
  | { ok: false; code: 'missing_fields' | 'conflicting_phone_fields' | 'invalid_phone' };

/** One number from the three fields that may hold it. The same number written in two ways is no conflict. */
export function readPhoneFields(given: Readonly<Record<string, unknown>>): PhoneReading {
  const values = PHONE_FIELDS.map((field) => given[field]).filter((value) => !isAbsent(value));
  if (values.length === 0) return { ok: false, code: 'missing_fields' };
  const numbers = values.map((value) => normalisePhone(value));
  const meanings = new Set(values.map((value, index) => numbers[index] ?? `as given: ${JSON.stringify(value)}`));
  if (meanings.size > 1) return { ok: false, code: 'conflicting_phone_fields' };
  const [phone] = numbers;
  return phone === null || phone === undefined ? { ok: false, code: 'invalid_phone' } : { ok: true, phone };
}

export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
