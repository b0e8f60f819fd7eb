/**
 * What a client may say of a lead (contract §4), checked without a query. The pieces are zod schemas, so that the
 * published schema and this check are one; the order and the messages are the contract's. Used by create, change and
 * import, so that a row of a file is held to the same rules as a request.
 */
import { z } from 'zod';
import { metadataSchema } from '../calls/metadata.ts';
import { isStorable } from '../store/storable.ts';
import { isTimeZone } from '../suppressions/time-zone.ts';
import { isAbsent, readPhoneFields } from './phone-number.ts';

const text = (longest: number) =>
  z
    .string()
    .refine((value) => [...value].length <= longest)
    .refine(isStorable)
    .meta({ maxLength: longest });

const consent = z
  .strictObject({
    type: text(120).min(1).meta({ description: 'Such as `express_written`' }),
    source: text(120).nullish(),
    at: z.iso.datetime({ offset: true }).nullish().meta({ description: 'When it was given' }),
    proofUrl: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .refine(isStorable)
      .nullish(),
  })
  .meta({ id: 'Consent' });

export type Consent = z.infer<typeof consent>;

const phone = z.string().meta({
  description: 'International form; blanks, dashes and parentheses are taken out. No country is guessed.',
  example: '+14155550123',
});
const settable = {
  agentId: z.guid().nullish().meta({ description: 'See GET /api/developer/agents; needed before the lead is called' }),
  name: text(120).nullish().meta({ description: 'For {{customer_name}}; `Customer` when there is none' }),
  notes: text(4_000).nullish().meta({ description: 'For {{notes}}' }),
  source: text(120).nullish().meta({ description: 'For {{source}}' }),
  metadata: metadataSchema.nullish(),
  externalId: text(128).nullish().meta({ description: 'Yours. A second lead with it changes the first.' }),
  timezone: z.string().refine(isTimeZone).nullish().meta({ description: 'IANA, such as America/Los_Angeles' }),
  consent: consent.nullish(),
};
const aliases = {
  phone_number: phone.nullish().meta({ description: 'The same as `phone`' }),
  mobile: phone.nullish().meta({ description: 'The same as `phone`' }),
};

/** As published in OpenAPI. */
export const newLeadBody = z
  .object({
    enterprise: z.string().min(1).meta({ description: 'The slug of the workspace' }),
    phone: phone.nullish(),
    ...aliases,
    ...settable,
  })
  .meta({ id: 'NewLead', description: 'One of `phone`, `phone_number` and `mobile` is required.' });

export const leadChangeBody = z
  .object({
    phone: phone.nullish(),
    ...aliases,
    ...settable,
    status: z
      .enum(['new', 'do_not_contact'])
      .optional()
      .meta({ description: 'The other states follow from calls. `new` lifts `do_not_contact`.' }),
  })
  .meta({ id: 'LeadChange', description: 'Only what is given changes; null clears.' });

export type LeadField = keyof typeof settable;
export const LEAD_FIELDS = Object.keys(settable) as LeadField[];

/** What is undefined was not given; null clears (only in a change). */
export interface LeadValues {
  agentId?: string | null;
  name?: string | null;
  notes?: string | null;
  source?: string | null;
  metadata?: Record<string, unknown> | null;
  externalId?: string | null;
  timezone?: string | null;
  consent?: Consent | null;
}

export interface LeadInput extends LeadValues {
  phone: string;
}

export type LeadFault =
  | { code: 'missing_fields' | 'conflicting_phone_fields' | 'invalid_phone'; field: 'phone' | 'enterprise' }
  | { code: `invalid_${LeadField}` | 'invalid_status'; field: LeadField | 'status' };

export type Read<Value> = { ok: true; value: Value } | { ok: false; fault: LeadFault };

/**
 * A new lead. What is null or empty counts as not given. `enterprise` is only looked for; whose
 * it is, the caller decides.
 */
export function readNewLead(given: Readonly<Record<string, unknown>>): Read<LeadInput> {
  if (isAbsent(given['enterprise'])) return fault({ code: 'missing_fields', field: 'enterprise' });
  const reading = readPhoneFields(given);
  if (!reading.ok) return fault({ code: reading.code, field: 'phone' });
  const values = readValues(given, (value) => !isAbsent(value));
  if (!values.ok) return values;
  return { ok: true, value: { phone: reading.phone, ...values.value } };
}

export interface LeadChange extends LeadValues {
  phone?: string;
  status?: 'new' | 'do_not_contact';
}

/** What a PATCH changes. The number can be changed and not cleared. */
export function readLeadChange(given: Readonly<Record<string, unknown>>): Read<LeadChange> {
  const reading = readPhoneFields(given);
  if (!reading.ok && reading.code !== 'missing_fields') return fault({ code: reading.code, field: 'phone' });
  if (!reading.ok && ['phone', 'phone_number', 'mobile'].some((name) => given[name] !== undefined)) {
    return fault({ code: 'invalid_phone', field: 'phone' });
  }
  const values = readValues(given, (value) => value !== undefined);
  if (!values.ok) return values;
  const status = leadChangeBody.shape.status.safeParse(given['status']);
  if (!status.success) return fault({ code: 'invalid_status', field: 'status' });
  return {
    ok: true,
    value: {
      ...values.value,
      ...(reading.ok ? { phone: reading.phone } : {}),
      ...(status.data === undefined ? {} : { status: status.data }),
    },
  };
}

function readValues(given: Readonly<Record<string, unknown>>, isGiven: (value: unknown) => boolean): Read<LeadValues> {
  const values: Record<string, unknown> = {};
  for (const field of LEAD_FIELDS) {
    if (!isGiven(given[field])) continue;
    const parsed = settable[field].safeParse(given[field] === '' ? null : given[field]);
    if (!parsed.success) return fault({ code: `invalid_${field}`, field });
    values[field] = normalised(field, parsed.data);
  }
  return { ok: true, value: values as LeadValues };
}

function normalised(field: LeadField, value: unknown): unknown {
  if (typeof value !== 'string') return value ?? null;
  if (field === 'name' && value.trim() === '') return null;
  return field === 'agentId' ? value.toLowerCase() : value;
}

const fault = (of: LeadFault): { ok: false; fault: LeadFault } => ({ ok: false, fault: of });
