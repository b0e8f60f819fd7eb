/**
 * The one writer of what media processes tell of running calls (events, turns, checkpoints, what was used), of many
 * calls together: so that a call's talk costs the database a share of a statement, not some. Partial words are shown to
 * who follows, and neither written nor read for. What another epoch says is refused: its owner was replaced. Called by
 * the inbox, and again with the same messages when the database was away: at worst a line of the log stands twice.
 *
 *   what only adds to a call ──► write-talk.ts: one statement for all of them
 *   what changes its row too ──► talk-change.ts: one transaction, a statement a call
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { ReplyStages } from '../../media/contract/conversation.ts';
import type { ToControl } from '../../media/contract/link-messages.ts';
import { asEvent } from '../calls/append-call-log.ts';
import { CallChange } from '../calls/call-change.ts';
import type { CallEvent, CallEventBus } from '../calls/call-event-bus.ts';
import { isWriter, type LockedCall, lockCalls } from '../calls/call-row.ts';
import { readTurns } from '../calls/call-turns.ts';
import { isTerminal } from '../calls/state-machine.ts';
import { type Standing, writeTalk } from '../calls/write-talk.ts';
import type { Database, Queryable } from '../store/database.ts';
import { settleToolUse } from '../tools/tool-log.ts';
import { writeUsage } from '../usage/call-usage.ts';
import { tellOfCall } from '../webhooks/outbox.ts';
import { Standings } from './standings.ts';
import { addTalk, isPlain, isToolEnd, isWritten, lineOf, shownAs, type TalkMessage, turnsIn } from './talk-change.ts';

export type UsageMessage = Extract<ToControl, { type: 'usage' }>;
export type LiveMessage = TalkMessage | UsageMessage;

export interface LiveBatchDeps {
  database: Database;
  clock: Clock;
  bus: Pick<CallEventBus, 'publish' | 'isFollowed'>;
  webhookDispatcher: { dispatch(deliveryIds: readonly string[]): void };
  /** A reply's steps were stored. */
  replied(stages: ReplyStages): void;
  refuse(message: TalkMessage, why: 'stale_epoch' | 'unknown_call'): void;
}

export interface LiveBatch {
  /** Messages by call, in the order of each; a call stands once. Rejects where some are not written. */
  write(calls: readonly (readonly LiveMessage[])[]): Promise<void>;
  /**
   * Followers are told of it before it is stored, and again once it is; partial words this once. Nothing is shown of a
   * call that is known to be another's, or whose words were deleted.
   */
  showEarly(message: LiveMessage): void;
  /**
   * Of one call: what may become a part of a change by who holds `epoch`; the rest is written here and now, or refused.
   */
  readyToAdd(messages: readonly LiveMessage[], epoch: number): Promise<readonly TalkMessage[]>;
  /** `tx`: of the change. */
  add(tx: Queryable, change: CallChange, messages: readonly TalkMessage[]): Promise<void>;
  /** That change is committed, and its lines are published by whoever made it. */
  added(messages: readonly TalkMessage[]): void;
}

/** Of one call, in their order. */
type Told = readonly TalkMessage[];

interface Written {
  messages: Told;
  /** Lines of the log, in the order of the messages that have one. */
  events: readonly CallEvent[];
  deliveryIds: readonly string[];
}

