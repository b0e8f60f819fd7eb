/**
 * What each message of a media process about a call changes in the database. Called by the inbox, in the call's order,
 * and again with the same messages when the database was away: at worst a line of the log stands twice. What another
 * epoch says is refused and counted: its owner was replaced.
 */
import { rm } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { ENDED_REASONS, type EndedReason, isEndedReason } from '../../media/contract/call-outcome.ts';
import type { Clock } from '../../media/contract/clock.ts';
import type { ConversationEvent, RecordingFacts, ReplyStages, Turn } from '../../media/contract/conversation.ts';
import type { ToControl } from '../../media/contract/link-messages.ts';
import { appendCallLog } from '../calls/append-call-log.ts';
import type { CallEvent, CallEventBus } from '../calls/call-event-bus.ts';
import { engineAtFault } from '../calls/call-failure.ts';
import type { CallError } from '../calls/call-record.ts';
import { type CallPatch, type CallRow, lockCall, patchCall } from '../calls/call-row.ts';
import { readTurns } from '../calls/call-turns.ts';
import { withWarning } from '../calls/call-warnings.ts';
import { summariseLatencies } from '../calls/latency-summary.ts';
import { isTerminal } from '../calls/state-machine.ts';
import { writeWaveformLatency } from '../calls/waveform-latency.ts';
import type { Transitions } from '../lifecycle/transition.ts';
import type { RecordingLinks } from '../recordings/recording-links.ts';
import { writeRecordingReport } from '../recordings/recording-report.ts';
import { streamBegan, streamNeverBegan } from '../recordings/recording-rows.ts';
import { settleRecording } from '../recordings/settle-recording.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database, Queryable } from '../store/database.ts';
import type { ToolExecutor } from '../tools/tool-executor.ts';
import { settleToolUse } from '../tools/tool-log.ts';
import { writeUsage } from '../usage/call-usage.ts';
import type { RecordCallEvent } from '../webhooks/record-call-event.ts';

export type CallMessage = EpochMessage | Extract<ToControl, { type: 'usage' }>;
/** Of who carries the call. */
type EpochMessage = Extract<ToControl, { callUuid: string; epoch: number }>;
type EventMessage = Extract<CallMessage, { type: 'live' }>;

export interface MediaMessagesDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Pick<CallEventBus, 'publish'>;
  transitions: Transitions;
  recordCallEvent: RecordCallEvent;
  tools: Pick<ToolExecutor, 'claim'>;
  webhookDispatcher: { dispatch(deliveryIds: readonly string[]): void };
  /** This node's disk, on which media has finished a recording; and the uploader that takes it to the store. */
  recordings: { node: string; nudge(): void };
  sealer: Sealer;
  links: RecordingLinks;
  /** A reply's steps were stored. */
  replied(stages: ReplyStages): void;
}

export interface MediaMessages {
  handle(messages: readonly CallMessage[]): Promise<void>;
  /** Messages refused because a newer epoch owns the call. */
  staleCount(): number;
}

export function isEvent(message: CallMessage): message is EventMessage {
  return message.type === 'live';
}

