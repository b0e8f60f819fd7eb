/**
 * Which calls a page of the call log holds: their ids, newest first. Called by the list route and the command line.
 *
 * What is common stands among the newest calls, and what is rare in the index of documents. So a page is looked for
 * among the newest calls first, in their order, and only when they do not fill it, in the index, whole. Neither way
 * depends on how often the planner believes a word to be; docs/decisions/call-log-indexes.md has the measurements.
 */
import type { Database, Queryable } from '../store/database.ts';
import { PLAN_EACH_TIME } from '../store/statements.ts';
import { type CallFilters, facetQuery, needsDocument, wordsOf } from './call-log-query.ts';

/** Where a page ended: its last call. */
export interface CallPlace {
  /** Microseconds since 1970, as decimal digits. */
  createdAtMicros: string;
  callUuid: string;
}

export interface CallPage {
  callUuids: string[];
  /** Null: there are no more. */
  next: CallPlace | null;
}

export interface CallSearch {
  workspaceId: string;
  filters: CallFilters;
  after: CallPlace | null;
  /** Calls on the page. */
  limit: number;
}

/** How many of the newest calls are looked through before the index is asked. */
const NEWEST = 1_000;

const MICROS = '(extract(epoch FROM created_at) * 1000000)::bigint';

interface Found {
  callUuid: string;
  createdAtMicros: string;
}

export async function searchCalls(database: Database, search: CallSearch): Promise<CallPage> {
  const { filters, limit } = search;
  const isNarrowed = needsDocument(filters) || hasNumbers(filters);
  const newest = await findAmongNewest(database, search, isNarrowed);
  if (newest.length > limit || !isNarrowed) return pageOf(newest, limit);
  return pageOf(await findByIndex(database, search), limit);
}

/** How many calls the filters leave, as far as `most`: whoever writes them all tells how far it is. */
export async function countCalls(
  database: Database,
  { workspaceId, filters }: Pick<CallSearch, 'workspaceId' | 'filters'>,
  most: number,
): Promise<number> {
  const search = { workspaceId, filters, after: null, limit: most };
  const sql = new Parameters();
  const conditions = [
    `workspace_id = ${sql.put(workspaceId)}`,
    timeCondition(sql, search),
    ...documentConditions(sql, search),
    ...numberConditions(sql, filters),
  ];
  const found = `SELECT 1 FROM call_search WHERE ${conditions.join(' AND ')} LIMIT ${sql.put(most)}`;
  const [row] = await database.query<{ count: number }>(
    `${PLAN_EACH_TIME} SELECT count(*)::int AS count FROM (${found}) AS found`,
    sql.values,
  );
  return row?.count ?? 0;
}

function pageOf(found: readonly Found[], limit: number): CallPage {
  const shown = found.slice(0, limit);
  return {
    callUuids: shown.map((call) => call.callUuid),
    next: found.length > limit ? (shown.at(-1) ?? null) : null,
  };
}

function findAmongNewest(database: Queryable, search: CallSearch, isNarrowed: boolean): Promise<Found[]> {
  const sql = new Parameters();
  const inOrder = `SELECT * FROM call_search WHERE workspace_id = ${sql.put(search.workspaceId)} AND ${timeCondition(sql, search)}
     ORDER BY created_at DESC, call_uuid DESC`;
  if (!isNarrowed) return database.query<Found>(selectPage(sql, search, `(${inOrder})`, 'true'), sql.values);
  const conditions = [...documentConditions(sql, search), ...numberConditions(sql, search.filters)];
  return database.query<Found>(
    selectPage(sql, search, `(${inOrder} LIMIT ${NEWEST})`, conditions.join(' AND ')),
    sql.values,
  );
}

function findByIndex(database: Database, search: CallSearch): Promise<Found[]> {
  const sql = new Parameters();
  const documents = documentConditions(sql, search, loose);
  const conditions = [...documents, ...numberConditions(sql, search.filters)];
  // The workspace is in the document too. Where that is looked up, the column must not lure the
  // planner to another index.
  if (hasNumbers(search.filters)) conditions.push(`workspace_id = ${sql.put(search.workspaceId)}`);
  const matching = `WITH matching AS MATERIALIZED (SELECT workspace_id, created_at, call_uuid FROM call_search WHERE ${conditions.join(' AND ')})`;
  const wanted = `workspace_id = ${sql.put(search.workspaceId)} AND ${timeCondition(sql, search)}`;
  const page =
    search.filters.q === undefined
      ? selectPage(sql, search, 'matching', wanted)
      : selectChecked(sql, search, `SELECT created_at, call_uuid FROM matching WHERE ${wanted}`);
  return database.transaction(async (tx) => {
    // It knows nothing of what it costs to read a document from where long values lie.
    await tx.query('SET LOCAL enable_seqscan = off');
    return tx.query<Found>(`${PLAN_EACH_TIME} ${matching} ${page}`, sql.values);
  });
}

