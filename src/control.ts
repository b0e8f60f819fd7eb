/**
 * The control plane put together: who needs whom, in which order they start and stop. Called by `main.ts`, which owns the
 * process. This file decides defaults and wiring only; no behaviour of its own.
 */

import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../media/contract/clock.ts';
import { counter, gauge, type MetricFamily } from '../media/contract/metrics.ts';
import { createAnalysisRunner } from './analysis/analysis-runner.ts';
import { createCallEventBus } from './api/call-event-bus.ts';
import { createCursorCodec } from './api/cursor.ts';
import { readinessOf } from './api/health-routes.ts';
import type { CallAdmission } from './api/outbound-call/ports.ts';
import { createApiServer } from './api/server.ts';
import { createChainSealer } from './audit/chain-sealer.ts';
import { startAuditLinking } from './audit/start-audit.ts';
import { createDeeds } from './calls/deeds.ts';
import { endCall } from './calls/end-call.ts';
import { createLineCarriers } from './calls/line-carriers.ts';
import { controlCall } from './calls/live-control.ts';
import { placeCall } from './calls/placement.ts';
import { createReaper } from './calls/reaper.ts';
import { createStreamTokens } from './calls/stream-token.ts';
import { createTransitions } from './calls/transition.ts';
import { untilCallsAreOver } from './calls/until-calls-are-over.ts';
import { registerCarrierRoutes } from './carriers/carrier-routes.ts';
import { openCarriers } from './carriers/carriers.ts';
import { createClips } from './clips/clips.ts';
import { convertInProcess } from './clips/convert-file.ts';
import type { Config } from './config/load.ts';
import { keysInFile } from './config/master-key-setting.ts';
import { createEmbed } from './embed/embed.ts';
import { createImportReading } from './leads/import-reading.ts';
import { createImportRunner } from './leads/import-runner.ts';
import { createLeadFollower } from './leads/lead-follower.ts';
import { createCallLimits } from './limits/call-limits.ts';
import { createCallRoom, UNMEASURED } from './limits/call-room.ts';
import { createEmbedLimits } from './limits/embed-limits.ts';
import { createFairQueue } from './limits/fair-queue.ts';
import { openLimitStores } from './limits/open-stores.ts';
import { watchOverload } from './limits/overload.ts';
import { claimStream } from './media-link/claim.ts';
import { Gate } from './media-link/inbox.ts';
import { orphanOthers, releaseLeases, renewLeases } from './media-link/leases.ts';
import { createLinkServer } from './media-link/link-server.ts';
import { createMediaMessages } from './media-link/media-messages.ts';
import { createMediaPool, type MediaMember, type MediaPool } from './media-link/media-pool.ts';
import { observeEnds, timePlacement } from './metrics/call-observers.ts';
import { createControlMetrics } from './metrics/control-metrics.ts';
import { databaseFamilies } from './metrics/database-metrics.ts';
import { metricsText } from './metrics/exposition.ts';
import { createMediaReports } from './metrics/media-reports.ts';
import { type MetricsServer, startMetricsServer } from './metrics/metrics-server.ts';
import { createAddressGuard } from './outbound-http/address-guard.ts';
import { createGuardedClient } from './outbound-http/guarded-client.ts';
import { systemResolver } from './outbound-http/name-lookup.ts';
import { createJoiner } from './recordings/joiner.ts';
import { nodeIdOf } from './recordings/local-copies.ts';
import { assertKeysOpen, fateOfRecording } from './recordings/recording-keys.ts';
import { createRecordingLinks } from './recordings/recording-links.ts';
import { openRecordings, recordingFamilies } from './recordings/recordings.ts';
import { joinInThread, renderInThread } from './recordings/renditions.ts';
import { createShelf } from './recordings/shelf.ts';
import { createRetentionPurge } from './retention/retention-purge.ts';
import { type KeyRing, openKeyRing } from './sealing/key-ring.ts';
import { type Database, openDatabase } from './store/database.ts';
import { createSealer, type Sealer } from './store/secrets.ts';
import { builtEntry } from './supervisor/built-entry.ts';
import { createDialClearance } from './suppressions/dial-clearance.ts';
import { createToolExecutor } from './tools/tool-executor.ts';
import { recordCallEvent } from './webhooks/outbox.ts';
import { startWebhooks } from './webhooks/start.ts';

