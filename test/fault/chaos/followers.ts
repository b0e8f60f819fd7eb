/**
 * Who follows calls while parts of the service die: each call's event stream, opened again where it broke. What a
 * follower was shown must stand in the call's log, in that order and without a gap; what was shown before it was stored
 * must be the event whose id came later, and shown once; and a stream that says it is at its end must have shown the
 * call's end. How late it came is a figure for whoever reads the run, and no rule. Used by `random-scenario.ts`.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { CallClient } from '../../../bench/harness/call-client.ts';
import { percentile } from '../../../bench/harness/percentile.ts';
import type { Database } from '../../../src/store/database.ts';
import type { Violation } from '../judge/history-checker.ts';

export interface Followers {
  /** From now on. */
  follow(callUuid: string): void;
  /** Ends them, and says what was wrong with what they saw and how late it came. Once all calls are over. */
  judged(database: Database): Promise<{ violations: Violation[]; said: string }>;
}

/** What one stream brought, from the call's beginning on. */
export interface Shown {
  /** Stored events; where one was shown before it was stored, once its id came. */
  ids: string[];
  /** In the order in which they were shown: `nameOf` of an event, with the id if it came with one. */
  events: { name: string; id: string | null }[];
  /** The service said so. */
  isAtEnd: boolean;
}

/** A call's log: ids in their order; of them, those up to its end. */
export interface StoredLog {
  ids: readonly string[];
  untilEnd: number;
  /** `nameOf` each, in the order of the ids. */
  names: readonly string[];
}

const AGAIN_AFTER_MS = 300;
const PROMISED_MS = 300;
/** For streams of calls that are over. */
const ENDS_WITHIN_MS = 60_000;

/** What media tells of while a call talks; its time is when it happened. */
const TALK = new Set(['turn', 'speech']);

export function startFollowers(client: Pick<CallClient, 'follow'>): Followers {
  const streams = new Map<string, Shown[]>();
  const lateMs: number[] = [];
  const ending = new AbortController();
  const following: Promise<void>[] = [];

  async function followOne(callUuid: string, mine: Shown[]): Promise<void> {
    while (!ending.signal.aborted) {
      const shown: Shown = { ids: [], events: [], isAtEnd: false };
      mine.push(shown);
      const sinceMs = Date.now();
      try {
        const events = client.follow(callUuid, ending.signal, (id) => shown.ids.push(id));
        let next = await events.next();
        for (; next.done !== true; next = await events.next()) {
          const { id, at, kind } = next.value;
          if (id !== null) shown.ids.push(id);
          // Partial words stand in no log.
          if (kind !== 'partial') shown.events.push({ name: nameOf(next.value), id });
          const toldAtMs = Date.parse(at);
          if (TALK.has(kind) && toldAtMs >= sinceMs) lateMs.push(Date.now() - toldAtMs);
        }
        shown.isAtEnd = next.value;
        if (shown.isAtEnd) return;
      } catch {
        // Refused or cut off: what a death does.
      }
      await wait(AGAIN_AFTER_MS);
    }
  }

  return {
    follow(callUuid) {
      if (streams.has(callUuid)) return;
      const mine: Shown[] = [];
      streams.set(callUuid, mine);
      following.push(followOne(callUuid, mine));
    },
    async judged(database) {
      await Promise.race([Promise.all(following), wait(ENDS_WITHIN_MS, undefined, { ref: false })]);
      ending.abort();
      const rows = await database.query<Omit<StoredLog, 'names'> & { callUuid: string; events: Told[] }>(
        `SELECT e.call_uuid AS "callUuid", array_agg(e.id::text ORDER BY e.id) AS ids,
                jsonb_agg(jsonb_build_object('at', e.at, 'kind', e.kind, 'data', e.data) ORDER BY e.id) AS events,
                (count(*) FILTER (WHERE e.id <= ended.id))::int AS "untilEnd"
           FROM call_events e
           LEFT JOIN (SELECT call_uuid, min(id) AS id FROM call_events
                       WHERE kind = 'status' AND data ? 'endedReason' GROUP BY call_uuid) ended USING (call_uuid)
          WHERE e.call_uuid = ANY ($1::uuid[]) GROUP BY e.call_uuid`,
        [[...streams.keys()]],
      );
      const stored = new Map(rows.map((row) => [row.callUuid, { ...row, names: row.events.map(nameOf) }]));
      const violations = [...streams].flatMap(([callUuid, shown]) =>
        faultsOf(callUuid, shown, stored.get(callUuid) ?? { ids: [], untilEnd: 0, names: [] }),
      );
      const events = new Set([...streams.values()].flat().flatMap(({ ids }) => ids)).size;
      const within = lateMs.filter((ms) => ms <= PROMISED_MS).length;
      const [middle, most, longest] = [0.5, 0.99, 1].map((part) => `${percentile(lateMs, part)} ms`);
      return {
        violations,
        said:
          `${streams.size} calls followed, ${events} events shown; ${lateMs.length} of talk as it went: ` +
          `p50 ${middle}, p99 ${most}, longest ${longest}; ${within} within ${PROMISED_MS} ms`,
      };
    },
  };
}

