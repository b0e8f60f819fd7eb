/**
 * The control plane's HTTP server: builds and returns it, does not listen. `src/main.ts` composes the ports and listens on
 * the private socket behind the media plane's proxy. Carrier callbacks register in a scope of their own, so that their body
 * parsers do not reach the API.
 */
import Fastify, { type FastifyInstance } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import type { Clock } from '../../media/contract/clock.ts';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { purgeCarrierCallbacks } from '../carriers/acted-on.ts';
import type { Clips } from '../clips/clips.ts';
import { purgeDialUsage } from '../dialling/daily-usage.ts';
import type { IssueAnswer, SessionRequest } from '../embed/issue-session.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import { purgeLimits } from '../limits/postgres-store.ts';
import type { AnsweredRequest } from '../metrics/control-metrics.ts';
import type { RecordingEraser } from '../recordings/erase-recordings.ts';
import { purgeIdempotencyKeys } from '../store/idempotency-keys.ts';
import type { WebhookBell } from '../webhooks/outbox.ts';
import { purgePastCredentials } from '../workspaces/lines.ts';
import { registerAgents } from './agents/agent-routes.ts';
import { registerAudit } from './audit/audit-route.ts';
import { createAuthenticator } from './authentication.ts';
import type { CallEventBus } from './call-event-bus.ts';
import { registerCallingSettings } from './calling-settings/calling-setting-routes.ts';
import { registerCalls } from './calls/call-routes.ts';
import { type CallControlDeps, registerCallControl } from './calls/control-route.ts';
import { registerCallDelete } from './calls/delete-route.ts';
import { registerCallEvents } from './calls/event-routes.ts';
import { registerCallList } from './calls/list-route.ts';
import { registerTranscript } from './calls/transcript-route.ts';
import { registerClips } from './clips/clip-routes.ts';
import type { CursorCodec } from './cursor.ts';
import { registerDialPolicy } from './dial-policy/dial-policy-routes.ts';
import { registerEmbedSession } from './embed/session-route.ts';
import { answerFrameworkError, frameAnswers } from './envelope.ts';
import { registerErrorCodes } from './error-codes-route.ts';
import { createGuard } from './guard.ts';
import { type ReadinessCheck, registerHealth } from './health-routes.ts';
import { registerKeys } from './keys/key-routes.ts';
import { refuseUnknownParameters } from './known-parameters.ts';
import { registerLeadCall } from './leads/call-route.ts';
import { type ImportRouteDeps, registerLeadImports } from './leads/import-routes.ts';
import { registerLeads } from './leads/lead-routes.ts';
import { registerLimits } from './limits/limits-route.ts';
import { type ModelEndpointDeps, registerModelEndpoint } from './model-endpoint/model-endpoint-routes.ts';
import { registerOpenApi } from './openapi/openapi-routes.ts';
import { createOperatorGuard } from './operator/operator-guard.ts';
import { registerWorkspaces } from './operator/workspace-routes.ts';
import { registerOutboundCall } from './outbound-call/outbound-call-route.ts';
import type { PlacingDeps } from './outbound-call/place-and-answer.ts';
import { registerPhoneNumbers } from './phone-numbers/phone-number-routes.ts';
import { type RecordingRouteDeps, registerRecordings } from './recordings/recording-routes.ts';
import { refuseNul } from './refuse-nul.ts';
import { requestIdOf } from './request-id.ts';
import { type HoldRouteDeps, registerHolds } from './retention/hold-routes.ts';
import { registerRetention } from './retention/retention-routes.ts';
import { registerSuppressions } from './suppressions/suppression-routes.ts';
import { registerToolSecrets } from './tool-secrets/secret-routes.ts';
import { registerTools } from './tools/tool-routes.ts';
import { UploadRoom } from './upload-room.ts';
import { registerWebhookSettings, type WebhookSettingDeps } from './webhook-settings/webhook-setting-routes.ts';
import { registerWebhooks } from './webhooks/webhook-routes.ts';
import { registerWidget } from './widget/widget-routes.ts';
import { registerWidgetKeys } from './widget-keys/widget-key-routes.ts';

export interface ApiDeps extends PlacingDeps {
  clock: Clock;
  sounds: RecordingRouteDeps['sounds'];
  eraser: RecordingEraser;
  clips: Clips;
  cursors: CursorCodec;
  limitStore: LimitStore;
  controlCall: CallControlDeps['controlCall'];
  hangUp(callUuid: string, by: ChangedBy): Promise<'asked' | 'over'>;
  issueSession(request: SessionRequest): Promise<IssueAnswer>;
  bus: Pick<CallEventBus, 'subscribe'>;
  webhookBell: WebhookBell;
  webhookAddress: WebhookSettingDeps['webhookAddress'];
  modelAddress: ModelEndpointDeps['modelAddress'];
  checks: Readonly<Record<string, ReadinessCheck>>;
  /** Names this run of control, for whoever wants to know that an address leads to it. */
  instance: string;
  /** After every answer; for metrics. */
  answered?(request: AnsweredRequest): void;
  purge: HoldRouteDeps['purge'];
  importReading: ImportRouteDeps['importReading'];
  /** A file of leads waits to be stored. Must not throw. */
  importQueued(): void;
  /** Called with a scope of its own; parsers and hooks that it adds stay there. */
  registerCarrierRoutes?(scope: FastifyInstance): void;
}

