/** How a run ends for whoever started it. Pure; called by the run command. */
import type { RunResult } from '../contract/run-result.ts';
import type { JudgedCondition } from '../result/fail-if.ts';

export const EXIT = { well: 0, failed: 1, wrongUse: 2, notJudged: 3, interrupted: 130 } as const;

export interface Ending {
  result: RunResult;
  conditions: readonly JudgedCondition[];
  /** Ctrl-C. */
  isInterrupted: boolean;
}

export function exitCodeOf({ result, conditions, isInterrupted }: Ending): number {
  if (isInterrupted) return EXIT.interrupted;
  if (!result.complete) return EXIT.failed;
  const { talked, failed, lost, refused } = result.calls;
  const isWrong = !result.workload.mayFail && failed + lost + refused > 0;
  // However late the tool was: with somebody who is there some call talks.
  if (isWrong && talked === 0) return EXIT.failed;
  if (!result.generator.judged) return EXIT.notJudged;
  return isWrong || conditions.some(({ isTrue }) => isTrue) ? EXIT.failed : EXIT.well;
}
