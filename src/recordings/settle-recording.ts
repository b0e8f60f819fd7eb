/**
 * How far the recording of a call is, written down each time that something of it has changed: it waits for a part, is
 * to be joined, is ready (told once, by `recording.ready`, with the figures of the whole), or there is none. Called in
 * the transaction of the change, on the locked call, after the terminal event was recorded:
 * that one has the lowest sequence.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { appendCallLog } from '../calls/append-call-log.ts';
import type { CallEvent } from '../calls/call-event-bus.ts';
import { RECORDING_FAILED, RECORDING_INCOMPLETE, type SoundFacts } from '../calls/call-record.ts';
import { type CallPatch, type CallRow, patchCall } from '../calls/call-row.ts';
import { isTerminal } from '../calls/state-machine.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Queryable } from '../store/database.ts';
import type { RecordCallEvent } from '../webhooks/record-call-event.ts';
import { recordingEventFields } from './recording-event.ts';
import { issueRecordingKey } from './recording-keys.ts';
import type { RecordingLinks } from './recording-links.ts';
import { lockRecordings, patchRecording, type RecordingRow, WHOLE_EPOCH } from './recording-rows.ts';
import { type JoinPlan, outlookOf, partsOf, wholeOf } from './whole-recording.ts';

export interface SettleDeps {
  clock: Clock;
  sealer: Sealer;
  links: RecordingLinks;
  recordCallEvent: RecordCallEvent;
}

export interface Settled {
  events: CallEvent[];
  deliveryIds: string[];
}

/**
 * A part of which nothing was told so long after its call's end is given up; should it come all
 * the same, it is joined in.
 */
const PART_WAIT_MS = 600_000;
const NOTHING: Settled = { events: [], deliveryIds: [] };

/** `call` is changed with its row. */
export async function settleRecording(deps: SettleDeps, tx: Queryable, call: CallRow): Promise<Settled> {
  // Until then another stream may come.
  if (!isTerminal(call.status) || call.recordingStatus === 'deleted') return NOTHING;
  const rows = await lockRecordings(tx, call.callUuid);
  if (rows.some(({ state }) => state === 'erased')) return NOTHING;
  const outlook = outlookOf(call, rows);
  switch (outlook.kind) {
    case 'waiting':
      return wait(deps, tx, call, rows);
    case 'nothing':
      if (call.recordingStatus === 'pending') await change(tx, call, lostPatch(call));
      return NOTHING;
    case 'single':
      if (outlook.row.facts === null || call.recordingStatus === 'ready') return NOTHING;
      return ready(deps, tx, call, rows, { facts: outlook.row.facts, plan: null, isNews: true });
    case 'joined':
      return join(deps, tx, call, rows, outlook.plan);
  }
}

async function wait({ clock }: SettleDeps, tx: Queryable, call: CallRow, rows: RecordingRow[]): Promise<Settled> {
  for (const row of partsOf(rows)) {
    if (row.state !== 'recording' || row.nextAt !== null) continue;
    const endedAtMs = call.endedAt?.getTime() ?? clock.epochMs();
    await patchRecording(tx, row, { nextAt: new Date(endedAtMs + PART_WAIT_MS) });
  }
  const isComing = rows.some(({ state }) => state === 'stored' || state === 'spooled');
  if (isComing && call.recordingStatus !== 'pending') {
    await change(tx, call, { recordingStatus: 'pending' });
  }
  return NOTHING;
}

async function join(
  deps: SettleDeps,
  tx: Queryable,
  call: CallRow,
  rows: RecordingRow[],
  plan: JoinPlan,
): Promise<Settled> {
  const whole = wholeOf(rows);
  if (whole?.state === 'stored' && whole.facts !== null) {
    if (call.recordingStatus === 'ready') return NOTHING;
    const isNews = !(await wasTold(tx, call.callUuid));
    return ready(deps, tx, call, rows, { facts: whole.facts, plan, isNews });
  }
  const at = { callUuid: call.callUuid, epoch: WHOLE_EPOCH };
  if (whole === undefined) await issueRecordingKey(tx, deps.sealer, { ...at, workspaceId: call.workspaceId });
  if (whole === undefined || whole.nextAt === null)
    await patchRecording(tx, at, { state: 'recording', attempts: 0, nextAt: new Date(deps.clock.epochMs()) });
  if (call.recordingStatus !== 'pending') await change(tx, call, { recordingStatus: 'pending' });
  return NOTHING;
}

