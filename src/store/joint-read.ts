/**
 * Reads of at most a row each, asked as one statement: one round trip, and one snapshot of all. The rows come as JSON,
 * so they are for texts, numbers and JSON, not for times and bytes.
 */
import type { Queryable } from './database.ts';
import type { Place } from './joint-write.ts';

/** `Row` is what its SELECT gives. */
export interface Read<Row extends object> {
  sql(place: Place): string;
  /** For the types alone. */
  row?: Row;
}

type Rows<Reads extends readonly Read<object>[]> = {
  [Index in keyof Reads]: Reads[Index] extends Read<infer Row> ? Row | null : never;
};

/** In their order; null where a SELECT found nothing. */
export async function readTogether<const Reads extends readonly Read<object>[]>(
  tx: Queryable,
  ...reads: Reads
): Promise<Rows<Reads>> {
  const values: unknown[] = [];
  const place: Place = (value) => `$${values.push(value)}`;
  const parts = reads.map(({ sql }, index) => `(SELECT to_jsonb(found) FROM (${sql(place)}) AS found) AS r${index}`);
  const [row] = await tx.query<Record<string, object | null>>(`SELECT ${parts.join(', ')}`, values);
  return reads.map((_read, index) => row![`r${index}`]) as unknown as Rows<Reads>;
}
