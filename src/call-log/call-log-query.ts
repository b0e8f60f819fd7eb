/**
 * The filters of the call log (contract §13) as conditions on `call_search`, pure. Called by `call-log-search.ts`.
 * Whatever is compared for equality is a lexeme of the row's document, made in the same way by
 * migration 0007; ranges are columns.
 */
import { createHash } from 'node:crypto';

/** What a list may be asked for; several values of one filter mean any of them, several filters all of them. */
export interface CallFilters {
  status?: readonly string[];
  endedReason?: readonly string[];
  fault?: readonly string[];
  agentId?: readonly string[];
  leadId?: readonly string[];
  campaignId?: readonly string[];
  channel?: readonly string[];
  direction?: readonly string[];
  to?: readonly string[];
  /** Ids of phone number records, or numbers. */
  from?: readonly string[];
  answeredBy?: readonly string[];
  intent?: readonly string[];
  sentiment?: readonly string[];
  idempotencyKey?: readonly string[];
  successful?: boolean;
  hasRecovery?: boolean;
  hasUnclear?: boolean;
  hasBargeIn?: boolean;
  toolErrored?: boolean;
  createdAfter?: string;
  createdBefore?: string;
  /** Seconds of talk. */
  minDuration?: number;
  maxDuration?: number;
  mouthToEarP95Gte?: number;
  /** By the key without `metadata.` before it. */
  metadata?: Readonly<Record<string, string>>;
  /** Words to search for, in the manner of a web search. */
  q?: string;
}

const BY_VALUE = [
  'status',
  'endedReason',
  'fault',
  'agentId',
  'leadId',
  'campaignId',
  'channel',
  'direction',
  'to',
  'from',
  'answeredBy',
  'intent',
  'sentiment',
  'idempotencyKey',
] as const satisfies readonly (keyof CallFilters)[];

/** Lexemes that a row has or lacks; `false` of these is the lack of `true`. */
const FLAGS = [
  'hasRecovery',
  'hasUnclear',
  'hasBargeIn',
  'toolErrored',
] as const satisfies readonly (keyof CallFilters)[];

const LONGEST_LEXEME_BYTES = 100;

/** Text of a `tsquery`, without the words of `q`: the workspace first, so that it is never only a negation. */
export function facetQuery(workspaceId: string, filters: CallFilters): string {
  const terms = [facet('w', workspaceId)];
  for (const name of BY_VALUE) {
    const values = filters[name];
    if (values !== undefined) terms.push(`(${values.map((value) => facet(name, value)).join(' | ')})`);
  }
  if (filters.successful !== undefined) terms.push(facet('successful', String(filters.successful)));
  for (const name of FLAGS) {
    const wanted = filters[name];
    if (wanted !== undefined) terms.push(`${wanted ? '' : '!'}${facet(name, 'true')}`);
  }
  for (const [key, value] of Object.entries(filters.metadata ?? {})) terms.push(facet(`metadata.${key}`, value));
  return terms.join(' & ');
}

/** Does anything but the workspace, ranges of time and numbers have to be looked up in the documents? */
export function needsDocument(filters: CallFilters): boolean {
  const { createdAfter, createdBefore, minDuration, maxDuration, mouthToEarP95Gte, ...others } = filters;
  return Object.values(others).some((value) => value !== undefined);
}

/** A number as people write it is one word; all else is a web search: words, "phrases", or, -not. */
export function wordsOf(q: string): string {
  const digits = q.replace(/\D/g, '');
  return /^\s*\+?[\d\s().\-/]{5,}$/.test(q) && digits.length >= 4 ? digits : q;
}

/** One lexeme of a `tsquery`. */
export function facet(name: string, value: string): string {
  const shown =
    Buffer.byteLength(value) <= LONGEST_LEXEME_BYTES ? value : createHash('sha256').update(value).digest('hex');
  return `'${`\u0001${name}=${shown}`.replace(/[\\']/g, '$&$&')}'`;
}