function selectPage(sql: Parameters, search: CallSearch, from: string, where: string): string {
  return `${PLAN_EACH_TIME} SELECT call_uuid AS "callUuid", ${MICROS}::text AS "createdAtMicros" FROM ${from} AS found WHERE ${where}
     ORDER BY created_at DESC, call_uuid DESC LIMIT ${sql.put(search.limit + 1)}`;
}

/**
 * What the index found by words alone, newest first, each held to its document until the page is full. The subquery in
 * the condition keeps the planner from asking it of all before they are in order.
 */
function selectChecked(sql: Parameters, search: CallSearch, candidates: string): string {
  const check = documentConditions(sql, search).join(' AND ');
  const from = `(${candidates} ORDER BY created_at DESC, call_uuid DESC OFFSET 0)`;
  const where = `(SELECT ${check} FROM call_search AS checked WHERE checked.call_uuid = found.call_uuid)`;
  return selectPage(sql, search, from, where);
}

function timeCondition(sql: Parameters, { filters, after }: CallSearch): string {
  const conditions = ['true'];
  if (after !== null) {
    const at = `'epoch'::timestamptz + ${sql.put(after.createdAtMicros)}::bigint * interval '1 microsecond'`;
    conditions.push(`(created_at, call_uuid) < (${at}, ${sql.put(after.callUuid)}::uuid)`);
  }
  if (filters.createdAfter !== undefined)
    conditions.push(`created_at >= ${sql.put(filters.createdAfter)}::timestamptz`);
  if (filters.createdBefore !== undefined)
    conditions.push(`created_at < ${sql.put(filters.createdBefore)}::timestamptz`);
  return conditions.join(' AND ');
}

function documentConditions(
  sql: Parameters,
  { workspaceId, filters }: CallSearch,
  read: (words: string) => string = (words) => words,
): string[] {
  if (!needsDocument(filters)) return [];
  const facets = `${sql.put(facetQuery(workspaceId, filters))}::tsquery`;
  if (filters.q === undefined) return [`document @@ ${facets}`];
  const words = `websearch_to_tsquery('simple', ${sql.put(wordsOf(filters.q))}::text)`;
  return [`document @@ (${facets} && ${read(words)})`];
}

/**
 * A phrase as its words in any order. The index does not know the order of words, so PostgreSQL would read the document
 * of each call that has them. Where something is excluded it stays as it is: to exclude more
 * than was asked for would lose calls.
 */
function loose(words: string): string {
  return `CASE WHEN ${words}::text ~ '!' THEN ${words} ELSE regexp_replace(${words}::text, ''' <(-|[0-9]+)> ''', ''' & ''', 'g')::tsquery END`;
}

function hasNumbers({ minDuration, maxDuration, mouthToEarP95Gte }: CallFilters): boolean {
  return minDuration !== undefined || maxDuration !== undefined || mouthToEarP95Gte !== undefined;
}

function numberConditions(sql: Parameters, filters: CallFilters): string[] {
  const { minDuration, maxDuration, mouthToEarP95Gte } = filters;
  const conditions: string[] = [];
  const toMs = (seconds: number): number => Math.round(Math.min(seconds, 2_000_000) * 1000);
  if (minDuration !== undefined) conditions.push(`talk_ms >= ${sql.put(toMs(minDuration))}`);
  if (maxDuration !== undefined) conditions.push(`talk_ms <= ${sql.put(toMs(maxDuration))}`);
  if (mouthToEarP95Gte !== undefined) {
    conditions.push(`mouth_to_ear_p95_ms >= ${sql.put(Math.ceil(Math.min(mouthToEarP95Gte, 2_000_000_000)))}`);
  }
  return conditions;
}

/** `$1`, `$2`, … and their values. */
class Parameters {
  readonly values: unknown[] = [];

  put(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}
