/**
 * Whether one more call may be placed, before anything of it is looked at. A node that is being stopped goes on placing
 * while others carry what it places: a balancer takes some seconds to see that it is not ready, and nobody who is sent
 * here meanwhile need hear of it. Made by `src/control/call-course.ts`.
 */
import type { CallAdmission } from './ports.ts';

export function createCallAdmission(asked: {
  isDraining(): boolean;
  /** How many more calls other nodes take, where calls can be sent to them. */
  roomElsewhere(): number;
  /** A media process takes calls, here or there. */
  hasRoom(): boolean;
  /** Calls are counted and nothing else: what is measured, by this process of itself too, refuses none. */
  isCounted: boolean;
  isOverloaded(): boolean;
  /** By what media processes measure. */
  isMeasuredRoom(): boolean;
}): CallAdmission {
  return {
    state() {
      if (asked.isDraining() && asked.roomElsewhere() < 1) return 'draining';
      if (!asked.hasRoom()) return 'no_capacity';
      if (asked.isCounted) return 'open';
      return asked.isOverloaded() || !asked.isMeasuredRoom() ? 'overloaded' : 'open';
    },
  };
}
