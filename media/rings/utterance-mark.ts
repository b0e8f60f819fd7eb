/**
 * Marks between frames of a downlink ring: frames of no length that say where an utterance begins and ends, so that the
 * I/O thread can tell a browser before and after the very frames. Written only for web sessions (`speaker.ts`), read by
 * `web-playout.ts`; what a mark says is in the slot's `atMs`.
 */
const END = 0;
const NOTHING = new Uint8Array(0);

export const MARK_BYTES = NOTHING;

/** The utterance of turn `t{turnNumber}` begins; `goesOn`: after a pause, with the word that was cut. */
export function startMark(turnNumber: number, goesOn: boolean): number {
  return goesOn ? -turnNumber : turnNumber;
}

export function endMark(): number {
  return END;
}

export function isEndMark(atMs: number): boolean {
  return atMs === END;
}

export function turnOfMark(atMs: number): number {
  return Math.abs(atMs);
}

export function goesOn(atMs: number): boolean {
  return atMs < 0;
}
