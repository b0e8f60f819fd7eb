/**
 * The country of a number and the zones of a country: for blocks, calling hours and the permit's local time. About 20
 * µs a number.
 */
import { numberPlans } from '../dialling/number-plans.ts';

/** ISO 3166, or null: a number of no one country, such as +883 or +1 800. */
export function countryOf(phone: string): string | null {
  return numberPlans().parsePhoneNumberFromString(phone)?.country ?? null;
}

/** IANA names; none for a country that is not known. */
export function zonesOf(country: string): readonly string[] {
  const locale = new Intl.Locale(`und-${country}`) as Intl.Locale & { timeZones?: string[]; getTimeZones?(): string[] };
  return locale.getTimeZones?.() ?? locale.timeZones ?? [];
}
