/** Puts counting around the two functions through which every call goes, so that neither knows of metrics. Used by `control.ts`. */
import type { Clock } from '../../media/contract/clock.ts';
import type { Placement } from '../api/outbound-call/ports.ts';
import type { LiveCall } from '../calls/live-call.ts';
import type { Transitions } from '../calls/transition.ts';
import type { ControlMetrics } from './control-metrics.ts';

/** `ended` must not throw and must not block. */
export function observeEnds(ended: (call: LiveCall) => void, transitions: Transitions): Transitions {
  return {
    async apply(callUuid, observation, options) {
      const applied = await transitions.apply(callUuid, observation, options);
      if (typeof applied !== 'string' && applied.change.finished) ended(applied.call);
      return applied;
    },
  };
}

export async function timePlacement(
  metrics: Pick<ControlMetrics, 'placementAnswered'>,
  clock: Clock,
  place: () => Promise<Placement>,
): Promise<Placement> {
  const beganAtMs = clock.nowMs();
  const seconds = (): number => (clock.nowMs() - beganAtMs) / 1000;
  try {
    const placement = await place();
    const code = 'code' in placement ? `_${placement.code}` : '';
    metrics.placementAnswered(`${placement.kind}${code}`, seconds());
    return placement;
  } catch (error) {
    metrics.placementAnswered('error', seconds());
    throw error;
  }
}
