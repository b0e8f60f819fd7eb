/**
 * A socket wants its call: control says whose the token is, an older stream of the same call here is ended, and the
 * leg is made. What the endpoints of carriers and of browsers share; what needs no question, and how one refuses, is
 * each one's own.
 */
import type { CallSetup, ClaimAnswer, ClaimRequest, ToControl } from '../contract/link-messages.ts';
import type { CallRegistry } from './call-registry.ts';
import type { ControlLink } from './control-link.ts';

/** An older stream of the same call gets so long to be over; its recording may take longer. */
const VACATE_LIMIT_MS = 3000;

export interface ClaimLegDeps {
  link: Pick<ControlLink, 'claim'>;
  registry: Pick<CallRegistry, 'superseded' | 'vacate'>;
  toControl(message: ToControl): void;
}

type ClaimedLeg<Leg> =
  | { leg: Leg; setup: CallSetup }
  | { leg: null; refusal: Extract<ClaimAnswer, { ok: false }>; callUuid?: string };

/** `carry` makes the leg, of the registry: the call is ours from then on, whatever becomes of its socket. */
export async function claimLeg<Leg>(
  { link, registry, toControl }: ClaimLegDeps,
  request: ClaimRequest,
  carry: (setup: CallSetup) => Leg,
): Promise<ClaimedLeg<Leg>> {
  const answer = await link.claim(request);
  if (!answer.ok) return { leg: null, refusal: answer };
  const { setup } = answer;
  const { callUuid, epoch } = setup;
  registry.superseded(callUuid);
  if (await registry.vacate(callUuid, VACATE_LIMIT_MS)) return { leg: carry(setup), setup };
  toControl({ type: 'media.stopped', callUuid, epoch, why: 'failed', durationMs: 0, latencies: [] });
  const why = 'an older stream of the call is still being closed';
  return { leg: null, refusal: { ok: false, httpStatus: 409, why }, callUuid };
}
