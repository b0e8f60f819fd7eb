/**
 * How many conversations a subject carries: rungs are tried from one on, upwards while they hold, downwards while they
 * break, until the highest that holds lies beside one that does not.
 */
import { breakage, type RungResult } from './rung.ts';

const RUNGS = [5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 125, 150, 175, 200, 250, 300, 350, 400] as const;
/** A run that is void is tried again, so often. */
const TRIES = 2;

export interface Climb {
  subject: string;
  repetition: number;
  /** 0: not even the lowest rung. */
  carried: number;
  /** What broke at the next rung; null: there was none that could be judged. */
  brokeBy: string | null;
  /** The next rung could not be judged: it was the other core that was full. At least so many are carried. */
  endedBy: string | null;
}

/** `from`: about where the edge lies. `unloadedMs`: as `breakage` has it. */
export async function climb(
  { subject, repetition, from, unloadedMs }: { subject: string; repetition: number; from: number; unloadedMs: number },
  run: (conversations: number) => Promise<RungResult>,
): Promise<Climb> {
  const found: Climb = { subject, repetition, carried: 0, brokeBy: null, endedBy: null };
  let low = -1;
  let high: number = RUNGS.length;
  let index = Math.max(
    0,
    RUNGS.findLastIndex((rung) => rung <= from),
  );
  while (index > low && index < high) {
    const result = await tried(() => run(RUNGS[index]!));
    // What was late beside a full core may have been late by itself: only what held all the same is known.
    const why = breakage(result, unloadedMs);
    if (why === null) low = index;
    else {
      high = index;
      found.brokeBy = result.voidBecause === null ? `${why} at ${RUNGS[index]}` : null;
      found.endedBy = result.voidBecause === null ? null : `${result.voidBecause} at ${RUNGS[index]}`;
    }
    index = why === null ? index + 1 : index - 1;
  }
  found.carried = low < 0 ? 0 : RUNGS[low]!;
  return found;
}

async function tried(run: () => Promise<RungResult>): Promise<RungResult> {
  let result = await run();
  for (let again = 1; again < TRIES && result.voidBecause !== null; again++) result = await run();
  return result;
}
