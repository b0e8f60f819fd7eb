/**
 * What a number costs by what it is: its country, and which of the kinds that a dial has to be allowed for. Pure, about
 * 15 µs. The library's plans say what is premium or shared-cost in each country; what they do not know is listed here.
 * Whatever is neither known to be ordinary nor listed is `unassigned`, so that an unknown range
 * is never called by default.
 */
import type { NumberType } from 'libphonenumber-js/max';
import { numberPlans } from './number-plans.ts';

export const NUMBER_KINDS = ['premium', 'shared_cost', 'personal', 'satellite', 'countryless', 'unassigned'] as const;
export type NumberKind = (typeof NUMBER_KINDS)[number];

/** What each is, for people. */
export const KIND_MEANINGS: Readonly<Record<NumberKind, string>> = {
  premium: 'premium rate, such as +1 900, +44 9, +371 90 or +979',
  shared_cost: 'shared cost, such as +49 180 or +808',
  personal: 'follow-me and paging numbers, such as +44 70, +1 500 or +878',
  satellite: 'satellite networks, such as +870, +881, +882 16 or +61 14',
  countryless: 'networks of no country, such as +800, +882, +883 or +888',
  unassigned: 'not a number of any numbering plan that this version knows',
};

export interface Destination {
  /** ISO 3166; null: of none. */
  country: string | null;
  /** All of them must be allowed. None: an ordinary number of its country. */
  kinds: readonly NumberKind[];
}

/**
 * By calling code, the longest first: networks above all countries. Some of them the library
 * knows, but not what they cost.
 */
const NETWORKS: readonly (readonly [prefix: string, kinds: readonly NumberKind[]])[] = [
  ['+88213', ['satellite']],
  ['+88216', ['satellite']],
  ['+870', ['satellite']],
  ['+871', ['satellite']],
  ['+872', ['satellite']],
  ['+873', ['satellite']],
  ['+874', ['satellite']],
  ['+881', ['satellite']],
  ['+800', ['countryless']],
  ['+808', ['shared_cost', 'countryless']],
  ['+878', ['personal', 'countryless']],
  ['+882', ['countryless']],
  ['+883', ['countryless']],
  ['+888', ['countryless']],
  ['+979', ['premium', 'countryless']],
];

/** Ranges within a country that its plan in the library shows as ordinary, or only at their usual length. */
const RANGES: readonly (readonly [range: RegExp, kind: NumberKind])[] = [
  // Pay-per-call exchanges of North America: +1 NPA 976 xxxx.
  [/^\+1[2-9]\d{2}976\d{4}$/, 'premium'],
  [/^\+1900/, 'premium'],
  [/^\+37190/, 'premium'],
  [/^\+6114/, 'satellite'],
];

const OF_TYPE: Readonly<Partial<Record<Exclude<NumberType, undefined>, NumberKind>>> = {
  PREMIUM_RATE: 'premium',
  SHARED_COST: 'shared_cost',
  PERSONAL_NUMBER: 'personal',
  PAGER: 'personal',
};

/** `phone` is E.164, as it will be dialled. */
export function destinationOf(phone: string): Destination {
  const network = NETWORKS.find(([prefix]) => phone.startsWith(prefix));
  if (network !== undefined) return { country: null, kinds: network[1] };
  const parsed = numberPlans().parsePhoneNumberFromString(phone);
  const country = parsed?.country ?? null;
  const type = parsed?.getType();
  const kinds = new Set<NumberKind>(RANGES.filter(([range]) => range.test(phone)).map(([, kind]) => kind));
  const ofType = type === undefined ? undefined : OF_TYPE[type];
  if (ofType !== undefined) kinds.add(ofType);
  // Digits that the plan would drop or change are not: what was judged must be what the carrier is told.
  if (type === undefined || parsed?.number !== phone) kinds.add('unassigned');
  if (country === null) kinds.add('countryless');
  return { country, kinds: NUMBER_KINDS.filter((kind) => kinds.has(kind)) };
}

/** ISO 3166, and those that only telephony has, such as XK and AC. */
export const isCountry = (code: string): boolean => numberPlans().isSupportedCountry(code);
