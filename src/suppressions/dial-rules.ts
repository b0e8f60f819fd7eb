/**
 * The workspace's hours and countries, applied to one number, pure. Where the called person's zone is not known it may
 * be any zone of the number's country. Called by `src/placement/dial-clearance.ts`; what was
 * found goes into the permit.
 */
import type { CallingPolicy } from './calling-policy.ts';
import { isOpen, localTimesOf, windowText } from './calling-window.ts';
import type { PermitFacts } from './dial-permit.ts';
import { countryOf, zonesOf } from './number-country.ts';

export interface RuleVerdict {
  code: 'blocked_time_window' | 'blocked_country' | null;
  facts: Pick<PermitFacts, 'localTimes' | 'zoneFrom' | 'country' | 'window'>;
}

export function applyRules(
  policy: Pick<CallingPolicy, 'window' | 'allowedCountries' | 'blockedCountries'>,
  dial: { phone: string; timezone: string | null; atEpochMs: number },
): RuleVerdict {
  const { window, allowedCountries, blockedCountries } = policy;
  const country = countryOf(dial.phone);
  const { zones, zoneFrom } = zonesFor(window?.timezone ?? 'recipient', dial.timezone, country);
  const times = localTimesOf(zones, dial.atEpochMs);
  const facts = {
    localTimes: times.map(({ text }) => text),
    zoneFrom,
    country,
    window: window === null ? null : windowText(window),
  };
  if (window !== null && !isOpen(window, times)) return { code: 'blocked_time_window', facts };
  const outside = allowedCountries !== null && (country === null || !allowedCountries.includes(country));
  const blocked = country !== null && blockedCountries.includes(country);
  return { code: outside || blocked ? 'blocked_country' : null, facts };
}

function zonesFor(
  wanted: string,
  ofLead: string | null,
  country: string | null,
): { zones: readonly string[]; zoneFrom: PermitFacts['zoneFrom'] } {
  if (wanted !== 'recipient') return { zones: [wanted], zoneFrom: 'policy' };
  if (ofLead !== null) return { zones: [ofLead], zoneFrom: 'lead' };
  const zones = country === null ? [] : zonesOf(country);
  return { zones, zoneFrom: zones.length === 0 ? 'none' : 'number' };
}
