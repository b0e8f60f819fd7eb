/**
 * Steps 4 to 6 of contract §2: the body's form, in the contract's order, without a query. The pieces are zod schemas, so
 * that the published schema and this check are one; the order and the messages are the contract's.
 */
import { z } from 'zod';
import { placeholderText } from '../../../media/contract/placeholders.ts';
import type { ErrorCode } from '../error-codes.ts';

export const METADATA_LIMITS = { keys: 50, valueCharacters: 2_000, totalBytes: 8 * 1024 };

const METADATA_KEY = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;
const DEFAULT_NAME = 'Customer';

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\u0000') && !/\p{Surrogate}/u.test(value);
  if (Array.isArray(value)) return value.every(isStorable);
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).every(([key, inner]) => isStorable(key) && isStorable(inner));
  }
  return true;
}

export const metadataSchema = z
  .record(z.string().regex(METADATA_KEY), z.json().meta({ id: 'JsonValue' }))
  .refine((value) => Object.keys(value).length <= METADATA_LIMITS.keys)
  .refine((value) =>
    Object.values(value).every((inner) => [...placeholderText(inner)].length <= METADATA_LIMITS.valueCharacters),
  )
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= METADATA_LIMITS.totalBytes)
  .refine(isStorable)
  .meta({
    maxProperties: METADATA_LIMITS.keys,
    description: 'Values for placeholders; 2,000 characters each, 8 KB in all',
  });

/** As published in OpenAPI. */
export const outboundCallBody = z
  .object({
    to: z
      .string()
      .regex(/^\+[1-9]\d{6,14}$/)
      .meta({ description: 'E.164', example: '+14155550123' }),
    agentId: z.guid().meta({ description: 'See GET /api/developer/agents' }),
    enterprise: z.string().min(1).meta({ description: 'The slug of the workspace' }),
    from: z.guid().meta({ description: 'See GET /api/developer/phone-numbers' }),
    name: z
      .string()
      .refine((name) => [...name].length <= 120)
      .refine(isStorable)
      .meta({ maxLength: 120, description: 'Of the called person; for {{customer_name}}' })
      .nullish(),
    metadata: metadataSchema.nullish(),
  })
  .meta({ id: 'OutboundCall' });

export interface OutboundCallRequest {
  to: string;
  agentId: string;
  /** As sent: not yet known to be a workspace, nor even a string. */
  enterprise: unknown;
  from: string;
  name: string;
  metadata: Record<string, unknown>;
}

const REQUIRED = ['to', 'agentId', 'enterprise', 'from'] as const;
const { shape } = outboundCallBody;

export function readOutboundCall(
  body: unknown,
): { ok: true; call: OutboundCallRequest } | { ok: false; code: ErrorCode } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { ok: false, code: 'missing_fields' };
  const given = body as Record<string, unknown>;
  if (REQUIRED.some((field) => isAbsent(given[field]))) return { ok: false, code: 'missing_fields' };
  const from = shape.from.safeParse(given['from']);
  if (!from.success) return { ok: false, code: 'invalid_from' };
  const to = shape.to.safeParse(given['to']);
  if (!to.success) return { ok: false, code: 'invalid_to' };
  const agentId = shape.agentId.safeParse(given['agentId']);
  if (!agentId.success) return { ok: false, code: 'invalid_agentId' };
  const name = shape.name.safeParse(given['name']);
  if (!name.success) return { ok: false, code: 'invalid_name' };
  const values = shape.metadata.safeParse(given['metadata']);
  if (!values.success) return { ok: false, code: 'invalid_metadata' };
  return {
    ok: true,
    call: {
      to: to.data,
      agentId: agentId.data.toLowerCase(),
      enterprise: given['enterprise'],
      from: from.data.toLowerCase(),
      name: name.data === undefined || name.data === null || name.data.trim() === '' ? DEFAULT_NAME : name.data,
      metadata: values.data ?? {},
    },
  };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
