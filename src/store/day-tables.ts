/**
 * The tables that lie by day, and which statements open all of their days unless they are planned for their parameters:
 * those that name one of the two, but to insert into it. `statements.ts` prepares none of them, so that no statement
 * has to say it of itself. `docs/decisions/partitions.md` says why.
 */

/** By the id of the call that a row is of. */
export const DAY_TABLES = ['call_turns', 'call_events'] as const;

/** An INSERT opens the one partition that it writes; a partition by its own name is no more than itself. */
export const NAMES_DAYS = /\bcall_(?:turns|events)\b(?<!INSERT INTO call_(?:turns|events))/;
