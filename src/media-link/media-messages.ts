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
import type { CallEventBus } from '../calls/call-event-bus.ts';
import { engineAtFault } from '../calls/call-failure.ts';
import type { CallError } from '../calls/call-record.ts';
import { isWriter } from '../calls/call-row.ts';
import { summariseLatencies } from '../calls/latency-summary.ts';
import { addWaveformLatency } from '../calls/waveform-latency.ts';
import type { Observed, Transitions } from '../lifecycle/transition.ts';
import { lockRecorded, type RecordedCall } from '../recordings/recorded-call.ts';
import type { RecordingLinks } from '../recordings/recording-links.ts';
import { type AfterReport, addRecordingReport } from '../recordings/recording-report.ts';
import { streamNeverBegan } from '../recordings/recording-rows.ts';
import type { RecordingUploader } from '../recordings/recording-uploader.ts';
import { settleRecording } from '../recordings/settle-recording.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database, Queryable } from '../store/database.ts';
import type { ToolExecutor } from '../tools/tool-executor.ts';
import { createLiveBatch, type LiveMessage, type UsageMessage } from './live-batch.ts';

export type CallMessage = EpochMessage | UsageMessage;
/** Of who carries the call. */
type EpochMessage = Extract<ToControl, { callUuid: string; epoch: number }>;

export interface MediaMessagesDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Pick<CallEventBus, 'publish' | 'isFollowed'>;
  transitions: Transitions;
  tools: Pick<ToolExecutor, 'claim'>;
  webhookDispatcher: { dispatch(deliveryIds: readonly string[]): void };
  /** This node's disk, on which media has finished a recording; and the uploader that takes it to the store. */
  recordings: { node: string } & Pick<RecordingUploader, 'nudge' | 'offer'>;
  sealer: Sealer;
  links: RecordingLinks;
  /** A reply's steps were stored. */
  replied(stages: ReplyStages): void;
}

export interface MediaMessages {
  /** See `InboxOptions.handle`. */
  handle(message: Exclude<CallMessage, LiveMessage>, before?: readonly LiveMessage[]): Promise<void>;
  /** See `LiveBatch.write`. */
  handleTogether(calls: readonly (readonly LiveMessage[])[]): Promise<void>;
  /** See `LiveBatch.showEarly`. */
  showEarly(message: LiveMessage): void;
  /** Messages refused because a newer epoch owns the call. */
  staleCount(): number;
}

/** What ends a call is one transaction with its last words. */
const TAKES_TALK_ALONG: ReadonlySet<CallMessage['type']> = new Set(['agent.ended', 'web.ended', 'media.stopped']);

export function isLive(message: CallMessage): message is LiveMessage {
  const { type } = message;
  return type === 'live' || type === 'checkpoint' || type === 'media.started' || type === 'usage';
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
   * Runs `work` on the locked call if the message's epoch is the row's, or an earlier one where that is fine; writes
   * its change, and tells of it.
   */
  async function onOwnedCall(
    message: EpochMessage,
    work: (tx: Queryable, recorded: RecordedCall) => Promise<void>,
    mayBeEarlier = false,
  ): Promise<void> {
    const done = await database.transaction(async (tx) => {
      const recorded = await lockRecorded(tx, message.callUuid);
      if (recorded === undefined) return 'unknown_call';
      const { change } = recorded;
      const { call } = change;
      if (mayBeEarlier ? call.epoch < message.epoch : !isWriter(call, message.epoch)) return 'stale_epoch';
      await work(tx, recorded);
      await change.write(tx);
      return change;
    });
    if (typeof done === 'string') {
      refuse(message, done);
      return;
    }
    for (const event of done.events) bus.publish(event);
    if (done.deliveryIds.length > 0) deps.webhookDispatcher.dispatch(done.deliveryIds);
  }

  /**
   * What the observation makes of the call, and what it told right before that, in one transaction. `isOfTurns`: the
   * observation is made of turns, these among them.
   */
  async function applied(
    message: EpochMessage,
    before: readonly LiveMessage[],
    observed: Observed,
    isOfTurns = false,
  ): Promise<void> {
    const { callUuid, epoch } = message;
    const told = await live.readyToAdd(before, epoch);
    const withTalk: Observed = async (tx, seen) => {
      await live.add(tx, seen.change, told);
      // So is what is told of an end, and one that comes before the carrier's word of the answer ends the call at once.
      if (isOfTurns || seen.change.call.status !== 'in_progress') await seen.change.write(tx);
      return typeof observed === 'function' ? observed(tx, seen) : observed;
    };
    const done = await transitions.apply(callUuid, told.length === 0 ? observed : withTalk, { epoch });
    if (typeof done === 'string') for (const one of [...told, message]) refuse(one, done);
    else live.added(told);
  }

  async function handleOne(
    message: Exclude<CallMessage, LiveMessage>,
    before: readonly LiveMessage[] = [],
  ): Promise<void> {
    const { callUuid, epoch } = message;
    if (!TAKES_TALK_ALONG.has(message.type) && before.length > 0) await live.write([before]);
    switch (message.type) {
      case 'web.session':
        return onOwnedCall(message, async (_tx, { change }) => {
          const { visitor, audio, resumeNumber } = message;
          if (visitor !== null) change.set(visitor);
          change.also({
            sql: (place) =>
              `UPDATE web_sessions SET audio = ${place(JSON.stringify(audio))}, resume_number = ${place(resumeNumber)}
                WHERE call_uuid = ${place(callUuid)}`,
          });
          change.log({ kind: message.type, data: { epoch, audio, resumeNumber }, atEpochMs: clock.epochMs() });
        });
      case 'tool.call': {
        let start = (): void => {};
        await onOwnedCall(message, async (tx, { change }) => {
          start = await deps.tools.claim(tx, change.call, message.ask);
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
        return applied(message, before, { type: 'end.asked', reason, hangupBy, error, disposition });
      }
      case 'web.ended':
        return applied(message, before, { type: message.type, why: message.why });
      case 'media.stopped': {
        const { why, durationMs } = message;
        const observation: Observed = async (tx, { turns, recordings }) => {
          await streamNeverBegan(tx, await recordings(), message);
          const latency = summariseLatencies(message.latencies, await turns());
          return { type: message.type, why, durationMs, latency };
        };
        return applied(message, before, observation, true);
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
    const offered = deps.recordings.offer();
    let next: AfterReport = { upload: null, superfluous: null };
    await onOwnedCall(
      message,
      async (tx, recorded) => {
        const nowEpochMs = clock.epochMs();
        const at = { node: deps.recordings.node, nowEpochMs, dueAt: offered?.dueAt ?? new Date(nowEpochMs) };
        next = await addRecordingReport(recorded, { epoch: message.epoch, recording, error }, at);
        if (sound !== undefined) await addWaveformLatency(tx, recorded, message.epoch, sound);
        await settleRecording(deps, tx, recorded);
      },
      true,
    );
    // It was still being finished when it was erased, or it is stored already.
    if (next.superfluous !== null) await rm(next.superfluous, { force: true });
    if (next.upload === null) return;
    // One that was told before is due by itself.
    if (offered !== null && next.upload.nextAt === offered.dueAt) offered.take(next.upload);
    else deps.recordings.nudge();
  }

  return {
    handle: handleOne,
    handleTogether: live.write,
    showEarly: live.showEarly,
    staleCount: () => stale,
  };
}

function endedByAgent(reason: EndedReason): boolean {
  const { status } = ENDED_REASONS[reason];
  return status === 'completed' && reason !== 'max_duration_reached' && reason !== 'inactivity';
}
