/**
 * What media tells of one running call, as a part of that call's change: lines of its log, turns, the checkpoint, and
 * what follows for its row. For calls of which more changes than `write-talk.ts` writes for all of them at once, and
 * for what is told right before something else changes the call.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { ConversationEvent } from '../../media/contract/conversation.ts';
import type { ToControl } from '../../media/contract/link-messages.ts';
import type { CallLogLine } from '../calls/append-call-log.ts';
import type { CallChange } from '../calls/call-change.ts';
import type { CallPatch, CallRow } from '../calls/call-row.ts';
import { withWarning } from '../calls/call-warnings.ts';
import { isTerminal } from '../calls/state-machine.ts';
import { type ToldTurn, turnsWrite } from '../calls/write-talk.ts';
import { streamBegan } from '../recordings/recording-rows.ts';

/** Of who carries the call. */
export type TalkMessage = Extract<ToControl, { type: 'live' | 'checkpoint' | 'media.started' }>;

/** False: partial words, which nobody reads later. */
export function isWritten(message: TalkMessage): boolean {
  return message.type !== 'live' || message.event.type !== 'partial';
}

/** Nothing follows from it for the call's row but a checkpoint. */
export function isPlain(message: TalkMessage): boolean {
  if (message.type !== 'live') return message.type === 'checkpoint';
  const { event } = message;
  if (event.type === 'barge_in') return event.phase !== 'resume';
  return !isToolEnd(message) && event.type !== 'first_audio' && event.type !== 'warning';
}

type ToolEnd = Extract<TalkMessage, { type: 'live' }> & {
  event: Extract<ConversationEvent, { type: 'tool'; phase: 'end' }>;
};

export function isToolEnd(message: TalkMessage): message is ToolEnd {
  return message.type === 'live' && message.event.type === 'tool' && message.event.phase === 'end';
}

/** What becomes a line of the call's log; null: it is none. */
export function lineOf(message: TalkMessage, clock: Pick<Clock, 'epochMs'>): CallLogLine | null {
  return isWritten(message) ? shownAs(message, clock) : null;
}

/** What who follows the call is shown of it, stored or not; null: nothing is. */
export function shownAs(message: TalkMessage, clock: Pick<Clock, 'epochMs'>): CallLogLine | null {
  if (message.type === 'checkpoint') return null;
  if (message.type === 'live') {
    const { type: kind, ...data } = message.event;
    return { kind, data, atEpochMs: message.atEpochMs };
  }
  const { streamId, epoch } = message;
  const atEpochMs = heardAtEpochMs.get(message) ?? clock.epochMs();
  heardAtEpochMs.set(message, atEpochMs);
  return { kind: message.type, data: { streamId, epoch }, atEpochMs };
}

/** A stream's beginning tells no time of its own; its line is the same whenever it is asked for. */
const heardAtEpochMs = new WeakMap<TalkMessage, number>();

export function turnsIn(messages: readonly TalkMessage[]): ToldTurn[] {
  return messages.flatMap((message) =>
    message.type === 'live' && message.event.type === 'turn'
      ? [{ callUuid: message.callUuid, turn: message.event.turn }]
      : [],
  );
}

/** `messages` are of the call's owner, in their order. */
export function addTalk(change: CallChange, messages: readonly TalkMessage[], clock: Pick<Clock, 'epochMs'>): void {
  change.set(patchOf(change.call, messages));
  change.log(...messages.flatMap((message) => lineOf(message, clock) ?? []));
  const turns = turnsIn(messages);
  if (turns.length > 0) change.also(turnsWrite(turns));
  const started = messages.findLast((message) => message.type === 'media.started');
  if (started !== undefined) {
    change.also(streamBegan(started, new Date(started.startedAtEpochMs ?? clock.epochMs())));
  }
}

function patchOf(call: CallRow, messages: readonly TalkMessage[]): CallPatch {
  const patch: CallPatch = {};
  for (const message of messages) {
    if (message.type === 'checkpoint') patch.checkpoint = message.checkpoint;
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
