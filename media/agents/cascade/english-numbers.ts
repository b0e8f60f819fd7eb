/** Numbers as English speakers say them. Pure; used by `speakable.ts`. */

const ONES =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = '- - twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const SCALES: readonly [number, string][] = [
  [1e12, 'trillion'],
  [1e9, 'billion'],
  [1e6, 'million'],
  [1e3, 'thousand'],
  [100, 'hundred'],
];
const ORDINALS: Readonly<Record<string, string>> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
};
export const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);

/** 1205 → "one thousand two hundred five". Whole and not negative. */
export function cardinal(value: number): string {
  if (value < 20) return ONES[value]!;
  if (value < 100)
    return value % 10 === 0 ? TENS[value / 10]! : `${TENS[Math.floor(value / 10)]!} ${ONES[value % 10]!}`;
  for (const [scale, name] of SCALES) {
    if (value < scale) continue;
    const rest = value % scale;
    const head = `${cardinal(Math.floor(value / scale))} ${name}`;
    return rest === 0 ? head : `${head} ${cardinal(rest)}`;
  }
  return String(value);
}

/** 22 → "twenty second". */
export function ordinal(value: number): string {
  const words = cardinal(value).split(' ');
  const last = words.pop()!;
  const said = ORDINALS[last] ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`);
  return [...words, said].join(' ');
}

/** "3.50" → "three point five zero". */
export function decimal(text: string): string {
  const [whole = '0', fraction] = text.replaceAll(',', '').split('.');
  const said = whole.length > 12 ? digits(whole) : cardinal(Number(whole));
  return fraction === undefined ? said : `${said} point ${digits(fraction)}`;
}

/** "4155" → "four one five five". */
export function digits(text: string): string {
  return [...text].flatMap((char) => (/\d/.test(char) ? [ONES[Number(char)]!] : [])).join(' ');
}

/** 2026 → "twenty twenty six". */
export function year(value: number): string {
  const [century, rest] = [Math.floor(value / 100), value % 100];
  if (value % 1000 < 10 || value < 1000) return cardinal(value);
  if (rest === 0) return `${cardinal(century)} hundred`;
  return `${cardinal(century)} ${rest < 10 ? `oh ${cardinal(rest)}` : cardinal(rest)}`;
}

/** Of a day: "15:05" → "three oh five pm" where `half` is not given. */
export function clockTime(hours: number, minutes: number, half: string | undefined): string {
  const suffix = half === undefined ? (hours > 12 ? ' p m' : '') : half.toLowerCase().startsWith('a') ? ' a m' : ' p m';
  const hour = hours > 12 ? hours - 12 : hours;
  const said = minutes === 0 ? '' : minutes < 10 ? ` oh ${cardinal(minutes)}` : ` ${cardinal(minutes)}`;
  const oclock = minutes === 0 && suffix === '' ? " o'clock" : '';
  return `${cardinal(hour)}${said}${oclock}${suffix}`;
}
