/**
 * Which media process a call is to land in: of two drawn at random the one with the smaller share of its calls taken,
 * so that nodes that look at the same figures do not all choose the same. Those that drain, are full, late or silent
 * are never drawn. Pure; `call-places.ts` knows the candidates.
 */

export interface RunCandidate {
  runId: string;
  node: string;
  capacityCalls: number;
  /** Carried, and promised by this node and not carried yet. */
  liveCalls: number;
  promisedCalls: number;
  /** By what it measures; null: not known. */
  moreCalls: number | null;
  isDraining: boolean;
  /** Since it was heard of. */
  silentMs: number;
}

/** Two beats and a half: whoever is silent for longer may be on the way out. */
export const SILENT_LIMIT_MS = 5_000;

export function mayTake(run: RunCandidate): boolean {
  const { liveCalls, promisedCalls, moreCalls } = run;
  const hasRoom = liveCalls + promisedCalls < run.capacityCalls && (moreCalls === null || moreCalls > promisedCalls);
  return !run.isDraining && run.silentMs <= SILENT_LIMIT_MS && hasRoom;
}

/** `random` from 0 to below 1. Null: none may take it. */
export function chooseRun(runs: readonly RunCandidate[], random: () => number): RunCandidate | null {
  const open = runs.filter(mayTake);
  const draw = (): RunCandidate | undefined => open.splice(Math.floor(random() * open.length), 1)[0];
  const [one, other] = [draw(), draw()];
  if (one === undefined || other === undefined) return one ?? null;
  return shareOf(other) < shareOf(one) ? other : one;
}

function shareOf({ liveCalls, promisedCalls, capacityCalls }: RunCandidate): number {
  return (liveCalls + promisedCalls) / capacityCalls;
}
