/**
 * What media processes tell of running calls (events, turns, checkpoints), of many calls in one transaction: so that a
 * call's talk costs the database a share of a commit, not some. Partial words are shown to who follows, and neither
 * written nor read for. What another epoch says is refused: its owner was replaced. Called by `media-messages.ts`, and
 * again with the same messages when the database was away: at worst a line of the log stands twice.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { ConversationEvent, ReplyStages } from '../../media/contract/conversation.ts';
import type { ToControl } from '../../media/contract/link-messages.ts';
import type { CallLogLine } from '../calls/append-call-log.ts';
import type { CallEvent, CallEventBus } from '../calls/call-event-bus.ts';
import { type CallPatch, type CallRow, isWriter, lockCalls, patchCall } from '../calls/call-row.ts';
import { withWarning } from '../calls/call-warnings.ts';
import { isTerminal } from '../calls/state-machine.ts';
import { type Talk, writeTalk } from '../calls/write-talk.ts';
import { streamBegan } from '../recordings/recording-rows.ts';
import type { Database, Queryable } from '../store/database.ts';
import { settleToolUse } from '../tools/tool-log.ts';
import type { RecordCallEvent } from '../webhooks/record-call-event.ts';

export type LiveMessage = Extract<ToControl, { type: 'live' | 'checkpoint' | 'media.started' }>;
/** What becomes a line of the call's log. */
type ToldMessage = Exclude<LiveMessage, { type: 'checkpoint' }>;

export interface LiveBatchDeps {
  database: Database;
  clock: Clock;
  bus: Pick<CallEventBus, 'publish' | 'isFollowed'>;
  recordCallEvent: RecordCallEvent;
  webhookDispatcher: { dispatch(deliveryIds: readonly string[]): void };
  /** A reply's steps were stored. */
  replied(stages: ReplyStages): void;
  refuse(message: LiveMessage, why: 'stale_epoch' | 'unknown_call'): void;
}

export interface LiveBatch {
  /** Messages by call, in the order of each; a call stands once. All are written, or none. */
  write(calls: readonly (readonly LiveMessage[])[]): Promise<void>;
}

/** What partial words need of their call's row. */
type Standing = Pick<CallRow, 'callUuid' | 'epoch' | 'orphanedAt' | 'transcriptStatus'>;

/** One call's part of a batch. */
interface Part<Row extends Standing = CallRow> {
  call: Row;
  /** Those of its owner. */
  messages: readonly LiveMessage[];
}

/** Rows that are remembered between batches, so that partial words need no look at them. */
const MOST_REMEMBERED = 10_000;

