/**
 * What one event stream hears of its call before it has read it from the log: what the database has not taken yet is
 * shown all the same, without an id, and what is stored but not yet read is shown before what came after it. Once such
 * an event is read, its client is told its id and nothing else, so that a stream shows each once. One that is never
 * stored (its process was replaced meanwhile, or its words deleted) stays without an id. What is heard may be heard
 * again, and after it was read.
 */
import { isDeepStrictEqual } from 'node:util';
import type { CallEvent } from '../../calls/call-event-bus.ts';
import type { StoredEvent } from './stored-events.ts';

interface Heard {
  event: CallEvent;
  isShown: boolean;
  /** It was stored before the reading that is under way began: that reading has it, or it is there no more. */
  isAskedFor: boolean;
}

/** Of a call whose database has been away for minutes. What is beyond is shown when it is read, and may come twice. */
const MOST = 2_000;

export class EarlyEvents {
  /** In the order in which they were told of. */
  #heard: Heard[] = [];
  /** By kind: the time of the last one that was read, in ms. */
  readonly #readUpTo = new Map<string, number>();

  /** What this one has heard, for a stream of the same call that begins after `afterId`. */
  forNewcomer(afterId: string): EarlyEvents {
    const other = new EarlyEvents();
    other.#heard = this.#heard
      .filter(({ event: { id } }) => id === null || BigInt(id) > BigInt(afterId))
      .map(({ event }) => ({ event, isShown: false, isAskedFor: false }));
    return other;
  }

  /** Of the bus: not stored yet, or stored and not yet read. */
  heard(event: CallEvent): void {
    const before = this.#heard.find((one) => isSame(one.event, event));
    if (event.id !== null && before?.event.id === null) before.event = event;
    // What was read is known by its time: one that is taken for it is shown when it is read.
    if (before !== undefined || (event.id === null && event.at.getTime() <= this.#lastRead(event))) return;
    if (this.#heard.push({ event, isShown: false, isAskedFor: false }) > MOST) this.#heard.shift();
  }

  /** The next one to be shown: the first that was not, if it is not stored or one after it is not. */
  next(): CallEvent | undefined {
    const last = this.#heard.findLastIndex(({ event, isShown }) => event.id === null && !isShown);
    const next = this.#heard.slice(0, last + 1).find(({ isShown }) => !isShown);
    if (next !== undefined) next.isShown = true;
    return next?.event;
  }

  /** The log is asked for what comes next. */
  asked(): void {
    for (const one of this.#heard) one.isAskedFor = one.event.id !== null;
  }

  /** The answer has this one. Whether it was shown before. */
  read(event: StoredEvent): boolean {
    this.#readUpTo.set(event.kind, Math.max(event.at.getTime(), this.#lastRead(event)));
    const at = this.#heard.findIndex((one) => one.event.id === event.id || isSame(one.event, event));
    return at >= 0 && this.#heard.splice(at, 1)[0]!.isShown;
  }

  /** All that it has was read: what is missing was deleted meanwhile. */
  answered(): void {
    this.#heard = this.#heard.filter(({ isAskedFor }) => !isAskedFor);
  }

  #lastRead({ kind }: { kind: string }): number {
    return this.#readUpTo.get(kind) ?? Number.NEGATIVE_INFINITY;
  }
}

/** One event, stored or not: what has an id of its own each is not. */
function isSame(one: CallEvent, other: Pick<CallEvent, 'kind' | 'at' | 'data'> & { id: string | null }): boolean {
  if (one.id !== null && other.id !== null) return one.id === other.id;
  return (
    one.kind === other.kind &&
    one.at.getTime() === other.at.getTime() &&
    isDeepStrictEqual(asStored(one.data), asStored(other.data))
  );
}

/** Without what JSON leaves out. */
function asStored(data: object): unknown {
  return JSON.parse(JSON.stringify(data));
}
