/**
 * How values in an address are written, the same on every list. Several values, separated by commas, mean any of them;
 * a comma that belongs to a value is written `\,`. A `+` that was not encoded arrives as a blank: before digits it is
 * taken for the plus of a number, before the offset of a time for that of the offset. Zod schemas, for the routes and
 * the published document alike.
 */
import { z } from 'zod';
import { normalisePhone } from '../leads/phone-number.ts';

const MOST_VALUES = 20;
const MOST_ON_A_PAGE = 200;

/** Any of several values. */
export const anyOf = <Item extends z.ZodType<unknown, string>>(item: Item, description: string) =>
  z
    .string({ error: 'is given more than once; write several values in one, separated by commas' })
    .transform(valuesOf)
    .pipe(z.array(item).max(MOST_VALUES))
    .optional()
    .meta({ description: `${description}; several, separated by commas, mean any of them` });

/** `a,b\,c` → `['a', 'b,c']` */
export function valuesOf(list: string): string[] {
  return list.split(/(?<!\\),/).map((value) => value.replaceAll('\\,', ','));
}

/** ` 14155550123` → `+14155550123`; other text as it is. */
export function withPlus(text: string): string {
  return text.replace(/^ +(?=\d[\d\s().-]*$)/, '+');
}

export const text = (most: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(most)
    .refine((value) => !value.includes('\u0000'), { error: 'must not hold NUL' })
    .transform(withPlus);

export const id = z.guid({ error: 'must be a UUID' }).transform((value) => value.toLowerCase());

/** Every way in which a number may be written in full; gives E.164. */
export const phone = z
  .string()
  .transform((value) => normalisePhone(withPlus(value)))
  .refine((value) => value !== null, 'must be a number in international form, like +14155550123')
  .transform((value) => value as string);

/** Numbers of a call as it has them: E.164, a short code, or the `web:…` of a page. */
export const farEnd = z.string().transform((value, context) => {
  const number = /^web:.|^\d{3,6}$/.test(value) ? value : normalisePhone(withPlus(value));
  if (number !== null && number.length <= 300 && !number.includes('\u0000')) return number;
  context.addIssue({ code: 'custom', message: 'must be a number in international form, like +14155550123' });
  return z.NEVER;
});

export const lineOrNumber = z.union([id, farEnd], {
  error: 'must be a UUID, or a number in international form, like +14155550100',
});

const NO_TIME = 'must be a time like 2026-11-21T00:00:00Z';
/** Of years and zones those that PostgreSQL knows: none is the year 0, none is 16 hours away. */
const KNOWN_TIME = /^(?!0000).*(Z|[+-](0\d|1[0-5]):\d\d)$/;
const time = z.iso.datetime({ offset: true, error: NO_TIME, abort: true }).regex(KNOWN_TIME, NO_TIME);
const offsetPlus = (value: string): string => value.replace(/ (?=\d{2}:\d{2}$)/, '+');

/** As text, for PostgreSQL, which knows microseconds. */
export const instant = z.string().transform(offsetPlus).pipe(time);
export const date = instant.transform((value) => new Date(value));

export const createdBetween = <Moment extends z.ZodType<unknown, string>>(moment: Moment) => ({
  createdAfter: moment.optional().meta({ description: 'At this time or later' }),
  createdBefore: moment.optional().meta({ description: 'Before this time' }),
});

/** `cursor` and `limit` of a list. */
export const page = (preset = 50, most = MOST_ON_A_PAGE) => ({
  cursor: z.string().max(1_024).optional().meta({ description: '`nextCursor` of the page before' }),
  limit: z.coerce.number().int().min(1).max(most).default(preset).meta({ description: 'Entries on the page' }),
});
