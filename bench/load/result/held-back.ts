/**
 * Calls that were not begun because too many went on. Leaving them out would make a target look quick that was too slow
 * to make room for them: the longer its calls hang, the fewer of its worst delays would be counted. So each counts with
 * the least that it would have waited: until a call ended after its own instant, first come first served.
 */
export interface HeldBack {
  heldBack(plannedAtMs: number): void;
  ended(atMs: number): void;
  count(): number;
  /** One for each call that was held back. `runEndMs` stands for calls that never found room. */
  leastWaitsMs(runEndMs: number): number[];
}

export function createHeldBack(): HeldBack {
  const planned: number[] = [];
  const ends: number[] = [];
  return {
    heldBack: (plannedAtMs) => void planned.push(plannedAtMs),
    ended: (atMs) => void ends.push(atMs),
    count: () => planned.length,
    leastWaitsMs: (runEndMs) => {
      const rooms = Float64Array.from(ends).sort();
      let next = 0;
      return Array.from(Float64Array.from(planned).sort(), (plannedAtMs) => {
        while ((rooms[next] ?? Number.POSITIVE_INFINITY) < plannedAtMs) next++;
        const room = rooms[next++] ?? Math.max(runEndMs, plannedAtMs);
        return room - plannedAtMs;
      });
    },
  };
}