export function createLiveBatch(deps: LiveBatchDeps): LiveBatch {
  const { database, clock, bus } = deps;
  const standings = new Standings(clock);
  /** Of a batch that was written in part, and comes again. */
  const done = new WeakSet<LiveMessage>();

  return {
    write,
    showEarly,
    async readyToAdd(messages, epoch) {
      const left = messages.filter((message) => !done.has(message));
      const talk = left.filter((message) => message.type !== 'usage');
      // A tool's end is settled by statements of its own, and another's words are not the caller's to add.
      const isAddable = talk.every((message) => message.epoch === epoch && !isToolEnd(message));
      await write([isAddable ? left.filter((message) => message.type === 'usage') : left]);
      return isAddable ? talk : [];
    },
    async add(tx, change, messages) {
      // Its words were deleted meanwhile, and none comes back.
      const isDeleted = change.call.transcriptStatus === 'deleted';
      await addWords(tx, change, isDeleted ? messages.filter(({ type }) => type !== 'live') : messages);
    },
    added(messages) {
      for (const message of messages) {
        done.add(message);
        for (const stages of repliesIn(message)) deps.replied(stages);
      }
    },
  };

  async function write(all: readonly (readonly LiveMessage[])[]): Promise<void> {
    const open = all.map((messages) => messages.filter((message) => !done.has(message)));
    const calls = open
      .map((messages) => messages.filter((message) => message.type !== 'usage'))
      .map((messages) => messages.filter(isWanted))
      .filter((messages) => messages.length > 0);
    const shown = calls.filter((messages) => !messages.some(isWritten));
    const written = calls.filter((messages) => messages.some(isWritten));
    const left = await addToCalls(written.filter(isOneTellers));
    await changeCalls([...left, ...written.filter((messages) => !isOneTellers(messages))]);
    if (shown.length > 0) await showOnly(shown);
    await noteUsage(open.flat().filter((message) => message.type === 'usage'));
  }

  /** Nobody reads partial words later. */
  function isWanted(message: TalkMessage): boolean {
    return isWritten(message) || bus.isFollowed(message.callUuid);
  }

  /** In one statement. Returns those that ask for more than that. */
  async function addToCalls(calls: readonly Told[]): Promise<Told[]> {
    if (calls.length === 0) return [];
    const told = calls.flat();
    const talk = await writeTalk(database, {
      calls: calls.map(([first]) => ({ callUuid: first!.callUuid, epoch: first!.epoch })),
      lines: told.flatMap((message) => {
        const line = lineOf(message, clock);
        return line === null ? [] : [{ ...line, callUuid: message.callUuid }];
      }),
      turns: turnsIn(told),
      checkpoints: calls.flatMap((messages) => {
        const last = messages.findLast((message) => message.type === 'checkpoint');
        return last === undefined ? [] : [{ callUuid: last.callUuid, checkpoint: last.checkpoint }];
      }),
    });
    standings.remember(talk.standings.values());
    for (const messages of calls) {
      const { callUuid } = messages[0]!;
      if (!talk.written.has(callUuid)) continue;
      tell({ messages, events: talk.events.filter((event) => event.callUuid === callUuid), deliveryIds: [] });
    }
    return calls.filter((messages) => !talk.written.has(messages[0]!.callUuid));
  }

  /** In one transaction. */
  async function changeCalls(calls: readonly Told[]): Promise<void> {
    if (calls.length === 0) return;
    const written = await database.transaction(async (tx) => {
      const rows = await lockCalls(tx, uuidsOf(calls));
      standings.remember(rows.values());
      const all: Written[] = [];
      for (const { call, messages } of partsOf(calls, rows)) all.push(await changeCall(tx, call, messages));
      return all;
    });
    for (const one of written) tell(one);
  }

  async function changeCall(tx: Queryable, call: LockedCall, messages: Told): Promise<Written> {
    const change = new CallChange(call);
    await addWords(tx, change, messages);
    await change.write(tx);
    const events = [...change.events];
    await storeToolUses(tx, change, messages);
    return { messages, events, deliveryIds: change.deliveryIds };
  }

  async function addWords(tx: Queryable, change: CallChange, messages: Told): Promise<void> {
    addTalk(change, messages, clock);
    const { status, callUuid } = change.call;
    if (!isTerminal(status) || turnsIn(messages).length === 0) return;
    // Late words: the call log's search has read the others already.
    await change.write(tx);
    await tx.query('SELECT call_search_write(c) FROM calls c WHERE c.call_uuid = $1', [callUuid]);
  }

  /** The uses of tools that ended, and a webhook for each that failed. */
  async function storeToolUses(tx: Queryable, change: CallChange, messages: Told): Promise<void> {
    const { callUuid, workspaceId, agentId } = change.call;
    for (const message of messages) {
      if (!isToolEnd(message)) continue;
      const { toolCallId, name, outcome, code, status, ms } = message.event;
      const use = { callUuid, workspaceId, agentId, toolCallId, name, startedAtEpochMs: message.atEpochMs - ms };
      const isNews = await settleToolUse(tx, use, { outcome, code, status, ms });
      if (!isNews || outcome !== 'failed') continue;
      const tool = { toolCallId, name, error: code, status, ms };
      const turns = () => readTurns(tx, callUuid);
      await tellOfCall(change, { event: 'tool.failed', extra: { tool }, turns }, clock);
    }
    await change.write(tx);
  }

  /** Nothing of it is kept: no lock, no transaction, and mostly no statement. */
  async function showOnly(calls: readonly Told[]): Promise<void> {
    const unknown = uuidsOf(calls).filter((callUuid) => !standings.isFresh(callUuid));
    if (unknown.length > 0) {
      standings.remember(
        await database.query<Standing>(
          `SELECT call_uuid AS "callUuid", epoch, lease_until AS "orphanedAt", transcript_status AS "transcriptStatus"
             FROM calls WHERE call_uuid = ANY ($1::uuid[])`,
          [unknown],
        ),
      );
    }
    for (const { messages } of partsOf(calls, standings)) tell({ messages, events: [], deliveryIds: [] });
  }

  function showEarly(message: LiveMessage): void {
    if (message.type === 'usage' || done.has(message)) return;
    const standing = standings.get(message.callUuid);
    // However old: neither comes back.
    if (standing?.transcriptStatus === 'deleted' || (standing?.epoch ?? 0) > message.epoch) return;
    if (standing?.epoch === message.epoch && standing.orphanedAt !== null) return;
    const event = unstored(message);
    if (event === null) return;
    if (isWritten(message)) bus.publish({ ...event, isEarly: true });
    else {
      done.add(message);
      bus.publish(event);
    }
  }

  function unstored(message: TalkMessage): CallEvent | null {
    const line = shownAs(message, clock);
    return line === null ? null : asEvent(message.callUuid, line, null);
  }

  /** What was used was used, whoever carries the call by now. */
  async function noteUsage(messages: readonly UsageMessage[]): Promise<void> {
    if (messages.length === 0) return;
    await writeUsage(database, messages);
    for (const message of messages) done.add(message);
  }

  function tell({ messages, events, deliveryIds }: Written): void {
    let next = 0;
    for (const message of messages) {
      done.add(message);
      const event = lineOf(message, clock) === null ? unstored(message) : events[next++]!;
      if (event !== null) bus.publish(event);
    }
    if (deliveryIds.length > 0) deps.webhookDispatcher.dispatch(deliveryIds);
    for (const message of messages) for (const stages of repliesIn(message)) deps.replied(stages);
  }

  /** Refuses what is not its call's owner's. */
  function partsOf<Row extends Standing>(
    calls: readonly Told[],
    rows: { get(callUuid: string): Row | undefined },
  ): { call: Row; messages: Told }[] {
    return calls.flatMap((messages) => {
      const call = rows.get(messages[0]!.callUuid);
      const isOwners = ({ epoch }: TalkMessage): boolean => call !== undefined && isWriter(call, epoch);
      for (const message of messages)
        if (!isOwners(message)) deps.refuse(message, call ? 'stale_epoch' : 'unknown_call');
      if (call === undefined) return [];
      // Its words were deleted meanwhile, and none comes back.
      const isDeleted = call.transcriptStatus === 'deleted';
      const own = messages.filter((message) => isOwners(message) && !(isDeleted && message.type === 'live'));
      return own.length === 0 ? [] : [{ call, messages: own }];
    });
  }
}

/** All are plain, and of one epoch. */
function isOneTellers(messages: Told): boolean {
  return messages.every((message) => isPlain(message) && message.epoch === messages[0]!.epoch);
}

function uuidsOf(calls: readonly Told[]): string[] {
  return calls.map((messages) => messages[0]!.callUuid);
}

function repliesIn(message: TalkMessage): ReplyStages[] {
  const stages = message.type === 'live' && message.event.type === 'latency' ? message.event.latency.stages : null;
  return stages ? [stages] : [];
}
