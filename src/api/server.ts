/**
 * The control plane's HTTP server: builds and returns it, does not listen. `src/control/` composes the ports and
 * listens on the private socket behind the media plane's proxy. Carrier callbacks register in a scope of their own, so
 * that their body parsers do not reach the API.
 */
import Fastify, { type FastifyInstance } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { purgeCarrierCallbacks } from '../carriers/acted-on.ts';
import { purgeConnectionCredentials } from '../connections/stored-connections.ts';
import { purgeDialUsage } from '../dialling/daily-usage.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import { purgeLimits } from '../limits/postgres-store.ts';
import type { AnsweredRequest } from '../metrics/control-metrics.ts';
import { purgeCallRefusals } from '../overview/call-refusals.ts';
import type { Database } from '../store/database.ts';
import { purgeIdempotencyKeys } from '../store/idempotency-keys.ts';
import { createSweeper } from '../store/sweeper.ts';
import { purgeUserSessions } from '../users/sessions.ts';
import { purgePastCredentials } from '../workspaces/lines.ts';
import { createAuthenticator } from './authentication.ts';
import { consoleUrl } from './console/console-files.ts';
import { createSessionGuard } from './console/session-guard.ts';
import { answerFrameworkError, frameAnswers } from './envelope.ts';
import { createGuard } from './guard.ts';
import { refuseUnknownParameters } from './known-parameters.ts';
import { createOperatorGuard } from './operator/operator-guard.ts';
import { refuseNul } from './refuse-nul.ts';
import { requestIdOf } from './request-id.ts';
import { collectOperations } from './route.ts';
import { type RouteDeps, registerRoutes } from './routes.ts';

export interface ApiDeps extends Omit<RouteDeps, 'stillHold'> {
  limitStore: LimitStore;
  /** After every answer; for metrics. */
  answered?(request: AnsweredRequest): void;
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
    rewriteUrl: ({ url }) => consoleUrl(url ?? '/'),
    genReqId: (request) => requestIdOf(request.headers),
    // Our own log has routes, not addresses with what they may hold.
    logger: false,
    return503OnClosing: false,
    frameworkErrors: answerFrameworkError,
    forceCloseConnections: 'idle',
  });
  app.setValidatorCompiler(validatorCompiler);
  app.decorateRequest('principal', null as never);
  app.decorateRequest('operator', null);
  app.decorateRequest('signedIn', null);
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
        actor: request.principal?.actor ?? null,
      },
      'answered',
    );
  });

  collectOperations(app);
  const authenticator = createAuthenticator(deps);
  const operatorGuard = createOperatorGuard({ ...deps, authenticator });
  app.addHook('onReady', () => authenticator.warm());
  app.addHook('onReady', () => operatorGuard.warm());
  const keys = createGuard({ authenticator, limitStore: deps.limitStore, operator: operatorGuard.hook });
  const guards = { keys, people: createSessionGuard(deps) };
  registerRoutes(app, guards, { ...deps, stillHold: authenticator.stillHold });
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
  let closed = false;
  const purges: Record<string, (database: Database, isOver: () => boolean) => Promise<unknown>> = {
    purgeIdempotencyKeys,
    purgeLimits,
    purgePastCredentials,
    purgeConnectionCredentials,
    purgeCarrierCallbacks,
    purgeDialUsage,
    purgeUserSessions,
    purgeCallRefusals,
  };
  const sweepers = Object.entries(purges).map(([name, purge]) =>
    createSweeper({
      clock,
      everyMs: PURGE_EVERY_MS,
      sweep: () => purge(database, () => closed),
      failed: (err) => log.warn({ purge: name, err }, 'what is old could not be removed; the next hour tries again'),
    }),
  );
  app.addHook('onReady', async () => {
    for (const sweeper of sweepers) sweeper.start(PURGE_EVERY_MS);
  });
  app.addHook('onClose', async () => {
    closed = true;
    await Promise.all(sweepers.map((sweeper) => sweeper.close()));
  });
}
