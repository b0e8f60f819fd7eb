/**
 * Numbers that cost, one of each kind and way to miss it: what each is, what the operator has to allow for it, and
 * where a hostile caller tries it.
 */
import type { NumberKind } from '../../../src/dialling/number-kinds.ts';

export interface KnownDestination {
  what: string;
  phone: string;
  country: string | null;
  kinds: NumberKind[];
}

const of = (phone: string, country: string | null, what: string, ...kinds: NumberKind[]): KnownDestination => ({
  what,
  phone,
  country,
  kinds,
});

/** What a new workspace with lines in the United States calls. */
export const OWN: readonly KnownDestination[] = [
  of('+14155550123', 'US', 'a number of the country of its line'),
  of('+18005550123', 'US', 'a toll-free one'),
];

/** What it does not. */
export const COSTLY: readonly KnownDestination[] = [
  of('+14165550123', 'CA', 'Canada, which shares +1'),
  of('+18765551234', 'JM', 'Jamaica, which shares +1'),
  of('+18095551234', 'DO', 'the Dominican Republic, which shares +1'),
  of('+442079460958', 'GB', 'another country'),
  of('+447911123456', 'GG', 'Guernsey, which shares +44'),
  of('+37129123456', 'LV', 'a mobile of Latvia'),
  of('+252612345678', 'SO', 'Somalia'),
  of('+5352345678', 'CU', 'Cuba'),
  of('+19005550123', 'US', '900 of North America', 'premium'),
  of('+12129761234', 'US', 'the 976 exchange of New York', 'premium'),
  of('+37190012345', 'LV', '900 of Latvia', 'premium'),
  of('+371900123456789', 'LV', '900 of Latvia with digits too many', 'premium', 'unassigned'),
  of('+449012345678', 'GB', '09 of the United Kingdom', 'premium'),
  of('+33899123456', 'FR', '0899 of France', 'premium'),
  of('+41901123456', 'CH', '0901 of Switzerland', 'premium'),
  of('+491805123456', 'DE', '0180 of Germany', 'shared_cost'),
  of('+447012345678', 'GB', '070 of the United Kingdom', 'personal'),
  of('+447600123456', 'GB', 'a pager of the United Kingdom', 'personal'),
  of('+15005550006', 'US', 'a follow-me number of North America', 'personal'),
  of('+61147112345', 'AU', 'a satellite phone in the plan of Australia', 'satellite'),
  of('+870773123456', null, 'Inmarsat', 'satellite'),
  of('+881612345678', null, 'Iridium', 'satellite'),
  of('+881212345678', null, 'a code of +881 without a network', 'satellite'),
  of('+8821612345678', null, 'Thuraya', 'satellite'),
  of('+8821312345678', null, 'EMSAT', 'satellite'),
  of('+882345678901', null, 'an international network', 'countryless'),
  of('+8835100012345', null, 'iNum', 'countryless'),
  of('+88812345678901', null, 'the code for disasters', 'countryless'),
  of('+80012345678', null, 'international freephone', 'countryless'),
  of('+80812345678', null, 'international shared cost', 'shared_cost', 'countryless'),
  of('+979123456789', null, 'international premium rate', 'premium', 'countryless'),
  of('+878101234567890', null, 'universal personal numbers', 'personal', 'countryless'),
  of('+19765551234', null, 'an area code that North America has not', 'countryless', 'unassigned'),
  of('+2101234567', null, 'a calling code that nobody has', 'countryless', 'unassigned'),
  of('+14151234567', null, 'an exchange that no plan has', 'countryless', 'unassigned'),
  of('+4407911123456', 'GG', 'a number with the zero that is dialled at home', 'unassigned'),
  of('+5215512345678', 'MX', 'a mobile of Mexico as it was written until 2019', 'unassigned'),
];
