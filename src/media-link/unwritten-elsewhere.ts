/**
 * What media processes of other nodes have said of calls and their controls have not yet written: who reads a call here
 * has it written there first. Both sides of the wire are in this file. Asked by `unwritten-talk.ts`; made by
 * `src/control/nodes.ts`.
 */
import { type Clock, pause } from '../../media/contract/clock.ts';
import type { NodeWire } from '../nodes/wire.ts';
import type { Queryable } from '../store/database.ts';
import type { RemoteMedia } from './remote-media.ts';
import type { UnwrittenElsewhere } from './unwritten-talk.ts';

/** A live board looks four times a second; the others are told once in this time, and write so often until then. */
const TELL_EVERY_MS = 2_000;
const HURRIED_FOR_MS = TELL_EVERY_MS + 500;
const WRITE_EVERY_MS = 250;

export function createUnwrittenElsewhere(deps: {
  database: Queryable;
  clock: Clock;
  wire: Pick<NodeWire, 'tell'>;
  remote: Pick<RemoteMedia, 'written'>;
  /** By name. */
  otherNodes(): readonly string[];
}): UnwrittenElsewhere {
  const { database, clock, wire } = deps;
  let toldAtMs = Number.NEGATIVE_INFINITY;

  async function askOwner(callUuid: string, limitMs: number): Promise<void> {
    const [call] = await database.query<{ ownerRun: string }>(
      `SELECT owner_run AS "ownerRun" FROM calls
        WHERE call_uuid = $1 AND owner_run IS NOT NULL AND media_stopped_at IS NULL AND ended_at IS NULL`,
      [callUuid],
    );
    if (call !== undefined) await deps.remote.written(call.ownerRun, callUuid, limitMs);
  }

  return {
    hurry() {
      const others = deps.otherNodes();
      if (others.length === 0 || clock.nowMs() - toldAtMs < TELL_EVERY_MS) return;
      toldAtMs = clock.nowMs();
      for (const other of others) wire.tell(other, 'talk.hurry', null);
    },
    async written(callUuid, limitMs) {
      if (deps.otherNodes().length === 0) return;
      // The database being away is seen by whoever reads it next.
      await Promise.race([askOwner(callUuid, limitMs).catch(() => {}), pause(clock, limitMs)]);
    },
  };
}

/** `hurry`: what this node's processes have said is written now. */
export function answerHurry(wire: Pick<NodeWire, 'on'>, { clock, hurry }: { clock: Clock; hurry(): void }): void {
  let untilMs = Number.NEGATIVE_INFINITY;
  let isHurrying = false;

  async function keepHurrying(): Promise<void> {
    isHurrying = true;
    while (clock.nowMs() < untilMs) {
      hurry();
      await pause(clock, WRITE_EVERY_MS);
    }
    isHurrying = false;
  }

  wire.on('talk.hurry', () => {
    untilMs = clock.nowMs() + HURRIED_FOR_MS;
    if (!isHurrying) void keepHurrying();
  });
}
