/**
 * A bounded number of slots, given in turn to those who wait: one of each workspace, round and round, so that a
 * workspace with a thousand waiting holds up one with a single call by one turn. Placement waits in it for the database
 * and for the carrier. No workspace gets more than its share of the slots, nobody waits longer than the limit, and when
 * the queue is full the one with the most waiting loses its last. Pure but for the clock.
 */
import type { Clock } from '../../media/contract/clock.ts';

/**
 * What is refused first when many wait (contract §11): a web demo before a campaign, that before an API call, that
 * before an inbound one.
 */
export type QueuePriority = 'web' | 'campaign' | 'api' | 'inbound';

export interface FairQueueOptions {
  clock: Pick<Clock, 'after'>;
  /** At work at a time. */
  slots: number;
  /** Of one workspace at work at a time. */
  slotsPerKey: number;
  /** Waiting at a time, of all together. */
  mostWaiting: number;
  longestWaitMs: number;
}

export interface FairQueue {
  /**
   * Resolves to what gives the slot back, once; or to null: refused, because the queue was full or the wait too long.
   */
  enter(key: string, priority: QueuePriority): Promise<(() => void) | null>;
  readonly running: number;
  readonly waiting: number;
}

interface Waiter {
  key: string;
  settle(granted: boolean): void;
}

/** How full, as a share of `mostWaiting`, the queue may be for one of this priority to join it. */
const ROOM: Readonly<Record<QueuePriority, number>> = { web: 0.25, campaign: 0.5, api: 0.9, inbound: 1 };

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { clock, slots, slotsPerKey, mostWaiting, longestWaitMs } = options;
  /** In the order of turns: whose turn it is comes first. Never holds an empty list. */
  const lines = new Map<string, Waiter[]>();
  const runningByKey = new Map<string, number>();
  let running = 0;
  let waiting = 0;

  const runningOf = (key: string): number => runningByKey.get(key) ?? 0;
  const mayRun = (key: string): boolean => running < slots && runningOf(key) < slotsPerKey;

  function take(key: string): () => void {
    running += 1;
    runningByKey.set(key, runningOf(key) + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      running -= 1;
      if (runningOf(key) === 1) runningByKey.delete(key);
      else runningByKey.set(key, runningOf(key) - 1);
      next();
    };
  }

  function next(): void {
    for (const [key, line] of lines) {
      if (running >= slots) return;
      if (!mayRun(key)) continue;
      const waiter = line[0]!;
      remove(waiter);
      // Behind all others: the next turn is theirs.
      if (lines.delete(key)) lines.set(key, line);
      waiter.settle(true);
    }
  }

  function remove(waiter: Waiter): void {
    const line = lines.get(waiter.key);
    const at = line?.indexOf(waiter) ?? -1;
    if (line === undefined || at < 0) return;
    line.splice(at, 1);
    waiting -= 1;
    if (line.length === 0) lines.delete(waiter.key);
  }

  /** True when there is room now, made at the cost of who has the most waiting if need be. */
  function makeRoom(key: string, priority: QueuePriority): boolean {
    if (waiting < mostWaiting * ROOM[priority]) return true;
    if (priority === 'web' || priority === 'campaign') return false;
    let longest: Waiter[] = [];
    for (const line of lines.values()) if (line.length > longest.length) longest = line;
    if (longest.length <= (lines.get(key)?.length ?? 0) + 1) return waiting < mostWaiting && priority === 'inbound';
    const loser = longest.at(-1)!;
    remove(loser);
    loser.settle(false);
    return true;
  }

  return {
    enter(key, priority) {
      if (!lines.has(key) && mayRun(key)) return Promise.resolve(take(key));
      if (!makeRoom(key, priority)) return Promise.resolve(null);
      return new Promise((resolve) => {
        const waiter: Waiter = {
          key,
          settle(granted) {
            cancel();
            resolve(granted ? take(key) : null);
          },
        };
        const cancel = clock.after(longestWaitMs, () => {
          remove(waiter);
          resolve(null);
        });
        const line = lines.get(key);
        if (line === undefined) lines.set(key, [waiter]);
        else line.push(waiter);
        waiting += 1;
      });
    },
    get running() {
      return running;
    },
    get waiting() {
      return waiting;
    },
  };
}
