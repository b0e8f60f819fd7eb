/**
 * What this node is called in the cluster: `PARLEY_NODE`, or its data folder's own name. Two with one name would end
 * each other's runs, so the second does not start: one that copied the first's settings, its data folder or its whole
 * machine. Nor does one that would keep recordings and clips on its own disk beside others, which could not play them.
 * Asked by `src/control/control.ts`.
 */
import { readFileSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { type Clock, pause } from '../../media/contract/clock.ts';
import type { Queryable } from '../store/database.ts';
import { LOOK_EVERY_MS } from '../store/due-look.ts';
import { askNeighbours, hasOwnRuns, livingNeighbour, type Neighbour, type NodeName } from './media-runs.ts';

/** One that lives sees within a look that it is asked, and beats. */
const ANSWERS_WITHIN_MS = 2 * LOOK_EVERY_MS;
const LOOK_AGAIN_MS = 500;

/** The same for each start of a node since its machine's, `voice-1:/var/lib/parley (2f9a41c0)`. */
export function homeOf(dataDir: string): string {
  return `${hostname()}:${realpathSync(dataDir)} (${bootOf()})`;
}

/** Tells apart machines of which one is the other's copy. Of Linux alone. */
function bootOf(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
  } catch {
    return '';
  }
}

/**
 * Rejects with the way out when another node has the name and lives, or when this one stores what no other can read,
 * `storesAlone`, and any other lives. A former self that is gone is waited for. A node that was there before the others
 * is not kept from the calls that its media processes carry when its control starts anew.
 */
export async function claimNodeName(
  deps: { database: Queryable; clock: Clock; log: Pick<Logger, 'warn'> },
  node: NodeName,
  { storesAlone }: { storesAlone: boolean },
): Promise<void> {
  const { database, clock, log } = deps;
  const which = storesAlone && !(await hasOwnRuns(database, node)) ? 'all' : 'of its name';
  const [asked] = await askNeighbours(database, node, which);
  if (asked === undefined) return;
  log.warn({ node: asked.name, home: asked.home }, 'a node runs, or ran, elsewhere; it is asked if it lives');
  for (const untilMs = clock.nowMs() + ANSWERS_WITHIN_MS; clock.nowMs() < untilMs; ) {
    await pause(clock, LOOK_AGAIN_MS);
    const living = await livingNeighbour(database, node, which);
    if (living !== null) throw new Error(refusal(living, node));
  }
}

function refusal({ name, home }: Neighbour, node: NodeName): string {
  if (name === node.name) {
    return `Another node of this database is called '${name}' too, and lives: ${home}. Set PARLEY_NODE to a name of its own on each node; a data folder that was copied brings its name along.`;
  }
  return `Another node of this database, '${name}', lives at ${home}, and this one would keep recordings and clips on its own disk (RECORDING_STORE=disk), where no other node can read them. Set RECORDING_STORE=s3 and the same RECORDING_S3_ settings on each node; recordings that lie on a disk already stay readable at the node that has it. Or stop the other node, if this one is to be the only one.`;
}
