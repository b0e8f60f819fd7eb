/**
 * Telephone numbers as those see them who may not: `+1•••••0123`. In every string of an answer, whatever it is for:
 * transcripts, names and metadata hold numbers too. Signed addresses of recordings are taken out where the person may
 * not listen. Pure; used for answers by `console/second-door.ts`, for event streams by `calls/event-routes.ts`.
 */
const DIGIT = String.raw`\p{Nd}`;
/** What people and programs put between digits: blanks of all widths, dashes, dots, parentheses, marks of direction. */
const BETWEEN = String.raw`(?:[^\S\r\n]|[().\u2010-\u2015\u2212\p{Cf}-])`;
/** Part of no id and of no fraction. */
const BEFORE = String.raw`(?<![\w${DIGIT}]|\w-|\d\.)`;
const AFTER = String.raw`(?![\w${DIGIT}-])`;
const DATE = String.raw`\d{4}[-/]\d\d[-/]\d\d|\d\d[./]\d\d[./]\d{4}|\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)`;
/** `+49 30 1234567`, also as an address has it. */
const INTERNATIONAL = new RegExp(String.raw`(?:[+＋]|%2[Bb])[^\S\r\n]?${DIGIT}(?:${BETWEEN}{0,3}${DIGIT}){6,14}`, 'gu');
/** `(415) 555-0123`, `1-415-555-0123`, `98765 43210`, `030/1234567`; no date, and no address of a network. */
const GROUPED = new RegExp(
  String.raw`${BEFORE}(?!${DATE})(?:1${BETWEEN}{1,2})?\(?${DIGIT}{2,5}\)?(?:(?:${BETWEEN}|/){1,2}\(?${DIGIT}{2,8}\)?){1,5}${AFTER}`,
  'gu',
);
/** `4 1 5 5 5 5 0 1 2 3`, as it is dictated. */
const DICTATED = new RegExp(`${BEFORE}${DIGIT}(?:(?:${BETWEEN}|,){1,2}${DIGIT}){9,14}${AFTER}`, 'gu');
const BARE = new RegExp(`${BEFORE}${DIGIT}{10,15}${AFTER}`, 'gu');
const RECORDING = /(?:https?:\/\/[^\s"/]+)?\/api\/developer\/recordings\/[^\s"]*/g;
const SHOWN_DIGITS = 4;
/** Not by a person who may not see numbers. */
const NUMBER_FILTER = /^(to|from|q|phone|name|externalId|metadata\..*)$/;
const MOST_DIGITS_LOOKED_FOR = 2;
/** Names of fields in which others' values stand. */
const OTHERS = new Set(['metadata', 'arguments', 'result']);
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

export interface Masking {
  /** Signed addresses of recordings stay. */
  hears: boolean;
}

export function maskedText(text: string, { hears }: Masking): string {
  // Nothing in a signed address is a number, and a changed one leads nowhere.
  const parts = text.split(RECORDING);
  const addresses = text.match(RECORDING) ?? [];
  return parts.map((part, index) => withoutNumbers(part) + (hears ? (addresses[index] ?? '') : '')).join('');
}

const withoutNumbers = (text: string): string =>
  text
    .replace(INTERNATIONAL, masked)
    .replace(GROUPED, (found) => (isLong(found) ? masked(found) : found))
    .replace(DICTATED, masked)
    .replace(BARE, masked);

const digitsIn = (text: string): string[] => text.match(/\p{Nd}/gu) ?? [];

/** A prefix of the country's own, `0`, makes one of fewer digits. */
const isLong = (found: string): boolean => digitsIn(found).length >= (/^\(?0/.test(found) ? 9 : 10);

/** The country, as far as its first digit, and the last four. */
function masked(number: string): string {
  const [, plus = '', rest = ''] = /^([+＋]|%2b)?(.*)$/isu.exec(number) ?? [];
  const digits = digitsIn(rest);
  const head = plus === '' ? '' : `+${digits[0]}`;
  const hidden = digits.length - SHOWN_DIGITS - (plus === '' ? 0 : 1);
  return `${head}${'•'.repeat(Math.max(1, hidden))}${digits.slice(-SHOWN_DIGITS).join('')}`;
}

/**
 * All strings inside a value of JSON, names among them, and numbers where they may be those of a telephone. An address
 * of a recording that is the whole string becomes null, and what only says where sound lies (a part of a recording)
 * leaves its list: an item of a list promises its address. `isTheirs`: others said it.
 */
export function maskedValue(value: unknown, masking: Masking, isTheirs = false): unknown {
  if (typeof value === 'string') {
    const text = maskedText(value, masking);
    return text === '' && value !== '' ? null : text;
  }
  if (typeof value === 'number') return isTheirs ? withoutLongNumber(value) : value;
  if (Array.isArray(value)) {
    return value.filter((item) => masking.hears || !isSound(item)).map((item) => maskedValue(item, masking, isTheirs));
  }
  if (typeof value !== 'object' || value === null) return value;
  const shown = Object.entries(value).map(([name, inner]) => [
    withoutNumbers(name),
    maskedValue(inner, masking, isTheirs || isOfOthers(name, value)),
  ]);
  return Object.fromEntries(shown);
}

/** What clients, models and tools said: of an analysis its `data`. */
const isOfOthers = (name: string, of: object): boolean => OTHERS.has(name) || (name === 'data' && 'evidence' in of);

function withoutLongNumber(value: number): number | string {
  const shown = withoutNumbers(String(value));
  return shown === String(value) ? value : shown;
}

function isSound(item: unknown): boolean {
  if (typeof item !== 'object' || item === null || !('url' in item)) return false;
  return typeof item.url === 'string' && item.url !== '' && item.url.replace(RECORDING, '') === '';
}

export const maskedJson = (text: string, masking: Masking): string =>
  JSON.stringify(maskedValue(JSON.parse(text), masking));

/** Server-sent events, whole: each `data` line is JSON. */
export function maskedStream(text: string, masking: Masking): string {
  return text.replace(/^data: (.*)$/gm, (_line, data: string) => `data: ${maskedJson(data, masking)}`);
}

/** Names of the filters that look for a number. */
export function numberFilters(query: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(query)
    .filter(
      ([name, value]) =>
        NUMBER_FILTER.test(name) && digitsIn(String(value).replace(UUID, '')).length > MOST_DIGITS_LOOKED_FOR,
    )
    .map(([name]) => name);
}
