/**
 * Which leads of a page must not be called. A number is asked for once in the life of the list: who puts one on it
 * meanwhile is told when calling is refused.
 */
import type { Lead, ParleyClient } from '../../../clients/typescript/src/client.ts';

export interface ListedLead extends Lead {
  isSuppressed: boolean;
}

/** As many values as the service takes in one filter. */
const MOST_ASKED = 20;

export function suppressionMarks(
  client: ParleyClient,
): (leads: readonly Lead[], signal: AbortSignal) => Promise<ListedLead[]> {
  const known = new Map<string, boolean>();
  return async (leads, signal) => {
    const unknown = [...new Set(leads.map(({ phone }) => phone))].filter((phone) => !known.has(phone));
    for (let at = 0; at < unknown.length; at += MOST_ASKED) {
      const asked = unknown.slice(at, at + MOST_ASKED);
      const { data } = await client.listSuppressions({ phone: asked.join(','), limit: MOST_ASKED }, { signal });
      const suppressed = new Set(data.data.map(({ phone }) => phone));
      for (const phone of asked) known.set(phone, suppressed.has(phone));
    }
    return leads.map((lead) => ({ ...lead, isSuppressed: known.get(lead.phone) === true }));
  };
}
