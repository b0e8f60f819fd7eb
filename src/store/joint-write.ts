/**
 * Writes that belong together, sent as one statement: each is a part of one WITH, so that the end of a call, say, is
 * one round trip and not a dozen. PostgreSQL runs all of them on one snapshot: none sees what another writes, and no
 * row may be written by two of them. Used inside transactions by whatever changes calls.
 */
import type { Queryable } from './database.ts';

/** Gives a value the name of a parameter. */
export type Place = (value: unknown) => string;

export interface Write {
  /** An INSERT, UPDATE or DELETE, or a SELECT that locks and whose value is asked for; without a WITH of its own. */
  sql(place: Place): string;
  /** An expression over all that it returns, and who is told its value. A throw undoes the transaction. */
  returns?: { value: string; to(value: unknown): void };
}

export async function writeTogether(tx: Queryable, writes: readonly Write[]): Promise<void> {
  if (writes.length === 0) return;
  const values: unknown[] = [];
  const place: Place = (value) => `$${values.push(value)}`;
  const parts = writes.map(({ sql }, index) => `w${index} AS (${sql(place)})`);
  const asked = writes.flatMap(({ returns }, index) =>
    returns === undefined ? [] : [`(SELECT ${returns.value} FROM w${index}) AS r${index}`],
  );
  const answer = asked.length === 0 ? '1 AS one' : asked.join(', ');
  const [row] = await tx.query<Record<string, unknown>>(`WITH ${parts.join(', ')} SELECT ${answer}`, values);
  for (const [index, { returns }] of writes.entries()) returns?.to(row![`r${index}`]);
}