export function createLiveBatch(deps: LiveBatchDeps): LiveBatch {
  const { database, bus } = deps;
  /** As they were when they were last read or written. */
  const remembered = new Map<string, Standing>();

  return {
    async write(all) {
      const calls = all.map((messages) => messages.filter(isWanted)).filter((messages) => messages.length > 0);
      if (calls.length === 0) return;
      const written = calls.some((messages) => messages.some(isWritten))
        ? await database.transaction((tx) => writeAll(tx, calls))
        : await readAll(calls);
      for (const event of written.events) bus.publish(event);
      if (written.deliveryIds.length > 0) deps.webhookDispatcher.dispatch(written.deliveryIds);
      for (const message of written.owned) for (const stages of repliesIn(message)) deps.replied(stages);
    },
  };

  /** Nobody reads partial words later. */
  function isWanted(message: LiveMessage): boolean {
    return isWritten(message) || bus.isFollowed(message.callUuid);
  }

  interface Written {
    events: CallEvent[];
    deliveryIds: string[];
    owned: readonly LiveMessage[];
  }

  async function writeAll(tx: Queryable, calls: readonly (readonly LiveMessage[])[]): Promise<Written> {
    const parts = partsOf(calls, remember(await lockCalls(tx, uuidsOf(calls))));
    const owned = parts.flatMap(({ messages }) => messages);
    const told = owned.filter((message): message is ToldMessage => message.type !== 'checkpoint' && isWritten(message));
    const turns = told.flatMap((message) =>
      message.type === 'live' && message.event.type === 'turn'
        ? [{ callUuid: message.callUuid, turn: message.event.turn }]
        : [],
    );
    const checkpoints = await writeRows(tx, parts);
    const stored = await writeTalk(tx, { lines: told.map(lineOf), turns, checkpoints });
    await searchAgain(tx, parts);
    for (const message of told) {
      if (message.type === 'media.started') await streamBegan(tx, message, new Date(startedEpochMs(message)));
    }
    const deliveryIds = await storeToolUses(tx, parts);
    const byMessage = new Map<LiveMessage, CallEvent>(told.map((message, index) => [message, stored[index]!]));
    return { events: owned.flatMap((message) => shown(message, byMessage.get(message))), deliveryIds, owned };
  }

  function lineOf(message: ToldMessage): CallLogLine & { callUuid: string } {
    const { callUuid, epoch } = message;
    if (message.type === 'live') {
      return { callUuid, kind: message.event.type, data: dataOf(message.event), atEpochMs: message.atEpochMs };
    }
    return {
      callUuid,
      kind: message.type,
      data: { streamId: message.streamId, epoch },
      atEpochMs: deps.clock.epochMs(),
    };
  }

  function startedEpochMs({ startedAtEpochMs }: Extract<LiveMessage, { type: 'media.started' }>): number {
    return startedAtEpochMs ?? deps.clock.epochMs();
  }

  /** Nothing of it is kept: no lock, no transaction, and mostly no statement. */
  async function readAll(calls: readonly (readonly LiveMessage[])[]): Promise<Written> {
    const unknown = uuidsOf(calls).filter((callUuid) => !remembered.has(callUuid));
    if (unknown.length > 0) {
      const rows = await database.query<Standing>(
        `SELECT call_uuid AS "callUuid", epoch, lease_until AS "orphanedAt", transcript_status AS "transcriptStatus"
           FROM calls WHERE call_uuid = ANY ($1::uuid[])`,
        [unknown],
      );
      remember(new Map(rows.map((row) => [row.callUuid, row])));
    }
    const owned = partsOf(calls, remembered).flatMap(({ messages }) => messages);
    return { events: owned.flatMap((message) => shown(message, undefined)), deliveryIds: [], owned };
  }

  function remember<Row extends Standing>(rows: Map<string, Row>): Map<string, Row> {
    for (const { callUuid, epoch, orphanedAt, transcriptStatus } of rows.values()) {
      remembered.delete(callUuid);
      remembered.set(callUuid, { callUuid, epoch, orphanedAt, transcriptStatus });
    }
    for (const callUuid of remembered.keys()) {
      if (remembered.size <= MOST_REMEMBERED) break;
      remembered.delete(callUuid);
    }
    return rows;
  }

  function partsOf<Row extends Standing>(
    calls: readonly (readonly LiveMessage[])[],
    rows: ReadonlyMap<string, Row>,
  ): Part<Row>[] {
    return calls.flatMap((messages) => {
      const call = rows.get(messages[0]!.callUuid);
      const isOwners = ({ epoch }: LiveMessage): boolean => call !== undefined && isWriter(call, epoch);
      for (const message of messages)
        if (!isOwners(message)) deps.refuse(message, call ? 'stale_epoch' : 'unknown_call');
      if (call === undefined) return [];
      // Its words were deleted meanwhile, and none comes back.
      const isDeleted = call.transcriptStatus === 'deleted';
      const own = messages.filter((message) => isOwners(message) && !(isDeleted && message.type === 'live'));
      return own.length === 0 ? [] : [{ call, messages: own }];
    });
  }

  /** Returns the checkpoints of calls of which nothing else is written. */
  async function writeRows(tx: Queryable, parts: readonly Part[]): Promise<Talk['checkpoints']> {
    const checkpoints = [];
    for (const { call, messages } of parts) {
      const patch = patchOf(call, messages);
      const last = messages.findLast((message) => message.type === 'checkpoint');
      if (Object.keys(patch).length > 0) {
        await patchCall(tx, call.callUuid, last === undefined ? patch : { ...patch, checkpoint: last.checkpoint });
      } else if (last !== undefined) checkpoints.push({ callUuid: call.callUuid, checkpoint: last.checkpoint });
    }
    return checkpoints;
  }

  /** Late words: the call log's search has read the others already. */
  async function searchAgain(tx: Queryable, parts: readonly Part[]): Promise<void> {
    for (const { call, messages } of parts) {
      if (isTerminal(call.status) && messages.some(isTurn))
        await tx.query('SELECT call_search_write(c) FROM calls c WHERE c.call_uuid = $1', [call.callUuid]);
    }
  }

  /** The uses of tools that ended, and a webhook for each that failed. */
  async function storeToolUses(tx: Queryable, parts: readonly Part[]): Promise<string[]> {
    const deliveryIds: string[] = [];
    for (const { call, messages } of parts) {
      for (const message of messages) {
        if (message.type !== 'live' || message.event.type !== 'tool' || message.event.phase !== 'end') continue;
        const { toolCallId, name, outcome, code, status, ms } = message.event;
        const { callUuid, workspaceId, agentId } = call;
        const use = { callUuid, workspaceId, agentId, toolCallId, name, startedAtEpochMs: message.atEpochMs - ms };
        const isNews = await settleToolUse(tx, use, { outcome, code, status, ms });
        if (!isNews || outcome !== 'failed') continue;
        const tool = { toolCallId, name, error: code, status, ms };
        deliveryIds.push(...(await deps.recordCallEvent(tx, call, 'tool.failed', { tool }, deps.clock)));
      }
    }
    return deliveryIds;
  }
}

