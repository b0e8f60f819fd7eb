/**
 * What each message of a media process about a call changes in the database: what its talk brings forth in batches
 * (`live-batch.ts`), the rest one by one. Called by the inbox, in the call's order, and again with the same messages
 * when the database was away: at worst a line of the log stands twice. What another epoch says is refused and counted:
 * its owner was replaced.
 */
import { rm } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { ENDED_REASONS, type EndedReason, isEndedReason } from '../../media/contract/call-outcome.ts';
import type { Clock } from '../../media/contract/clock.ts';
import type { RecordingFacts, ReplyStages } from '../../media/contract/conversation.ts';
import type { ToControl } from '../../media/contract/link-messages.ts';
import { appendCallLog } from '../calls/append-call-log.ts';
import type { CallEvent, CallEventBus } from '../calls/call-event-bus.ts';
import { engineAtFault } from '../calls/call-failure.ts';
import type { CallError } from '../calls/call-record.ts';
import { type CallRow, isWriter, lockCall, patchCall } from '../calls/call-row.ts';
import { readTurns } from '../calls/call-turns.ts';
import { summariseLatencies } from '../calls/latency-summary.ts';
import { writeWaveformLatency } from '../calls/waveform-latency.ts';
import type { Observation } from '../lifecycle/observe.ts';
import type { Transitions } from '../lifecycle/transition.ts';
import type { RecordingLinks } from '../recordings/recording-links.ts';
import { writeRecordingReport } from '../recordings/recording-report.ts';
import { streamNeverBegan } from '../recordings/recording-rows.ts';
import { settleRecording } from '../recordings/settle-recording.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database, Queryable } from '../store/database.ts';
import type { ToolExecutor } from '../tools/tool-executor.ts';
import { writeUsage } from '../usage/call-usage.ts';
import type { RecordCallEvent } from '../webhooks/record-call-event.ts';
import { createLiveBatch, type LiveMessage } from './live-batch.ts';

export type CallMessage = EpochMessage | Extract<ToControl, { type: 'usage' }>;
/** Of who carries the call. */
type EpochMessage = Extract<ToControl, { callUuid: string; epoch: number }>;

export interface MediaMessagesDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Pick<CallEventBus, 'publish' | 'isFollowed'>;
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
  handle(message: Exclude<CallMessage, LiveMessage>): Promise<void>;
  /** See `LiveBatch.write`. */
  handleTogether(calls: readonly (readonly LiveMessage[])[]): Promise<void>;
  /** Messages refused because a newer epoch owns the call. */
  staleCount(): number;
}

export function isLive(message: CallMessage): message is LiveMessage {
  return message.type === 'live' || message.type === 'checkpoint' || message.type === 'media.started';
}

export function createMediaMessages(deps: MediaMessagesDeps): MediaMessages {
  const { database, clock, log, bus, transitions } = deps;
  let stale = 0;
  const live = createLiveBatch({ ...deps, refuse });

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
      if (mayBeEarlier ? call.epoch < message.epoch : !isWriter(call, message.epoch)) return 'stale_epoch';
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

  async function handleOne(message: Exclude<CallMessage, LiveMessage>): Promise<void> {
    const { callUuid } = message;
    if (message.type === 'usage') {
      // What was used was used, whoever carries the call by now.
      await writeUsage(database, callUuid, message.lines);
      return;
    }
    const { epoch } = message;
    switch (message.type) {
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
        const observation = async (tx: Queryable): Promise<Observation> => {
          await streamNeverBegan(tx, message);
          const latency = summariseLatencies(message.latencies, await readTurns(tx, callUuid));
          return { type: message.type, why, durationMs, latency };
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
    handle: handleOne,
    handleTogether: live.write,
    staleCount: () => stale,
  };
}

function endedByAgent(reason: EndedReason): boolean {
  const { status } = ENDED_REASONS[reason];
  return status === 'completed' && reason !== 'max_duration_reached' && reason !== 'inactivity';
}
