/**
 * What each placement of the run meets at the carrier, and whether its client sends an Idempotency-Key. Every request
 * has a number of its own, so that a number that was dialled twice is a request that was dialled twice. Pure; called by
 * `run.ts`.
 */
import type { PersonaInput } from '../../../bench/emulators/persona.ts';
import type { Wanted } from '../../harness/placing-client.ts';

/**
 * How a carrier may fail a placement, and whether the phone rings all the same. `dialMs` lets the first callback come
 * only after the client has been told: 5 s after silence, at once after a reset or a 500.
 */
export const WAYS = {
  accepted: { share: 0.7, dials: true, dialMs: 20, fault: null },
  silent_but_dialled: { share: 0.05, dials: true, dialMs: 6_000, fault: { kind: 'silence', dials: true } },
  silent: { share: 0.05, dials: false, dialMs: 0, fault: { kind: 'silence' } },
  reset_but_dialled: { share: 0.05, dials: true, dialMs: 1_500, fault: { kind: 'reset', dials: true } },
  reset: { share: 0.05, dials: false, dialMs: 0, fault: { kind: 'reset' } },
  /** 201 after the 5 s that are waited for, and before the phone rings. */
  late: { share: 0.05, dials: true, dialMs: 8_000, fault: { kind: 'late', afterMs: 6_500 } },
  fault_500_but_dialled: {
    share: 0.05,
    dials: true,
    dialMs: 1_500,
    fault: { kind: 'status', httpStatus: 500, dials: true },
  },
} as const;
export type Way = keyof typeof WAYS;

export interface PlannedPlacement extends Wanted {
  way: Way;
}

/** Between the digits of the way and the end: room for 100,000 placements a way. */
const SUFFIX_DIGITS = 5;
const WAY_NAMES = Object.keys(WAYS) as Way[];
const prefixOf = (way: Way): string => `+14155${WAY_NAMES.indexOf(way)}`;

/** `random` gives 0 ≤ x < 1; half of the placements carry a key. */
export function planPlacements(count: number, random: () => number): PlannedPlacement[] {
  return Array.from({ length: count }, (_, index) => {
    const way = drawWay(random());
    return {
      number: prefixOf(way) + String(index).padStart(SUFFIX_DIGITS, '0'),
      way,
      idempotencyKey: random() < 0.5 ? `placement-${index}` : null,
    };
  });
}

function drawWay(drawn: number): Way {
  let below = 0;
  for (const way of WAY_NAMES) {
    below += WAYS[way].share;
    if (drawn < below) return way;
  }
  return 'accepted';
}

/**
 * One persona a way. The ordinary ones are busy at once; the others ring for `ringMs`, long enough that a cancellation
 * finds them ringing.
 */
export function placementPersonas(ringMs: number): PersonaInput[] {
  return WAY_NAMES.map((way) => {
    const { fault, dialMs } = WAYS[way];
    const base = { kind: 'silent' as const, name: way, number: `${prefixOf(way)}*`, dialMs };
    if (fault === null) return { ...base, outcome: 'busy' };
    return { ...base, outcome: 'declined', ringMs, faults: { placement: { ...fault } } };
  });
}
