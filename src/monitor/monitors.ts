/**
 * Who listens in to which call: lets a token's listener in, asks each second whether the sessions of all of them still
 * hold, asks the call for what they want of it, and writes beginning and end into the audit log and the call's events.
 * Media carries the sound (`media/io/monitor`); nothing of it comes here. Made by `src/control/control.ts`.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { type Clock, every } from '../../media/contract/clock.ts';
import type { ToMedia } from '../../media/contract/link-messages.ts';
import type {
  MonitorAction,
  MonitorAnswer,
  MonitorEnd,
  MonitorReport,
  MonitorResult,
} from '../../media/contract/monitor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { appendCallLog } from '../calls/append-call-log.ts';
import type { CallEventBus } from '../calls/call-event-bus.ts';
import { readCall } from '../calls/call-row.ts';
import { readTurns } from '../calls/call-turns.ts';
import type { SteerCall } from '../lifecycle/operator-control.ts';
import type { Database } from '../store/database.ts';
import { sessionsHold } from '../users/sessions.ts';
import { createMonitorTokens, type HandedToken, hashOf, type MonitorGrant } from './monitor-tokens.ts';

export interface MonitorsDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Pick<CallEventBus, 'publish'>;
  /** A token that was issued by another node, by its hash. Never rejects. Absent: there is no other. */
  tokenElsewhere?(hash: string): Promise<HandedToken | null>;
  /** False: the process is not there. */
  send(runId: string, message: ToMedia): boolean;
  /** Asks the call, and writes down what was done. */
  controlCall: SteerCall;
}

export interface Monitors {
  /** Null: too many tokens are open. The call is the workspace's, and the person may listen. */
  issue(grant: MonitorGrant): { token: string; expiresAt: Date } | null;
  /** Another node asks for a token that was issued here; null: it was not, or is spent. */
  hand(hash: string): HandedToken | null;
  /** A token came to a media process. Rejects when the database is away. */
  claim(of: MediaRun, token: string): Promise<MonitorAnswer>;
  /** A listener wants something of the call. Rejects when the database is away. */
  ask(monitorId: string, action: MonitorAction): Promise<MonitorResult>;
  /** A media process has told of one's end. */
  closed(report: MonitorReport): void;
  /** It is gone, and its listeners with it. */
  runLost(run: object): void;
  /** Writes what is not written yet, as far as the database is there. */
  close(): Promise<void>;
}

/** A media process, and which run of it. */
export interface MediaRun {
  runId: string;
  run: object;
}

interface Open extends MonitorGrant, MediaRun {
  monitorId: string;
  sinceMs: number;
}

type Outcome = Omit<MonitorReport, 'monitorId'>;

interface Ended {
  listener: Open;
  facts: { why: MonitorReport['why']; seconds: number; soundSeconds: number; droppedFrames: number; hadCall?: true };
}

const MOST_OF_A_CALL = 4;
const MOST_OF_A_SESSION = 4;
const MOST_OF_A_WORKSPACE = 20;
const LOOK_EVERY_MS = 1_000;

