/**
 * A recording came with its sound map: the call's latencies are told again, now from the waveform. In the transaction
 * of the message, on the locked row. Only of a call's first stream: the times of a later one
 * begin elsewhere in the transcript.
 */
import type { SoundMap, TurnLatency } from '../../media/contract/conversation.ts';
import type { Queryable } from '../store/database.ts';
import { type CallRow, patchCall } from './call-row.ts';
import { readTurns } from './call-turns.ts';
import { summariseLatencies } from './latency-summary.ts';

const FIRST_EPOCH = 1;

export async function writeWaveformLatency(
  tx: Queryable,
  call: CallRow,
  epoch: number,
  sound: SoundMap,
): Promise<void> {
  if (epoch !== FIRST_EPOCH || call.transcriptStatus === 'deleted') return;
  const told = await tx.query<{ latency: TurnLatency }>(
    `SELECT data -> 'latency' AS latency FROM call_events WHERE call_uuid = $1 AND kind = 'latency' ORDER BY id`,
    [call.callUuid],
  );
  // A message that came twice stands twice.
  const latencies = new Map(told.map(({ latency }) => [latency.turnId, latency]));
  const summary = summariseLatencies([...latencies.values()], await readTurns(tx, call.callUuid), sound);
  if (summary !== null) await patchCall(tx, call.callUuid, { latency: { ...call.latency, ...summary } });
}
