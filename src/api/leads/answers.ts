/** What the routes of leads answer, as zod schemas for the published document. */
import { z } from 'zod';
import { IMPORT_STATES } from '../../leads/import-store.ts';
import { LEAD_STATUSES } from '../../leads/lead-store.ts';
import { pageOf, time, uuid } from '../openapi/shared-answers.ts';
import { placedAnswer } from '../outbound-call/answers.ts';

const leadShape = {
  id: uuid,
  enterprise: z.string(),
  agentId: uuid.nullable(),
  name: z.string(),
  phone: z.string().describe('E.164'),
  notes: z.string().nullable(),
  source: z.string().nullable(),
  status: z.enum(LEAD_STATUSES).describe('Follows its calls'),
  metadata: z.record(z.string(), z.unknown()),
  externalId: z.string().nullable(),
  timezone: z.string().nullable(),
  lastCallUuid: uuid.nullable(),
  callCount: z.int(),
  duplicateOf: uuid.nullable().describe('The oldest lead with this number, if that is another'),
  createdAt: time,
  updatedAt: time,
};

const lead = z
  .strictObject({
    ...leadShape,
    consent: z
      .strictObject({
        type: z.string(),
        source: z.string().nullish(),
        at: z.string().nullish(),
        proofUrl: z.string().nullish(),
      })
      .nullable(),
  })
  .meta({ id: 'Lead' });

export const createdLeadAnswer = z
  .strictObject({ success: z.literal(true), lead: z.strictObject(leadShape).meta({ id: 'CreatedLead' }) })
  .meta({ id: 'LeadCreated' });

export const leadAnswer = lead;
export const changedLeadAnswer = z.strictObject({ success: z.literal(true), lead }).meta({ id: 'StoredLead' });
export const leadsAnswer = pageOf(lead).meta({ id: 'Leads' });

export const leadCalledAnswer = placedAnswer.extend({ leadId: uuid }).meta({ id: 'LeadCalled' });

const leadImport = z
  .strictObject({
    id: uuid,
    format: z.enum(['csv', 'ndjson']),
    state: z.enum(IMPORT_STATES).describe('canceled: called off; rows that were stored stay'),
    totalRows: z.int(),
    processedRows: z.int().describe('Created, updated and failed'),
    createdCount: z.int(),
    updatedCount: z.int().describe('Rows that changed the lead of their `externalId`'),
    failedCount: z.int(),
    ignoredColumns: z.array(z.string()).describe('Columns that are no field of a lead'),
    error: z.string().nullable(),
    createdAt: time,
    startedAt: time.nullable(),
    finishedAt: time.nullable(),
  })
  .meta({ id: 'LeadImport' });

export const storedImportAnswer = z
  .strictObject({ success: z.literal(true), import: leadImport })
  .meta({ id: 'StoredLeadImport' });

export const importAnswer = leadImport;
export const importsAnswer = pageOf(leadImport).meta({ id: 'LeadImports' });
export const importErrorsAnswer = pageOf(
  z
    .strictObject({
      row: z.int().describe('From 1, without the header and blank lines'),
      line: z.int().describe('In the file, from 1'),
      field: z.string().nullable(),
      code: z.string(),
      message: z.string(),
    })
    .meta({ id: 'LeadImportError' }),
).meta({ id: 'LeadImportErrors' });

export const deletedLeadAnswer = z.strictObject({ success: z.literal(true), leadId: uuid }).meta({ id: 'LeadDeleted' });
