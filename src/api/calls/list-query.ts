/**
 * The query of `GET /api/developer/calls` (contract §13) as a zod schema, and what it means; exports take its filters.
 */
import { z } from 'zod';
import { CALL_STATUSES, ENDED_REASONS } from '../../../media/contract/call-outcome.ts';
import type { CallFilters } from '../../call-log/call-log-query.ts';
import { anyOf, createdBetween, farEnd, id, instant, lineOrNumber, page, text, withPlus } from '../query-values.ts';

const METADATA = 'metadata.';
const METADATA_KEY = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;

const flag = z.enum(['true', 'false'], { error: 'must be true or false' }).transform((value) => value === 'true');
const seconds = z.coerce.number().min(0).max(1_000_000);

const FILTERS = {
  status: anyOf(z.enum(CALL_STATUSES), 'The state of the call'),
  endedReason: anyOf(z.enum(Object.keys(ENDED_REASONS) as [string, ...string[]]), 'Why it ended'),
  fault: anyOf(z.enum(['none', 'client', 'callee', 'carrier', 'provider', 'platform']), 'Whose fault the end was'),
  agentId: anyOf(id, 'The agent'),
  leadId: anyOf(id, 'The lead'),
  campaignId: anyOf(id, 'The campaign'),
  channel: anyOf(z.enum(['phone', 'web']), 'How the other side was reached'),
  direction: anyOf(z.enum(['outbound', 'inbound']), 'Who called'),
  to: anyOf(farEnd, 'The number called, like +14155550123'),
  from: anyOf(lineOrNumber, 'The phone number record, or its number'),
  answeredBy: anyOf(z.enum(['human', 'machine', 'ivr', 'unknown']), 'Who answered'),
  intent: anyOf(text(50), 'What the analysis found'),
  sentiment: anyOf(text(50), 'What the analysis found'),
  successful: flag.optional().meta({ description: 'What the analysis found' }),
  hasRecovery: flag.optional().meta({ description: 'It went on after what carried it was lost; see `recovery`' }),
  hasUnclear: flag.optional().meta({ description: 'The caller said things in it that the script did not expect' }),
  hasBargeIn: flag.optional().meta({ description: 'The caller cut the agent off in it' }),
  toolErrored: flag.optional().meta({ description: 'A tool failed in it' }),
  ...createdBetween(instant),
  minDuration: seconds.optional().meta({ description: 'Seconds of talk, at least' }),
  maxDuration: seconds.optional().meta({ description: 'Seconds of talk, at most' }),
  mouthToEarP95Gte: z.coerce
    .number()
    .min(0)
    .optional()
    .meta({ description: '95th percentile from mouth to ear in ms, at least' }),
  idempotencyKey: anyOf(text(255), 'The `Idempotency-Key` of the request that made it'),
  'metadata.<key>': text(2_000)
    .optional()
    .meta({ description: 'For instance `metadata.plan=gold`; exact. Up to 10 of them' }),
  q: text(500)
    .refine((words) => /[\p{L}\p{N}]/u.test(words), { error: 'must hold a word' })
    .optional()
    .meta({
      description:
        'Words of the transcript as heard, name, numbers or summary: all of them, `"a phrase"`, `or`, `-not`',
    }),
};

/** Filters, with those of metadata, which have names of their own. */
function filtersWith<More extends z.ZodRawShape>(more: More) {
  const shape = { ...FILTERS, ...more };
  return z.looseObject(shape).superRefine((query, context) => {
    const own = Object.keys(query).filter((name) => !Object.hasOwn(shape, name) || name.includes('<'));
    for (const name of own) {
      const key = name.startsWith(METADATA) ? name.slice(METADATA.length) : null;
      // What is no filter at all is refused before, as on every list.
      if (key === null) continue;
      if (key.startsWith('secret.')) issue(context, name, 'is kept for tools and cannot be searched');
      else if (!METADATA_KEY.test(key)) issue(context, name, 'is no key of metadata');
      else if (!text(2_000).safeParse(query[name]).success)
        issue(context, name, 'must be one text of 1 to 2,000 characters');
    }
    if (own.length > 10) issue(context, 'metadata', 'may be asked for with at most 10 keys');
  });
}

export const listQuery = filtersWith(page());
/** Of what is asked for whole. */
export const exportFilters = filtersWith({});

function issue(context: z.RefinementCtx, name: string, message: string): void {
  context.addIssue({ code: 'custom', path: [name], message });
}

export interface CallListRequest {
  filters: CallFilters;
  limit: number;
  cursor: string | null;
}

export function readListQuery(query: z.output<typeof listQuery>): CallListRequest {
  const { limit, cursor, ...rest } = query;
  return { filters: readFilters(rest), limit: Number(limit), cursor: (cursor as string | undefined) ?? null };
}

export function readFilters(query: Readonly<Record<string, unknown>>): CallFilters {
  const known: Record<string, unknown> = {};
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    if (name.startsWith(METADATA)) metadata[name.slice(METADATA.length)] = withPlus(String(value));
    else known[name] = value;
  }
  if (Object.keys(metadata).length > 0) known['metadata'] = metadata;
  return known as CallFilters;
}
