/**
 * Did the conversation really happen? Each line is checked against what was recorded, none against what was printed.
 */
import { createHash } from 'node:crypto';
import type { Call } from '../../clients/typescript/src/client.ts';
import type { EmulatedCall } from '../harness/emulator-process.ts';
import type { BookingRequest } from './booking.ts';
import type { ReceivedWebhook } from './webhook-receiver.ts';

export interface Evidence {
  entry: Call;
  /** As it was fetched at its address. */
  recording: Buffer | null;
  webhook: ReceivedWebhook;
  emulated: EmulatedCall;
  /** What the endpoint of the agent's tool got in this call. */
  bookings: readonly BookingRequest[];
}

/** Faults in plain words; empty when all of it happened. */
export function faultsOf({ entry, recording, webhook, emulated, bookings }: Evidence): string[] {
  const intents = entry.turns.filter((turn) => turn.role === 'user').map((turn) => turn.intent);
  const sha256 = createHash('sha256')
    .update(recording ?? '')
    .digest('hex');
  const checks: [boolean, string][] = [
    [entry.status === 'completed', `the call ended as ${entry.status}/${entry.endedReason}, not completed`],
    [intents.includes('confirmed'), `the callee's “yes” was not recognised (intents: ${intents.join(', ')})`],
    [intents.includes('asked_parking'), `the callee's question was not recognised (intents: ${intents.join(', ')})`],
    [entry.turns.some((turn) => turn.role === 'agent' && turn.interrupted), 'no agent turn was interrupted'],
    [emulated.clears.length > 0, 'the carrier never got a clear'],
    [emulated.said.length >= 3, `the callee spoke ${emulated.said.length} times, not 3`],
    [emulated.protocolFaults.length === 0, `the carrier saw protocol faults: ${emulated.protocolFaults.join('; ')}`],
    [bookings.length === 1, `the agent's tool was asked ${bookings.length} times, not once`],
    [bookings.every(({ verified }) => verified), "the signature of a tool's request did not verify"],
    [entry.transcript?.includes('Doctor Lee') === true, 'the agent did not say what its tool answered'],
    [webhook.event === 'call.completed', `the first webhook was ${webhook.event}`],
    [webhook.verified, "the webhook's signature did not verify"],
    [typeof webhook.body['transcript'] === 'string', 'the webhook has no transcript'],
    [recording?.subarray(0, 4).toString('latin1') === 'OggS', 'no recording could be fetched'],
    [sha256 === entry.recording?.sha256, 'the recording that was fetched is not the one that the call log tells of'],
  ];
  return checks.filter(([held]) => !held).map(([, fault]) => fault);
}
