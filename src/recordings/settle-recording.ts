/**
 * How far the recording of a call is, written down each time that something of it has changed: it waits for a part, is
 * to be joined, is ready (told once, by `recording.ready`, with the figures of the whole), or there is none. Called in
 * the transaction of the change, on the locked call, after the terminal event was recorded:
 * that one has the lowest sequence.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { CallChange } from '../calls/call-change.ts';
import { RECORDING_FAILED, RECORDING_INCOMPLETE, type SoundFacts } from '../calls/call-record.ts';
import type { CallRow } from '../calls/call-row.ts';
import { isTerminal } from '../calls/state-machine.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Queryable } from '../store/database.ts';
import { writeTogether } from '../store/joint-write.ts';
import { tellOfCall } from '../webhooks/outbox.ts';
import { changeRecording, type RecordedCall } from './recorded-call.ts';
import { recordingEventFields } from './recording-event.ts';
import { newRecordingKey } from './recording-keys.ts';
import type { RecordingLinks } from './recording-links.ts';
import { patchRecording, type RecordingRow, WHOLE_EPOCH } from './recording-rows.ts';
import { isToCome, type JoinPlan, outlookOf, partsOf, wholeOf } from './whole-recording.ts';

export interface SettleDeps {
  clock: Clock;
  sealer: Sealer;
  links: RecordingLinks;
}

/**
 * A part of which nothing was told so long after its call's end is given up; should it come all
 * the same, it is joined in.
 */
const PART_WAIT_MS = 600_000;

export async function settleRecording(deps: SettleDeps, tx: Queryable, recorded: RecordedCall): Promise<void> {
  const { change } = recorded;
  const { call } = change;
  // Until then another stream may come.
  if (!isTerminal(call.status) || call.recordingStatus === 'deleted') return;
  const rows = await recorded.recordings();
  if (rows.some(({ state }) => state === 'erased')) return;
  const outlook = outlookOf(call, rows);
  switch (outlook.kind) {
    case 'waiting':
      return wait(deps, change, rows);
    case 'nothing':
      if (call.recordingStatus === 'pending') change.set(lostPatch(call));
      return;
    case 'single':
      if (outlook.row.facts === null || call.recordingStatus === 'ready') return;
      return ready(deps, recorded, rows, { facts: outlook.row.facts, plan: null });
    case 'joined':
      return join(deps, tx, recorded, rows, outlook.plan);
  }
}

function wait({ clock }: SettleDeps, change: CallChange, rows: readonly RecordingRow[]): void {
  const { call } = change;
  for (const row of partsOf(rows)) {
    if (row.state !== 'recording' || !isToCome(row) || row.nextAt !== null) continue;
    const endedAtMs = call.endedAt?.getTime() ?? clock.epochMs();
    changeRecording(change, row, { nextAt: new Date(endedAtMs + PART_WAIT_MS) });
  }
  const isComing = rows.some(({ state }) => state === 'stored' || state === 'spooled');
  if (isComing && call.recordingStatus !== 'pending') change.set({ recordingStatus: 'pending' });
}

async function join(
  deps: SettleDeps,
  tx: Queryable,
  recorded: RecordedCall,
  rows: RecordingRow[],
  plan: JoinPlan,
): Promise<void> {
  const { change } = recorded;
  const { call } = change;
  const whole = wholeOf(rows);
  if (whole?.state === 'stored' && whole.facts !== null) {
    if (call.recordingStatus === 'ready') return;
    return ready(deps, recorded, rows, { facts: whole.facts, plan });
  }
  // What was collected may be of the whole's row too.
  await change.write(tx);
  const at = { callUuid: call.callUuid, epoch: WHOLE_EPOCH };
  if (whole === undefined) {
    await writeTogether(tx, [newRecordingKey(deps.sealer, { ...at, workspaceId: call.workspaceId }).write]);
  }
  if (whole === undefined || whole.nextAt === null)
    await patchRecording(tx, at, { state: 'recording', attempts: 0, nextAt: new Date(deps.clock.epochMs()) });
  if (call.recordingStatus !== 'pending') change.set({ recordingStatus: 'pending' });
}

interface Ready {
  facts: SoundFacts;
  /** Null: one stream's recording is the whole. */
  plan: JoinPlan | null;
}

async function ready(
  deps: SettleDeps,
  { change, turns }: RecordedCall,
  rows: RecordingRow[],
  { facts, plan }: Ready,
): Promise<void> {
  const { call } = change;
  // A part that comes after it is joined in; that is seen in the call log, and told to nobody twice.
  const wasTold = call.recording !== null;
  const others = call.warnings.filter((code) => code !== RECORDING_FAILED && code !== RECORDING_INCOMPLETE);
  const recordings = partsOf(rows).flatMap(({ state, epoch, facts: its }) => {
    const startMs = plan?.parts.find(({ row }) => row.epoch === epoch)?.startMs ?? 0;
    return state === 'stored' && its !== null ? [{ ...its, epoch, startMs }] : [];
  });
  change.set({
    recordingStatus: 'ready',
    recording: facts,
    recordings,
    warnings: plan?.isIncomplete === true ? [...others, RECORDING_INCOMPLETE] : others,
  });
  const { durationMs, sizeBytes } = facts;
  const data = {
    status: 'ready',
    durationMs,
    sizeBytes,
    ...(plan === null ? {} : { parts: recordings.length, isIncomplete: plan.isIncomplete }),
  };
  change.log({ kind: 'recording', data, atEpochMs: deps.clock.epochMs() });
  if (wasTold) return;
  const extra = recordingEventFields(deps.links, call);
  await tellOfCall(change, { event: 'recording.ready', extra, turns }, deps.clock);
}

/**
 * The call says so in its status, its warnings and its log. `rows`: all of its recordings. The caller settles the
 * recording after it.
 */
export function partFailed(
  change: CallChange,
  rows: readonly RecordingRow[],
  { epoch, error, nowEpochMs }: { epoch: number; error: string | null; nowEpochMs: number },
): void {
  const others = partsOf(rows).filter((row) => row.epoch !== epoch);
  const isLost = !others.some(({ state }) => state === 'spooled' || state === 'recording' || state === 'stored');
  const lost = lostPatch(change.call);
  change.set(isLost ? lost : { ...lost, recordingStatus: 'pending' });
  const data = { status: 'failed', error, epoch };
  change.log({ kind: 'recording', data, atEpochMs: nowEpochMs });
}

/** The parts cannot be joined: the call says so as it does of a part. */
export function wholeFailed(change: CallChange, { error, nowEpochMs }: { error: string; nowEpochMs: number }): void {
  change.set(lostPatch(change.call));
  change.log({ kind: 'recording', data: { status: 'failed', error }, atEpochMs: nowEpochMs });
}

function lostPatch({ warnings }: CallRow): Pick<CallRow, 'recordingStatus' | 'warnings'> {
  const isSaid = warnings.includes(RECORDING_FAILED);
  return { recordingStatus: 'failed', warnings: isSaid ? warnings : [...warnings, RECORDING_FAILED] };
}
