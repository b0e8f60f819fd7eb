/**
 * How long a pause may last before the turn counts as over, by what was just asked. A yes needs less than a number; who was asked for neither
 * is answered 1.2 s after their last sound at the latest, whatever they said. docs/decisions/turn-taking.md has the measurements.
 */
import type { Expectation } from '../../contract/agent-definition.ts';

export interface Patience {
  /** Silence that ends the turn when what was heard so far already is a whole answer. */
  minMs: number;
  /** Silence that ends it in any case. */
  maxMs: number;
}

/** The rest of the 1.2 s: 80 ms for the first sound of a reply that is not there yet, or its way to the caller. */
export const LONGEST_PAUSE_MS = 1_120;

const BY_EXPECTATION: Readonly<Record<Expectation, Patience>> = {
  yesno: { minMs: 200, maxMs: LONGEST_PAUSE_MS },
  open: { minMs: 300, maxMs: LONGEST_PAUSE_MS },
  digits: { minMs: 1_200, maxMs: 4_000 },
  spelling: { minMs: 1_500, maxMs: 5_000 },
  none: { minMs: 300, maxMs: LONGEST_PAUSE_MS },
};

/** While it is open whether the caller meant to interrupt: quick when words were understood, else the wait before going on. */
export const INTERRUPTION_PATIENCE: Patience = { minMs: 200, maxMs: LONGEST_PAUSE_MS };

export function patienceFor(expect: Expectation): Patience {
  return BY_EXPECTATION[expect];
}
