/**
 * Keeps the leases of this node's media processes, and has those of others judged. A run registers, beats by the
 * database's clock, and holds all its calls by that one lease: one statement a node each half minute while it is alone,
 * each two seconds in company, whatever the number of calls. Who cannot beat itself judges nobody. Made by
 * `src/control/media-link.ts`; `docs/decisions/leases.md` has the why.
 *
 *   register → beat … beat ─ kept ──────────────────────────► beat …
 *                          └ not kept: `fenced`, and the process hands its calls over and registers anew
 *   another is silent ─► `run-judge.ts`: its machine is asked until its lease is over
 *                          ├ no answer ─────────────────► fenced, here or by who was faster ─► `orphaned`
 *                          └ answers, and stays silent ─► suspect ─ 120 s ─► `overdue`
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Database } from '../store/database.ts';
import type { DueLook } from '../store/due-look.ts';
import {
  beatRuns,
  earlierRuns,
  fenceRun,
  type Heard,
  type MediaRun,
  type NodeName,
  nodeOfRun,
  type OtherRun,
  registerRun,
} from './media-runs.ts';
import { createRunJudge, type RunJudgeDeps } from './run-judge.ts';

export interface RunKeeperDeps extends Pick<RunJudgeDeps, 'answers' | 'overdue'> {
  database: Database;
  clock: Clock;
  log: Logger;
  node: NodeName;
  /** Asked for other nodes, and for who wants this one's name, while there is none. Absent: only beats find them. */
  due?: Pick<DueLook, 'join'>;
  /** A run of this node is dead by another's word: it has to let go of its calls. */
  fenced(runId: string): void;
  /** There is another node now. */
  joined?(): void;
  /** What this node's runs say of themselves has changed so that the others should not wait for their next beat. */
  changed?(): void;
  /** A beat was taken, and what it told is known. Rejects when the database is away. */
  beaten?(): Promise<void>;
  /** Calls may have lost their owner by this time, by this node's word or another's. */
  orphaned(atEpochMs: number): void;
  /** The database's time, to who asked at `askedAtMs` of the clock and hears it now. */
  databaseTime?(epochMs: number, askedAtMs: number): void;
}

export interface RunKeeper {
  /** False: it is dead. Rejects when the database is away. */
  register(run: MediaRun): Promise<boolean>;
  /** What it says of itself, for the next beat. */
  said(run: MediaRun): void;
  /** Its process is gone, and all that it said is written. Done as soon as the database takes it. */
  gone(runId: string): void;
  /** Those of other nodes, as of the last beat; their silence as of now. */
  others(): readonly OtherRun[];
  /** Which other node has this run; null: none that lives. Rejects when the database is away. */
  nodeOf(runId: string): Promise<string | null>;
  /** This node takes no more calls; the others are told so at once. */
  drain(): void;
  /** The runs of this node; null: there is no other. */
  ownInCompany(): readonly string[] | null;
  /** One beat by hand. Never rejects. */
  beat(): Promise<void>;
  /** A beat that begins now: what the others have told by now is heard. Never rejects. */
  look(): Promise<void>;
  /** Resolves when those that are gone are told, as far as the database is there. */
  close(): Promise<void>;
}

/** The only node: nobody else could judge it, and the look that all parts share finds those that come. */
export const ALONE = { everyMs: 30_000, leaseMs: 90_000 } as const;
/** With others, and an address at which they can ask. */
export const IN_COMPANY = { everyMs: 2_000, leaseMs: 8_000 } as const;
/** With others, and none: silence has to last longer before it says something. */
export const UNASKABLE = { everyMs: 2_000, leaseMs: 30_000 } as const;
/** A new process looks around soon. */
const FIRST_BEAT_MS = 1_000;
/** After a start, and after beats that failed or came late, the others may have to come back first. */
const GRACE_MS = 10_000;
const LATE_MS = 5_000;
/** Who has missed a beat may have been given up since, and its word is not waited for: the database knows. */
const HEARD_MS = 2 * IN_COMPANY.everyMs;

