/**
 * What is wrong with a migration that runs beside nodes at work: statements that hold a large table for long, and those
 * that take away what the version before still uses. By patterns, not by a parser: a new kind of statement is looked at
 * by whoever writes it.
 */

/** Tables with rows of each call, event or request. */
const LARGE = [
  ...['calls', 'call_events', 'call_turns', 'call_search', 'call_recordings', 'call_connections', 'call_usage'],
  ...['webhook_events', 'webhook_deliveries', 'tool_calls', 'analysis_jobs', 'web_sessions', 'dial_permits'],
  ...['leads', 'audit_log', 'idempotency_keys', 'purge_receipts'],
];

/** With partitions by day: no statement on the whole can be done beside running writes. */
const BY_DAY = ['call_events', 'call_turns'];

const VOLATILE = /clock_timestamp|gen_random|random\s*\(|nextval|timeofday/i;

/** `name` without `.sql`; `sql` without comments. Sentences, each with its way out; none: it is fit. */
export function migrationFaults(name: string, sql: string): string[] {
  const statements = sql
    .split(';')
    .map((one) => one.trim().replaceAll(/\s+/g, ' '))
    .filter((one) => one !== '');
  const made = new Set(
    statements.flatMap((one) => /^create (?:unlogged )?table (?:if not exists )?(\w+)/i.exec(one)?.[1] ?? []),
  );
  const isContract = /^\d+_contract_after_\d{4}_/.test(name);
  return statements.flatMap((one) => {
    const faults = [...lockFaults(one, made, statements.length)];
    if (!isContract) faults.push(...contractFaults(one, made));
    return faults.map((fault) => `${name}: ${fault}: ${one.slice(0, 90)}`);
  });
}

function* lockFaults(one: string, made: ReadonlySet<string>, count: number): Generator<string> {
  const isLarge = (table: string | undefined): boolean =>
    table !== undefined && LARGE.includes(table) && !made.has(table);
  const index = /^create (?:unique )?index (concurrently if not exists )?.*? on (?:only )?(\w+)/i.exec(one);
  if (index !== null && BY_DAY.includes(index[2] ?? ''))
    yield 'it has partitions: an index ON ONLY it, one made CONCURRENTLY in each partition, then attached';
  else if (index !== null && index[1] === undefined && isLarge(index[2]))
    yield 'writes of the whole table wait for it; make it CONCURRENTLY IF NOT EXISTS, in a file of its own';
  if (/\bconcurrently\b/i.test(one) && count > 1) yield 'CONCURRENTLY wants a file of its own';
  const written = /^(?:update|delete from) (\w+)/i.exec(one)?.[1];
  if (isLarge(written)) yield 'it writes the whole table in one transaction; let the service do it in batches';
  const altered = /^alter table (?:if exists )?(?:only )?(\w+)/i.exec(one)?.[1];
  if (!isLarge(altered)) return;
  if (/ add constraint .*(check|foreign key)/i.test(one) && !/not valid/i.test(one))
    yield 'it reads the whole table under its lock; add it NOT VALID, and validate it in a later file';
  if (/ add column .*\breferences\b/i.test(one)) yield 'it locks both tables; add the key NOT VALID';
  if (/ add column .*\bdefault\b/i.test(one) && VOLATILE.test(one))
    yield 'it writes each row anew; set the default after';
  if (/ alter column \w+ (set data )?type /i.test(one)) yield 'it writes each row anew; add a column beside it';
  if (/ alter column \w+ set not null/i.test(one))
    yield 'it reads the whole table under its lock; add CHECK (… IS NOT NULL) NOT VALID';
}

function* contractFaults(one: string, made: ReadonlySet<string>): Generator<string> {
  const table = /^(?:alter|drop) table (?:if exists )?(?:only )?(\w+)/i.exec(one)?.[1];
  if (table === undefined || made.has(table)) return;
  const takesAway =
    /^drop table| drop column | rename | set not null|^alter table \w+ add column (?!.*default).* not null/i;
  if (takesAway.test(one))
    yield 'the version before still uses it; do so a release later, in NNNN_contract_after_MMMM_what.sql';
}
