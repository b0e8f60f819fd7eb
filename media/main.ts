/**
 * The media process: composes sockets, clock, threads and the link to control, and drains on SIGTERM, when the
 * supervisor goes, or when control says so. uWebSockets.js runs on this thread; everything that
 * may stall runs on others.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { loadMediaConfig } from './config.ts';
import { addressName } from './contract/address-name.ts';
import { systemClock } from './contract/clock.ts';
import type { ToControl } from './contract/link-messages.ts';
import { safeLogOptions } from './contract/log-safety.ts';
import { PROXY_SEEN_FILE } from './contract/proxy-seen.ts';
import type { FromProviderThread } from './contract/thread-messages.ts';
import { CallGrants } from './io/call-grants.ts';
import type { CallLife } from './io/call-life.ts';
import { CallRegistry } from './io/call-registry.ts';
import { createCodecRegistry } from './io/carriers/codecs.ts';
import { createControlLink } from './io/control-link.ts';
import { createDescriptorGuard, readDescriptorUse } from './io/descriptor-guard.ts';
import { createDrain } from './io/drain.ts';
import { FrameClock } from './io/frame-clock.ts';
import { createHttpProxy } from './io/http-proxy.ts';
import { createCarrierEndpoint } from './io/legs/carrier/carrier-endpoint.ts';
import { createWebEndpoint } from './io/legs/web/web-endpoint.ts';
import { createMediaMetrics } from './io/media-metrics.ts';
import { MonitorDesk } from './io/monitor/monitor-desk.ts';
import { createMonitorEndpoint } from './io/monitor/monitor-endpoint.ts';
import { watchForProxy } from './io/proxy-watch.ts';
import { answerNotReady } from './io/readiness.ts';
import { ConnectionGate } from './io/request-room/connection-gate.ts';
import { RequestRoom } from './io/request-room/request-room.ts';
import { createSelfReports } from './io/self-reports.ts';
import { chooseSocketServer } from './io/socket-server/choose-server.ts';
import { addressOfPeer, createClientAddresses } from './io/socket-server/client-address.ts';
import { createEngineHost } from './io/threads/engine-host.ts';
import { createPipelinePool } from './io/threads/pipeline-pool.ts';
import { createRecorderHost } from './io/threads/recorder-host.ts';
import { createScoringHost } from './io/threads/scoring-host.ts';
import { type ThreadEntry, workerUrl } from './io/threads/worker-url.ts';
import { Bell } from './rings/bell.ts';

/** The largest body that any route takes is an import of 10 MB (contract §11). */
const MAX_BODY_BYTES = 11 * 1024 * 1024;
const HEADERS_LIMIT_MS = 60_000;
const STALLED_LIMIT_MS = 30_000;
const MAX_PENDING_UPGRADES = 200;
/**
 * Of the descriptors that this process may have, what connections without a call's socket take
 * before anybody is refused one.
 */
const CONNECTIONS_SHARE = 1 / 4;
/** Where the operating system does not say how many descriptors there are. */
const DESCRIPTORS_ASSUMED = 20_000;
const IO_BELL_TIMEOUT_MS = 1000;

const config = loadMediaConfig();
const clock = systemClock;
const log = pino({
  level: config.logLevel,
  base: { process: 'media', mediaId: config.mediaId, pid: process.pid },
  ...safeLogOptions(),
});
const runId = randomUUID();
/** By which control knows our lease; another one after it was lost. */
let leaseRunId: string = runId;
const urlOf = (entry: ThreadEntry): URL =>
  config.threadsDir === null ? workerUrl(entry) : pathToFileURL(join(config.threadsDir, `${entry}.js`));

const chosen = chooseSocketServer(config.socketServer);
log.info({ socketServer: chosen.kind, why: chosen.why }, 'socket server chosen');

