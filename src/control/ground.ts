/**
 * What all parts of control stand on: database, keys, the guarded way out, limits, audit, webhooks, carriers. Opened
 * first and closed last, by `control.ts`.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import { createAddressGuard } from '../../media/net/address-guard.ts';
import { createGuardedClient } from '../../media/net/guarded-client.ts';
import { createChainSigner } from '../audit/chain-signer.ts';
import { startAuditLinking } from '../audit/start-audit.ts';
import { createCallEventBus } from '../calls/call-event-bus.ts';
import { openCarriers } from '../carriers/carriers.ts';
import { builtEntry, packageRoot } from '../config/built-entry.ts';
import type { Config } from '../config/load.ts';
import type { OpenIdSettings } from '../config/openid-settings.ts';
import type { TraceSettings } from '../config/trace-settings.ts';
import { openLimitStores } from '../limits/open-stores.ts';
import { watchOverload } from '../limits/overload.ts';
import { createControlMetrics } from '../metrics/control-metrics.ts';
import { createCompany } from '../nodes/company.ts';
import { createCallRefusals } from '../overview/call-refusals.ts';
import { createRecordingLinks } from '../recordings/recording-links.ts';
import { createSealer } from '../sealing/sealer.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { startDayMaker } from '../store/day-maker.ts';
import { createDueLook } from '../store/due-look.ts';
import { createServerSessions } from '../store/server-sessions.ts';
import type { TraceExporter } from '../tracing/trace-exporter.ts';
import { createOpenIdProvider } from '../users/openid/openid-provider.ts';
import { createHashing } from '../users/password.ts';
import { startWebhooks } from '../webhooks/start.ts';
import { openMasterKeys, refuseOtherKey } from './open-keys.ts';

const DATABASE_CONNECTIONS = 20;
/** Of deliveries alone, so that a rush of calls does not hold up the word of those that ended. */
const WEBHOOK_CONNECTIONS = 6;

export type Ground = Awaited<ReturnType<typeof openGround>>;

/** Rejects with what the operator should do when the master key is missing or another one. */
export async function openGround(config: Config, clock: Clock, log: Logger) {
  const { publicUrl, redisUrl, databaseUrl } = config;
  const sessions = createServerSessions();
  const connect = (maxConnections: number): Database =>
    openDatabase({
      connectionString: databaseUrl,
      maxConnections,
      sessions,
      onIdleError: (error) => log.warn({ err: error }, 'the database dropped a connection'),
    });
  const database = connect(DATABASE_CONNECTIONS);
  const webhookDatabase = connect(WEBHOOK_CONNECTIONS);
  const due = createDueLook({ database, clock });
  const masterKeys = await openMasterKeys(config, { database, clock, log, due });
  const sealer = createSealer(masterKeys);
  await refuseOtherKey(database, sealer);
  const addressGuard = createAddressGuard(config.webhookAllowCidrs);
  const http = createGuardedClient({ guard: addressGuard, clock });
  const limitStores = await openLimitStores({ database, redisUrl, clock, log });
  const overload = watchOverload(clock);
  const hashing = createHashing(() => builtEntry('src/users/hash-thread.js'));
  const callRefusals = createCallRefusals({ database, clock, log });
  callRefusals.start();
  const auditSigner = createChainSigner(masterKeys);
  const audit = startAuditLinking({ database, signer: auditSigner, clock, log, due });
  const metrics = createControlMetrics();
  const company = createCompany();
  const webhooks = await startWebhooks({
    db: webhookDatabase,
    databaseUrl,
    sessions,
    redisUrl,
    sealer,
    http,
    clock,
    random: Math.random,
    logger: log,
    settings: config.webhooks,
    retryScale: config.webhookRetryScale,
    observed: metrics.webhookAttempted,
    due,
    company,
  });
  const traces = config.traces === null ? null : await openTraces(config.traces, { database, clock, log });
  const openId = config.openId === null ? null : openOpenId(config.openId, clock);
  const links = createRecordingLinks(masterKeys, publicUrl, clock);
  // Last: a node that is refused, for its key, changes nothing.
  const days = startDayMaker({ database, clock, log });
  return {
    config,
    clock,
    masterKeys,
    addressGuard,
    auditSigner,
    http,
    limitStores,
    hashing,
    callRefusals,
    /** Of all that is connected to the database. */
    sessions,
    overload,
    /** Whom this node shares limits with. */
    company,
    metrics,
    /** Null: the operator has no collector. */
    traces,
    /** Null: nobody signs in so. */
    openId: openId?.provider ?? null,
    registry: openCarriers(config.carrierApiBase),
    /** What nearly every part takes. */
    shared: { database, clock, log, publicUrl, sealer, links, due },
    /** For parts that tell of a call: to its event streams, and to its workspace's webhook. */
    telling: { bus: createCallEventBus(), webhookDispatcher: webhooks.dispatcher },

    async close(): Promise<void> {
      await due.close();
      await days.close();
      await traces?.close();
      metrics.close();
      await webhooks.close();
      await http.close();
      await openId?.http.close();
      await callRefusals.close();
      await hashing.close();
      await audit.close();
      overload.close();
      limitStores.close();
      await masterKeys.close();
      await webhookDatabase.close();
      await database.close();
    },
  };
}

/** With a way out of its own: what the operator allows the provider, workspaces are not. */
function openOpenId(settings: OpenIdSettings, clock: Clock) {
  const http = createGuardedClient({ guard: createAddressGuard(settings.allowCidrs, 'OIDC_ALLOW_CIDRS'), clock });
  return { http, provider: createOpenIdProvider(settings, { http, clock }) };
}

/** Loaded where it is wanted. */
async function openTraces(
  settings: TraceSettings,
  deps: { database: Database; clock: Clock; log: Logger },
): Promise<TraceExporter> {
  const { createTraceExporter } = await import('../tracing/trace-exporter.ts');
  const { readCallFacts } = await import('../tracing/read-call.ts');
  const read = (callUuid: string) => readCallFacts(deps.database, callUuid);
  const { version } = JSON.parse(await readFile(join(packageRoot(), 'package.json'), 'utf8')) as { version: string };
  return createTraceExporter({ ...deps, settings, version, read });
}