export function createMediaMessages(deps: MediaMessagesDeps): MediaMessages {
  const { database, clock, log, bus, transitions } = deps;
  let stale = 0;

  function refuse(message: EpochMessage, why: 'stale_epoch' | 'unknown_call'): void {
    stale++;
    log.warn(
      { callUuid: message.callUuid, epoch: message.epoch, type: message.type, why },
      'a media message was refused',
    );
  }

  /**
   * Runs `work` on the locked row if the message's epoch is the row's, or an earlier one where that is fine; then
   * publishes what it returns.
   */
  async function onOwnedCall(
    message: EpochMessage,
    work: (tx: Queryable, call: CallRow) => Promise<{ events: CallEvent[]; deliveryIds?: string[] }>,
    mayBeEarlier = false,
  ): Promise<void> {
    const done = await database.transaction(async (tx) => {
      const call = await lockCall(tx, message.callUuid);
      if (call === undefined) return 'unknown_call';
      if (mayBeEarlier ? call.epoch < message.epoch : call.epoch !== message.epoch) return 'stale_epoch';
      return work(tx, call);
    });
    if (typeof done === 'string') {
      refuse(message, done);
      return;
    }
    for (const event of done.events) bus.publish(event);
    if (done.deliveryIds !== undefined && done.deliveryIds.length > 0)
      deps.webhookDispatcher.dispatch(done.deliveryIds);
  }

  async function handleEvents(messages: readonly EventMessage[]): Promise<void> {
    const first = messages[0]!;
    let replies: ReplyStages[] = [];
    await onOwnedCall(first, async (tx, call) => {
      // Its words were deleted meanwhile, and none comes back.
      if (call.transcriptStatus === 'deleted') return { events: [] };
      const stored = messages.filter((message) => message.event.type !== 'partial');
      const events = await appendCallLog(
        tx,
        call.callUuid,
        stored.map(({ event, atEpochMs }) => ({ kind: event.type, data: dataOf(event), atEpochMs })),
      );
      replies = repliesIn(messages);
      const turns = turnsOf(messages);
      await storeTurns(tx, call.callUuid, turns);
      await patchCall(tx, call.callUuid, patchOf(call, messages));
      // Late words: the call log's search has read the others already.
      if (turns.length > 0 && isTerminal(call.status)) {
        await tx.query('SELECT call_search_write(c) FROM calls c WHERE c.call_uuid = $1', [call.callUuid]);
      }
      const deliveryIds = await storeToolUses(tx, call, messages);
      const byMessage = new Map(stored.map((message, index) => [message, events[index]!]));
      return { events: messages.map((message) => byMessage.get(message) ?? shownOnly(message)), deliveryIds };
    });
    for (const stages of replies) deps.replied(stages);
  }

  /** The uses of tools that ended, and a webhook for each that failed. */
  async function storeToolUses(tx: Queryable, call: CallRow, messages: readonly EventMessage[]): Promise<string[]> {
    const deliveryIds: string[] = [];
    for (const { event, atEpochMs } of messages) {
      if (event.type !== 'tool' || event.phase !== 'end') continue;
      const { toolCallId, name, outcome, code, status, ms } = event;
      const { callUuid, workspaceId, agentId } = call;
      const use = { callUuid, workspaceId, agentId, toolCallId, name, startedAtEpochMs: atEpochMs - ms };
      const isNews = await settleToolUse(tx, use, { outcome, code, status, ms });
      if (!isNews || outcome !== 'failed') continue;
      const tool = { toolCallId, name, error: code, status, ms };
      deliveryIds.push(...(await deps.recordCallEvent(tx, call, 'tool.failed', { tool }, clock)));
    }
    return deliveryIds;
  }

  async function handleOne(message: Exclude<CallMessage, EventMessage>): Promise<void> {
    const { callUuid } = message;
    if (message.type === 'usage') {
      // What was used was used, whoever carries the call by now.
      await writeUsage(database, callUuid, message.lines);
      return;
    }
    const { epoch } = message;
    switch (message.type) {
      case 'media.started':
        return onOwnedCall(message, async (tx, call) => {
          // Only now: of a stream that never began no recording will be told.
          if (call.recordingStatus === 'none') await patchCall(tx, callUuid, { recordingStatus: 'pending' });
          await streamBegan(tx, message, new Date(message.startedAtEpochMs ?? clock.epochMs()));
          const data = { streamId: message.streamId, epoch };
          return {
            events: await appendCallLog(tx, callUuid, [{ kind: message.type, data, atEpochMs: clock.epochMs() }]),
          };
        });
      case 'web.session':
        return onOwnedCall(message, async (tx) => {
          const { visitor, audio, resumeNumber } = message;
          if (visitor !== null) await patchCall(tx, callUuid, visitor);
          await tx.query('UPDATE web_sessions SET audio = $2, resume_number = $3 WHERE call_uuid = $1', [
            callUuid,
            JSON.stringify(audio),
            resumeNumber,
          ]);
          const data = { epoch, audio, resumeNumber };
          return {
            events: await appendCallLog(tx, callUuid, [{ kind: message.type, data, atEpochMs: clock.epochMs() }]),
          };
        });
      case 'checkpoint':
        return onOwnedCall(message, async (tx) => {
          await patchCall(tx, callUuid, { checkpoint: message.checkpoint });
          return { events: [] };
        });
      case 'tool.call': {
        let start = (): void => {};
        await onOwnedCall(message, async (tx, call) => {
          start = await deps.tools.claim(tx, call, message.ask);
          return { events: [] };
        });
        start();
        return;
      }
      case 'tool.cancel':
        // Done when it was read.
        return;
      case 'agent.ended': {
        const reason: EndedReason = isEndedReason(message.reason) ? message.reason : 'internal_error';
        const error = message.error === null ? null : await errorOf(callUuid, reason, message.error);
        const { disposition } = message;
        const hangupBy = endedByAgent(reason) ? ('agent' as const) : ('platform' as const);
        const observation = { type: 'end.asked' as const, reason, hangupBy, error, disposition };
        const applied = await transitions.apply(callUuid, observation, { epoch });
        if (typeof applied === 'string') refuse(message, applied);
        return;
      }
      case 'web.ended': {
        const applied = await transitions.apply(callUuid, { type: message.type, why: message.why }, { epoch });
        if (typeof applied === 'string') refuse(message, applied);
        return;
      }
      case 'media.stopped': {
        const { why, durationMs } = message;
        await streamNeverBegan(database, message);
        const observation = {
          type: 'media.stopped' as const,
          why,
          durationMs,
          latency: summariseLatencies(message.latencies, await readTurns(database, callUuid)),
        };
        const applied = await transitions.apply(callUuid, observation, { epoch });
        if (typeof applied === 'string') refuse(message, applied);
        return;
      }
      case 'recording':
        // The recording of a stream that was lost is finished after the call has come back elsewhere.
        return storeRecording(message);
    }
  }

  async function errorOf(callUuid: string, reason: EndedReason, message: string): Promise<CallError> {
    const [row] = await database.query<{ definition: AgentDefinition }>(
      `SELECT v.definition FROM calls c JOIN agent_versions v ON v.agent_id = c.agent_id AND v.version = c.agent_version
        WHERE c.call_uuid = $1`,
      [callUuid],
    );
    const provider = engineAtFault(reason, row?.definition ?? null);
    return { code: reason, message, ...(provider === null ? {} : { provider }) };
  }

  /** It is told of as ready by the uploader, which makes sure of it first. */
  async function storeRecording(message: Extract<CallMessage, { type: 'recording' }>): Promise<void> {
    const { callUuid, error } = message;
    const { sound, ...facts } = message.recording ?? { sound: undefined };
    const recording = message.recording === null ? null : (facts as RecordingFacts);
    if (message.recording === null) log.warn({ callUuid, error }, 'the call could not be recorded');
    let next = { upload: false, superfluous: null as string | null };
    await onOwnedCall(
      message,
      async (tx, call) => {
        const at = { node: deps.recordings.node, nowEpochMs: clock.epochMs() };
        const told = await writeRecordingReport(tx, call, { epoch: message.epoch, recording, error }, at);
        next = told.next;
        if (sound !== undefined) await writeWaveformLatency(tx, call, message.epoch, sound);
        const settled = await settleRecording(deps, tx, call);
        return { events: [...told.events, ...settled.events], deliveryIds: settled.deliveryIds };
      },
      true,
    );
    // It was still being finished when it was erased, or it is stored already.
    if (next.superfluous !== null) await rm(next.superfluous, { force: true });
    if (next.upload) deps.recordings.nudge();
  }

  return {
    async handle(messages) {
      const first = messages[0]!;
      if (!isEvent(first)) {
        await handleOne(first);
        return;
      }
      const events = messages.filter(isEvent);
      // A call's owner may change in the middle of a batch.
      for (let start = 0; start < events.length; ) {
        const { epoch } = events[start]!;
        let end = start;
        while (end < events.length && events[end]!.epoch === epoch) end++;
        await handleEvents(events.slice(start, end));
        start = end;
      }
    },
    staleCount: () => stale,
  };
}

