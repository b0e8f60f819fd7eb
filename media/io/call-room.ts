/**
 * How many more calls this process can talk to, by what it measures: how busy voice, recogniser, the threads that
 * speak with providers, pipeline and sockets are, and how late. Two rules. What is late admits nobody until it has
 * caught up. And a call that was accepted costs its share before it shows: a recogniser is not asked for anything
 * until the caller answers, so calls that are young are counted as the load that they will be, by what calls have
 * cost so far. Told to control four times a second (`room`), which counts those that still ring. Pure but for the
 * clock.
 */
import type { Clock } from '../contract/clock.ts';
import { ALWAYS_CALLS } from '../contract/link-messages.ts';

export interface WorkLoad {
  /** Share of the time in which it worked, 0 to 1. */
  busyRatio: number;
  lateMs: number;
}

export const WORKERS = ['voice', 'recogniser', 'providers', 'pipeline', 'sockets'] as const;
export type Worker = (typeof WORKERS)[number];

interface WorkerTraits {
  /** Busier than this on average, and what is asked in the same moment waits for too long. */
  mostBusyRatio: number;
  /** Late by so much on average: no more calls, until it is under half of it. */
  tooLateMs: number;
  /**
   * A call's share before any was measured, of one thread (embedded-engines.md, frame-path.md), at a moderate estimate.
   */
  firstShareRatio: number;
  /** After so long a call costs what it costs. */
  youngMs: number;
}

const TRAITS: Readonly<Record<Worker, WorkerTraits>> = {
  voice: { mostBusyRatio: 0.7, tooLateMs: 200, firstShareRatio: 0.005, youngMs: 3_000 },
  recogniser: { mostBusyRatio: 0.75, tooLateMs: 400, firstShareRatio: 0.008, youngMs: 20_000 },
  providers: { mostBusyRatio: 0.75, tooLateMs: 80, firstShareRatio: 0.003, youngMs: 10_000 },
  pipeline: { mostBusyRatio: 0.75, tooLateMs: 80, firstShareRatio: 0.003, youngMs: 3_000 },
  sockets: { mostBusyRatio: 0.75, tooLateMs: 40, firstShareRatio: 0.002, youngMs: 3_000 },
};

/** Lateness and business are averages over about so long. */
const AVERAGE_MS = 1_500;
/** What a call costs is an average over so many seconds of calls, and the first estimate weighs as much as these. */
const REMEMBERED_CALL_SECONDS = 1_000;
const FIRST_ESTIMATE_CALL_SECONDS = 150;
interface WorkerState {
  busyRatio: number;
  lateMs: number;
  isLate: boolean;
  /** Sums of work and of calls, in seconds, that make the average share of a call. */
  workSeconds: number;
  callSeconds: number;
}

export interface CallRoom {
  moreCalls: number;
  /** So many of them are taken however late it is. */
  always: number;
  /** What there is least room in. */
  scarce: Worker;
  /** How many calls at once it could carry, by what they have cost so far. */
  carries: number;
}

export class CallRoomGauge {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #states: Record<Worker, WorkerState>;
  /** Since when each call is known. */
  readonly #since = new Map<string, number>();
  #atMs: number;

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
    this.#atMs = clock.nowMs();
    const fresh = (worker: Worker): WorkerState => ({
      busyRatio: 0,
      lateMs: 0,
      isLate: false,
      workSeconds: TRAITS[worker].firstShareRatio * FIRST_ESTIMATE_CALL_SECONDS,
      callSeconds: FIRST_ESTIMATE_CALL_SECONDS,
    });
    this.#states = {
      voice: fresh('voice'),
      recogniser: fresh('recogniser'),
      providers: fresh('providers'),
      pipeline: fresh('pipeline'),
      sockets: fresh('sockets'),
    };
  }

  /** `talking`: the calls that have an agent who talks and listens. */
  measure(loads: Readonly<Record<Worker, WorkLoad>>, talking: Iterable<string>): CallRoom {
    const nowMs = this.#clock.nowMs();
    const sinceMs = nowMs - this.#atMs;
    this.#atMs = nowMs;
    this.#follow(talking, nowMs);
    const calls = this.#since.size;
    const room: CallRoom = {
      moreCalls: Number.POSITIVE_INFINITY,
      always: Math.max(0, ALWAYS_CALLS - calls),
      scarce: 'voice',
      carries: Number.POSITIVE_INFINITY,
    };
    for (const worker of WORKERS) {
      const state = this.#states[worker];
      const { mostBusyRatio, youngMs } = TRAITS[worker];
      const grown = this.#grownCalls(nowMs, youngMs);
      learn(worker, state, loads[worker], sinceMs, grown);
      const shareRatio = state.workSeconds / state.callSeconds;
      const toCome = (calls - grown) * shareRatio;
      const moreCalls = state.isLate ? 0 : Math.floor((mostBusyRatio - state.busyRatio - toCome) / shareRatio);
      room.carries = Math.min(room.carries, Math.floor(mostBusyRatio / shareRatio));
      if (moreCalls >= room.moreCalls) continue;
      room.moreCalls = moreCalls;
      room.scarce = worker;
    }
    room.moreCalls = Math.max(room.always, room.moreCalls);
    return room;
  }

  #follow(talking: Iterable<string>, nowMs: number): void {
    const now = new Set(talking);
    for (const callUuid of this.#since.keys()) if (!now.has(callUuid)) this.#since.delete(callUuid);
    for (const callUuid of now) if (!this.#since.has(callUuid)) this.#since.set(callUuid, nowMs);
  }

  /** Calls, the young ones in part. */
  #grownCalls(nowMs: number, youngMs: number): number {
    let grown = 0;
    for (const sinceMs of this.#since.values()) grown += Math.min(1, (nowMs - sinceMs) / youngMs);
    return grown;
  }
}

function learn(worker: Worker, state: WorkerState, load: WorkLoad, sinceMs: number, grownCalls: number): void {
  const weight = 1 - Math.exp(-sinceMs / AVERAGE_MS);
  state.busyRatio += (load.busyRatio - state.busyRatio) * weight;
  state.lateMs += (load.lateMs - state.lateMs) * weight;
  const { tooLateMs } = TRAITS[worker];
  state.isLate = state.lateMs > (state.isLate ? tooLateMs / 2 : tooLateMs);
  if (grownCalls < 1) return;
  const callSeconds = (grownCalls * sinceMs) / 1000;
  const kept = Math.exp(-callSeconds / REMEMBERED_CALL_SECONDS);
  state.workSeconds = state.workSeconds * kept + (load.busyRatio * sinceMs) / 1000;
  state.callSeconds = state.callSeconds * kept + callSeconds;
}