export function createRunKeeper(deps: RunKeeperDeps): RunKeeper {
  const { database, clock, log, node } = deps;
  const mine = new Map<string, MediaRun>();
  /** Every run that this control has known: they are not taken for an earlier control's. */
  const known = new Set<string>();
  /** Gone, and not told yet. */
  const dying = new Set<string>();
  let others: readonly OtherRun[] = [];
  let heardAtMs = clock.nowMs();
  let isDraining = false;
  let wellSinceMs = clock.nowMs();
  let dueAtMs = Number.POSITIVE_INFINITY;
  let isAway = false;
  let beating: Promise<void> | null = null;
  let cancel = (): void => {};
  let closed = false;
  const judge = createRunJudge({
    clock,
    log,
    node: node.name,
    answers: deps.answers,
    isFit: () => !closed && clock.nowMs() - wellSinceMs >= GRACE_MS,
    dead: (runId) => fence({ runId, why: 'silent, and so is its machine', onlyIfSilent: true }),
    overdue: deps.overdue,
  });

  const isInCompany = (): boolean => others.some((run) => run.node !== node.name);
  const pace = (): { everyMs: number; leaseMs: number } => {
    if (!isInCompany()) return ALONE;
    return node.address === null ? UNASKABLE : IN_COMPANY;
  };

  function beatIn(afterMs: number): void {
    if (closed) return;
    cancel();
    dueAtMs = clock.nowMs() + afterMs;
    cancel = clock.after(afterMs, () => {
      if (clock.nowMs() - dueAtMs > LATE_MS) wellSinceMs = clock.nowMs();
      void beat().then(() => beatIn(pace().everyMs));
    });
  }

  function beat(): Promise<void> {
    beating ??= beatOnce().finally(() => {
      beating = null;
    });
    return beating;
  }

  /** One that is under way began before. */
  const look = (): Promise<void> => beat().then(beat);

  async function beatOnce(): Promise<void> {
    if (closed) return;
    const runs = [...mine.values()].map((run) => ({ ...run, isDraining: run.isDraining || isDraining }));
    const askedAtMs = clock.nowMs();
    try {
      for (const runId of dying) await bury(runId);
      if (runs.length === 0) return;
      const heard = await beatRuns(database, runs, pace().leaseMs);
      deps.databaseTime?.(heard.databaseEpochMs, askedAtMs);
      if (clock.nowMs() - askedAtMs > LATE_MS) wellSinceMs = clock.nowMs();
      if (isAway) log.info('media processes beat in the database again');
      isAway = false;
      heardAtMs = clock.nowMs();
      heardOf(runs, heard);
      await deps.beaten?.();
    } catch (error) {
      wellSinceMs = clock.nowMs();
      if (!isAway) log.warn({ err: error }, 'media processes cannot beat: the database does not answer');
      isAway = true;
    }
  }

  function heardOf(runs: readonly MediaRun[], heard: Heard): void {
    const wasInCompany = isInCompany();
    others = heard.others.filter(({ runId }) => !mine.has(runId));
    if (isInCompany() !== wasInCompany) {
      if (!wasInCompany) deps.joined?.();
      log.info({ nodes: [...new Set(others.map((run) => run.node))] }, 'other nodes have come, or gone');
    }
    const kept = new Set(heard.kept);
    for (const { runId, slot } of runs) {
      if (kept.has(runId) || !mine.delete(runId)) continue;
      log.error({ runId, slot }, 'this run of a media process was given up by another node: its calls go on elsewhere');
      deps.fenced(runId);
    }
    judge.heard(others.filter(({ runId }) => !dying.has(runId)));
  }

  /** As of the last beat; their silence as of now. */
  function heardOfLately(): OtherRun[] {
    const sinceMs = clock.nowMs() - heardAtMs;
    return others.map((run) => ({ ...run, silentMs: run.silentMs + sinceMs }));
  }

  async function fence(order: { runId: string; why: string; onlyIfSilent: boolean }): Promise<void> {
    const atEpochMs = clock.epochMs();
    const calls = await fenceRun(database, order, atEpochMs);
    // Who was slower had its calls locked for a moment, and the sweep of who was faster passes by what is locked.
    if (calls !== 0) deps.orphaned(atEpochMs);
    if (calls !== null) log[calls > 0 ? 'warn' : 'info']({ ...order, calls }, 'a run of a media process is over');
  }

  async function bury(runId: string): Promise<void> {
    await fence({ runId, why: 'its process is gone', onlyIfSilent: false });
    dying.delete(runId);
  }

  const leaveLook = deps.due?.join({
    sql: (place) =>
      `EXISTS (SELECT 1 FROM media_runs WHERE dead_at IS NULL AND (node <> ${place(node.name)} OR asked_at > beat_at))`,
    found(isAnother) {
      if (isAnother === true && !isInCompany() && mine.size > 0) beatIn(0);
    },
    failed() {},
  });

  return {
    async register(run) {
      const isFirst = mine.size === 0;
      known.add(run.runId);
      if (dying.has(run.runId) || !(await registerRun(database, node, run, pace().leaseMs))) return false;
      mine.set(run.runId, run);
      if (isFirst) beatIn(FIRST_BEAT_MS);
      for (const runId of await earlierRuns(database, node.name, run.slot, [...known])) {
        await fence({ runId, why: 'another run has its place', onlyIfSilent: false });
      }
      return true;
    },
    said(run) {
      if (mine.has(run.runId)) mine.set(run.runId, run);
    },
    gone(runId) {
      mine.delete(runId);
      if (!known.has(runId)) return;
      dying.add(runId);
      bury(runId).catch((error: unknown) => log.warn({ runId, err: error }, 'the end of a run waits for the database'));
    },
    ownInCompany: () => (isInCompany() ? [...mine.keys()] : null),
    others: () => heardOfLately().filter((run) => run.node !== node.name),
    async nodeOf(runId) {
      if (mine.has(runId)) return null;
      const known = heardOfLately().find((run) => run.runId === runId);
      const its = known === undefined || known.silentMs > HEARD_MS ? await nodeOfRun(database, runId) : known.node;
      return its === node.name ? null : its;
    },
    drain() {
      isDraining = true;
      if (mine.size > 0) void look().then(deps.changed);
    },
    beat,
    look,
    async close() {
      closed = true;
      leaveLook?.();
      cancel();
      await beating;
      for (const runId of dying) await bury(runId).catch(() => {});
    },
  };
}
