/**
 * Counts and times each placement, so that placing knows nothing of metrics. Put around it by
 * `src/control/call-course.ts`.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { Placement } from '../placement/ports.ts';
import type { ControlMetrics } from './control-metrics.ts';

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
