/**
 * A media socket wants its call: who it is, whether the carrier signed, and whether it is the first. One UPDATE burns the
 * token, so of any number of claims one wins; it raises the epoch, and what an older owner still says is refused from then.
 */
import type { Logger } from 'pino';
import { MULAW_8K } from '../../media/contract/audio-format.ts';
import type { Clock } from '../../media/contract/clock.ts';
import type { Checkpoint } from '../../media/contract/conversation.ts';
import type { ClaimAnswer, ClaimRequest } from '../../media/contract/link-messages.ts';
import type { CallEventBus } from '../api/call-event-bus.ts';
import { appendCallLog } from '../calls/call-log.ts';
import { placeholdersOf, readAgentDefinition } from '../calls/call-setup.ts';
import type { LineCarriers } from '../calls/line-carriers.ts';
import { type LiveCall, lockCall, patchCall, readOwnCall } from '../calls/live-call.ts';
import { sha256OfToken } from '../calls/stream-token.ts';
import { LEASE_MS, nextDeadline } from '../calls/timers.ts';
import { issueRecordingKey } from '../recordings/recording-keys.ts';
import { firstStreamBegan } from '../recordings/recording-rows.ts';
import type { Database, Queryable } from '../store/database.ts';
import type { Sealer } from '../store/secrets.ts';

export interface ClaimDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Pick<CallEventBus, 'publish'>;
  lineCarriers: LineCarriers;
  publicUrl: string;
  sealer: Sealer;
}

const REFUSED = {
  unknown: { ok: false, httpStatus: 401, why: 'the token names no call' },
  unsigned: { ok: false, httpStatus: 403, why: "the carrier's signature is missing or wrong" },
  used: { ok: false, httpStatus: 409, why: 'the token was used before, or the call is over' },
} as const satisfies Record<string, ClaimAnswer>;

/** Rejects when the database is away; then nothing was burned, or the lease runs out unused. */
export async function claimStream(deps: ClaimDeps, mediaId: string, claim: ClaimRequest): Promise<ClaimAnswer> {
  const { database, clock, log, bus } = deps;
  const tokenSha256 = sha256OfToken(claim.token);
  const rows = await database.query<{ callUuid: string }>(
    'SELECT call_uuid AS "callUuid" FROM calls WHERE media_token_sha256 = $1',
    [tokenSha256],
  );
  const callUuid = rows[0]?.callUuid;
  const seen = callUuid === undefined ? undefined : await readOwnCall(database, callUuid);
  if (seen === undefined || seen.carrier !== claim.carrier) return REFUSED.unknown;

  const carrier = await deps.lineCarriers.of(seen);
  const signature = carrier.verifyUpgrade({ url: `${deps.publicUrl}${claim.url}`, headers: claim.headers });
  if (signature === 'bad') {
    log.warn(
      { callUuid: seen.callUuid, carrier: claim.carrier },
      "a media socket without the carrier's signature was refused",
    );
    return REFUSED.unsigned;
  }
  const agent = await readAgentDefinition(database, seen);
  const nowEpochMs = clock.epochMs();
  const won = await database.transaction(async (tx) => {
    const burned = await tx.query(
      `UPDATE calls SET media_token_used_at = $3, epoch = epoch + 1, owner_media_id = $4, lease_until = $5
        WHERE call_uuid = $1 AND media_token_sha256 = $2 AND media_token_used_at IS NULL AND status = 'in_progress'
          AND carrier_ended_at IS NULL AND ending IS NULL
       RETURNING 1 AS one`,
      [seen.callUuid, tokenSha256, new Date(nowEpochMs), mediaId, new Date(nowEpochMs + LEASE_MS)],
    );
    if (burned.length === 0) return null;
    const call = (await lockCall(tx, seen.callUuid)) as LiveCall;
    call.mediaStoppedAt = null;
    await patchCall(tx, call.callUuid, {
      mediaStoppedAt: null,
      deadlineAt: nextDeadline(call, nowEpochMs),
    });
    const data = { mediaId, epoch: call.epoch };
    const events = await appendCallLog(tx, call.callUuid, [{ kind: 'media.claimed', data, atEpochMs: nowEpochMs }]);
    const recordingKeyHex = await issueRecordingKey(tx, deps.sealer, call);
    return { call, events, recordingKeyHex, checkpoint: await resumeFrom(tx, call, nowEpochMs) };
  });
  if (won === null) return REFUSED.used;
  for (const event of won.events) bus.publish(event);
  const { call } = won;
  return {
    ok: true,
    setup: {
      callUuid: call.callUuid,
      epoch: call.epoch,
      enterprise: call.enterprise,
      agentId: call.agentId,
      agentVersion: call.agentVersion,
      agent,
      placeholders: placeholdersOf(call, agent, nowEpochMs),
      carrier: call.carrier,
      carrierCallId: call.carrierCallId,
      answeredAtEpochMs: (call.answeredAt ?? new Date(nowEpochMs)).getTime(),
      maxDurationMs: call.maxDurationSeconds * 1000,
      record: true,
      recordingKeyHex: won.recordingKeyHex,
      checkpoint: won.checkpoint,
      format: MULAW_8K,
    },
  };
}

/**
 * The last checkpoint, moved past every turn that is stored: the last one's checkpoint may have died with its process. Times go on where the
 * call's time line is by now, on which the recording of the whole lies too.
 */
export async function resumeFrom(tx: Queryable, call: LiveCall, nowEpochMs: number): Promise<Checkpoint | null> {
  if (call.epoch <= 1) return call.checkpoint;
  const rows = await tx.query<{ last: number | null; endMs: number | null }>(
    `SELECT max(position) AS last, max((turn ->> 'endMs')::float) AS "endMs" FROM call_turns WHERE call_uuid = $1`,
    [call.callUuid],
  );
  const { last, endMs } = rows[0] ?? { last: null, endMs: null };
  if (last === null) return call.checkpoint;
  const from = call.checkpoint ?? { stepId: null, variables: {}, misses: 0, visits: {}, nextTurnNumber: 1, atMs: 0 };
  return {
    ...from,
    nextTurnNumber: Math.max(from.nextTurnNumber, last + 1),
    atMs: Math.max(from.atMs, endMs ?? 0, nowEpochMs - ((await firstStreamBegan(tx, call.callUuid)) ?? nowEpochMs)),
  };
}
