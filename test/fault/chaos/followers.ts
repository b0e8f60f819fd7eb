/**
 * Who follows calls while parts of the service die: each call's event stream, opened again where it broke. What a
 * follower was shown must stand in the call's log, in that order and without a gap; how late it came is a figure for
 * whoever reads the run, and no rule. Used by `random-scenario.ts`.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { CallClient } from '../../../bench/harness/call-client.ts';
import { percentile } from '../../../bench/harness/percentile.ts';
import type { Database } from '../../../src/store/database.ts';
import type { Violation } from '../judge/history-checker.ts';

export interface Followers {
  /** From now on. */
  follow(callUuid: string): void;
  /** Ends them, and says what was wrong with what they saw and how late it came. */
  judged(database: Database): Promise<{ violations: Violation[]; said: string }>;
}

/** What one stream brought, from the call's beginning on: stored events by id. */
type Seen = string[];

const AGAIN_AFTER_MS = 300;
const PROMISED_MS = 300;

/** What media tells of while a call talks; its time is when it happened. */
const TALK = new Set(['turn', 'speech']);

export function startFollowers(client: Pick<CallClient, 'follow'>): Followers {
  const streams = new Map<string, Seen[]>();
  const lateMs: number[] = [];
  const ending = new AbortController();

  async function followOne(callUuid: string, mine: Seen[]): Promise<void> {
    while (!ending.signal.aborted) {
      const seen: Seen = [];
      mine.push(seen);
      const sinceMs = Date.now();
      try {
        for await (const { id, at, kind } of client.follow(callUuid, ending.signal)) {
          // Partial words stand in no log.
          if (typeof id !== 'string') continue;
          seen.push(id);
          const toldAtMs = Date.parse(at);
          if (TALK.has(kind) && toldAtMs >= sinceMs) lateMs.push(Date.now() - toldAtMs);
        }
        // The service ends it when the call is over.
        if (seen.length > 0) return;
      } catch {
        // Refused or cut off: what a death does.
      }
      await wait(AGAIN_AFTER_MS);
    }
  }

  return {
    follow(callUuid) {
      if (streams.has(callUuid)) return;
      const mine: Seen[] = [];
      streams.set(callUuid, mine);
      void followOne(callUuid, mine);
    },
    async judged(database) {
      ending.abort();
      const rows = await database.query<{ callUuid: string; ids: string[] }>(
        `SELECT call_uuid AS "callUuid", array_agg(id::text ORDER BY id) AS ids
           FROM call_events WHERE call_uuid = ANY ($1::uuid[]) GROUP BY call_uuid`,
        [[...streams.keys()]],
      );
      const stored = new Map(rows.map(({ callUuid, ids }) => [callUuid, ids]));
      const violations = [...streams].flatMap(([callUuid, all]) =>
        all.flatMap((seen) => faultsOf(callUuid, seen, stored.get(callUuid) ?? [])),
      );
      const shown = [...streams.values()].flat().reduce((sum, seen) => sum + seen.length, 0);
      const within = lateMs.filter((ms) => ms <= PROMISED_MS).length;
      const [middle, most, longest] = [0.5, 0.99, 1].map((part) => `${percentile(lateMs, part)} ms`);
      return {
        violations,
        said:
          `${streams.size} calls followed, ${shown} events shown; ${lateMs.length} of talk as it went: ` +
          `p50 ${middle}, p99 ${most}, longest ${longest}; ${within} within ${PROMISED_MS} ms`,
      };
    },
  };
}

/** A stream begins with the call's first event, and ends anywhere. */
export function faultsOf(callUuid: string, seen: readonly string[], stored: readonly string[]): Violation[] {
  const at = seen.findIndex((id, position) => id !== stored[position]);
  if (at < 0) return [];
  const what = stored.includes(seen[at]!)
    ? `event ${seen[at]} came in place of ${stored[at]}`
    : `event ${seen[at]} is not in its log`;
  return [{ rule: 'what was shown is stored, in order', what: `${callUuid}: ${what}` }];
}
