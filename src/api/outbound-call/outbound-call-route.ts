/**
 * `POST /api/outbound-call`: the decision table of contract §2, top to bottom. Steps 1 and 2 are the guard's, before the
 * body is read; step 3 is Fastify's parser and the first lines here; 4 to 13 make no call. Placement does the rest.
 */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { readCallLimits } from '../../limits/call-limits.ts';
import type { Database } from '../../store/database.ts';
import { acceptedAnswer } from '../../store/idempotency-keys.ts';
import type { Sealer } from '../../store/secrets.ts';
import type { Principal } from '../authentication.ts';
import { readCallView } from '../calls/call-view.ts';
import type { Guard } from '../guard.ts';
import { Refusal } from '../refusal.ts';
import { isTooDeep } from './canonical-json.ts';
import { type Answer, answerOnce, idempotencyKeyOf } from './idempotent-exchange.ts';
import type { CallAdmission, CompliancePolicy, NewCall, PlaceCall, Placement } from './ports.ts';
import { readOutboundCall } from './request-body.ts';
import { refusedAnswer, sendStored } from './stored-answer.ts';
import { findTargets } from './targets.ts';

export interface OutboundCallDeps {
  database: Database;
  log: Logger;
  sealer: Sealer;
  compliance: CompliancePolicy;
  admission: CallAdmission;
  placeCall: PlaceCall;
  publicUrl: string;
}

const PATH = '/api/outbound-call';
/** How long a client should stay away from a node that takes no calls. */
const RETRY_UNAVAILABLE_SECONDS = 5;

interface Asked {
  principal: Principal;
  body: unknown;
  idempotencyKey: string | null;
  requestId: string;
  fullAnswer: boolean;
}

export function registerOutboundCall(app: FastifyInstance, guard: Guard, deps: OutboundCallDeps): void {
  app.post(PATH, { onRequest: guard('calls:write'), config: { specified: true } }, async (request, reply) => {
    if (request.headers['content-type'] === undefined) throw new Refusal('unsupported_media_type');
    if (request.body === undefined || isTooDeep(request.body)) throw new Refusal('invalid_json');
    const { principal, body } = request;
    const idempotencyKey = idempotencyKeyOf(request.headers['idempotency-key']);
    const scope =
      idempotencyKey === null
        ? null
        : { workspaceId: principal.workspaceId, methodPath: `POST ${PATH}`, key: idempotencyKey };
    const fullAnswer = prefersRepresentation(request.headers['prefer']);
    const asked: Asked = { principal, body, idempotencyKey, requestId: request.id, fullAnswer };
    const answer = await answerOnce(deps, scope, body, () => answerOutboundCall(deps, asked));
    return sendStored(reply, answer);
  });
}

/** A refusal becomes an answer here, so that a final one can be stored under the key. */
async function answerOutboundCall(deps: OutboundCallDeps, asked: Asked): Promise<Answer> {
  try {
    return await decide(deps, asked);
  } catch (error) {
    if (error instanceof Refusal) return refusedAnswer(error, null);
    throw error;
  }
}

async function decide(deps: OutboundCallDeps, asked: Asked): Promise<Answer> {
  const { principal } = asked;
  const read = readOutboundCall(asked.body);
  if (!read.ok) throw new Refusal(read.code);
  const { call } = read;
  if (call.enterprise !== principal.slug) throw new Refusal('unauthorized');
  const targets = await findTargets(deps, {
    workspaceId: principal.workspaceId,
    from: call.from,
    agentId: call.agentId,
  });
  const verdict = await deps.compliance.check({
    workspaceId: principal.workspaceId,
    agentId: targets.agent.id,
    lineId: targets.line.id,
    to: call.to,
  });
  if (!verdict.allowed) throw new Refusal(verdict.code);
  if (deps.admission.state() !== 'open') {
    throw new Refusal('draining', { retryAfterSeconds: RETRY_UNAVAILABLE_SECONDS });
  }
  const newCall: NewCall = {
    workspaceId: principal.workspaceId,
    enterprise: principal.slug,
    ...targets,
    to: call.to,
    name: call.name,
    metadata: call.metadata,
    idempotencyKey: asked.idempotencyKey,
    requestId: asked.requestId,
    lateAcceptance: asked.idempotencyKey === null ? 'cancel' : 'continue',
  };
  return answerPlacement(deps, asked, newCall, await deps.placeCall(newCall));
}

async function answerPlacement(
  deps: OutboundCallDeps,
  asked: Asked,
  newCall: NewCall,
  placement: Placement,
): Promise<Answer> {
  switch (placement.kind) {
    case 'placed':
      return placed(deps, asked, newCall, placement);
    case 'limited':
      return refusedAnswer(await limitRefusal(deps, newCall, placement), null);
    case 'throttled':
      return refusedAnswer(
        new Refusal('carrier_throttled', { retryAfterSeconds: Math.max(1, placement.retryAfterSeconds) }),
        null,
      );
    case 'draining':
      return refusedAnswer(new Refusal('draining', { retryAfterSeconds: RETRY_UNAVAILABLE_SECONDS }), null);
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
  deps: OutboundCallDeps,
  asked: Asked,
  newCall: NewCall,
  placement: Extract<Placement, { kind: 'placed' }>,
): Promise<Answer> {
  const { callUuid } = placement;
  const short = acceptedAnswer(callUuid);
  const answer = {
    ...short,
    headers: { ...short.headers, 'x-call-status': placement.status },
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
      body: JSON.stringify({ success: true, callUuid, call, limits }),
      headers: { ...answer.headers, 'preference-applied': 'return=representation' },
    };
  } catch (error) {
    // The phone rings: that the extra could not be read must not look like a failure.
    deps.log.warn({ callUuid, err: error }, 'a placed call could not be shown in full');
    return answer;
  }
}

async function limitRefusal(
  deps: OutboundCallDeps,
  newCall: NewCall,
  placement: Extract<Placement, { kind: 'limited' }>,
): Promise<Refusal> {
  const { code, retryAfterSeconds } = placement;
  const limits = await readCallLimits(deps.database, { workspaceId: newCall.workspaceId, lineId: newCall.line.id });
  return new Refusal(code, {
    retryAfterSeconds,
    headers: {
      'ratelimit-policy': `"cps";q=${limits.lineCps};w=1, "concurrent";q=${limits.concurrencyLimit}`,
      ratelimit: `"${code === 'cps_limit' ? 'cps' : 'concurrent'}";r=0;t=${retryAfterSeconds}`,
    },
  });
}

/** RFC 7240: `return=representation` among other preferences. */
function prefersRepresentation(header: string | string[] | undefined): boolean {
  return [header ?? ''].flat().some((value) => /(?:^|[,;\s])return\s*=\s*"?representation"?/i.test(value));
}
