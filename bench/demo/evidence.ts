/**
 * What there is to judge a conversation of the demo by, and what holds for every one of them. Each line is checked
 * against what was recorded, none against what was printed.
 */
import { createHash } from 'node:crypto';
import type { Call } from '../../clients/typescript/src/client.ts';
import type { EmulatedCall } from '../harness/emulator-process.ts';
import type { ToolRequest } from './tool-endpoint.ts';
import type { ReceivedWebhook } from './webhook-receiver.ts';

export interface Evidence {
  entry: Call;
  /** As it was fetched at its address. */
  recording: Buffer | null;
  webhook: ReceivedWebhook;
  emulated: EmulatedCall;
  /** What the endpoint of the agent's tools got in this call. */
  used: readonly ToolRequest[];
}

/** Of checks that did not hold, what each says. */
export function faultsIn(checks: readonly [held: boolean, fault: string][]): string[] {
  return checks.filter(([held]) => !held).map(([, fault]) => fault);
}

/** Ended well, was interrupted, used tools, was told and recorded. */
export function commonFaultsOf({ entry, recording, webhook, emulated, used }: Evidence): string[] {
  const sha256 = createHash('sha256')
    .update(recording ?? '')
    .digest('hex');
  return faultsIn([
    [entry.status === 'completed', `the call ended as ${entry.status}/${entry.endedReason}, not completed`],
    [entry.turns.some((turn) => turn.role === 'agent' && turn.interrupted), 'no agent turn was interrupted'],
    [emulated.clears.length > 0, 'the carrier never got a clear'],
    [emulated.protocolFaults.length === 0, `the carrier saw protocol faults: ${emulated.protocolFaults.join('; ')}`],
    [used.every(({ verified }) => verified), "the signature of a tool's request did not verify"],
    [webhook.event === 'call.completed', `the first webhook was ${webhook.event}`],
    [webhook.verified, "the webhook's signature did not verify"],
    [typeof webhook.body['transcript'] === 'string', 'the webhook has no transcript'],
    [recording?.subarray(0, 4).toString('latin1') === 'OggS', 'no recording could be fetched'],
    [sha256 === entry.recording?.sha256, 'the recording that was fetched is not the one that the call log tells of'],
  ]);
}
