/**
 * The whole service is being stopped: resolves when the last active call is over, one whose phone still rings included,
 * as the database knows them. Where other nodes live, only what this one carries counts, or is about to carry since its
 * answer was sent here: they take the rest. While the database is away, media processes are asked instead. Used by
 * `control.ts`.
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
  /** Runs of this node, where there are other nodes; null: it is alone. */
  ownRuns(): readonly string[] | null;
  /** Calls that were admitted before the stop and wait for their turn: they have no row yet. */
  placing(): number;
}): Promise<void> {
  // A look at the rows counts only when nothing was being placed before it.
  while (deps.placing() > 0 || (await isAnyActive(deps))) await pause(deps.clock, LOOK_EVERY_MS);
}

async function isAnyActive(deps: {
  database: Queryable;
  carried(): number;
  ownRuns(): readonly string[] | null;
}): Promise<boolean> {
  const { database, carried } = deps;
  try {
    const active = await database.query(
      `SELECT 1 AS one FROM calls
        WHERE status IN ${ACTIVE}
          AND ($1::text[] IS NULL OR owner_run = ANY ($1) AND lease_until IS NULL
               OR owner_run IS NULL AND status = 'in_progress' AND assigned_run = ANY ($1)) LIMIT 1`,
      [deps.ownRuns()],
    );
    return active.length > 0;
  } catch {
    return carried() > 0;
  }
}
