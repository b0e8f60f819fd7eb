/**
 * Which media processes there are, what they have room for, and in which of them, and of those of other nodes, a call
 * is to land. Made by `control.ts` before the parts that ask for it; the link to them comes last.
 */
import { createCallConnections } from '../connections/call-connections.ts';
import { createCallRoom, UNMEASURED } from '../limits/call-room.ts';
import type { MediaMember } from '../media-link/media-pool.ts';
import { createMediaPool } from '../media-link/media-pool.ts';
import type { RemoteMedia } from '../media-link/remote-media.ts';
import { createCallPlaces, type PlaceableRun } from '../nodes/call-places.ts';
import type { NodeName, OtherRun } from '../nodes/media-runs.ts';
import type { Ground } from './ground.ts';
import type { Sound } from './sound.ts';

export type MediaPlaces = ReturnType<typeof createMediaPlaces>;

export function createMediaPlaces(
  { config, clock, shared }: Ground,
  { clips }: Sound,
  around: { node: NodeName; others(): readonly OtherRun[]; remote: RemoteMedia; isDraining(): boolean },
) {
  const { log } = shared;
  const found = { clipsOf: clips.forCall, grantsOf: createCallConnections(shared).forCall };
  const pool = createMediaPool({
    ...shared,
    ...found,
    remote: around.remote,
    roomElsewhere: () => landing.roomElsewhere(),
  });
  const room = createCallRoom({
    source: config.admission === 'measured' ? pool : UNMEASURED,
    clock,
    refusing: (why) => log.warn(why, 'no room for more calls: what is asked for now is refused before it is dialled'),
  });
  const landing = createCallPlaces({
    ...shared,
    random: Math.random,
    isAddressed: around.node.streamBase !== null,
    isDraining: around.isDraining,
    own: () => ownRuns(around.node, pool.members()),
    others: () => around.others().flatMap((run) => addressed(run.streamBase, run)),
    carriedElsewhere: room.carried,
  });
  /** What is done and found when a media process gets a call's stream. */
  const withStream = { ...found, carried: room.carried };
  return { pool, room, landing, withStream };
}

function ownRuns({ name, streamBase }: NodeName, members: readonly MediaMember[]): PlaceableRun[] {
  return members
    .filter(({ connected }) => connected)
    .flatMap(({ runId, capacityCalls, activeCalls, draining, room }) =>
      addressed(streamBase, {
        runId,
        node: name,
        capacityCalls,
        liveCalls: activeCalls,
        moreCalls: room?.moreCalls ?? null,
        isDraining: draining,
        silentMs: 0,
      }),
    );
}

/** None where streams of the node come to the public address. */
function addressed(streamBase: string | null, run: Omit<PlaceableRun, 'streamBase'>): PlaceableRun[] {
  return streamBase === null ? [] : [{ ...run, streamBase }];
}
