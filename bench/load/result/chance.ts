/**
 * Draws from the distributions that the comparison needs, from a seeded generator: the same two files always get the
 * same verdict.
 */

export interface Chance {
  /** Gamma of this shape (above 0) and scale 1, by Marsaglia and Tsang (ACM TOMS 26, 2000). */
  gamma(shape: number): number;
  beta(a: number, b: number): number;
}

/** `random` gives 0 ≤ x < 1. */
export function createChance(random: () => number): Chance {
  /** Box and Muller; 1 − x is never 0. */
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

  function gamma(shape: number): number {
    // Below 1 the method does not hold: drawn one higher, and brought down.
    if (shape < 1) return gamma(shape + 1) * (1 - random()) ** (1 / shape);
    const d = shape - 1 / 3;
    const c = 1 / Math.sqrt(9 * d);
    for (;;) {
      const x = normal();
      const v = (1 + c * x) ** 3;
      if (v > 0 && Math.log(1 - random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
    }
  }

  function beta(a: number, b: number): number {
    const x = gamma(a);
    return x / (x + gamma(b));
  }

  return { gamma, beta };
}
