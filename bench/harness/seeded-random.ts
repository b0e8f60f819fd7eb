/**
 * Chance that can be repeated: every random choice of a fault run, a load or a test comes from one seed. Not for
 * secrets.
 */

/** A small generator with good spread (mulberry32); gives 0 ≤ x < 1. `seed` is taken as 32 bits. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
