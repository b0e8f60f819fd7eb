/**
 * A carrier's media socket wants its call: who it is, whether the carrier signed, and whether it is the first. One
 * UPDATE burns the token, so of any number of claims one wins; what the winner gets is in
 * `src/lifecycle/claimed-stream.ts`. Asked by media over the link (`media-peer.ts`).
 */
import type { Logger } from 'pino';
import { formatAtCarrier } from '../../media/contract/carriers.ts';
import type { ClaimAnswer, ClaimRequest } from '../../media/contract/link-messages.ts';
import { type CallRow, SELECT_CALL } from '../calls/call-row.ts';
import { createAgentReader } from '../calls/call-setup.ts';
import { type ClaimedStreamDeps, type ClaimingRun, setupOfStream, takeStream } from '../lifecycle/claimed-stream.ts';
import type { LineCarriers } from '../lifecycle/line-carriers.ts';
import { sha256OfToken } from '../lifecycle/stream-token.ts';

interface ClaimDeps extends ClaimedStreamDeps {
  log: Logger;
  lineCarriers: LineCarriers;
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
    const [seen] = await database.query<CallRow>(`${SELECT_CALL} WHERE c.media_token_sha256 = $1`, [tokenSha256]);
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
      const burned = await tx.query(
        `UPDATE calls SET media_token_used_at = $3
          WHERE call_uuid = $1 AND media_token_sha256 = $2 AND media_token_used_at IS NULL AND status = 'in_progress'
            AND carrier_ended_at IS NULL AND ending IS NULL
         RETURNING 1 AS one`,
        [seen.callUuid, tokenSha256, new Date(nowEpochMs)],
      );
      return burned.length === 0 ? null : takeStream(tx, sealer, { run, callUuid: seen.callUuid, nowEpochMs });
    });
    if (won === null) return REFUSED.used;
    const leg = { carrierCallId: won.call.carrierCallId, format: formatAtCarrier(won.call.carrier) };
    return { ok: true, setup: await setupOfStream(deps, won, agent, leg) };
  };
}

/** As the carrier signed it: below the node's own address, or below the public one. */
function dialledUrl({ publicUrl, streamBase }: Pick<ClaimDeps, 'publicUrl' | 'streamBase'>, path: string): string {
  if (streamBase === null) return `${publicUrl}${path}`;
  const { origin, pathname } = new URL(streamBase.replace(/^ws/, 'http'));
  return path.startsWith(`${pathname}/`) ? `${origin}${path}` : `${publicUrl}${path}`;
}
