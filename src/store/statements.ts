/**
 * Which statements are prepared: those whose text comes again and again. PostgreSQL then parses and plans them once a
 * connection and not each time; about twenty of them make a placement. Used by `database.ts` only; texts made of a
 * client's filters stay unnamed, because there are too many of them and one plan does not fit all. So does what reads a
 * table that lies by day (`day-tables.ts`): a plan for any call opens and locks all days.
 */
import { NAMES_DAYS } from './day-tables.ts';

/** As `pg` takes it. */
export interface Statement {
  text: string;
  values: unknown[];
  name?: string;
  /** In ms; default: the connection's. The types of `pg` do not know it. */
  query_timeout?: number;
}

export interface Statements {
  of(sql: string, parameters: readonly unknown[]): Statement;
}

/** A text is given a name when it comes for this time: what is asked once at start costs no name. */
const NAMED_FROM = 3;
/** Each name costs memory in each connection, here and at the server. */
const MOST_NAMES = 300;
/** Distinct texts that are counted; there are fewer fixed ones. */
const MOST_COUNTED = 2_000;
/** Written at the beginning of a statement that must be planned for its parameters each time. */
export const PLAN_EACH_TIME = '/* plan each time */';

export const isPlannedEachTime = (sql: string): boolean => sql.startsWith(PLAN_EACH_TIME) || NAMES_DAYS.test(sql);

export function createStatements(): Statements {
  const names = new Map<string, string>();
  const seen = new Map<string, number>();

  function nameOf(sql: string): string | undefined {
    const known = names.get(sql);
    if (known !== undefined) return known;
    if (names.size >= MOST_NAMES || isPlannedEachTime(sql)) return undefined;
    const times = (seen.get(sql) ?? 0) + 1;
    if (times < NAMED_FROM) {
      if (seen.size < MOST_COUNTED || times > 1) seen.set(sql, times);
      return undefined;
    }
    seen.delete(sql);
    const name = `parley_${names.size}`;
    names.set(sql, name);
    return name;
  }

  return {
    of(sql, parameters) {
      const name = nameOf(sql);
      const values = [...parameters];
      return name === undefined ? { text: sql, values } : { name, text: sql, values };
    },
  };
}