export interface Control {
  /** Readiness fails and new calls are refused with 503 from now on; all else goes on. Resolves when the last live call is over. */
  refuseNewCalls(): Promise<void>;
  /**
   * New calls are refused with 503 at once. Who still knocks is told so for a moment; then requests are finished, and all
   * is closed in the order in which things need each other. Idempotent.
   */
  close(): Promise<void>;
}

const DATABASE_CONNECTIONS = 20;
/** Of deliveries alone, so that a rush of calls does not hold up the word of those that ended. */
const WEBHOOK_CONNECTIONS = 6;
/** Transactions of media messages at once; the rest of the connections is for requests, callbacks and timers. */
const MEDIA_TRANSACTIONS = 6;
/** Under way at once: a carrier that hangs keeps a placement for 5 s, and one workspace may not keep more than half of them. */
const PLACEMENTS = 256;
const DATABASE_PLACEMENTS = 8;
const PLACEMENTS_WAITING = 1_024;
/** A client that gave up is not worth a call. */
const PLACEMENT_WAIT_MS = 2_000;
const LIMIT_SETTINGS_KEPT_MS = 1_000;
/** A purge that a client asks for ends in some seconds. */
const PURGED_A_REQUEST = 200;
/** As long as the one in front may take to see that this process is being stopped. */
const TELL_MS = 300;
/** Requests under way get this long at the end; event streams would go on for ever. */
const REQUESTS_LIMIT_MS = 3_000;

