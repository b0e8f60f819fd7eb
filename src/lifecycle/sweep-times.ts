/**
 * When to sweep: as soon as the next deadline is there, which transitions of this process say (`nudge`, `moved`) and
 * the look that all share finds for what others did (`store/due-look.ts`). It looks at its clocks each second, at the
 * calls only when a deadline has come. One sweep at a time: a deadline that comes meanwhile is met behind it. For
 * `reaper.ts`, which knows what a sweep does.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { type DueLook, LOOK_EVERY_MS } from '../store/due-look.ts';

export interface SweepTimesDeps {
  clock: Clock;
  /** Absent: it sweeps each second. */
  due?: DueLook;
  /** True: it took all that it may, and there may be more. Rejects when the database is away. */
  sweep(): Promise<boolean>;
  /** It looks at its clocks, so much later than it wanted to. */
  looks(lateMs: number): void;
}

export interface SweepTimes {
  start(): void;
  /** A deadline may come before the next sweep: sweep then. */
  nudge(deadlineAt: Date | null): void;
  /** The same of a call, whose former deadline comes to nothing. */
  moved(callUuid: string, deadlineAt: Date | null): void;
  /** Nobody knows what is due: the next look at the clocks sweeps. */
  forget(): void;
  /** Resolves when the running sweep is over. */
  close(): Promise<void>;
}

/** How often it looks at its clocks; at the calls only when a deadline is there. */
const SWEEP_EVERY_MS = 1_000;
/** Deadlines that are further away are told again by the next look, if they still stand. */
const HORIZON_MS = LOOK_EVERY_MS + SWEEP_EVERY_MS;
const NEXT_DEADLINE =
  'SELECT (extract(epoch FROM min(deadline_at)) * 1000)::float8 FROM calls WHERE deadline_at IS NOT NULL';

export function createSweepTimes({ clock, due, sweep, looks }: SweepTimesDeps): SweepTimes {
  let running: Promise<unknown> | null = null;
  let cancelTimer: (() => void) | null = null;
  let timerAtMs = Number.POSITIVE_INFINITY;
  let started = false;
  let closed = false;
  /** A deadline came while it swept: perhaps too late for that sweep. */
  let isWaitedFor = false;
  /** The next that is known. */
  let dueAtEpochMs = Number.NEGATIVE_INFINITY;
  /** Of calls that this process has changed: those within the horizon. */
  const near = new Map<string, number>();
  /** Until then the calls are looked at each second: behind the next deadline there may be more. */
  let busyUntilMs = Number.NEGATIVE_INFINITY;
  let leave = (): void => {};

  function schedule(afterMs: number): void {
    if (closed || !started) return;
    const atMs = clock.nowMs() + afterMs;
    if (atMs >= timerAtMs) return;
    cancelTimer?.();
    timerAtMs = atMs;
    cancelTimer = clock.after(afterMs, tick);
  }

  function tick(): void {
    const lateMs = clock.nowMs() - timerAtMs;
    timerAtMs = Number.POSITIVE_INFINITY;
    cancelTimer = null;
    looks(lateMs);
    if (running !== null) {
      isWaitedFor = true;
      return;
    }
    const nextEpochMs = Math.min(dueAtEpochMs, ...near.values());
    if (due !== undefined && nextEpochMs > clock.epochMs() && clock.nowMs() >= busyUntilMs) {
      schedule(Math.min(SWEEP_EVERY_MS, nextEpochMs - clock.epochMs() + 1));
      return;
    }
    for (const [callUuid, atEpochMs] of near) if (atEpochMs <= clock.epochMs()) near.delete(callUuid);
    isWaitedFor = false;
    dueAtEpochMs = Number.POSITIVE_INFINITY;
    running = sweep()
      .then(
        (isMore) => {
          if (isMore) forget();
          return isMore || isWaitedFor ? 0 : SWEEP_EVERY_MS;
        },
        () => {
          forget();
          return SWEEP_EVERY_MS;
        },
      )
      .then((nextInMs) => {
        running = null;
        schedule(nextInMs);
      });
  }

  function forget(): void {
    dueAtEpochMs = Number.NEGATIVE_INFINITY;
  }

  function nudge(deadlineAt: Date | null): void {
    if (deadlineAt === null) return;
    const afterMs = deadlineAt.getTime() - clock.epochMs();
    if (afterMs >= HORIZON_MS) return;
    dueAtEpochMs = Math.min(dueAtEpochMs, deadlineAt.getTime());
    schedule(Math.max(0, afterMs) + 1);
  }

  const question = {
    sql: () => `(${NEXT_DEADLINE})`,
    found(epochMs: unknown) {
      if (typeof epochMs !== 'number') return;
      if (epochMs - clock.epochMs() < HORIZON_MS) busyUntilMs = clock.nowMs() + HORIZON_MS;
      nudge(new Date(epochMs));
    },
    failed: () => nudge(new Date(clock.epochMs())),
  };

  return {
    start() {
      started = true;
      if (due !== undefined) leave = due.join(question);
      schedule(0);
    },
    nudge,
    moved(callUuid, deadlineAt) {
      near.delete(callUuid);
      const afterMs = (deadlineAt?.getTime() ?? Number.POSITIVE_INFINITY) - clock.epochMs();
      if (deadlineAt === null || afterMs >= HORIZON_MS) return;
      near.set(callUuid, deadlineAt.getTime());
      schedule(Math.max(0, afterMs) + 1);
    },
    forget,
    async close() {
      closed = true;
      leave();
      cancelTimer?.();
      await running;
    },
  };
}
