/**
 * What a model wrote, as it is spoken: without markdown, emoji and links, and in English with numbers, money, dates,
 * times and e-mail addresses in words; and a map back, so that the history holds what the model wrote of what was
 * heard. Given whole clauses (`clause.ts`). Pure.
 */
import { cardinal, clockTime, decimal, digits, MONTHS, ordinal, year } from './english-numbers.ts';

/** `spoken` stands for `written`; where both are the same they match character by character. */
export interface SpokenPart {
  written: string;
  spoken: string;
}

type Rule = readonly [pattern: RegExp, say: (match: RegExpExecArray) => string | null];

const MONTH = MONTHS.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join('|');
const CURRENCIES: Readonly<Record<string, readonly [one: string, many: string, cent: string]>> = {
  $: ['dollar', 'dollars', 'cent'],
  '€': ['euro', 'euros', 'cent'],
  '£': ['pound', 'pounds', 'penny'],
};

/** Of every language. The order is that in which they are tried at a place. */
const ANY_LANGUAGE: readonly Rule[] = [
  [/```[a-z]*\n?/y, () => ''],
  [/!?\[([^\]\n]*)\]\([^)\s]*\)/y, ([, text]) => text!],
  [/(?:^|(?<=\n))[ \t]*(?:#{1,6}|>|[-*+•])[ \t]+/y, () => ''],
  [/(?:^|(?<=\n))[ \t]*[-*_]{3,}[ \t]*(?=\n|$)/y, () => ''],
  [/\*{1,3}|__|~~|`/y, () => ''],
  [/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/uy, () => ''],
  [/[ \t]*\|[ \t]*/y, () => ', '],
  [/<\/?[a-z][^<>\n]{0,60}>/iy, () => ''],
  [/(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u200d|\ufe0f|\u20e3)+/uy, () => ''],
  [/(?<=[\p{L}\p{N}])[ \t]*\n+/uy, () => '. '],
  [/\n+/y, () => ' '],
];

