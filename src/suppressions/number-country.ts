/**
 * The country of a number and the zones of a country: for blocks, calling hours and the permit's local time. About 20
 * µs a number.
 */
import { numberPlans } from '../dialling/number-plans.ts';

/** ISO 3166, or null: a number of no one country, such as +883 or +1 800. */
export function countryOf(phone: string): string | null {
  return numberPlans().parsePhoneNumberFromString(phone)?.country ?? null;
}

const zones = new Map<string, readonly string[]>();

/** IANA names; none for a country that is not known. The same list each time: asking for it anew takes milliseconds. */
export function zonesOf(country: string): readonly string[] {
  const known = zones.get(country);
  if (known !== undefined) return known;
  const locale = new Intl.Locale(`und-${country}`) as Intl.Locale & { timeZones?: string[]; getTimeZones?(): string[] };
  const found = locale.getTimeZones?.() ?? locale.timeZones ?? [];
  zones.set(country, found);
  return found;
}
