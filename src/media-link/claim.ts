/**
 * A carrier's media socket wants its call: who it is, whether the carrier signed, and whether it is the first. The
 * token is burned on the locked row, so of any number of claims one wins; one whose answer came too late for its socket
 * leaves the token to the next. What the winner gets is in `src/lifecycle/claimed-stream.ts`. Asked by media over the
 * link (`media-peer.ts`).
 */
import type { Logger } from 'pino';
import { formatAtCarrier } from '../../media/contract/carriers.ts';
import { pause } from '../../media/contract/clock.ts';
import type { ClaimAnswer, ClaimRequest } from '../../media/contract/link-messages.ts';
import { CallChange } from '../calls/call-change.ts';
import { type CallRow, lockCall } from '../calls/call-row.ts';
import { createAgentReader } from '../calls/call-setup.ts';
import { mayTalk } from '../lifecycle/carrier-report.ts';
import { type ClaimedStreamDeps, type ClaimingRun, setupOfStream, takeStream } from '../lifecycle/claimed-stream.ts';
import type { DialledCalls } from '../lifecycle/dialled-calls.ts';
import type { LineCarriers } from '../lifecycle/line-carriers.ts';
import { sha256OfToken } from '../lifecycle/stream-token.ts';
import { readRecordings } from '../recordings/recording-rows.ts';
import type { Queryable } from '../store/database.ts';

interface ClaimDeps extends ClaimedStreamDeps {
  log: Logger;
  lineCarriers: LineCarriers;
  dialledCalls: Pick<DialledCalls, 'ofToken'>;
  publicUrl: string;
  /** Of this node alone, where it has its own. */
  streamBase: string | null;
  /** How long a second socket waits for it that the first one's claim is given back. */
  givenBackWithinMs?: number;
}

/** Media waits 3 s for the answer. */
const GIVEN_BACK_WITHIN_MS = 1_500;
const LOOK_AGAIN_MS = 100;

const REFUSED = {
  unknown: { ok: false, httpStatus: 401, why: 'the token names no call' },
  unsigned: { ok: false, httpStatus: 403, why: "the carrier's signature is missing or wrong" },
  used: { ok: false, httpStatus: 409, why: 'the token was used before, or the call is over' },
} as const satisfies Record<string, ClaimAnswer>;

export type ClaimStream = (run: ClaimingRun, claim: ClaimRequest) => Promise<ClaimAnswer>;

/** The function that it returns rejects when the database is away, or the run was given up: nothing was burned. */
export function createClaimStream(deps: ClaimDeps): ClaimStream {
  const { database, clock, sealer, log, givenBackWithinMs = GIVEN_BACK_WITHIN_MS } = deps;
  const agentOf = createAgentReader(database);
  return async (run, claim) => {
    const tokenSha256 = sha256OfToken(claim.token);
    const seen = await deps.dialledCalls.ofToken(tokenSha256);
    if (seen === undefined || seen.carrier !== claim.carrier) return REFUSED.unknown;

    const carrier = await deps.lineCarriers.of(seen);
    const signature = carrier.verifyUpgrade({ url: dialledUrl(deps, claim.url), headers: claim.headers });
    if (signature === 'bad') {
      log.warn(
        { callUuid: seen.callUuid, carrier: claim.carrier },
        "a media socket without the carrier's signature was refused",
      );
      return REFUSED.unsigned;
    }
    const agent = await agentOf(seen);
    const take = () =>
      database.transaction(async (tx) => {
        const call = await lockCall(tx, seen.callUuid);
        if (call === undefined || !mayTalk(call) || call.mediaTokenSha256?.equals(tokenSha256) !== true) return 'used';
        const use = call.mediaTokenUsedAt === null ? 'free' : await useOfToken(tx, call);
        if (use !== 'free') return use;
        const nowEpochMs = clock.epochMs();
        const change = new CallChange(call).set({ mediaTokenUsedAt: new Date(nowEpochMs) });
        return takeStream(tx, sealer, { run, change, nowEpochMs });
      });
    let won = await take();
    for (const untilMs = clock.nowMs() + givenBackWithinMs; won === 'not_begun' && clock.nowMs() < untilMs; ) {
      await pause(clock, LOOK_AGAIN_MS);
      won = await take();
    }
    if (typeof won === 'string') return REFUSED.used;
    const leg = { carrierCallId: won.call.carrierCallId, format: formatAtCarrier(won.call.carrier) };
    return { ok: true, setup: await setupOfStream(deps, won, agent, leg) };
  };
}

/**
 * A claim that was answered too late for its socket is given back by media, with a stream that never began: its token
 * is free again for the socket that the carrier dials next. `not_begun`: that may still come to be so.
 */
async function useOfToken(tx: Queryable, call: CallRow): Promise<'free' | 'not_begun' | 'used'> {
  const rows = await readRecordings(tx, call.callUuid);
  if (rows.find(({ epoch }) => epoch === call.epoch)?.streamStartedAt !== null) return 'used';
  return call.mediaStoppedAt === null ? 'not_begun' : 'free';
}

/** As the carrier signed it: below the node's own address, or below the public one. */
function dialledUrl({ publicUrl, streamBase }: Pick<ClaimDeps, 'publicUrl' | 'streamBase'>, path: string): string {
  if (streamBase === null) return `${publicUrl}${path}`;
  const { origin, pathname } = new URL(streamBase.replace(/^ws/, 'http'));
  return path.startsWith(`${pathname}/`) ? `${origin}${path}` : `${publicUrl}${path}`;
}
