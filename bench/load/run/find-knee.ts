/**
 * The search for the greatest load that a target carries well: doubled until a step is bad, halved in between, and then
 * repeated around the edge, because one step is one draw of chance. Pure but for the steps that it asks for. Called by
 * `main.ts`.
 */
import type { RunResult } from '../contract/run-result.ts';
import type { Workload } from '../contract/workload.ts';

type Knee = NonNullable<RunResult['knee']>;
export type KneeStep = Knee['steps'][number];

/** Nearer than that a step more says nothing. */
const RESOLUTION = 0.08;

/** `step` gives null when the search is stopped. */
export async function findKnee(
  { of, from, to, repetitions }: NonNullable<Workload['knee']>,
  step: (load: number, name: string) => Promise<KneeStep | null>,
): Promise<Knee> {
  const steps: KneeStep[] = [];
  const rounded = (load: number): number => (of === 'calls' ? Math.round(load) : Math.round(load * 100) / 100);
  const knee = (): Knee => ({ of, steps, ...edgeOf(steps) });

  async function tried(load: number, name: string): Promise<KneeStep | null> {
    const one = await step(load, name);
    if (one !== null) steps.push(one);
    return one;
  }

  let good = 0;
  let bad = Number.POSITIVE_INFINITY;
  for (let load = rounded(from); ; ) {
    const one = await tried(load, `step ${steps.length + 1}, ${load} ${of === 'calls' ? 'at once' : 'a second'}`);
    if (one === null) return knee();
    if (one.good) good = load;
    else bad = load;
    const next = rounded(bad === Number.POSITIVE_INFINITY ? Math.min(to, load * 2) : (good + bad) / 2);
    const isNear =
      bad < Number.POSITIVE_INFINITY && bad - good <= Math.max(of === 'calls' ? 1 : 0.01, bad * RESOLUTION);
    if (isNear || next === good || next === bad || next <= 0) break;
    load = next;
  }
  // Both sides of the edge again, until each was tried so often.
  for (let again = 2; again <= repetitions; again++) {
    for (const load of [good, bad]) {
      if (load === 0 || load === Number.POSITIVE_INFINITY) continue;
      if ((await tried(load, `again ${again} of ${repetitions}, ${load}`)) === null) return knee();
    }
  }
  return knee();
}

/**
 * Carried: the greatest load most of whose steps were good, with none below it that was mostly bad. The spread: from
 * the greatest load up to which every step was good to the greatest at which any was.
 */
export function edgeOf(steps: readonly KneeStep[]): Omit<Knee, 'of' | 'steps'> {
  const loads = [...new Set(steps.map(({ load }) => load))].sort((a, b) => a - b);
  const shareOf = (load: number): number => {
    const own = steps.filter((step) => step.load === load);
    return own.filter(({ good }) => good).length / own.length;
  };
  const notCarried = loads.find((load) => shareOf(load) <= 0.5) ?? null;
  const below = loads.filter((load) => notCarried === null || load < notCarried);
  const firstBad = steps.reduce(
    (least, { load, good }) => (good ? least : Math.min(least, load)),
    Number.POSITIVE_INFINITY,
  );
  const lastGood = steps.reduce(
    (most, { load, good }) => (good ? Math.max(most, load) : most),
    Number.NEGATIVE_INFINITY,
  );
  return {
    carried: below.at(-1) ?? null,
    notCarried,
    low: loads.findLast((load) => load < firstBad) ?? null,
    high: Number.isFinite(lastGood) ? lastGood : null,
  };
}