interface Ready {
  facts: SoundFacts;
  /** Null: one stream's recording is the whole. */
  plan: JoinPlan | null;
  isNews: boolean;
}

async function ready(
  deps: SettleDeps,
  tx: Queryable,
  call: CallRow,
  rows: RecordingRow[],
  { facts, plan, isNews }: Ready,
): Promise<Settled> {
  const others = call.warnings.filter((code) => code !== RECORDING_FAILED && code !== RECORDING_INCOMPLETE);
  const recordings = partsOf(rows).flatMap(({ state, epoch, facts: its }) => {
    const startMs = plan?.parts.find(({ row }) => row.epoch === epoch)?.startMs ?? 0;
    return state === 'stored' && its !== null ? [{ ...its, epoch, startMs }] : [];
  });
  const patch: CallPatch = {
    recordingStatus: 'ready',
    recording: facts,
    recordings,
    warnings: plan?.isIncomplete === true ? [...others, RECORDING_INCOMPLETE] : others,
  };
  await change(tx, call, patch);
  const { durationMs, sizeBytes } = facts;
  const data = {
    status: 'ready',
    durationMs,
    sizeBytes,
    ...(plan === null ? {} : { parts: recordings.length, isIncomplete: plan.isIncomplete }),
  };
  const line = { kind: 'recording' as const, data, atEpochMs: deps.clock.epochMs() };
  const events = await appendCallLog(tx, call.callUuid, [line]);
  if (!isNews) return { events, deliveryIds: [] };
  const fields = recordingEventFields(deps.links, call);
  return { events, deliveryIds: await deps.recordCallEvent(tx, call, 'recording.ready', fields, deps.clock) };
}

/** A part that comes after it is joined in; that is seen in the call log, and told to nobody twice. */
async function wasTold(tx: Queryable, callUuid: string): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 FROM webhook_events WHERE call_uuid = $1 AND event = 'recording.ready' LIMIT 1`,
    [callUuid],
  );
  return rows.length > 0;
}

/** The call says so in its status, its warnings and its log. The caller settles the recording after it. */
export async function partFailed(
  tx: Queryable,
  call: CallRow,
  { epoch, error, nowEpochMs }: { epoch: number; error: string | null; nowEpochMs: number },
): Promise<CallEvent[]> {
  const others = partsOf(await lockRecordings(tx, call.callUuid)).filter((row) => row.epoch !== epoch);
  const isLost = !others.some(({ state }) => state === 'spooled' || state === 'recording' || state === 'stored');
  const patch = isLost ? lostPatch(call) : { ...lostPatch(call), recordingStatus: 'pending' as const };
  await change(tx, call, patch);
  const data = { status: 'failed', error, epoch };
  return appendCallLog(tx, call.callUuid, [{ kind: 'recording', data, atEpochMs: nowEpochMs }]);
}

/** The parts cannot be joined: the call says so as it does of a part. */
export async function wholeFailed(
  tx: Queryable,
  call: CallRow,
  { error, nowEpochMs }: { error: string; nowEpochMs: number },
): Promise<CallEvent[]> {
  await change(tx, call, lostPatch(call));
  return appendCallLog(tx, call.callUuid, [
    { kind: 'recording', data: { status: 'failed', error }, atEpochMs: nowEpochMs },
  ]);
}

function lostPatch({ warnings }: CallRow): Pick<CallRow, 'recordingStatus' | 'warnings'> {
  const isSaid = warnings.includes(RECORDING_FAILED);
  return { recordingStatus: 'failed', warnings: isSaid ? warnings : [...warnings, RECORDING_FAILED] };
}

async function change(tx: Queryable, call: CallRow, patch: CallPatch): Promise<void> {
  await patchCall(tx, call.callUuid, patch);
  Object.assign(call, patch);
}
