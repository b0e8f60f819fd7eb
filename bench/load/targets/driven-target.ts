/** A target as a far-end process drives it, and what it is given there. */
import type { Clock } from '../../../media/contract/clock.ts';
import type { RunClock, Target } from '../contract/target.ts';
import type { Clips } from '../speech/clips.ts';
import type { Deployment } from './target-plan.ts';

export interface DrivenTarget extends Target {
  /** Where the deployment finds the tool's carrier; absent where it needs none. */
  readonly carrierBase?: string | null;
  /** Where the target is, once that is known; absent where the plan says it. */
  point?(deployment: Deployment): void;
  /** The target's own id of a call that was begun, for its webhook; null: unknown. */
  callIdOf(index: number): string | null;
}

export interface TargetDeps {
  clock: Clock & RunClock;
  /** For the tool's own lateness. */
  frameSent(lateMs: number): void;
  clips: Clips;
}
