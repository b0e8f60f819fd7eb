/**
 * How many conversations a subject carries: rungs are tried from one on, upwards while they hold, downwards while they
 * break, until the highest that holds lies beside one that does not.
 */
import { NotTaken } from './callers-process.ts';
import { breakage, type RungResult } from './rung.ts';

const RUNGS = [
  2, 3, 5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 125, 150, 175, 200, 250, 300, 350, 400, 450, 500,
] as const;
/** A run that broke and is void is tried again, so often. */
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

/** `from`: about where the edge lies. `atRestMs`: as `breakage` has it. */
export async function climb(
  { subject, repetition, from, atRestMs }: { subject: string; repetition: number; from: number; atRestMs: number },
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
    const at = RUNGS[index]!;
    // What was late beside a full core may have been late by itself: only what held all the same is known.
    const { why, voidBecause } = await tried(() => judged(() => run(at), atRestMs));
    if (why === null) low = index;
    else {
      high = index;
      found.brokeBy = voidBecause === null ? `${why} at ${at}` : null;
      found.endedBy = voidBecause === null ? null : `${voidBecause} at ${at}`;
    }
    index = why === null ? index + 1 : index - 1;
  }
  found.carried = low < 0 ? 0 : RUNGS[low]!;
  return found;
}

interface Judged {
  /** Why it was not carried; null: it was. */
  why: string | null;
  voidBecause: string | null;
}

async function judged(run: () => Promise<RungResult>, atRestMs: number): Promise<Judged> {
  try {
    const result = await run();
    return { why: breakage(result, atRestMs), voidBecause: result.voidBecause };
  } catch (error) {
    if (!(error instanceof NotTaken)) throw error;
    return { why: error.message, voidBecause: null };
  }
}

async function tried(run: () => Promise<Judged>): Promise<Judged> {
  let result = await run();
  const isOpen = ({ why, voidBecause }: Judged): boolean => why !== null && voidBecause !== null;
  for (let again = 1; again < TRIES && isOpen(result); again++) result = await run();
  return result;
}
