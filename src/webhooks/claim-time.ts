/**
 * How long a delivery is its claimer's: longer than an attempt can take (10 s to be taken, 3 s to be answered, 1 s of
 * body, bookkeeping), and than one that is claimed as it is written may wait for its start.
 */
export const CLAIM_MS = 20_000;
/** A claim that was made when the row was written serves an attempt that starts this soon. */
export const START_WITHIN_MS = 2_000;