/** The database is there and migrated. */
export async function startControl(config: Config, clock: Clock, log: Logger): Promise<Control> {
  const { publicUrl } = config;
  const connect = (maxConnections: number): Database =>
    openDatabase({
      connectionString: config.databaseUrl,
      maxConnections,
      onIdleError: (error) => log.warn({ err: error }, 'the database dropped a connection'),
    });
  const database = connect(DATABASE_CONNECTIONS);
  const webhookDatabase = connect(WEBHOOK_CONNECTIONS);
  const masterKeys = await openMasterKeys(config, { database, clock, log });
  const sealer = createSealer(masterKeys);
  await refuseOtherKey(database, sealer);
  const addressGuard = createAddressGuard(config.webhookAllowCidrs);
  const http = createGuardedClient({ guard: addressGuard, clock });
  const runId = randomUUID();
  const limitStores = await openLimitStores({ database, redisUrl: config.redisUrl, clock, log });
  const overload = watchOverload(clock);
  const audit = startAuditLinking({ database, sealer: createChainSealer(masterKeys), clock, log });
  const metrics = createControlMetrics();
  const mediaReports = createMediaReports(clock);
  const webhooks = await startWebhooks({
    db: webhookDatabase,
    databaseUrl: config.databaseUrl,
    redisUrl: config.redisUrl,
    sealer,
    http,
    clock,
    random: Math.random,
    logger: log,
    retryScale: config.webhookRetryScale,
    observed: metrics.webhookAttempted,
  });

  const registry = openCarriers(config.carrierApiBase);
  const lineCarriers = createLineCarriers({ database, registry, open: sealer.open });
  const streamTokens = createStreamTokens(masterKeys);
  const bus = createCallEventBus();
  const pool = createMediaPool({ database, clock, log, clipsOf: (agentId, agent) => clips.forCall(agentId, agent) });
  const room = createCallRoom({
    source: config.admission === 'measured' ? pool : UNMEASURED,
    clock,
    refusing: (why) => log.warn(why, 'no room for more calls: what is asked for now is refused before it is dialled'),
  });
  const deeds = createDeeds({ lineCarriers, media: pool, clock, log });
  const links = createRecordingLinks(masterKeys, publicUrl, clock);
  const shared = { database, clock, log, publicUrl, sealer, links };
  const recordings = openRecordings({
    ...shared,
    settings: config.recordings,
    dataDir: config.dataDir,
    render: renderInThread(() => builtEntry('media/threads/render-thread.js')),
  });
  const clips = createClips({
    ...shared,
    stores: recordings.stores,
    dataDir: config.dataDir,
    convert: convertInProcess(() => builtEntry('media/clips/main.js'), config.commandPath),
  });
  const node = nodeIdOf(config.dataDir);
  const shelf = createShelf({
    ...shared,
    store: recordings.stores.current,
    node,
    bus,
    bell: webhooks.bell,
    recordCallEvent,
    joinerBell: () => joiner.nudge(),
  });
  const joiner = createJoiner({
    ...shared,
    stores: recordings.stores,
    join: joinInThread(() => builtEntry('media/threads/render-thread.js')),
    node,
    dataDir: config.dataDir,
    bus,
    bell: webhooks.bell,
    recordCallEvent,
    joined: shelf.nudge,
  });
  const sweep = async (): Promise<number> => {
    await clips.sweep();
    return recordings.eraser.sweep();
  };
  const purge = createRetentionPurge({ ...shared, eraser: { ...recordings.eraser, sweep } });
  const { callTimerScale: timerScale } = config;
  const transitions = observeEnds(
    (call) => {
      metrics.callEnded(call.status, call.endedReason ?? 'none');
      limitStores.callEnded(call);
      room.gone(call.callUuid);
      if (call.analysisStatus === 'pending') analysis.ring(call.callUuid, call.workspaceId);
      embed.callEnded(call);
      tools.callEnded(call.callUuid);
    },
    createTransitions({
      ...shared,
      timerScale,
      bus,
      recordCallEvent,
      bell: webhooks.bell,
      follow: createLeadFollower({ clock }),
      perform: deeds.perform,
      deadlineMoved: (deadlineAt) => reaper.nudge(deadlineAt),
    }),
  );
  const modelCidrs = [...config.webhookAllowCidrs, ...config.modelAllowCidrs];
  const modelGuard = createAddressGuard(modelCidrs, 'MODEL_ALLOW_CIDRS');
  const modelHttp = createGuardedClient({
    guard: modelGuard,
    clock,
  });
  const analysis = createAnalysisRunner({
    ...shared,
    bus,
    http: modelHttp,
    random: Math.random,
    recordCallEvent,
    bell: webhooks.bell,
    observed: { analysed: metrics.callAnalysed, asked: metrics.modelAsked },
  });
  const reaper = createReaper({ ...shared, timerScale, transitions, lineCarriers, deeds });
  const tools = createToolExecutor({
    http,
    sealer,
    clock,
    log,
    answer: pool.toolAnswered,
    observed: metrics.toolUsed,
  });
  const messages = createMediaMessages({
    ...shared,
    bus,
    bell: webhooks.bell,
    transitions,
    recordCallEvent,
    tools,
    recordings: { node, nudge: shelf.nudge },
  });
  let draining = false;
  let placing = 0;
  const embed = createEmbed({
    ...shared,
    bus,
    masterKeys,
    limits: createEmbedLimits({ ...limitStores, database, clock }),
    superseded: pool.superseded,
    prepare: pool.prepareWeb,
    hasUnwritten: (callUuid) => linkServer.hasUnwritten(callUuid),
    isDraining: () => draining,
    hasRoom: () => pool.hasRoom() && room.has('web'),
    room,
  });
  const linkServer = createLinkServer({
    clock,
    log,
    runId,
    gate: new Gate(MEDIA_TRANSACTIONS),
    pool,
    messages,
    claim: async (mediaId, claim) => {
      const answer = await (claim.carrier === 'web'
        ? embed.claimSession(mediaId, claim)
        : claimStream({ ...shared, bus, lineCarriers }, mediaId, claim));
      if (!answer.ok) return answer;
      room.carried(answer.setup.callUuid);
      const found = await clips.forCall(answer.setup.agentId, answer.setup.agent);
      return found === undefined ? answer : { ok: true, setup: { ...answer.setup, clips: found } };
    },
    recordingFate: (stream) => fateOfRecording(database, sealer, stream),
    renewLeases: (mediaId, calls) => renewLeases(database, clock, mediaId, calls),
    releaseLeases: (mediaId, calls) => releaseLeases(database, clock, mediaId, calls),
    metricsReported: mediaReports.reported,
    toolCancelled: tools.cancel,
    orphanOthers: (mediaId, calls) => orphanOthers(database, clock, mediaId, calls),
  });

  const admission: CallAdmission = {
    state: () => {
      if (draining) return 'draining';
      if (!pool.hasRoom()) return 'no_capacity';
      return overload.isOverloaded() || !room.has('api') ? 'overloaded' : 'open';
    },
  };
  const importReading = createImportReading({ clock, entry: () => builtEntry('src/leads/import-thread.js') });
  const imports = createImportRunner({ ...shared, reading: importReading });
  const clearance = createDialClearance({ database, clock, masterKeys });
  const turns = { clock, mostWaiting: PLACEMENTS_WAITING, longestWaitMs: PLACEMENT_WAIT_MS };
  const placement = {
    ...shared,
    clearance,
    transitions,
    registry,
    admission,
    room,
    bell: webhooks.bell,
    callLimits: createCallLimits({ ...limitStores, database, clock, settingsKeptMs: LIMIT_SETTINGS_KEPT_MS }),
    carrierTurns: createFairQueue({ ...turns, slots: PLACEMENTS, slotsPerKey: PLACEMENTS / 2 }),
    databaseTurns: createFairQueue({ ...turns, slots: DATABASE_PLACEMENTS, slotsPerKey: DATABASE_PLACEMENTS - 2 }),
  };
  const checks = {
    database: () => databaseAnswers(database),
    media: async () => mediaState(pool.members()),
    draining: async () => {
      if (draining) throw new Error('the service is being stopped');
      return 'no';
    },
  };
  const app = createApiServer({
    ...shared,
    sounds: recordings.sounds,
    eraser: recordings.eraser,
    clips,
    limitStore: limitStores.store,
    cursors: createCursorCodec(masterKeys),
    async placeCall(call) {
      placing++;
      try {
        return await timePlacement(metrics, clock, () => placeCall(placement, call));
      } finally {
        placing--;
      }
    },
    answered: metrics.requestAnswered,
    controlCall: (request) => controlCall({ ...shared, bus, media: pool }, request),
    hangUp: async (callUuid, by) =>
      (await endCall(transitions, callUuid, 'api_hangup', by)) === 'asked' ? 'asked' : 'over',
    issueSession: embed.issueSession,
    compliance: clearance,
    purge: ({ workspaceId }) => purge.run({ workspaceId, mostCalls: PURGED_A_REQUEST }),
    importReading,
    importQueued: () => imports.nudge(),
    admission,
    bus,
    webhookBell: webhooks.bell,
    webhookAddress: { guard: addressGuard, resolveName: systemResolver },
    modelAddress: { guard: modelGuard, resolveName: systemResolver },
    instance: runId,
    checks,
    registerCarrierRoutes: (scope) =>
      registerCarrierRoutes(scope, {
        ...shared,
        transitions,
        lineCarriers,
        registry,
        streamTokens,
        media: {
          mayStillSpeak: (callUuid) => linkServer.mayStillSpeak(callUuid),
          ready: () => pool.members().filter((member) => member.connected && !member.draining).length,
        },
      }),
  });

  const linkFamilies = (): MetricFamily[] => [
    gauge(
      'parley_media_processes_connected',
      'Media processes that are connected to this control',
      connectedCount(pool),
    ),
    gauge(
      'parley_link_unhandled_messages',
      'Messages of media that wait for the database',
      linkServer.unhandledCount(),
    ),
    gauge(
      'parley_analysis_models_left_alone',
      'Chat endpoints that failed too often just now',
      analysis.openBreakers(),
    ),
    gauge('parley_tool_calls_running', 'Requests of custom tools under way', tools.running()),
    gauge('parley_tool_breakers_open', 'Tools that are not asked because they failed too often', tools.openBreakers()),
    counter('parley_link_stale_messages_total', 'Messages of media refused for their old epoch', messages.staleCount()),
  ];

  let metricsServer: MetricsServer | null = null;
  let closing: Promise<void> | null = null;
  async function close(): Promise<void> {
    draining = true;
    await new Promise<void>((resolve) => clock.after(TELL_MS, resolve));
    const cancelLimit = clock.after(REQUESTS_LIMIT_MS, () => app.server.closeAllConnections());
    await app.close();
    cancelLimit();
    await imports.close();
    await modelHttp.close();
    await analysis.close();
    await reaper.close();
    await tools.close();
    await linkServer.close();
    await shelf.close();
    await joiner.close();
    await purge.close();
    await recordings.close();
    await metricsServer?.close();
    metrics.close();
    await webhooks.close();
    await http.close();
    await audit.close();
    overload.close();
    embed.close();
    limitStores.close();
    await masterKeys.close();
    await webhookDatabase.close();
    await database.close();
  }
  const control: Control = {
    refuseNewCalls() {
      draining = true;
      const carried = (): number => pool.members().reduce((sum, member) => sum + member.activeCalls, 0);
      return untilCallsAreOver({ database, clock, carried, placing: () => placing });
    },
    close: () => (closing ??= close()),
  };

  try {
    await linkServer.listen(join(config.runDir, 'link.sock'));
    metricsServer = await startMetricsServer({
      host: config.metricsHost,
      port: config.metricsPort,
      token: config.metricsToken,
      socketPath: join(config.runDir, 'operator.sock'),
      log,
      readiness: () => readinessOf({ clock, checks }),
      text: async () => {
        const own = [
          ...(await metrics.families()),
          ...(await databaseFamilies(shared)),
          ...linkFamilies(),
          ...(await recordingFamilies(database, shelf.figures, purge.figures)),
        ];
        return metricsText(new Map([['control', own], ...mediaReports.current()]));
      },
    });
    const apiSocket = join(config.runDir, 'api.sock');
    await rm(apiSocket, { force: true });
    await app.listen({ path: apiSocket });
  } catch (error) {
    await control.close();
    throw error;
  }
  reaper.start();
  imports.start();
  analysis.start();
  shelf.start();
  joiner.start();
  purge.start();
  return control;
}

