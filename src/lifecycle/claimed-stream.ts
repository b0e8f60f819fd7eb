/**
 * A media process gets a call's stream: what is the same for a carrier's stream and a browser's session, once whoever
 * asked has proved that it may have it. The epoch rises, and what an older owner still says is refused from then; the
 * recording's key and the state to go on from are the new owner's. Called by `src/media-link/claim.ts` and
 * `src/embed/claim-session.ts`, which know what a proof is: `takeStream` in the transaction in which they burn the
 * token, `setupOfStream` after it.
 */
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { EMPTY_CHECKPOINT, type StoredCheckpoint } from '../../media/contract/checkpoint.ts';
import type { CallClips } from '../../media/contract/clip.ts';
import type { Clock } from '../../media/contract/clock.ts';
import type { ConnectionGrant } from '../../media/contract/grant.ts';
import type { CallSetup } from '../../media/contract/link-messages.ts';
import type { CallLogLine } from '../calls/append-call-log.ts';
import type { CallChange } from '../calls/call-change.ts';
import type { CallEvent, CallEventBus } from '../calls/call-event-bus.ts';
import type { CallRow } from '../calls/call-row.ts';
import { placeholdersOf } from '../calls/call-setup.ts';
import { nextDeadline } from '../calls/timers.ts';
import { newRecordingKey } from '../recordings/recording-keys.ts';
import { firstStreamBegan } from '../recordings/recording-rows.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database, Queryable } from '../store/database.ts';
import type { Write } from '../store/joint-write.ts';
import { withTablePrices } from '../usage/agent-prices.ts';

export interface ClaimedStreamDeps {
  database: Database;
  clock: Clock;
  bus: Pick<CallEventBus, 'publish'>;
  sealer: Sealer;
  /** A media process has the call: it takes no place of those that are kept for calls to come. */
  carried?(callUuid: string): void;
  /** Never rejects. Absent: no agent has any. */
  clipsOf?(agentId: string, agent: AgentDefinition): Promise<CallClips | undefined>;
  /** Absent: no agent names any. */
  grantsOf?(callUuid: string, agent: AgentDefinition): Promise<readonly ConnectionGrant[] | undefined>;
}

/** Who claims: the run of a media process, and the process's name on its node. */
export interface ClaimingRun {
  runId: string;
  mediaId: string;
}

/** It was given up, and may not know it yet: whoever carries the call claims it as another. */
export class RunIsFenced extends Error {
  constructor(runId: string) {
    super(`The run ${runId} of a media process is not registered, or was given up.`);
    this.name = 'RunIsFenced';
  }
}

/** What a token that held names. */
export interface ProvenClaim {
  run: ClaimingRun;
  /** Of the locked call. */
  change: CallChange;
  nowEpochMs: number;
  /** Lines of the call's log that belong before the claim's. */
  logged?: readonly CallLogLine[];
  /** More that the claim's line says. */
  detail?: Readonly<Record<string, unknown>>;
}

export interface ClaimedStream {
  /** As it is now, with its new epoch. */
  call: CallRow;
  /** The run that had its stream before; null: none. */
  ownerBefore: string | null;
  recordingKeyHex: string;
  checkpoint: StoredCheckpoint | null;
  /** To be told when it is committed. */
  events: CallEvent[];
  atEpochMs: number;
}

/**
 * In the transaction that burned the token: the call is the run's when that commits. Throws `RunIsFenced`, and the
 * token is good as before.
 */
export async function takeStream(
  tx: Queryable,
  sealer: Sealer,
  { run, change, nowEpochMs, logged = [], detail }: ProvenClaim,
): Promise<ClaimedStream> {
  const { runId, mediaId } = run;
  const { call } = change;
  const ownerBefore = call.ownerRun;
  change.set({
    epoch: call.epoch + 1,
    ownerRun: runId,
    ownerMediaId: mediaId,
    orphanedAt: null,
    mediaStoppedAt: null,
  });
  change.set({ deadlineAt: nextDeadline(call, nowEpochMs) });
  const data = { mediaId, epoch: call.epoch, ...detail };
  change.log(...logged, { kind: 'media.claimed', data, atEpochMs: nowEpochMs });
  const key = newRecordingKey(sealer, call);
  await change.also(livingRun(runId), key.write).write(tx);
  const checkpoint = await resumeFrom(tx, call, nowEpochMs);
  const { events } = change;
  return { call, ownerBefore, recordingKeyHex: key.keyHex, checkpoint, events, atEpochMs: nowEpochMs };
}

/** It cannot die before the commit: `fenceRun` waits for that, or it is dead and gets nothing. */
export function livingRun(runId: string): Write {
  return {
    sql: (place) => `SELECT 1 AS one FROM media_runs WHERE run_id = ${place(runId)} AND dead_at IS NULL FOR KEY SHARE`,
    returns: {
      value: 'count(*)::int',
      to(living) {
        if (living === 0) throw new RunIsFenced(runId);
      },
    },
  };
}

/** When that is committed: who follows the call hears of it, and this is what media is given. `leg`: its kind's own. */
export async function setupOfStream(
  { database, bus, carried, clipsOf, grantsOf }: Omit<ClaimedStreamDeps, 'clock' | 'sealer'>,
  { call, recordingKeyHex, checkpoint, events, atEpochMs }: ClaimedStream,
  agent: AgentDefinition,
  leg: Pick<CallSetup, 'carrierCallId' | 'format' | 'web'>,
): Promise<CallSetup> {
  for (const event of events) bus.publish(event);
  carried?.(call.callUuid);
  const clips = await clipsOf?.(call.agentId, agent);
  const grants = await grantsOf?.(call.callUuid, agent);
  return {
    callUuid: call.callUuid,
    epoch: call.epoch,
    enterprise: call.enterprise,
    agentId: call.agentId,
    agentVersion: call.agentVersion,
    agent: await withTablePrices(database, agent, grants, atEpochMs),
    placeholders: placeholdersOf(call, agent, atEpochMs),
    carrier: call.carrier,
    answeredAtEpochMs: (call.answeredAt ?? new Date(atEpochMs)).getTime(),
    maxDurationMs: call.maxDurationSeconds * 1000,
    record: true,
    recordingKeyHex,
    checkpoint,
    ...(clips && { clips }),
    ...(grants && { grants }),
    ...leg,
  };
}

/**
 * The last checkpoint, moved past every turn that is stored: the last one's checkpoint may have died with its process.
 * Times go on where the call's time line is by now, on which the recording of the whole lies too.
 */
export async function resumeFrom(tx: Queryable, call: CallRow, nowEpochMs: number): Promise<StoredCheckpoint | null> {
  if (call.epoch <= 1) return call.checkpoint;
  const rows = await tx.query<{ last: number | null; endMs: number | null }>(
    `SELECT max(position) AS last, max((turn ->> 'endMs')::float) AS "endMs" FROM call_turns WHERE call_uuid = $1`,
    [call.callUuid],
  );
  const { last, endMs } = rows[0] ?? { last: null, endMs: null };
  if (last === null) return call.checkpoint;
  const from = call.checkpoint ?? EMPTY_CHECKPOINT;
  return {
    ...from,
    nextTurnNumber: Math.max(from.nextTurnNumber, last + 1),
    atMs: Math.max(from.atMs, endMs ?? 0, nowEpochMs - ((await firstStreamBegan(tx, call.callUuid)) ?? nowEpochMs)),
  };
}
