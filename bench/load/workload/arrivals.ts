/**
 * When calls begin, phase by phase: each arrival process as a generator of instants. Pure, and the same for the same
 * chance. Called by the schedule, which says of each call how long its line is busy: a `level` needs to know.
 */
import type { WorkloadPhase } from '../contract/workload.ts';

/** Gives the milliseconds from the phase's beginning, rising; takes how long the call that began then is busy, ms. */
export type Beginnings = Generator<number, void, number>;

/** Of the replayed logs, by the phase's `path`: milliseconds from the first call, rising. */
export type ReplayLogs = ReadonlyMap<string, readonly number[]>;

export function beginningsOf(phase: WorkloadPhase, random: () => number, logs: ReplayLogs): Beginnings {
  switch (phase.arrivals) {
    case 'poisson':
      return ramp(phase.perSecond, phase.perSecond, phase.forSeconds * 1000, random);
    case 'ramp':
      return ramp(phase.fromPerSecond, phase.toPerSecond, phase.forSeconds * 1000, random);
    case 'burst':
      return burst(phase.calls, phase.overSeconds * 1000);
    case 'level':
      return level(phase.calls, phase.rampSeconds * 1000, phase.forSeconds * 1000);
    case 'replay':
      return replay(logs.get(phase.path) ?? [], phase.forSeconds);
  }
}

/** How long a phase lasts until the next begins, ms. */
export function lengthMsOf(phase: WorkloadPhase, logs: ReplayLogs): number {
  switch (phase.arrivals) {
    case 'burst':
      return (phase.overSeconds + phase.restSeconds) * 1000;
    case 'replay':
      return phase.forSeconds === undefined ? (logs.get(phase.path)?.at(-1) ?? 0) : phase.forSeconds * 1000;
    default:
      return phase.forSeconds * 1000;
  }
}

/**
 * Poisson whose rate goes evenly from one to the other: instants of a process of rate 1, bent by the inverse of the
 * summed rate.
 */
function* ramp(fromPerSecond: number, toPerSecond: number, lengthMs: number, random: () => number): Beginnings {
  const lengthSeconds = lengthMs / 1000;
  if (lengthSeconds === 0) return;
  const slope = (toPerSecond - fromPerSecond) / lengthSeconds;
  const expected = ((fromPerSecond + toPerSecond) / 2) * lengthSeconds;
  for (let sum = unitGap(random); sum < expected; sum += unitGap(random)) {
    // Solves `from t + slope t² / 2 = sum`, in the form that holds for a slope of 0 too.
    const root = Math.sqrt(Math.max(0, fromPerSecond * fromPerSecond + 2 * slope * sum));
    yield ((2 * sum) / (fromPerSecond + root)) * 1000;
  }
}

function unitGap(random: () => number): number {
  return -Math.log(1 - random());
}

function* burst(calls: number, overMs: number): Beginnings {
  for (let i = 0; i < calls; i++) yield (i * overMs) / calls;
}

/** So many lines; the first calls are spread over the ramp, and each line begins another when its call is over. */
function* level(calls: number, rampMs: number, lengthMs: number): Beginnings {
  // Lines by when they are free: `atMs[0]` is the first (a binary heap).
  const atMs = Float64Array.from({ length: calls }, (_one, i) => (i * rampMs) / calls);
  while (atMs[0]! < lengthMs) {
    const beginsAtMs = atMs[0]!;
    const busyMs = yield beginsAtMs;
    // A call of no length would begin for ever at one instant.
    atMs[0] = beginsAtMs + Math.max(20, busyMs);
    sink(atMs);
  }
}

function sink(heap: Float64Array): void {
  for (let at = 0; ; ) {
    const left = 2 * at + 1;
    const right = left + 1;
    let least = at;
    if (left < heap.length && heap[left]! < heap[least]!) least = left;
    if (right < heap.length && heap[right]! < heap[least]!) least = right;
    if (least === at) return;
    const moved = heap[at]!;
    heap[at] = heap[least]!;
    heap[least] = moved;
    at = least;
  }
}

function* replay(beginsAtMs: readonly number[], forSeconds: number | undefined): Beginnings {
  const lastMs = beginsAtMs.at(-1) ?? 0;
  const scale = forSeconds === undefined || lastMs === 0 ? 1 : (forSeconds * 1000) / lastMs;
  for (const atMs of beginsAtMs) yield atMs * scale;
}
