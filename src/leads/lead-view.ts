/** A lead as clients see it. The answer of a creation has exactly the keys of contract §4; reading adds `consent`. */
import { publicMetadata } from '../calls/shown-fields.ts';
import type { Lead } from './lead-store.ts';

export function createdLeadView(lead: Lead, enterprise: string): Record<string, unknown> {
  return {
    id: lead.id,
    enterprise,
    agentId: lead.agentId,
    name: lead.name,
    phone: lead.phone,
    notes: lead.notes,
    source: lead.source,
    status: lead.status,
    metadata: publicMetadata(lead.metadata),
    externalId: lead.externalId,
    timezone: lead.timezone,
    lastCallUuid: lead.lastCallUuid,
    callCount: lead.callCount,
    duplicateOf: lead.duplicateOf,
    createdAt: lead.createdAt,
    updatedAt: lead.updatedAt,
  };
}

export function leadView(lead: Lead, enterprise: string): Record<string, unknown> {
  return { ...createdLeadView(lead, enterprise), consent: lead.consent };
}
