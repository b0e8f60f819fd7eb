/**
 * What one event stream hears of its call before it has read it from the log: what the database has not taken yet is
 * shown all the same, without an id, and what is stored but not yet read is shown before what came after it. Once such
 * an event is read, its client is told its id and nothing else, so that each is shown once, in one order. One that is
 * never stored (its process was replaced meanwhile, or its words deleted) stays without an id.
 */
import type { CallEvent } from '../../calls/call-event-bus.ts';
import type { StoredEvent } from './stored-events.ts';

/** Of a call whose database has been away for minutes. What is beyond is shown when it is read, and may come twice. */
const MOST = 2_000;

export class EarlyEvents {
  /** In the order in which they were told of. */
  readonly #heard: { event: CallEvent; isShown: boolean }[] = [];

  /** Of the bus: not stored yet, or stored and not yet read. */
  heard(event: CallEvent): void {
    const early = event.id === null ? undefined : this.#heard.find((one) => isOf(event, one.event));
    if (early !== undefined) early.event = event;
    else if (this.#heard.push({ event, isShown: false }) > MOST) this.#heard.shift();
  }

  /** The next one to be shown: the first that was not, if it is not stored or one after it is not. */
  next(): CallEvent | undefined {
    const last = this.#heard.findLastIndex(({ event, isShown }) => event.id === null && !isShown);
    const next = this.#heard.slice(0, last + 1).find(({ isShown }) => !isShown);
    if (next !== undefined) next.isShown = true;
    return next?.event;
  }

  /** It was read from the log. Whether it was shown before. */
  read(event: StoredEvent): boolean {
    const at = this.#heard.findIndex((one) => one.event.id === event.id || isOf(event, one.event));
    return at >= 0 && this.#heard.splice(at, 1)[0]!.isShown;
  }
}

/** `early` is the same event, before it was stored: a call's events of one kind have times of their own. */
function isOf(stored: Pick<CallEvent, 'kind' | 'at'>, early: CallEvent): boolean {
  return early.id === null && early.kind === stored.kind && early.at.getTime() === stored.at.getTime();
}
