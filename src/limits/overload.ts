/**
 * Is this control process so busy that new work should go elsewhere? Judged by how late its own timers run, which says
 * what a client would feel: an average of over 500 ms in the last eight tries is overload, under 100 ms it is over
 * again. Asked by admission before each new call; costs a timer each 250 ms.
 */
import type { Clock } from '../../media/contract/clock.ts';

export interface Overload {
  isOverloaded(): boolean;
  /** Idempotent. */
  close(): void;
}

const EVERY_MS = 250;
const TRIES = 8;
const BEGINS_MS = 500;
const ENDS_MS = 100;

export function watchOverload(clock: Pick<Clock, 'nowMs' | 'after'>): Overload {
  const lateMs: number[] = [];
  let overloaded = false;
  let cancel = (): void => {};

  function again(): void {
    const dueAtMs = clock.nowMs() + EVERY_MS;
    cancel = clock.after(EVERY_MS, () => {
      lateMs.push(Math.max(0, clock.nowMs() - dueAtMs));
      if (lateMs.length > TRIES) lateMs.shift();
      const averageMs = lateMs.reduce((sum, one) => sum + one, 0) / lateMs.length;
      if (lateMs.length === TRIES) overloaded = averageMs > (overloaded ? ENDS_MS : BEGINS_MS);
      again();
    });
  }
  again();
  return { isOverloaded: () => overloaded, close: () => cancel() };
}