const BODY_LIMIT_BYTES = 64 * 1024;
/**
 * Who dials us is told by the one in front of us, the media plane, over a socket that nobody else can open: it writes
 * the only entry of X-Forwarded-For, with the client's address as `client-address.ts` found it.
 */
const TRUSTED_HOPS = 1;
const PURGE_EVERY_MS = 3_600_000;

export function createApiServer(deps: ApiDeps): FastifyInstance {
  const app = Fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    trustProxy: (_address, hop) => hop < TRUSTED_HOPS,
    requestIdHeader: false,
    genReqId: (request) => requestIdOf(request.headers),
    // Our own log has routes, not addresses with what they may hold.
    logger: false,
    return503OnClosing: false,
    frameworkErrors: answerFrameworkError,
    forceCloseConnections: 'idle',
  });
  app.setValidatorCompiler(validatorCompiler);
  app.decorateRequest('principal', null as never);
  app.decorateRequest('operatorKeyId', null);
  acceptJsonOnly(app);
  frameAnswers(app, deps.log);
  refuseUnknownParameters(app);
  refuseNul(app);
  app.addHook('onResponse', async (request, reply) => {
    const errorCode = reply.getHeader('x-error-code');
    deps.answered?.({
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      errorCode: typeof errorCode === 'string' ? errorCode : null,
      seconds: reply.elapsedTime / 1000,
    });
    deps.log.debug(
      {
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        keyId: request.principal?.keyId ?? null,
      },
      'answered',
    );
  });

  const authenticator = createAuthenticator(deps);
  app.addHook('onReady', () => authenticator.warm());
  const guard = createGuard({ authenticator, limitStore: deps.limitStore });
  registerOutboundCall(app, guard, deps);
  registerCalls(app, guard, deps);
  registerRecordings(app, guard, deps);
  registerCallEvents(app, guard, authenticator, deps);
  registerLeads(app, guard, deps);
  registerLeadCall(app, guard, deps);
  const uploadRoom = new UploadRoom();
  registerLeadImports(app, guard, { ...deps, uploadRoom });
  registerSuppressions(app, guard, deps);
  registerCallList(app, guard, deps);
  registerWebhooks(app, guard, deps);
  registerWebhookSettings(app, guard, deps);
  registerTranscript(app, guard, deps);
  registerCallDelete(app, guard, deps);
  registerCallControl(app, guard, deps);
  registerLimits(app, guard, deps);
  registerTools(app, guard, deps);
  registerAudit(app, guard, deps);
  registerErrorCodes(app);
  registerAgents(app, guard, deps);
  registerClips(app, guard, { ...deps, uploadRoom });
  registerPhoneNumbers(app, guard, deps);
  registerKeys(app, guard, deps);
  registerToolSecrets(app, guard, deps);
  registerModelEndpoint(app, guard, deps);
  registerRetention(app, guard, deps);
  registerHolds(app, guard, deps);
  registerCallingSettings(app, guard, deps);
  registerWidgetKeys(app, guard, deps);
  const operatorGuard = createOperatorGuard({ ...deps, authenticator });
  app.addHook('onReady', () => operatorGuard.warm());
  registerWorkspaces(app, operatorGuard.hook, deps);
  registerDialPolicy(app, guard, operatorGuard.hook, deps);
  registerEmbedSession(app, deps);
  registerHealth(app, deps);
  registerOpenApi(app, deps);
  registerWidget(app, deps);
  const { registerCarrierRoutes } = deps;
  if (registerCarrierRoutes !== undefined) {
    app.register((scope, _options, done) => {
      registerCarrierRoutes(scope);
      done();
    });
  }
  purgeHourly(app, deps);
  return app;
}

/** An empty body is none; the route decides whether it needs one. */
function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parse(request, String(body), done);
  });
}

/** Each by itself: one that fails does not keep the others from what is theirs. */
function purgeHourly(
  app: FastifyInstance,
  { clock, database, log }: Pick<ApiDeps, 'clock' | 'database' | 'log'>,
): void {
  let cancel = (): void => {};
  let closed = false;
  let running: Promise<unknown> = Promise.resolve();
  const purges = { purgeIdempotencyKeys, purgeLimits, purgePastCredentials, purgeCarrierCallbacks, purgeDialUsage };
  const runAll = async (): Promise<void> => {
    for (const [name, purge] of Object.entries(purges)) {
      await purge(database, () => closed).catch((error: unknown) => {
        log.warn({ purge: name, err: error }, 'what is old could not be removed; the next hour tries again');
      });
    }
  };
  const again = (): void => {
    cancel = clock.after(PURGE_EVERY_MS, () => {
      running = runAll();
      again();
    });
  };
  app.addHook('onReady', async () => again());
  app.addHook('onClose', async () => {
    closed = true;
    cancel();
    await running;
  });
}