const ENGLISH: readonly Rule[] = [
  [/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/y, ([text]) => address(text)],
  [/(?:https?:\/\/|www\.)[^\s<>"')\]]+[^\s<>"')\].,;:!?]/iy, ([text]) => link(text)],
  [/([$€£])\s?(\d[\d,]*)(?:\.(\d\d))?(?:\s(thousand|million|billion))?(?![\d.]*\d)/y, money],
  [/(\d{4})-(\d\d)-(\d\d)(?!\d)/y, ([, y, m, d]) => date(Number(m), Number(d), Number(y))],
  [/(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)/y, ([, m, d, y]) => date(Number(m), Number(d), Number(y))],
  [new RegExp(`(${MONTH})\\.? (\\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4}))?(?![\\d:])`, 'y'), monthDay],
  [/(\d{1,2}):(\d\d)(?:\s?([ap])\.?m\b\.?)?(?![\d:])/iy, ([, h, m, half]) => time(Number(h), Number(m), half)],
  [/(\d{1,2})\s?([ap])\.?m\b\.?/iy, ([, h, half]) => time(Number(h), 0, half)],
  [/\+?\(?\d{1,4}\)?(?:[ .-]\(?\d{2,4}\)?){2,5}(?!\d)/y, ([text]) => phone(text)],
  [/(\d+)(st|nd|rd|th)\b/y, ([, number]) => (number!.length > 6 ? null : ordinal(Number(number)))],
  [/(\d[\d,]*(?:\.\d+)?)\s?%/y, ([, number]) => `${decimal(number!)} percent`],
  [/(\d{1,4})\s?[-–]\s?(\d{1,4})(?![\d-])/y, ([, a, b]) => `${cardinal(Number(a))} to ${cardinal(Number(b))}`],
  // A number of an order, a customer, a code.
  [/[#]\s?(\d+)/y, ([, number]) => `number ${spelled(number!)}`],
  [/(?:19|20)\d\d(?![\d,.]*\d)(?!\s?%)/y, ([text]) => (Number(text) < 2100 ? year(Number(text)) : null)],
  [/\d{5,}(?![.,]?\d)/y, ([text]) => spelled(text)],
  [/0\d+(?![.,]?\d)/y, ([text]) => spelled(text)],
  [/\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+(?!\.?\d)|\d+/y, ([text]) => decimal(text)],
  [/\s&\s/y, () => ' and '],
  [/(?<=\p{L})\/(?=\p{L})/uy, () => ' or '],
];

/** Parts in order: joined, `written` is the text that was given. */
export function speakable(written: string, language: string): SpokenPart[] {
  const rules = /^en\b/i.test(language)
    ? [...ANY_LANGUAGE.slice(0, 2), ...ENGLISH, ...ANY_LANGUAGE.slice(2)]
    : ANY_LANGUAGE;
  const parts: SpokenPart[] = [];
  let plainFrom = 0;
  let at = 0;
  while (at < written.length) {
    const found = replacementAt(written, at, rules);
    if (found === null) {
      at += written.codePointAt(at)! > 0xffff ? 2 : 1;
      continue;
    }
    addPlain(parts, written.slice(plainFrom, at));
    parts.push(found);
    at += found.written.length;
    plainFrom = at;
  }
  addPlain(parts, written.slice(plainFrom));
  return parts;
}

export function spokenText(written: string, language: string): string {
  return speakable(written, language)
    .map(({ spoken }) => spoken)
    .join('');
}

/**
 * Of what was heard, as a count of characters of what was spoken, what the model wrote: nothing of a part that was cut.
 */
export function writtenOf(parts: readonly SpokenPart[], heardChars: number): string {
  let written = '';
  let spoken = 0;
  for (const part of parts) {
    const end = spoken + part.spoken.length;
    if (end <= heardChars) written += part.written;
    else {
      if (part.written === part.spoken) written += part.written.slice(0, Math.max(0, heardChars - spoken));
      break;
    }
    spoken = end;
  }
  return written;
}

function replacementAt(text: string, at: number, rules: readonly Rule[]): SpokenPart | null {
  // In the middle of a word or of a number nothing begins that has digits.
  const isInside = at > 0 && /[\p{L}\p{N}]/u.test(text[at - 1]!) && /\d/.test(text[at]!);
  if (isInside) return null;
  for (const [pattern, say] of rules) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null || match[0] === '') continue;
    const spoken = say(match);
    if (spoken !== null) return { written: match[0], spoken };
  }
  return null;
}

function addPlain(parts: SpokenPart[], text: string): void {
  if (text !== '') parts.push({ written: text, spoken: text });
}

function money([, sign, whole, cents, scale]: RegExpExecArray): string {
  const [one, many, cent] = CURRENCIES[sign!]!;
  const amount = Number(whole!.replaceAll(',', ''));
  if (scale !== undefined) return `${decimal(cents === undefined ? whole! : `${whole}.${cents}`)} ${scale} ${many}`;
  const head = `${decimal(whole!)} ${amount === 1 ? one : many}`;
  const rest = Number(cents ?? 0);
  if (rest === 0) return head;
  const plural = rest === 1 ? cent : cent === 'penny' ? 'pence' : `${cent}s`;
  return amount === 0 ? `${cardinal(rest)} ${plural}` : `${head} and ${cardinal(rest)} ${plural}`;
}

function date(month: number, day: number, inYear: number): string | null {
  if (month < 1 || month > 12 || day < 1 || day > 31) return null;
  return `${MONTHS[month - 1]!} ${ordinal(day)}, ${year(inYear)}`;
}

function monthDay([, name, day, inYear]: RegExpExecArray): string | null {
  const month = MONTHS.find((one) => one.startsWith(name!.slice(0, 3)))!;
  const number = Number(day);
  if (number < 1 || number > 31) return null;
  return `${month} ${ordinal(number)}${inYear === undefined ? '' : `, ${year(Number(inYear))}`}`;
}

function time(hours: number, minutes: number, half: string | undefined): string | null {
  if (hours > 24 || minutes > 59 || (half !== undefined && (hours > 12 || hours === 0))) return null;
  return clockTime(hours === 0 || hours === 24 ? 12 : hours, minutes, hours === 0 ? 'a' : half);
}

function phone(text: string): string | null {
  const groups = text.match(/\d+/g) ?? [];
  const count = groups.join('').length;
  if (count < 7 || count > 15) return null;
  return `${text.startsWith('+') ? 'plus ' : ''}${groups.map(digits).join(', ')}`;
}

/** Digit by digit, with a breath after every third or fourth. */
function spelled(number: string): string {
  const size = number.length % 4 === 0 || number.length < 5 ? 4 : 3;
  return (number.match(new RegExp(`\\d{1,${size}}`, 'g')) ?? []).map(digits).join(', ');
}

function address(text: string): string {
  return spokenSigns(text.replace('@', ' at '));
}

/** Nobody writes down what comes after a question mark. */
function link(text: string): string {
  return spokenSigns(
    text
      .replace(/^https?:\/\//i, '')
      .replace(/^www\./i, '')
      .replace(/[?#].*$/, '')
      .replace(/\/$/, ''),
  );
}

function spokenSigns(text: string): string {
  return text
    .replaceAll('.', ' dot ')
    .replaceAll('/', ' slash ')
    .replaceAll('-', ' dash ')
    .replaceAll('_', ' underscore ')
    .replaceAll('+', ' plus ')
    .replace(/\d+/g, (number) => ` ${digits(number)} `)
    .replace(/ {2,}/g, ' ')
    .trim();
}
