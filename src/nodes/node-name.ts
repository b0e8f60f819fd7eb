/**
 * What this node is called in the cluster: `PARLEY_NODE`, or its data folder's own name. Two with one name would end
 * each other's runs, so the second does not start. Asked by `src/control/control.ts`.
 */
import type { Logger } from 'pino';
import { type Clock, pause } from '../../media/contract/clock.ts';
import type { Queryable } from '../store/database.ts';
import { type NodeName, nameTakenForMs } from './media-runs.ts';

/** A node that came back with an empty disk meets itself: its former runs are over by then. */
const WAIT_LIMIT_MS = 100_000;
const LOOK_EVERY_MS = 1_000;

/** Rejects with the way out when another node has the name and goes on beating. */
export async function claimNodeName(
  deps: { database: Queryable; clock: Clock; log: Pick<Logger, 'warn'> },
  node: NodeName,
): Promise<void> {
  const { database, clock, log } = deps;
  for (const untilMs = clock.nowMs() + WAIT_LIMIT_MS, told = { once: false }; ; ) {
    const takenForMs = await nameTakenForMs(database, node);
    if (takenForMs === null) return;
    if (clock.nowMs() >= untilMs) {
      throw new Error(
        `Another node of this database is called '${node.name}' and lives, with another data folder. Set PARLEY_NODE to a name of its own on each node.`,
      );
    }
    if (!told.once)
      log.warn({ node: node.name }, 'another node of this name was heard of a moment ago; waiting for it');
    told.once = true;
    await pause(clock, LOOK_EVERY_MS);
  }
}
