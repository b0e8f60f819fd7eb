/**
 * Counts and times each placement, and knows how many are under way, so that placing knows nothing of metrics. Put
 * around it by `src/control/call-course.ts`.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { PlaceCall } from '../placement/ports.ts';
import type { ControlMetrics } from './control-metrics.ts';

export interface TimedPlacements {
  place: PlaceCall;
  underWay(): number;
}

export function timePlacements(
  metrics: Pick<ControlMetrics, 'placementAnswered'>,
  clock: Clock,
  place: PlaceCall,
): TimedPlacements {
  let underWay = 0;
  return {
    async place(call) {
      const beganAtMs = clock.nowMs();
      const seconds = (): number => (clock.nowMs() - beganAtMs) / 1000;
      underWay++;
      try {
        const placement = await place(call);
        const code = 'code' in placement ? `_${placement.code}` : '';
        metrics.placementAnswered(`${placement.kind}${code}`, seconds());
        return placement;
      } catch (error) {
        metrics.placementAnswered('error', seconds());
        throw error;
      } finally {
        underWay--;
      }
    },
    underWay: () => underWay,
  };
}