const ioBell = new Bell();
const tts = createEngineHost({
  kind: 'speech',
  url: urlOf('tts-thread'),
  threads: config.ttsThreads,
  clock,
  log,
});
const stt = createEngineHost({
  kind: 'listen',
  url: urlOf('stt-thread'),
  threads: config.sttThreads,
  clock,
  log,
});
const provider = createEngineHost({
  kind: 'provider',
  url: urlOf('provider-thread'),
  threads: config.providerThreads,
  workerData: { threads: config.providerThreads, allowCidrs: config.providerAllowCidrs, logLevel: config.logLevel },
  clock,
  log,
  beats: true,
  isLate: true,
  greeting: () => grants.all(),
  heard(message) {
    if (message.type === 'usage') link.send(message as Extract<FromProviderThread, { type: 'usage' }>);
  },
});
const grants = new CallGrants(clock, (message) => {
  // A thread that is started now is greeted with what holds.
  if (message.type === 'grant') provider.wake();
  provider.tell(message);
});
const scoring = createScoringHost({ url: urlOf('voice-activity-thread'), log });
const pool = createPipelinePool({
  scoring,
  url: urlOf('pipeline-thread'),
  threads: config.pipelineThreads,
  workerData: { dataDir: config.dataDir, ioBell: ioBell.memory, mediaId: config.mediaId, logLevel: config.logLevel },
  enginePorts(threadIndex) {
    const ports = {
      stt: stt.portFor(threadIndex),
      tts: tts.portFor(threadIndex),
      provider: provider.portFor(threadIndex),
    };
    return Object.fromEntries(Object.entries(ports).filter(([, port]) => port !== null));
  },
  clock,
  log,
});
tts.replaced = () => pool.renewEnginePorts();
stt.replaced = () => pool.renewEnginePorts();
provider.replaced = () => pool.renewEnginePorts();
const recorder = createRecorderHost({
  url: urlOf('recorder-thread'),
  workerData: { dataDir: config.dataDir, mediaId: config.mediaId, runId, logLevel: config.logLevel },
  clock,
  log,
  finished: (stream, recording, error) => registry.recorded(stream, recording, error),
  keyWanted: (stream) => link.send({ type: 'recording.key', stream }),
});
const frameClock = new FrameClock({ clock, afterTick: pool.ticked });

const link = createControlLink({
  socketPath: join(config.runDir, 'link.sock'),
  clock,
  log,
  hello: greeting,
  receive(message) {
    if (message.type === 'prepare') pool.prepare(grants.prepared(message));
    else if (message.type === 'stop' && message.superseded === true) registry.superseded(message.callUuid);
    else if (message.type === 'stop') registry.stop(message.callUuid, message.reason);
    else if (message.type === 'control' || message.type === 'tool.answer') registry.command(message.callUuid, message);
    else if (message.type === 'recording.key') recorder.key(message.stream, message.fate);
    else if (message.type === 'monitor.answer') monitors.answered(message.requestId, message.answer);
    else if (message.type === 'monitor.asked') monitors.asked(message.requestId, message.result);
    else if (message.type === 'monitor.end') monitors.end(message.monitorId, message.why);
    else if (message.type === 'fenced') fenced(message.runId);
    else if (message.type === 'drain') drain.begin('control asks for it');
  },
  controlRestarted() {
    registry.controlRestarted();
    monitors.controlRestarted();
  },
});
const monitors: MonitorDesk = new MonitorDesk({
  clock,
  frameClock,
  log,
  find: (callUuid): CallLife | undefined => registry.find(callUuid),
  link,
});
const registry: CallRegistry = new CallRegistry({
  capacityCalls: config.capacityCalls,
  clock,
  frameClock,
  pool,
  recorder,
  grants,
  monitors,
  log,
  toControl: link.send,
});
const metrics = createMediaMetrics({
  registry,
  frameClock,
  link,
  threadDeaths: () => ({
    pipeline: pool.deaths,
    recorder: recorder.deaths,
    speech: tts.deaths,
    listen: stt.deaths,
    provider: provider.deaths,
  }),
  openRecordings: () => recorder.openRecordings,
  socketServer: chosen.kind,
  room: () => reports.room(),
  requests: () => ({ inUse: requestRoom.inUse(), bodies: requestRoom.openBodies(), refused: requestRoom.log.counts }),
  connections: () => connections.count,
});
const reports = createSelfReports({
  mediaId: config.mediaId,
  capacityCalls: config.capacityCalls,
  metricsEveryMs: config.metricsEveryMs,
  clock,
  log,
  registry,
  frameClock,
  toControl: link.send,
  families: metrics.families,
  loads: () => ({ voice: tts.load(), recogniser: stt.load(), providers: provider.load(), pipeline: pool.load() }),
});
const proxies = createClientAddresses({ cidrs: config.trustedProxies, header: config.trustedProxyHeader });
const addresses = watchForProxy(proxies, { log, file: join(config.runDir, PROXY_SEEN_FILE) });
const requestRoom = new RequestRoom({ clock, log, budgets: config.budgets });
const descriptorLimit = (await readDescriptorUse().catch(() => null))?.limit ?? DESCRIPTORS_ASSUMED;
const connections = new ConnectionGate({
  clock,
  plenty: Math.floor(Math.min(descriptorLimit, 4 * DESCRIPTORS_ASSUMED) * CONNECTIONS_SHARE),
  isKnown: (peer) => proxies.isTrusted(addressOfPeer(peer)) || requestRoom.known.hasAddress(addressName(peer)),
  refused: (address) => requestRoom.log.bitten('connections', address),
});
const proxy = createHttpProxy({
  socketPath: join(config.runDir, 'api.sock'),
  maxBodyBytes: MAX_BODY_BYTES,
  room: requestRoom,
  headersTimeoutMs: HEADERS_LIMIT_MS,
  stalledLimitMs: STALLED_LIMIT_MS,
});
const server = chosen.create({
  addresses,
  routes: [
    ...['', ...(config.streamPath === null ? [] : [config.streamPath])].map((pathBefore) =>
      createCarrierEndpoint({
        pathBefore,
        codecs: createCodecRegistry(config.framesPerMessage),
        registry,
        link,
        clock,
        log,
        toControl: link.send,
        isShortOfDescriptors: () => descriptors.isShort,
        refused: (httpStatus) => metrics.upgradeRefused(httpStatus),
      }),
    ),
    createMonitorEndpoint({
      desk: monitors,
      clock,
      log,
      refused: (closeCode) => metrics.upgradeRefused(closeCode),
    }),
    createWebEndpoint({
      registry,
      link,
      log,
      clock,
      toControl: link.send,
      refused: (httpStatus) => metrics.upgradeRefused(httpStatus),
    }),
  ],
  request(exchange) {
    if (!drain.saysNotReady() || !answerNotReady(exchange)) proxy.handle(exchange);
  },
  maxPendingUpgrades: MAX_PENDING_UPGRADES,
  connections,
  callbackFailed: (error) => log.error({ err: error }, 'a fault of ours in a socket callback'),
});