function endedByAgent(reason: EndedReason): boolean {
  const { status } = ENDED_REASONS[reason];
  return status === 'completed' && reason !== 'max_duration_reached' && reason !== 'inactivity';
}

function dataOf(event: ConversationEvent): object {
  const { type: _type, ...data } = event;
  return data;
}

function shownOnly(message: EventMessage): CallEvent {
  return {
    callUuid: message.callUuid,
    id: null,
    at: new Date(message.atEpochMs),
    kind: message.event.type,
    data: dataOf(message.event) as Record<string, unknown>,
  };
}

function repliesIn(messages: readonly EventMessage[]): ReplyStages[] {
  return messages.flatMap(({ event }) => (event.type === 'latency' ? (event.latency.stages ?? []) : []));
}

function turnsOf(messages: readonly EventMessage[]): Turn[] {
  const byId = new Map<string, Turn>();
  for (const { event } of messages) if (event.type === 'turn') byId.set(event.turn.turnId, event.turn);
  return [...byId.values()];
}

/** A turn may be told again when more of it was heard: the last word counts. `t12` stands at position 12. */
async function storeTurns(tx: Queryable, callUuid: string, turns: readonly Turn[]): Promise<void> {
  if (turns.length === 0) return;
  await tx.query(
    `INSERT INTO call_turns (call_uuid, turn_id, position, turn)
     SELECT $1, told.turn_id, told.position, told.turn
       FROM unnest($2::text[], $3::int[], $4::jsonb[]) AS told (turn_id, position, turn)
     ON CONFLICT (call_uuid, turn_id) DO UPDATE SET turn = EXCLUDED.turn`,
    [
      callUuid,
      turns.map((turn) => turn.turnId),
      turns.map((turn) => Number(/\d+/.exec(turn.turnId)?.[0] ?? 0)),
      turns.map((turn) => JSON.stringify(turn)),
    ],
  );
}

function patchOf(call: CallRow, messages: readonly EventMessage[]): CallPatch {
  const patch: CallPatch = {};
  for (const { event } of messages) {
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