interface Told {
  at: string;
  kind: string;
  data: object;
}

/** One event, by what is told of it whether it is stored or not. */
export function nameOf({ at, kind, data }: Told): string {
  const sorted = (_key: string, value: unknown): unknown =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  return `${new Date(at).getTime()} ${kind} ${JSON.stringify(data, sorted)}`;
}

const SHOWN_ONCE = 'what is shown before it is stored is shown once, in the order in which it was told';
const IN_ORDER = 'what was shown is stored, in order';
const TO_THE_END = 'who follows a call is shown its end';

/**
 * Of one call's streams, each from its beginning. Each shows the log's events from the first on and may break off
 * anywhere; the last one is at its end, and has shown all up to the call's.
 */
export function faultsOf(callUuid: string, streams: readonly Shown[], stored: StoredLog): Violation[] {
  const faults = streams.flatMap(({ ids }): Violation[] => {
    const at = ids.findIndex((id, position) => id !== stored.ids[position]);
    if (at < 0) return [];
    const what = stored.ids.includes(ids[at]!)
      ? `event ${ids[at]} came in place of ${stored.ids[at]}`
      : `event ${ids[at]} is not in its log`;
    return [{ rule: IN_ORDER, what: `${callUuid}: ${what}` }];
  });
  for (const shown of streams) faults.push(...faultsOfEarly(callUuid, shown, stored));
  const last = streams.at(-1);
  if (last?.isAtEnd !== true) faults.push({ rule: TO_THE_END, what: `${callUuid}: its stream never came to its end` });
  else if (last.ids.length < stored.untilEnd) {
    const what = `its stream ended after ${last.ids.length} events, its end is the one of number ${stored.untilEnd}`;
    faults.push({ rule: TO_THE_END, what: `${callUuid}: ${what}` });
  }
  return faults;
}

/** Of one stream: what it showed without an id. */
function faultsOfEarly(callUuid: string, { ids, events }: Shown, { ids: log, names }: StoredLog): Violation[] {
  const fault = (what: string): Violation => ({ rule: SHOWN_ONCE, what: `${callUuid}: ${what}` });
  const early = events.filter(({ id }) => id === null).map(({ name }) => name);
  const withId = new Set(events.flatMap(({ id }) => id ?? []));
  // A line whose writer never heard that it was written stands in the log twice, with two ids of one name.
  const idsOf = new Map<string, string[]>();
  for (const id of ids) {
    const name = names[log.indexOf(id)] ?? '';
    idsOf.set(name, [...(idsOf.get(name) ?? []), id]);
  }
  const faults: Violation[] = [];
  for (const [name, its] of idsOf) {
    const times = early.filter((one) => one === name).length;
    const alone = its.filter((id) => !withId.has(id)).length;
    const which = `event ${its.join(' and ')}`;
    if (times > alone)
      faults.push(fault(`${which} was shown ${times} times without its id, which came ${alone} times`));
    else if (times < alone) faults.push(fault(`${which} was shown ${times} times before its id`));
  }
  // A call's talk comes from one place; a carrier's callback may be read between.
  const talk = early.filter((name) => TALK.has(name.split(' ')[1]!)).map((name) => names.indexOf(name));
  const stored = talk.filter((at) => at >= 0);
  if (stored.some((at, position) => at < (stored[position - 1] ?? 0)))
    faults.push(fault('it was shown in another order'));
  return faults;
}