const descriptors = createDescriptorGuard({
  clock,
  log,
  read: readDescriptorUse,
  shut(isShut) {
    if (isShut) server.stopListening();
    else if (!drain.isEnding()) {
      server
        .listen(config.host, port)
        .catch((error: unknown) => log.error({ err: error }, 'the port cannot be listened on again'));
    }
  },
});

async function answerBell(): Promise<void> {
  for (;;) {
    await ioBell.wait(IO_BELL_TIMEOUT_MS);
    registry.serviceUrgent(clock.nowMs());
  }
}

function greeting(): Extract<ToControl, { type: 'hello' }> {
  return {
    type: 'hello',
    runId: leaseRunId,
    mediaId: config.mediaId,
    pid: process.pid,
    socketServer: chosen.kind,
    capacityCalls: config.capacityCalls,
    liveCalls: registry.carriedCalls(),
  };
}

/** Other nodes took us for dead: what we carried may have an owner there, so we begin anew without it. */
function fenced(givenUp: string): void {
  if (givenUp !== leaseRunId) return;
  log.error({ runId: givenUp, calls: registry.activeCalls }, 'given up by the other nodes: our calls go on elsewhere');
  registry.stopAll();
  leaseRunId = randomUUID();
  link.send(greeting());
}

let port = 0;
const drain = createDrain({
  processes: config.processes,
  drainLimitMs: config.drainLimitMs,
  clock,
  log,
  registry,
  link,
  tellLoad: reports.tellLoad,
  stopListening: () => server.stopListening(),
  async closeParts() {
    for (const part of [descriptors, server, requestRoom, connections, link]) part.close();
    await Promise.all([
      proxy.close(),
      pool.close(),
      scoring.close(),
      recorder.stop(),
      ...[tts, stt, provider].map((host) => host.close()),
    ]);
  },
});
process.on('message', (message) => {
  const { type, limitMs = 0 } = message as { type?: string; limitMs?: number };
  if (type === 'stopping') drain.serviceStops(limitMs);
});
process.on('SIGTERM', () => drain.begin('SIGTERM'));
process.on('SIGINT', () => drain.begin('SIGINT'));
process.on('disconnect', () => drain.begin('the supervisor is gone'));
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    log.fatal({ err: error }, 'a fault that nothing caught; the media process starts anew');
    process.exit(1);
  });
}

try {
  await Promise.all([pool.ready, recorder.ready, tts.ready, stt.ready]);
  port = await server.listen(config.host, config.port);
  void descriptors.look();
  void answerBell();
  reports.start();
  log.info({ host: config.host, port, pipelineThreads: config.pipelineThreads }, 'media process serves');
  process.send?.({ type: 'ready', port });
} catch (error) {
  log.fatal({ err: error }, 'the media process cannot start');
  process.exit(1);
}
