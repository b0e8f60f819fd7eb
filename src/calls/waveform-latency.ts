/**
 * A recording came with its sound map: the call's latencies are told again, now from the waveform. In the transaction
 * of the message, on the locked row. Only of a call's first stream: the times of a later one
 * begin elsewhere in the transcript.
 */
import type { SoundMap, Turn, TurnLatency } from '../../media/contract/conversation.ts';
import type { Queryable } from '../store/database.ts';
import type { CallChange } from './call-change.ts';
import { summariseLatencies } from './latency-summary.ts';

const FIRST_EPOCH = 1;

export async function addWaveformLatency(
  tx: Queryable,
  { change, turns }: { change: CallChange; turns(): Promise<readonly Turn[]> },
  epoch: number,
  sound: SoundMap,
): Promise<void> {
  const { call } = change;
  if (epoch !== FIRST_EPOCH || call.transcriptStatus === 'deleted') return;
  const told = await tx.query<{ latency: TurnLatency }>(
    `SELECT data -> 'latency' AS latency FROM call_events WHERE call_uuid = $1 AND kind = 'latency' ORDER BY id`,
    [call.callUuid],
  );
  // A message that came twice stands twice.
  const latencies = new Map(told.map(({ latency }) => [latency.turnId, latency]));
  const summary = summariseLatencies([...latencies.values()], await turns(), sound);
  if (summary !== null) change.set({ latency: { ...call.latency, ...summary } });
}
