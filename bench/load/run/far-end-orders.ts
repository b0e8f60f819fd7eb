/** What the main process and a far-end process say to one another. Plain data; types only. */
import type { MeasuredCall } from '../contract/measured-call.ts';
import type { PlannedCall } from '../contract/planned-call.ts';
import type { Deployment, TargetPlan } from '../targets/target-plan.ts';

export type FarEndOrder =
  | { order: 'open'; plan: TargetPlan; clockBeganAtMs: number }
  /** Where the target is, told once it is known; a carrier must be there before the service that dials by it. */
  | { order: 'point'; deployment: Deployment }
  | { order: 'check' }
  /** The run begins; its instants count from then. */
  | { order: 'begin'; clockBeganAtMs: number }
  | { order: 'call'; planned: PlannedCall }
  | { order: 'hang-up'; limitMs: number }
  | { order: 'close' };

export type FromFarEnd =
  | { said: 'ready' }
  | { said: 'opened'; carrierBase: string | null; fault: string | null }
  | { said: 'pointed' }
  | { said: 'checked'; fault: string | null; isFaultOfUse: boolean }
  | { said: 'measured'; call: MeasuredCall; callId: string | null }
  | { said: 'begun' }
  | { said: 'hung-up' }
  | ({ said: 'second' } & OwnSecond);

/** One second of one process of the tool. */
export interface OwnSecond {
  /** Share of one core. */
  cpuShare: number;
  residentBytes: number;
  /** How late frames were sent: `[tenths of a millisecond, frames]`. */
  frameLateTenthsMs: [number, number][];
}
