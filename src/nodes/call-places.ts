/**
 * In which media process a call is to land, where nodes have addresses of their own (`STREAM_URL` with `{node}`):
 * chosen when the carrier has accepted it, from what the last beat told, and promised there until somebody carries the
 * call or it is over. Its answer goes to that node; when it drains or has fallen silent by then, another is chosen.
 * Without such addresses a stream comes to whichever process the one address leads to, and nothing is chosen. Made by
 * `src/control/media-places.ts`.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { Queryable } from '../store/database.ts';
import { chooseRun, mayTake, type RunCandidate } from './run-choice.ts';

/** One that may be addressed. */
export interface PlaceableRun extends Omit<RunCandidate, 'promisedCalls'> {
  streamBase: string;
}

export interface LandingCall {
  callUuid: string;
  assignedRun: string | null;
  /** Where it was lost. */
  avoidRun?: string | null;
}

export interface CallPlaces {
  /** Null: nothing is chosen, or none may take it. */
  choose(callUuid: string): string | null;
  /** Where the call's stream is to be opened; null: at the public address. */
  streamBaseOf(call: LandingCall): string | null;
  /** How many more calls all may take that are not of this node. */
  roomElsewhere(): number;
  /** Promises that were kept or came to nothing are forgotten. Rejects when the database is away. */
  settle(): Promise<void>;
}

/** A phone rings for as long at the most; then it has been answered somewhere, or is over. */
const PROMISED_MS = 90_000;

export function createCallPlaces(deps: {
  database: Queryable;
  clock: Pick<Clock, 'nowMs'>;
  random(): number;
  /** This node's streams have an address of their own. */
  isAddressed: boolean;
  /** This node drains: its processes serve what they have, and take what comes, but nothing is sent there. */
  isDraining(): boolean;
  /** Of this node. */
  own(): readonly PlaceableRun[];
  others(): readonly PlaceableRun[];
  /** Another node carries the call. */
  carriedElsewhere(callUuid: string): void;
}): CallPlaces {
  const { database, clock } = deps;
  const promised = new Map<string, { runId: string; untilMs: number }>();

  function candidates(): (PlaceableRun & RunCandidate)[] {
    const count = new Map<string, number>();
    for (const { runId } of promised.values()) count.set(runId, (count.get(runId) ?? 0) + 1);
    // A node that has no address gives none: its calls come to the public one, and so do its answers.
    if (!deps.isAddressed) return [];
    const own = deps.own().map((run) => ({ ...run, isDraining: run.isDraining || deps.isDraining() }));
    return [...own, ...deps.others()].map((run) => ({ ...run, promisedCalls: count.get(run.runId) ?? 0 }));
  }

  function choose(callUuid: string, avoidRun: string | null = null): string | null {
    promised.delete(callUuid);
    const open = candidates().filter(({ runId }) => runId !== avoidRun);
    const run = chooseRun(open, deps.random);
    if (run === null) return null;
    promised.set(callUuid, { runId: run.runId, untilMs: clock.nowMs() + PROMISED_MS });
    return run.runId;
  }

  return {
    choose: (callUuid) => choose(callUuid),
    streamBaseOf({ callUuid, assignedRun, avoidRun }) {
      const all = candidates();
      const assigned = all.find(({ runId }) => runId === assignedRun);
      // Its own promise does not stand in its way.
      if (assigned !== undefined && mayTake({ ...assigned, promisedCalls: 0 })) return assigned.streamBase;
      const chosen = choose(callUuid, avoidRun);
      if (chosen !== null) return all.find(({ runId }) => runId === chosen)!.streamBase;
      // The public address leads to those that are ready. One that drains is not, and serves what comes all the same.
      return deps.isAddressed && deps.isDraining() ? (deps.own()[0]?.streamBase ?? null) : null;
    },
    roomElsewhere() {
      const own = new Set(deps.own().map(({ runId }) => runId));
      return candidates()
        .filter((run) => !own.has(run.runId) && mayTake(run))
        .reduce((sum, run) => {
          const places = run.capacityCalls - run.liveCalls;
          return sum + Math.min(places, run.moreCalls ?? places) - run.promisedCalls;
        }, 0);
    },
    async settle() {
      for (const [callUuid, { untilMs }] of promised) if (untilMs <= clock.nowMs()) promised.delete(callUuid);
      if (promised.size === 0) return;
      const settled = await database.query<{ callUuid: string; isCarried: boolean }>(
        `SELECT call_uuid AS "callUuid", ended_at IS NULL AS "isCarried" FROM calls
          WHERE call_uuid = ANY ($1::uuid[]) AND (owner_run IS NOT NULL OR ended_at IS NOT NULL)`,
        [[...promised.keys()]],
      );
      for (const { callUuid, isCarried } of settled) {
        if (promised.delete(callUuid) && isCarried) deps.carriedElsewhere(callUuid);
      }
    },
  };
}
