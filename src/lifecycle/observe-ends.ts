/**
 * Tells of each end of a call, once, after its transaction: there whatever was held for the call is let go. What that
 * is, `src/control/call-course.ts` lists.
 */
import type { CallRow } from '../calls/call-row.ts';
import type { Transitions } from './transition.ts';

/** `ended` must not throw and must not block. */
export function observeEnds(ended: (call: CallRow) => void, transitions: Transitions): Transitions {
  return {
    async apply(callUuid, observation, options) {
      const applied = await transitions.apply(callUuid, observation, options);
      if (typeof applied !== 'string' && applied.change.finished) ended(applied.call);
      return applied;
    },
  };
}
