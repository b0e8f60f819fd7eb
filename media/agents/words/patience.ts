/**
 * How long a pause may last before the turn counts as over, by what was just asked. A yes needs less than a number; who
 * was asked for neither is answered 1.2 s after their last sound at the latest, whatever they said.
 * docs/decisions/turn-taking.md has the measurements.
 */
import { LONGEST_PAUSE_MS, type Patience } from '../../contract/agent.ts';
import type { Expectation } from '../../contract/agent-definition.ts';

const BY_EXPECTATION: Readonly<Record<Expectation, Patience>> = {
  yesno: { minMs: 200, maxMs: LONGEST_PAUSE_MS },
  open: { minMs: 300, maxMs: LONGEST_PAUSE_MS },
  digits: { minMs: 1_200, maxMs: 4_000 },
  spelling: { minMs: 1_500, maxMs: 5_000 },
  none: { minMs: 300, maxMs: LONGEST_PAUSE_MS },
};

export function patienceFor(expect: Expectation): Patience {
  return BY_EXPECTATION[expect];
}
