/**
 * Counts and times each placement, so that placing knows nothing of metrics. Put around it by
 * `src/control/call-course.ts`.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { PlaceCall } from '../placement/ports.ts';
import type { ControlMetrics } from './control-metrics.ts';

export function timePlacements(
  metrics: Pick<ControlMetrics, 'placementAnswered'>,
  clock: Clock,
  place: PlaceCall,
): PlaceCall {
  return async (call) => {
    const beganAtMs = clock.nowMs();
    const seconds = (): number => (clock.nowMs() - beganAtMs) / 1000;
    try {
      const placement = await place(call);
      const code = 'code' in placement ? `_${placement.code}` : '';
      metrics.placementAnswered(`${placement.kind}${code}`, seconds());
      return placement;
    } catch (error) {
      metrics.placementAnswered('error', seconds());
      throw error;
    }
  };
}
