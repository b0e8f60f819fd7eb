/** How long a pause may last before the turn counts as over, by what was just asked (reference values: a yes needs less than a number). */
import type { Expectation } from '../../contract/agent-definition.ts';

export interface Patience {
  /** Silence that ends the turn when what was heard so far already is a whole answer. */
  minMs: number;
  /** Silence that ends it in any case. */
  maxMs: number;
}

const BY_EXPECTATION: Readonly<Record<Expectation, Patience>> = {
  yesno: { minMs: 200, maxMs: 1_200 },
  open: { minMs: 300, maxMs: 2_500 },
  digits: { minMs: 1_200, maxMs: 4_000 },
  spelling: { minMs: 1_500, maxMs: 5_000 },
  none: { minMs: 300, maxMs: 2_500 },
};

/** While it is open whether the caller meant to interrupt: quick when words were understood, else the wait before going on. */
export const INTERRUPTION_PATIENCE: Patience = { minMs: 200, maxMs: 1_200 };

export function patienceFor(expect: Expectation): Patience {
  return BY_EXPECTATION[expect];
}
