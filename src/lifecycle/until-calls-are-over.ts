/**
 * The whole service is being stopped: resolves when the last active call is over, one whose phone still rings included,
 * as the database knows them. While the database is away, media processes are asked instead. Used by `control.ts`.
 */

import { type Clock, pause } from '../../media/contract/clock.ts';
import { ACTIVE } from '../calls/active-statuses.ts';
import type { Queryable } from '../store/database.ts';

const LOOK_EVERY_MS = 250;

export async function untilCallsAreOver(deps: {
  database: Queryable;
  clock: Pick<Clock, 'after'>;
  /** Active calls that media processes carry. */
  carried(): number;
  /** Calls that were admitted before the stop and wait for their turn: they have no row yet. */
  placing(): number;
}): Promise<void> {
  // A look at the rows counts only when nothing was being placed before it.
  while (deps.placing() > 0 || (await isAnyActive(deps))) await pause(deps.clock, LOOK_EVERY_MS);
}

async function isAnyActive({ database, carried }: { database: Queryable; carried(): number }): Promise<boolean> {
  try {
    const active = await database.query(`SELECT 1 AS one FROM calls WHERE status IN ${ACTIVE} LIMIT 1`);
    return active.length > 0;
  } catch {
    return carried() > 0;
  }
}
