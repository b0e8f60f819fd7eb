/**
 * Steps 8 to 16 of contract §2, for `POST /api/outbound-call` and for the call of a lead: line and agent, compliance,
 * admission, placement, and the answer of each outcome. The callers have checked the body's
 * form and whose request it is.
 */
import type { Logger } from 'pino';
import type { ChangedBy } from '../../audit/audit-entry.ts';
import { readCallLimits } from '../../limits/capacity.ts';
import type { CallAdmission, CompliancePolicy, NewCall, PlaceCall, Placement } from '../../placement/ports.ts';
import type { RecordingLinks } from '../../recordings/recording-links.ts';
import type { Sealer } from '../../sealing/sealer.ts';
import type { Database } from '../../store/database.ts';
import { acceptedAnswer } from '../../store/idempotency-keys.ts';
import type { Principal } from '../authentication.ts';
import { readCallView } from '../calls/call-view.ts';
import { drainingRefusal, limitHeaders, limitRefusal } from '../limits/limit-refusal.ts';
import { Refusal } from '../refusal.ts';
import { type Answer, refusedAnswer } from './stored-answer.ts';
import { findTargets } from './targets.ts';

export interface PlacingDeps {
  database: Database;
  log: Logger;
  sealer: Sealer;
  compliance: CompliancePolicy;
  admission: CallAdmission;
  placeCall: PlaceCall;
  /** No slash at its end. */
  publicUrl: string;
  links: RecordingLinks;
}

export interface AskedCall {
  principal: Principal;
  /** UUIDs. */
  from: string;
  agentId: string;
  /** E.164. */
  to: string;
  name: string;
  metadata: Record<string, unknown>;
  lead: NewCall['lead'];
  idempotencyKey: string | null;
  idempotencyPath: string;
  requestId: string;
  by: ChangedBy;
  fullAnswer: boolean;
}

/** Throws a `Refusal` for what makes no call. */
export async function placeAndAnswer(deps: PlacingDeps, asked: AskedCall): Promise<Answer> {
  const { principal, idempotencyKey } = asked;
  const { workspaceId } = principal;
  const targets = await findTargets(deps, { workspaceId, from: asked.from, agentId: asked.agentId });
  const admission = deps.admission.state();
  if (admission !== 'open') {
    // Placement would look too, in its transaction; here it only keeps the order of the refusals.
    const verdict = await deps.compliance.check({
      workspaceId,
      to: asked.to,
      leadId: asked.lead?.id ?? null,
      lineNumber: targets.line.number,
    });
    if (!verdict.allowed) throw new Refusal(verdict.code);
    throw drainingRefusal({ kind: 'draining', ...(admission === 'overloaded' ? { code: admission } : {}) });
  }
  const newCall: NewCall = {
    workspaceId,
    enterprise: principal.slug,
    ...targets,
    to: asked.to,
    name: asked.name,
    metadata: asked.metadata,
    lead: asked.lead,
    guardDuplicates: idempotencyKey === null,
    idempotencyKey,
    idempotencyPath: asked.idempotencyPath,
    requestId: asked.requestId,
    by: asked.by,
    ...(principal.keyId === null ? {} : { keyId: principal.keyId }),
    lateAcceptance: idempotencyKey === null ? 'cancel' : 'continue',
  };
  return answerPlacement(deps, asked, newCall, await deps.placeCall(newCall));
}

async function answerPlacement(
  deps: PlacingDeps,
  asked: AskedCall,
  newCall: NewCall,
  placement: Placement,
): Promise<Answer> {
  switch (placement.kind) {
    case 'blocked':
      return refusedAnswer(new Refusal(placement.code), null);
    case 'placed':
      return placed(deps, asked, newCall, placement);
    case 'limited':
      return refusedAnswer(limitRefusal(placement), null);
    case 'throttled':
      return refusedAnswer(
        new Refusal('carrier_throttled', { retryAfterSeconds: Math.max(1, placement.retryAfterSeconds) }),
        null,
      );
    case 'draining':
      return refusedAnswer(drainingRefusal(placement), null);
    case 'rejected':
      return refusedAnswer(
        new Refusal(placement.code, { status: 502, message: 'Carrier rejected the call' }),
        placement.callUuid,
      );
    case 'unknown':
      return { ...refusedAnswer(new Refusal('submission_unknown'), placement.callUuid), outcomeUnknown: true };
  }
}

async function placed(
  deps: PlacingDeps,
  asked: AskedCall,
  newCall: NewCall,
  placement: Extract<Placement, { kind: 'placed' }>,
): Promise<Answer> {
  const { callUuid } = placement;
  const leadId = newCall.lead?.id ?? null;
  const short = acceptedAnswer({ callUuid, leadId });
  const answer = {
    ...short,
    headers: { ...short.headers, ...limitHeaders(placement.left), 'x-call-status': placement.status },
    callUuid,
    outcomeUnknown: false,
  };
  if (!asked.fullAnswer) return answer;
  try {
    const [call, limits] = await Promise.all([
      readCallView(deps, { workspaceId: newCall.workspaceId, callUuid }),
      readCallLimits(deps.database, { workspaceId: newCall.workspaceId, lineId: newCall.line.id }),
    ]);
    return {
      ...answer,
      body: JSON.stringify({ ...(JSON.parse(short.body) as object), call, limits }),
      headers: { ...answer.headers, 'preference-applied': 'return=representation' },
    };
  } catch (error) {
    // The phone rings: that the extra could not be read must not look like a failure.
    deps.log.warn({ callUuid, err: error }, 'a placed call could not be shown in full');
    return answer;
  }
}
