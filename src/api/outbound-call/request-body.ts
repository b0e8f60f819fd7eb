/**
 * Steps 4 to 6 of contract §2: the body's form, in the contract's order, without a query. The pieces are zod schemas,
 * so that the published schema and this check are one; the order and the messages are the contract's.
 */
import { z } from 'zod';
import { metadataSchema } from '../../calls/metadata.ts';
import type { ErrorCode } from '../../errors/error-codes.ts';
import { isStorable } from '../../store/storable.ts';

const DEFAULT_NAME = 'Customer';

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
