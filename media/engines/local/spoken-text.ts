/**
 * Turns written text into what Flite says well: dates, times, ids, phone numbers, addresses, money and signs. What
 * Flite reads well by itself (dollars, per cent, plain numbers, "Dr.", "1st") is left alone. Called once a piece. Also
 * the fence in front of the engine: what comes out is printable ASCII without tags, so no text
 * can reach the engine's odd corners.
 */
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const CURRENCIES: Record<string, readonly [string, string]> = {
  '€': ['euro', 'euros'],
  '£': ['pound', 'pounds'],
  '¥': ['yen', 'yen'],
  '₹': ['rupee', 'rupees'],
};

/**
 * Text for the engine; `''` when nothing in it can be said. Example: `at 14:30 on 3/4/2025` →
 * `at 2:30 p.m. on March 4th, 2025`.
 */
export function spokenText(text: string): string {
  const spoken = plainAscii(addresses(markup(text)))
    .replace(/\b(\d{4})-(\d{2})-(\d{2})(?:T(?=\d))?/g, (whole, year, month, day) => date(whole, month, day, year))
    .replace(/\b(\d{1,2})\/(\d{1,2})\/(\d{4})\b/g, (whole, month, day, year) => date(whole, month, day, year))
    .replace(/\b(\d{1,2}(?::\d{2})?)\s*([ap])\.?m\b\.?/gi, (_whole, time, half) => `${time} ${half.toLowerCase()}.m.`)
    .replace(/\b(\d{1,2}):(\d{2})(?::\d{2})?\b(?!\s*[ap]\.m)/g, time)
    .replace(/(?<![\w.])\+?\(?\d[\d().\- ]{7,}\d\b/g, phone)
    .replace(/\b24\/7\b/g, '24 7')
    .replace(/\bNo\.\s*(?=\d)/g, 'number ')
    .replace(/#\s*(?=[A-Za-z0-9])/g, ' number ')
    .replace(/\bnumber (\d{4,})\b/g, (_whole, digits) => `number ${spelled(digits)}`)
    .replace(/[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*/g, id)
    .replace(/\bID\b/g, 'I D')
    .replace(/([A-Za-z])\s*\/\s*(?=[A-Za-z])/g, '$1 slash ')
    .replace(/&/g, ' and ')
    .replace(/@/g, ' at ')
    .replace(/=/g, ' equals ')
    .replace(/\+(?=\s*\d)/g, ' plus ')
    .replace(/[_*#<>[\]{}|\\^~`"+]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return /[A-Za-z0-9$%]/.test(spoken) ? spoken : '';
}

function markup(text: string): string {
  return text.replace(/<\/?[A-Za-z!?][^<>]*>/g, ' ').replace(/\p{Cc}/gu, ' ');
}

/** `ana@example.com` and `www.example.com/help`, dot by dot. */
function addresses(text: string): string {
  return text.replace(
    /\b(?:https?:\/\/)?((?:[\w.+-]+@|www\.)?[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.(?:com|org|net|io|dev|edu|gov|co|uk|de|in|ai|app))\b(\/[\w./-]*[\w/])?/g,
    (_whole, host: string, path: string | undefined) =>
      `${host}${path ?? ''}`
        .replace(/\bwww\b/, 'w w w')
        .replace(/\./g, ' dot ')
        .replace(/\//g, ' slash ')
        .replace(/-/g, ' dash ')
        .replace(/_/g, ' underscore ')
        .replace(/\+/g, ' plus ')
        .replace(/@/g, ' at '),
  );
}

function plainAscii(text: string): string {
  return text
    .replace(
      /([€£¥₹])\s?(\d[\d,]*)(?:\.(\d{2}))?/g,
      (_whole, sign: string, units: string, cents: string | undefined) => {
        const names = CURRENCIES[sign]!;
        return `${units} ${names[units === '1' ? 0 : 1]}${cents === undefined ? '' : ` ${Number(cents)}`}`;
      },
    )
    .replace(/°\s?([CF])\b/g, (_whole, scale) => (scale === 'C' ? ' degrees Celsius' : ' degrees Fahrenheit'))
    .replace(/°/g, ' degrees')
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/\s*[\u2013\u2014]\s*/g, ', ')
    .replace(/\u2026/g, '. ')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/g, ' ');
}

function date(whole: string, month: string, day: string, year: string): string {
  const name = MONTHS[Number(month) - 1];
  const dayNumber = Number(day);
  if (name === undefined || dayNumber < 1 || dayNumber > 31) return whole;
  return `${name} ${ordinal(dayNumber)}, ${year} `;
}

function ordinal(n: number): string {
  const suffix = n > 10 && n < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th');
  return `${n}${suffix}`;
}

/** A clock of 24 hours as one of 12. From 1:00 to 12:59 nothing says which half is meant, so none is added. */
function time(whole: string, hours: string, minutes: string): string {
  const hour = Number(hours);
  if (hour > 23 || Number(minutes) > 59) return whole;
  const half = hour > 12 ? ' p.m.' : hour === 0 || (hours.length === 2 && hours.startsWith('0')) ? ' a.m.' : '';
  const twelve = hour % 12 === 0 ? 12 : hour % 12;
  if (minutes !== '00') return `${twelve}:${minutes}${half}`;
  return half === '' ? `${twelve} o'clock` : `${twelve}${half}`;
}

/** Digit by digit, with a breath between groups. Short numbers with separators (`10 000`) are none. */
function phone(whole: string): string {
  const groups = whole.match(/\d+/g)!;
  const digits = groups.join('').length;
  if (digits < 9 || digits > 15 || (groups.length === 1 && !whole.startsWith('+'))) return whole;
  return `${whole.startsWith('+') ? 'plus ' : ''}${groups.map(spelled).join(', ')}`;
}

/** `A12-9` → `ay 1 2, 9`. Ordinals, words with a number behind (`Covid-19`) and plain words stay. */
function id(token: string): string {
  if (!/\d/.test(token) || !/[A-Za-z]/.test(token) || /^\d+(?:st|nd|rd|th)$/i.test(token)) return token;
  const parts = token.split('-');
  if (parts.every((part) => !isCode(part))) return token.replace(/([A-Za-z]{4,})(\d)/g, '$1 $2');
  return parts.map((part) => (isCode(part) || /^\d+$/.test(part) ? spelled(part) : part)).join(', ');
}

/** Letters and digits mixed without a whole word among them, or a few capitals. */
function isCode(part: string): boolean {
  if (/^[A-Z]{1,3}$/.test(part)) return true;
  return /\d/.test(part) && /[A-Za-z]/.test(part) && !/[A-Za-z]{4,}/.test(part);
}

function spelled(characters: string): string {
  // Alone before another word, Flite says "a" as the article.
  return [...characters].map((character) => (/a/i.test(character) ? 'ay' : character)).join(' ');
}