/** Rejects with what the operator should do; the database is closed then. */
async function openMasterKeys(
  { masterKeys, masterKeyFile }: Config,
  deps: { database: Database; clock: Clock; log: Logger },
): Promise<KeyRing> {
  const reread = masterKeyFile === null ? null : () => keysInFile(masterKeyFile);
  try {
    return await openKeyRing({ ...deps, given: masterKeys, reread });
  } catch (error) {
    await deps.database.close();
    throw error;
  }
}

/** The same. */
async function refuseOtherKey(database: Database, sealer: Sealer): Promise<void> {
  try {
    await assertKeysOpen(database, sealer);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function databaseAnswers(database: Database): Promise<string> {
  await database.query('SELECT 1 AS one');
  return 'ok';
}

function connectedCount(pool: MediaPool): number {
  return pool.members().filter((member) => member.connected).length;
}

function mediaState(members: readonly Omit<MediaMember, 'send'>[]): string {
  const connected = members.filter((member) => member.connected);
  if (connected.length === 0) throw new Error('no media process is connected');
  if (connected.every((member) => member.draining)) throw new Error('every media process is being stopped');
  const calls = connected.reduce((sum, member) => sum + member.activeCalls, 0);
  const room = connected.reduce((sum, member) => sum + member.capacityCalls, 0);
  const servers = [...new Set(connected.map((member) => member.socketServer ?? 'unknown'))].join(', ');
  return `${connected.length} connected (${servers}), ${calls} of ${room} calls`;
}
