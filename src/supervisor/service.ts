/**
 * The whole service: database, control, media processes, in the order in which they need each other. Used by `main.ts`
 * (`npm start`), by the demo and by tests. No sockets and no audio here.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { builtEntry } from '../config/built-entry.ts';
import { readCarrierBases } from '../config/load.ts';
import { OPENID_SECRET } from '../config/openid-settings.ts';
import { rangesOf } from '../config/operator-settings.ts';
import { readRecordingSettings } from '../config/recording-settings.ts';
import type { ServiceSettings } from '../config/service-settings.ts';
import { TRACE_HEADERS } from '../config/trace-settings.ts';
import { type MasterKeySource, readMasterKey } from './master-key.ts';
import { claimPort } from './port-check.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './postgres/embedded-postgres.ts';
import { placeDatabase } from './postgres/placement.ts';
import { makeRunFolder } from './run-folder.ts';
import { writeRuntimeFile } from './runtime-file.ts';
import { type SupervisedChild, superviseChild } from './supervised-child.ts';

export interface Service {
  publicUrl: string;
  databaseUrl: string;
  /** As it was at the start. */
  masterKeyHex: string;
  control: SupervisedChild;
  media: SupervisedChild[];
  postgres: EmbeddedPostgres | null;
  /**
   * Readiness fails and new calls are refused at once; active calls, those that ring included, get `drainLimitMs` to
   * finish. Then media ends, then control, then the database. Idempotent.
   */
  stop(drainLimitMs: number): Promise<void>;
  /** Ends the processes at once; calls are lost. The database is stopped in order. */
  kill(): Promise<void>;
}

export interface ServiceOptions {
  settings: ServiceSettings;
  /** More variables for control and media, such as NODE_EXTRA_CA_CERTS. */
  environment?: Readonly<Record<string, string>>;
  /** And for control alone, such as CARRIER_API_BASE_PLIVO. */
  controlEnv?: Record<string, string>;
  /** Speed for durability: tests only. */
  volatileDatabase?: boolean;
  log(line: string): void;
  /** Takes what control and media write; without it that goes where ours goes. */
  childOutput?(text: string): void;
}

/**
 * Control works in bursts. After each of them V8 collects its whole heap up to three times to make it smaller, which
 * costs as much as a call does; what it would have given back is taken by the next burst.
 */
const CONTROL_FLAGS = ['--no-memory-reducer'];
const CONTROL_STOP_LIMIT_MS = 10_000;
/**
 * A media process whose time for active calls is over says their last words and hands over what
 * control has not acknowledged.
 */
const MEDIA_STOP_LIMIT_MS = 15_000;

