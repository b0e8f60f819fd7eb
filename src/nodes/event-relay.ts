/**
 * Events of calls that another node carries: who follows such a call here asks its node to tell of it, again and again
 * while somebody listens, and hears what that node's own streams hear, partial words included. What is stored is read
 * from the table all the same (`call-event-bus.ts`): a word that is lost is late, not missing.
 */
import type { Logger } from 'pino';
import { type Clock, every } from '../../media/contract/clock.ts';
import type { CallEvent, CallEventBus } from '../calls/call-event-bus.ts';
import type { Queryable } from '../store/database.ts';
import type { NodeWire } from './wire.ts';

export interface EventRelay {
  /** Idempotent. */
  close(): void;
}

/** Who carries a call may change, and who asked may be gone. */
const ASK_EVERY_MS = 4_000;
const TOLD_FOR_MS = 10_000;

interface Follow {
  callUuids: string[];
  node: string;
  /** It shows what is not stored yet, and the same with its id later. Versions of before know nothing of that. */
  takesEarly?: boolean;
}

export function createEventRelay(deps: {
  database: Queryable;
  clock: Clock;
  log: Logger;
  bus: CallEventBus;
  wire: Pick<NodeWire, 'tell' | 'on'>;
  node: string;
  /** What is not stored yet is told to others too: not by the database, which is what it waits for. */
  tellsEarly: boolean;
  /** There are other nodes. */
  isInCompany(): boolean;
  /** What was said of calls here is written now: somebody elsewhere begins to look on. */
  hurry(): void;
}): EventRelay {
  const { database, clock, log, bus, wire, node } = deps;
  /** By call and node: what ends it. */
  const told = new Map<string, () => void>();
  /** What came by the wire goes no further, or two nodes would tell each other for ever. */
  const fromElsewhere = new WeakSet<CallEvent>();
  /** A board begins to follow all its calls at once: they are asked for together. */
  const begun = new Set<string>();
  /** Where followed calls were when that could be looked up. */
  const lastNodes = new Map<string, string>();
  let closed = false;

  async function ask(callUuids: readonly string[]): Promise<void> {
    if (closed || callUuids.length === 0 || !deps.isInCompany()) return;
    try {
      const rows = await database.query<{ callUuid: string; node: string }>(
        `SELECT c.call_uuid AS "callUuid", r.node FROM calls c JOIN media_runs r ON r.run_id = c.owner_run
          WHERE c.call_uuid = ANY ($1::uuid[]) AND c.ended_at IS NULL AND r.dead_at IS NULL AND r.node <> $2`,
        [callUuids, node],
      );
      for (const callUuid of callUuids) lastNodes.delete(callUuid);
      for (const row of rows) lastNodes.set(row.callUuid, row.node);
    } catch (error) {
      log.debug(
        { err: error },
        'who carries the followed calls cannot be looked up: they are asked for where they were',
      );
    }
    const byNode = new Map<string, string[]>();
    for (const callUuid of callUuids) {
      const to = lastNodes.get(callUuid);
      if (to !== undefined) byNode.set(to, [...(byNode.get(to) ?? []), callUuid]);
    }
    for (const [to, calls] of byNode)
      wire.tell(to, 'events.follow', { callUuids: calls, node, takesEarly: true } satisfies Follow);
  }

  function follow(callUuid: string, follower: string, takesEarly: boolean): void {
    const name = nameOf(callUuid, follower);
    const former = told.get(name);
    const unsubscribe = bus.subscribe(callUuid, (event) => {
      if (fromElsewhere.has(event) || (event.isEarly === true && !(deps.tellsEarly && takesEarly))) return;
      wire.tell(follower, 'events.told', event);
    });
    const cancel = clock.after(TOLD_FOR_MS, end);
    function end(): void {
      cancel();
      unsubscribe();
      told.delete(name);
    }
    // After the new one, so that the call is followed all the time, and nobody looks for it anew.
    former?.();
    told.set(name, end);
  }

  wire.on('events.follow', ({ callUuids, node: follower, takesEarly = false }: Follow) => {
    const isNews = callUuids.some((callUuid) => !told.has(nameOf(callUuid, follower)));
    for (const callUuid of callUuids) follow(callUuid, follower, takesEarly);
    if (isNews) deps.hurry();
  });
  wire.on('events.told', (event: CallEvent) => {
    const heard = { ...event, at: new Date(event.at) };
    fromElsewhere.add(heard);
    bus.publish(heard);
  });
  bus.whenFollowed((callUuid) => {
    if (begun.size === 0) {
      queueMicrotask(() => {
        const all = [...begun];
        begun.clear();
        void ask(all);
      });
    }
    begun.add(callUuid);
  });
  const cancelAsking = every(clock, ASK_EVERY_MS, () => {
    for (const callUuid of lastNodes.keys()) if (!bus.isFollowed(callUuid)) lastNodes.delete(callUuid);
    void ask(bus.followed());
  });

  return {
    close() {
      closed = true;
      cancelAsking();
      for (const end of [...told.values()]) end();
    },
  };
}

function nameOf(callUuid: string, follower: string): string {
  return `${callUuid} ${follower}`;
}