function uuidsOf(calls: readonly (readonly LiveMessage[])[]): string[] {
  return calls.map((messages) => messages[0]!.callUuid);
}

function isWritten(message: LiveMessage): boolean {
  return message.type !== 'live' || message.event.type !== 'partial';
}

function isTurn(message: LiveMessage): boolean {
  return message.type === 'live' && message.event.type === 'turn';
}

function dataOf(event: ConversationEvent): object {
  const { type: _type, ...data } = event;
  return data;
}

function shown(message: LiveMessage, stored: CallEvent | undefined): CallEvent[] {
  if (stored !== undefined) return [stored];
  if (message.type !== 'live') return [];
  const { callUuid, atEpochMs, event } = message;
  return [{ callUuid, id: null, at: new Date(atEpochMs), kind: event.type, data: { ...dataOf(event) } }];
}

function repliesIn(message: LiveMessage): ReplyStages[] {
  const stages = message.type === 'live' && message.event.type === 'latency' ? message.event.latency.stages : null;
  return stages ? [stages] : [];
}

function patchOf(call: CallRow, messages: readonly LiveMessage[]): CallPatch {
  const patch: CallPatch = {};
  for (const message of messages) {
    // Only now: of a stream that never began no recording will be told.
    if (message.type === 'media.started' && call.recordingStatus === 'none') patch.recordingStatus = 'pending';
    if (message.type !== 'live') continue;
    const { event } = message;
    if (event.type === 'first_audio') {
      patch.latency = { ...(patch.latency ?? call.latency), answerToFirstWordMs: event.answerToFirstWordMs };
    } else if (event.type === 'barge_in' && event.phase === 'resume') {
      patch.falseBargeIns = (patch.falseBargeIns ?? call.falseBargeIns ?? 0) + 1;
    } else if (event.type === 'warning') {
      patch.warnings = withWarning(patch.warnings ?? call.warnings, event);
    } else if (event.type === 'tool' && event.phase === 'end' && event.outcome === 'failed') {
      // What the call log finds such calls by.
      patch.warnings = withWarning(patch.warnings ?? call.warnings, { code: 'tool.failed' });
    } else if (event.type === 'turn' && isTerminal(call.status)) patch.transcriptStatus = 'ready';
  }
  return patch;
}
