/** Brings a call of the harness to where a test begins. */

import { sha256OfToken } from '../../../src/lifecycle/stream-token.ts';
import { type ClaimStream, createClaimStream } from '../../../src/media-link/claim.ts';
import { placeCall } from '../../../src/placement/placement.ts';
import type { NewCall } from '../../../src/placement/ports.ts';
import { type Harness, PUBLIC_URL } from './harness.ts';

export async function placedCall(h: Harness, changes: Partial<NewCall> = {}): Promise<string> {
  const placement = await placeCall(h.placement, h.newCall(changes));
  if (placement.kind !== 'placed') throw new Error(`The call was ${placement.kind}.`);
  return placement.callUuid;
}

/** Answered, its stream not yet claimed. Resolves with the stream's token. */
export async function answerCall(h: Harness, callUuid: string): Promise<string> {
  const token = h.streamTokens.tokensOf({ callUuid, epoch: 0 })[0]!;
  await h.transitions.apply(
    callUuid,
    { type: 'carrier.answered', carrierCallId: `leg-${callUuid}` },
    {
      async alongside(_tx, change) {
        change.set({ mediaTokenSha256: sha256OfToken(token) });
      },
    },
  );
  return token;
}

/** `change`: what else control does with a stream that is claimed. */
export async function claimCall(
  h: Harness,
  token: string,
  mediaId = 'media-1',
  change: Partial<Parameters<typeof createClaimStream>[0]> = {},
): ReturnType<ClaimStream> {
  const deps = {
    ...h,
    bus: { publish: () => {} },
    publicUrl: PUBLIC_URL,
    streamBase: null,
    givenBackWithinMs: 0,
    log: h.placement.log,
    ...change,
  };
  const url = `/media/plivo/${token}`;
  return createClaimStream(deps)(
    { runId: mediaId, mediaId },
    { carrier: 'plivo', token, url, host: 'voice.example.com', headers: {} },
  );
}

/** What is written of a call whose run was given up (`nodes/media-runs.ts`). */
export async function loseOwner(h: Harness, callUuid: string): Promise<void> {
  const now = new Date(h.clock.epochMs());
  await h.database.query('UPDATE calls SET lease_until = $2, deadline_at = $2 WHERE call_uuid = $1', [callUuid, now]);
}

/** Placed, answered, claimed by `media-1` with epoch 1, its stream begun. */
export async function talkingCall(h: Harness, changes: Partial<NewCall> = {}): Promise<string> {
  const callUuid = await placedCall(h, changes);
  const answer = await claimCall(h, await answerCall(h, callUuid));
  if (!answer.ok) throw new Error(answer.why);
  await h.messages.handle([{ type: 'media.started', callUuid, epoch: 1, carrierCallId: 'leg', streamId: 'stream-1' }]);
  return callUuid;
}
