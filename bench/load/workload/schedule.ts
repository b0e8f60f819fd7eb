/**
 * The schedule of a run: every call with every choice made, in order of time, one after the other as they are asked for
 * (an hour of calls is never held whole). Pure: the same workload and seed plan the same calls, whatever becomes of
 * them. Called by the dispatcher and by `--dry-run`.
 */
import { createRandom } from '../../harness/seeded-random.ts';
import type { PlannedCall } from '../contract/planned-call.ts';
import type { Workload, WorkloadCaller } from '../contract/workload.ts';
import { beginningsOf, lengthMsOf, type ReplayLogs } from './arrivals.ts';

/** Primes apart, so that neither phases nor calls share their chances. */
const PHASE_SEED_STEP = 7_368_787;
const CALL_SEED_STEP = 2_654_435_761;

export function* planCalls(workload: Workload, logs: ReplayLogs = new Map()): Generator<PlannedCall, void> {
  const choose = callerChooser(workload.callers);
  let index = 0;
  let fromMs = 0;
  for (const [at, phase] of workload.phases.entries()) {
    const beginnings = beginningsOf(phase, createRandom(workload.seed + (at + 1) * PHASE_SEED_STEP), logs);
    for (let next = beginnings.next(0); !next.done; ) {
      const call = planCall(index++, fromMs + next.value, workload.seed, choose);
      yield call;
      next = beginnings.next(busyMsOf(call));
    }
    fromMs += lengthMsOf(phase, logs);
  }
}

/** From the phone's first ring to the hang-up, as planned. */
export function busyMsOf(call: PlannedCall): number {
  return call.ringMs + (call.outcome === 'answer' ? call.lengthMs : 0);
}

/** When the last phase is over; calls may go on a while. */
export function phasesLastMs(workload: Workload, logs: ReplayLogs = new Map()): number {
  return workload.phases.reduce((sum, phase) => sum + lengthMsOf(phase, logs), 0);
}

/** The same workload with one load instead of its phases: a step of the search for the knee. */
export function stepOfKnee(workload: Workload, load: number, seed: number): Workload {
  const { of, stepSeconds } = workload.knee!;
  const { knee: _searched, ...rest } = workload;
  return {
    ...rest,
    seed,
    phases: [
      of === 'calls'
        ? {
            arrivals: 'level',
            calls: Math.round(load),
            rampSeconds: Math.min(5, stepSeconds / 4),
            forSeconds: stepSeconds,
          }
        : { arrivals: 'poisson', perSecond: load, forSeconds: stepSeconds },
    ],
  };
}

function planCall(index: number, atMs: number, seed: number, choose: (chance: number) => WorkloadCaller): PlannedCall {
  const callSeed = (seed + Math.imul(index + 1, CALL_SEED_STEP)) >>> 0;
  const random = createRandom(callSeed);
  const caller = choose(random());
  const drawn = (spread: number | [number, number]): number =>
    1000 * (typeof spread === 'number' ? spread : spread[0] + random() * (spread[1] - spread[0]));
  const ringMs = drawn(caller.ringSeconds);
  const lengthMs = drawn(caller.lengthSeconds);
  const outcome = outcomeOf(caller, random());
  const resumes = caller.by === 'browser' && random() < caller.resumeShare;
  return {
    index,
    atMs,
    caller: caller.name,
    by: caller.by,
    codec: caller.codec,
    ringMs,
    outcome,
    lengthMs,
    talk: caller.talk,
    network: caller.network,
    // In the middle of it, where there is something to lose and to come back to.
    resumesAtMs: resumes ? lengthMs * (0.3 + 0.4 * random()) : null,
    seed: callSeed,
  };
}

function outcomeOf({ unanswered }: WorkloadCaller, chance: number): PlannedCall['outcome'] {
  const { noAnswer, busy, declined } = unanswered;
  if (chance < noAnswer) return 'no_answer';
  if (chance < noAnswer + busy) return 'busy';
  return chance < noAnswer + busy + declined ? 'declined' : 'answer';
}

function callerChooser(callers: readonly WorkloadCaller[]): (chance: number) => WorkloadCaller {
  const whole = callers.reduce((sum, { weight }) => sum + weight, 0);
  return (chance) => {
    let rest = chance * whole;
    for (const caller of callers) {
      rest -= caller.weight;
      if (rest < 0) return caller;
    }
    return callers.at(-1)!;
  };
}
