/**
 * Which media processes there are, and what they have room for. Made by `control.ts` before the parts that ask for it;
 * the link to them comes last.
 */
import { createCallConnections } from '../connections/call-connections.ts';
import { createCallRoom, UNMEASURED } from '../limits/call-room.ts';
import { createMediaPool } from '../media-link/media-pool.ts';
import type { Ground } from './ground.ts';
import type { Sound } from './sound.ts';

export type MediaPlaces = ReturnType<typeof createMediaPlaces>;

export function createMediaPlaces({ config, clock, shared }: Ground, { clips }: Sound) {
  const { log } = shared;
  const found = { clipsOf: clips.forCall, grantsOf: createCallConnections(shared).forCall };
  const pool = createMediaPool({ ...shared, ...found });
  const room = createCallRoom({
    source: config.admission === 'measured' ? pool : UNMEASURED,
    clock,
    refusing: (why) => log.warn(why, 'no room for more calls: what is asked for now is refused before it is dialled'),
  });
  /** What is done and found when a media process gets a call's stream. */
  const withStream = { ...found, carried: room.carried };
  return { pool, room, withStream };
}
