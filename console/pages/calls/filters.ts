/**
 * The filters of the call log: which there are, what each takes, and how each reads. The address holds them as the
 * API does.
 */
import type { Agent } from '../../../clients/typescript/src/client.ts';
import { answeredWords, endedWords, faultWords, filterWords, statusWords } from '../../texts/en/calls.ts';
import { common } from '../../texts/en/common.ts';
import { timeWords } from '../../ui/time.tsx';

export type FilterKind = 'choices' | 'yesNo' | 'time' | 'number' | 'text' | 'metadata';

export interface Filter {
  name: string;
  kind: FilterKind;
  options?: Readonly<Record<string, string>>;
}

const named = (...values: string[]): Record<string, string> => Object.fromEntries(values.map((one) => [one, one]));

export const FILTERS: readonly Filter[] = [
  { name: 'status', kind: 'choices', options: statusWords },
  { name: 'endedReason', kind: 'choices', options: endedWords },
  { name: 'fault', kind: 'choices', options: faultWords },
  { name: 'agentId', kind: 'choices' },
  { name: 'createdAfter', kind: 'time' },
  { name: 'createdBefore', kind: 'time' },
  { name: 'to', kind: 'text' },
  { name: 'from', kind: 'text' },
  { name: 'channel', kind: 'choices', options: named('phone', 'web') },
  { name: 'direction', kind: 'choices', options: named('outbound', 'inbound') },
  { name: 'answeredBy', kind: 'choices', options: answeredWords },
  { name: 'minDuration', kind: 'number' },
  { name: 'maxDuration', kind: 'number' },
  { name: 'mouthToEarP95Gte', kind: 'number' },
  { name: 'intent', kind: 'text' },
  { name: 'sentiment', kind: 'choices', options: named('positive', 'neutral', 'negative') },
  { name: 'successful', kind: 'yesNo' },
  { name: 'hasRecovery', kind: 'yesNo' },
  { name: 'hasUnclear', kind: 'yesNo' },
  { name: 'hasBargeIn', kind: 'yesNo' },
  { name: 'toolErrored', kind: 'yesNo' },
  { name: 'leadId', kind: 'text' },
  { name: 'idempotencyKey', kind: 'text' },
  { name: 'metadata', kind: 'metadata' },
];

const METADATA = 'metadata.';

export function filterOf(name: string): Filter | undefined {
  return FILTERS.find((one) => one.name === (name.startsWith(METADATA) ? 'metadata' : name));
}

/** Those in the address, in its order; words to search for stand apart. */
export function filtersIn(query: URLSearchParams): [name: string, value: string][] {
  return [...query].filter(([name, value]) => value !== '' && filterOf(name) !== undefined);
}

/** What the list is asked for. A day is not shifted by the reader's zone: times are whole instants. */
export function askedOf(query: URLSearchParams): Record<string, string> {
  const asked = Object.fromEntries(filtersIn(query));
  const words = query.get('q')?.trim() ?? '';
  return words === '' ? asked : { ...asked, q: words };
}

/** How a filter reads: `Status is Failed or No answer`. */
export function readsAs(name: string, value: string, agents: readonly Agent[]): { name: string; value: string } {
  const filter = filterOf(name);
  const title = name.startsWith(METADATA) ? name.slice(METADATA.length) : (filterWords[name] ?? name);
  return { name: title, value: valueWords(filter, name, value, agents) };
}

function valueWords(filter: Filter | undefined, name: string, value: string, agents: readonly Agent[]): string {
  if (filter?.kind === 'time') return Number.isNaN(Date.parse(value)) ? value : timeWords(value);
  if (filter?.kind === 'yesNo') return value === 'true' ? common.yes.toLowerCase() : common.no.toLowerCase();
  if (filter?.kind !== 'choices') return value;
  const words = (one: string): string =>
    (name === 'agentId' ? agents.find(({ id }) => id === one)?.name : filter.options?.[one]) ?? one;
  return value.split(',').map(words).join(' or ');
}
