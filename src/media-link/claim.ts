/**
 * A carrier's media socket wants its call: who it is, whether the carrier signed, and whether it is the first. The
 * token is burned on the locked row, so of any number of claims one wins, and wins again where its answer came too late
 * for its socket; what the winner gets is in `src/lifecycle/claimed-stream.ts`. Asked by media over the link
 * (`media-peer.ts`).
 */
import type { Logger } from 'pino';
import { formatAtCarrier } from '../../media/contract/carriers.ts';
import type { ClaimAnswer, ClaimRequest } from '../../media/contract/link-messages.ts';
import { CallChange } from '../calls/call-change.ts';
import { type CallRow, lockCall } from '../calls/call-row.ts';
import { createAgentReader } from '../calls/call-setup.ts';
import { mayTalk } from '../lifecycle/carrier-report.ts';
import { type ClaimedStreamDeps, type ClaimingRun, setupOfStream, takeStream } from '../lifecycle/claimed-stream.ts';
import type { DialledCalls } from '../lifecycle/dialled-calls.ts';
import type { LineCarriers } from '../lifecycle/line-carriers.ts';
import { sha256OfToken } from '../lifecycle/stream-token.ts';
import { lockRecordings, streamNeverBegan } from '../recordings/recording-rows.ts';

interface ClaimDeps extends ClaimedStreamDeps {
  log: Logger;
  lineCarriers: LineCarriers;
  dialledCalls: Pick<DialledCalls, 'ofToken'>;
  publicUrl: string;
  /** Of this node alone, where it has its own. */
  streamBase: string | null;
}

const REFUSED = {
  unknown: { ok: false, httpStatus: 401, why: 'the token names no call' },
  unsigned: { ok: false, httpStatus: 403, why: "the carrier's signature is missing or wrong" },
  used: { ok: false, httpStatus: 409, why: 'the token was used before, or the call is over' },
} as const satisfies Record<string, ClaimAnswer>;

export type ClaimStream = (run: ClaimingRun, claim: ClaimRequest) => Promise<ClaimAnswer>;

/** The function that it returns rejects when the database is away, or the run was given up: nothing was burned. */
export function createClaimStream(deps: ClaimDeps): ClaimStream {
  const { database, clock, sealer, log } = deps;
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
    const nowEpochMs = clock.epochMs();
    const won = await database.transaction(async (tx) => {
      const call = await lockCall(tx, seen.callUuid);
      if (call === undefined || !mayTalk(call) || !isFree(call, run, claim)) return null;
      if (call.mediaTokenSha256?.equals(tokenSha256) !== true) return null;
      // No recording comes of what was given up.
      if (call.mediaTokenUsedAt !== null) await streamNeverBegan(tx, await lockRecordings(tx, call.callUuid), call);
      const change = new CallChange(call).set({ mediaTokenUsedAt: new Date(nowEpochMs) });
      return takeStream(tx, sealer, { run, change, nowEpochMs });
    });
    if (won === null) return REFUSED.used;
    const leg = { carrierCallId: won.call.carrierCallId, format: formatAtCarrier(won.call.carrier) };
    return { ok: true, setup: await setupOfStream(deps, won, agent, leg) };
  };
}

/**
 * Nobody has come with the token, or what came of it reached nobody: the run that has the call gave that claim up, and
 * its carrier dials again. The epoch rises again, so what is still said of the one that was given up says nothing.
 */
function isFree(call: CallRow, { runId }: ClaimingRun, { isAgain = false }: ClaimRequest): boolean {
  return call.mediaTokenUsedAt === null || (isAgain && call.ownerRun === runId);
}

/** As the carrier signed it: below the node's own address, or below the public one. */
function dialledUrl({ publicUrl, streamBase }: Pick<ClaimDeps, 'publicUrl' | 'streamBase'>, path: string): string {
  if (streamBase === null) return `${publicUrl}${path}`;
  const { origin, pathname } = new URL(streamBase.replace(/^ws/, 'http'));
  return path.startsWith(`${pathname}/`) ? `${origin}${path}` : `${publicUrl}${path}`;
}