export async function startService(options: ServiceOptions): Promise<Service> {
  const { settings } = options;
  const dataDir = resolve(settings.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const releasePort = await claimPort(settings.host, settings.port);
  try {
    return await startOnPort(options, dataDir, releasePort);
  } catch (error) {
    releasePort();
    throw error;
  }
}

async function startOnPort(options: ServiceOptions, dataDir: string, releasePort: () => void): Promise<Service> {
  const { settings, log } = options;
  const clusterHome = settings.databaseUrl ? null : placeDatabase(dataDir).home;
  const masterKey = readMasterKey(settings.masterKey, dataDir, clusterHome, log);
  const postgres = settings.databaseUrl
    ? null
    : await startEmbeddedPostgres({ dataDir, volatile: options.volatileDatabase ?? false, log });
  const databaseUrl = settings.databaseUrl ?? postgres?.connectionString ?? '';
  const runDir = makeRunFolder(dataDir);
  const forControl = { ...options.environment, ...options.controlEnv };
  const controlSees = { ...process.env, ...forControl };
  const allowed = (name: string): string => controlSees[name] ?? '';
  const providerAllowCidrs = ['WEBHOOK_ALLOW_CIDRS', 'MODEL_ALLOW_CIDRS'].flatMap((name) => rangesOf(allowed(name)));
  const runtimeFile = writeRuntimeFile(dataDir, {
    databaseUrl,
    runDir,
    publicUrl: settings.publicUrl,
    masterKeyFile: masterKey.file,
    host: settings.host,
    port: settings.port,
    metricsHost: settings.metricsHost,
    metricsPort: settings.metricsPort,
    trustedProxies: settings.trustedProxies,
    carrierApiBase: readCarrierBases(controlSees).bases,
    webhookAllowCidrs: allowed('WEBHOOK_ALLOW_CIDRS'),
    modelAllowCidrs: allowed('MODEL_ALLOW_CIDRS'),
    recordingStore: readRecordingSettings(controlSees).settings.kind,
  });

  const output = options.childOutput === undefined ? {} : { output: options.childOutput };
  const children: SupervisedChild[] = [];
  let sayCallsAreOver = (): void => {};
  const callsAreOver = new Promise<void>((resolve) => {
    sayCallsAreOver = resolve;
  });
  let stopping: Promise<void> | null = null;
  const stop = (drainLimitMs: number): Promise<void> => {
    stopping ??= (async () => {
      const [control, ...media] = children;
      const untilMs = performance.now() + drainLimitMs;
      for (const child of children) child.tellStopping(drainLimitMs);
      await Promise.race([callsAreOver, wait(drainLimitMs, undefined, { ref: false })]);
      const leftMs = Math.max(0, untilMs - performance.now());
      await Promise.all(media.map((child) => child.stop(leftMs + MEDIA_STOP_LIMIT_MS)));
      await control?.stop(CONTROL_STOP_LIMIT_MS);
      await postgres?.stop();
      rmSync(runtimeFile, { force: true });
      rmSync(runDir, { recursive: true, force: true });
      releasePort();
    })();
    return stopping;
  };

  try {
    const control = superviseChild({
      name: 'control',
      entry: builtEntry('src/main.js'),
      nodeFlags: CONTROL_FLAGS,
      env: controlEnv(settings, { databaseUrl, masterKey, dataDir, runDir }, forControl),
      log,
      ...output,
      said: (type) => type === 'calls_over' && sayCallsAreOver(),
    });
    children.push(control);
    await control.ready;
    for (let index = 0; index < settings.mediaProcesses; index++) {
      children.push(
        superviseChild({
          name: `media-${index}`,
          entry: builtEntry('media/main.js'),
          env: {
            ...options.environment,
            ...NO_SECRETS,
            PARLEY_MEDIA_CONFIG: JSON.stringify(mediaConfig(settings, index, { dataDir, runDir, providerAllowCidrs })),
          },
          log,
          ...output,
        }),
      );
    }
    await Promise.all(children.map((child) => child.ready));
    return {
      publicUrl: settings.publicUrl,
      databaseUrl,
      masterKeyHex: masterKey.keys[0] ?? '',
      control,
      media: children.slice(1),
      postgres,
      stop,
      async kill() {
        for (const child of children) child.kill();
        await postgres?.stop();
        rmSync(runtimeFile, { force: true });
        rmSync(runDir, { recursive: true, force: true });
        releasePort();
      },
    };
  } catch (error) {
    await stop(0);
    throw error;
  }
}

/** Control gets the key as it was read here: a command runs once. Nobody else gets it. */
const NO_SECRETS: Record<string, undefined> = {
  PARLEY_MASTER_KEY: undefined,
  PARLEY_MASTER_KEY_PREVIOUS: undefined,
  PARLEY_MASTER_KEY_FILE: undefined,
  PARLEY_MASTER_KEY_COMMAND: undefined,
  PARLEY_METRICS_TOKEN: undefined,
  [OPENID_SECRET]: undefined,
  ...Object.fromEntries(TRACE_HEADERS.map((name) => [name, undefined])),
};

/** They wait for files and names more than they compute; Node's own number is 4. */
const CONTROL_THREADS = '16';

function controlEnv(
  settings: ServiceSettings,
  made: { databaseUrl: string; masterKey: MasterKeySource; dataDir: string; runDir: string },
  more: Record<string, string> = {},
): Record<string, string | undefined> {
  const { keys, file } = made.masterKey;
  return {
    DATABASE_URL: made.databaseUrl,
    ...NO_SECRETS,
    ...(file === null
      ? { PARLEY_MASTER_KEY: keys[0], PARLEY_MASTER_KEY_PREVIOUS: keys[1] }
      : { PARLEY_MASTER_KEY_FILE: file }),
    PARLEY_DATA_DIR: made.dataDir,
    PARLEY_RUN_DIR: made.runDir,
    PUBLIC_URL: settings.publicUrl,
    PARLEY_METRICS_HOST: settings.metricsHost,
    PARLEY_METRICS_PORT: String(settings.metricsPort),
    PARLEY_METRICS_TOKEN: settings.metricsToken ?? undefined,
    [OPENID_SECRET]: process.env[OPENID_SECRET],
    ...Object.fromEntries(TRACE_HEADERS.map((name) => [name, process.env[name]])),
    PARLEY_LOG_LEVEL: settings.logLevel,
    UV_THREADPOOL_SIZE: process.env['UV_THREADPOOL_SIZE'] ?? CONTROL_THREADS,
    ...more,
  };
}

function mediaConfig(
  settings: ServiceSettings,
  index: number,
  made: { dataDir: string; runDir: string; providerAllowCidrs: readonly string[] },
): object {
  return {
    mediaId: `media-${index}`,
    host: settings.host,
    port: settings.port,
    processes: settings.mediaProcesses,
    streamPath: settings.streamPath,
    runDir: made.runDir,
    dataDir: made.dataDir,
    pipelineThreads: settings.pipelineThreads,
    ttsThreads: settings.ttsThreads,
    sttThreads: settings.sttThreads,
    providerThreads: settings.providerThreads,
    providerAllowCidrs: made.providerAllowCidrs,
    capacityCalls: settings.mediaCapacityCalls,
    framesPerMessage: settings.framesPerMessage,
    budgets: settings.budgets,
    drainLimitMs: settings.drainLimitMs,
    socketServer: settings.socketServer,
    trustedProxies: settings.trustedProxies,
    trustedProxyHeader: settings.trustedProxyHeader,
    logLevel: settings.logLevel,
  };
}
