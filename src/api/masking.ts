/**
 * Telephone numbers as those see them who may not: `+1•••••0123`. In every string of an answer, whatever it is for:
 * transcripts, names and metadata hold numbers too. Signed addresses of recordings are taken out where the person may
 * not listen. Pure; used for answers by `console/second-door.ts`, for event streams by `calls/event-routes.ts`.
 */
/** International form, also written with blanks, dashes and parentheses. */
const INTERNATIONAL = /\+[1-9](?:[ ().-]{0,2}\d){6,14}/g;
/** `(415) 555-0123`, `415-555-0123`. */
const GROUPED = /(?<![\w.-])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\w-])/g;
/** Digits alone that stand by themselves: part of no id, time or address. */
const BARE = /(?<![\w.=/:-])\d{10,15}(?![\w=/:-])/g;
const RECORDING = /(?:https?:\/\/[^\s"/]+)?\/api\/developer\/recordings\/[^\s"]*/g;
const SHOWN_DIGITS = 4;
/** Not by a person who may not see numbers. */
const NUMBER_FILTER = /^(to|from|q|phone|name|externalId|metadata\..*)$/;
const MOST_DIGITS_LOOKED_FOR = 2;
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
  text.replace(INTERNATIONAL, masked).replace(GROUPED, masked).replace(BARE, masked);

/** The country, as far as its first digit, and the last four. */
function masked(number: string): string {
  const digits = number.replace(/\D/g, '');
  const head = number.startsWith('+') ? `+${digits[0]}` : '';
  const hidden = digits.length - SHOWN_DIGITS - Math.max(0, head.length - 1);
  return `${head}${'•'.repeat(Math.max(1, hidden))}${digits.slice(-SHOWN_DIGITS)}`;
}

/**
 * All strings inside a value of JSON. An address of a recording that is the whole string becomes null, and what only
 * says where sound lies (a part of a recording) leaves its list: an item of a list promises its address.
 */
export function maskedValue(value: unknown, masking: Masking): unknown {
  if (typeof value === 'string') {
    const text = maskedText(value, masking);
    return text === '' && value !== '' ? null : text;
  }
  if (Array.isArray(value)) {
    return value.filter((item) => masking.hears || !isSound(item)).map((item) => maskedValue(item, masking));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskedValue(inner, masking)]));
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
        NUMBER_FILTER.test(name) && String(value).replace(UUID, '').replace(/\D/g, '').length > MOST_DIGITS_LOOKED_FOR,
    )
    .map(([name]) => name);
}