export function createMonitors(deps: MonitorsDeps): Monitors {
  const { database, clock, log, bus } = deps;
  const tokens = createMonitorTokens(clock);
  const open = new Map<string, Open>();
  /** Of claims that are being answered: they count. */
  const coming = new Set<MonitorGrant>();
  /** Ends that the database did not take yet. */
  const unwritten: Ended[] = [];
  const writing = new Set<Promise<void>>();
  let isLooking = false;
  let cancelLook: (() => void) | null = null;

  const shutOut = ({ runId, monitorId }: Open, why: MonitorEnd): boolean =>
    deps.send(runId, { type: 'monitor.end', monitorId, why });

  function hasRoom({ callUuid, workspaceId, session }: MonitorGrant): boolean {
    const all = [...open.values(), ...coming];
    return (
      all.filter((one) => one.callUuid === callUuid).length < MOST_OF_A_CALL &&
      all.filter((one) => one.session.sessionId === session.sessionId).length < MOST_OF_A_SESSION &&
      all.filter((one) => one.workspaceId === workspaceId).length < MOST_OF_A_WORKSPACE
    );
  }

  async function admit(of: MediaRun, token: string, grant: MonitorGrant): Promise<MonitorAnswer> {
    const { workspaceId, callUuid, session } = grant;
    const [holds] = await sessionsHold(database, [session]);
    if (holds !== true) return { ok: false, code: 'session_over' };
    const call = await readCall(database, workspaceId, callUuid);
    const isLive = call?.status === 'in_progress' && call.ending === null && call.mediaStoppedAt === null;
    if (call === undefined || !isLive || call.ownerRun === null) return { ok: false, code: 'call_not_live' };
    if (call.ownerRun !== of.runId) {
      tokens.giveBack(token, grant);
      return { ok: false, code: 'elsewhere' };
    }
    const listener: Open = { ...grant, ...of, monitorId: randomUUID(), sinceMs: clock.nowMs() };
    await tell(listener, 'call.monitor_began', {});
    const turns = await readTurns(database, callUuid);
    open.set(listener.monitorId, listener);
    cancelLook ??= every(clock, LOOK_EVERY_MS, () => void look());
    return { ok: true, monitorId: listener.monitorId, callUuid, turns };
  }

  /** One audit row, and an event of the call that does not say who it was. */
  async function tell(listener: Open, action: string, facts: object): Promise<void> {
    const { workspaceId, callUuid, by, monitorId } = listener;
    const phase = action === 'call.monitor_began' ? 'began' : 'ended';
    const events = await database.transaction(async (tx) => {
      const target = `call:${callUuid}`;
      await recordAudit(tx, { workspaceId, by, action, target, after: { monitorId, ...facts } });
      if ('hadCall' in facts) {
        const after = { monitorId, result: 'done', why: 'listener_gone' };
        await recordAudit(tx, { workspaceId, by, action: 'call.control_handback', target, after });
      }
      const [kept] = await tx.query('SELECT 1 AS one FROM calls WHERE call_uuid = $1', [callUuid]);
      if (kept === undefined) return [];
      return appendCallLog(tx, callUuid, [{ kind: 'monitor', data: { phase, monitorId }, atEpochMs: clock.epochMs() }]);
    });
    for (const event of events) bus.publish(event);
  }

  function write(end: Ended): void {
    const { listener, facts } = end;
    const written = tell(listener, 'call.monitor_ended', facts).catch((error: unknown) => {
      unwritten.push(end);
      log.warn({ callUuid: listener.callUuid, err: error }, 'the end of a listener waits for the database');
    });
    writing.add(written);
    void written.then(() => writing.delete(written));
  }

  function over(listener: Open, { why, soundMs, droppedFrames, hadCall }: Outcome): void {
    if (!open.delete(listener.monitorId)) return;
    const seconds = Math.round((clock.nowMs() - listener.sinceMs) / 1_000);
    const facts = { why, seconds, soundSeconds: Math.round(soundMs / 1_000), droppedFrames };
    write({ listener, facts: hadCall === true ? { ...facts, hadCall } : facts });
  }

  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    const listeners = [...open.values()];
    try {
      const hold = await sessionsHold(
        database,
        listeners.map(({ session }) => session),
      );
      for (const [at, listener] of listeners.entries()) if (hold[at] !== true) shutOut(listener, 'session_over');
      for (const end of unwritten.splice(0)) write(end);
    } catch (error) {
      log.warn(
        { listeners: listeners.length, err: error },
        'listeners are shut out: their rights could not be looked at',
      );
      for (const listener of listeners) shutOut(listener, 'service_away');
    }
    isLooking = false;
    if (open.size > 0 || writing.size > 0 || unwritten.length > 0) return;
    cancelLook?.();
    cancelLook = null;
  }

  async function fromElsewhere(token: string): Promise<MonitorGrant | null> {
    const handed = (await deps.tokenElsewhere?.(hashOf(token))) ?? null;
    return handed === null ? null : tokens.adopt(token, handed);
  }

  return {
    issue: (grant) => tokens.issue(grant),
    hand: (hash) => tokens.hand(hash),
    async claim(of, token) {
      const grant = tokens.take(token) ?? (await fromElsewhere(token));
      if (grant === null) return { ok: false, code: 'token_invalid' };
      if (!hasRoom(grant)) return { ok: false, code: 'too_many_listeners' };
      coming.add(grant);
      try {
        return await admit(of, token, grant);
      } finally {
        coming.delete(grant);
      }
    },
    async ask(monitorId, action) {
      const listener = open.get(monitorId);
      if (listener === undefined || !listener.maySteer) return 'not_allowed';
      const [holds] = await sessionsHold(database, [listener.session]);
      if (holds !== true) {
        shutOut(listener, 'session_over');
        return 'not_allowed';
      }
      const { workspaceId, callUuid, by } = listener;
      const result = await deps.controlCall({ workspaceId, callUuid, action, by });
      return result === 'unknown_call' ? 'not_in_progress' : result;
    },
    closed({ monitorId, ...outcome }) {
      const listener = open.get(monitorId);
      if (listener !== undefined) over(listener, outcome);
    },
    runLost(run) {
      for (const listener of [...open.values()]) {
        if (listener.run === run) over(listener, { why: 'media_lost', soundMs: 0, droppedFrames: 0 });
      }
    },
    async close() {
      cancelLook?.();
      for (const listener of [...open.values()]) shutOut(listener, 'service_away');
      for (const listener of [...open.values()]) over(listener, { why: 'service_away', soundMs: 0, droppedFrames: 0 });
      await Promise.all(writing);
    },
  };
}
