/**
 * The whole service: database, control, media processes, in the order in which they need each other. Used by `main.ts`
 * (`npm start`), by the demo and by tests. No sockets and no audio here.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { readCarrierBases } from '../config/load.ts';
import type { ServiceSettings } from '../config/service-settings.ts';
import { builtEntry } from './built-entry.ts';
import { masterKeyFileIn, readMasterKey } from './master-key.ts';
import { assertPortFree } from './port-check.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './postgres/embedded-postgres.ts';
import { placeDatabase } from './postgres/placement.ts';
import { makeRunFolder } from './run-folder.ts';
import { writeRuntimeFile } from './runtime-file.ts';
import { type SupervisedChild, superviseChild } from './supervised-child.ts';

export interface Service {
  publicUrl: string;
  databaseUrl: string;
  masterKeyHex: string;
  control: SupervisedChild;
  media: SupervisedChild[];
  postgres: EmbeddedPostgres | null;
  /** Drains media, then control, then the database. Live calls get `drainLimitMs` to finish. Idempotent. */
  stop(drainLimitMs: number): Promise<void>;
  /** Ends the processes at once; calls are lost. The database is stopped in order. */
  kill(): Promise<void>;
}

export interface ServiceOptions {
  settings: ServiceSettings;
  /** More variables for control, such as CARRIER_API_BASE_PLIVO. */
  controlEnv?: Record<string, string>;
  /** Speed for durability: tests only. */
  volatileDatabase?: boolean;
  log(line: string): void;
  /** Takes what control and media write; without it that goes where ours goes. */
  childOutput?(text: string): void;
}

const CONTROL_STOP_LIMIT_MS = 10_000;

export async function startService(options: ServiceOptions): Promise<Service> {
  const { settings, log } = options;
  const dataDir = resolve(settings.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  await assertPortFree(settings.host, settings.port);
  const clusterHome = settings.databaseUrl ? null : placeDatabase(dataDir).home;
  const masterKeyHex = readMasterKey(settings.masterKeyHex, dataDir, clusterHome, log);
  const postgres = settings.databaseUrl
    ? null
    : await startEmbeddedPostgres({ dataDir, volatile: options.volatileDatabase ?? false, log });
  const databaseUrl = settings.databaseUrl ?? postgres?.connectionString ?? '';
  const runDir = makeRunFolder(dataDir);
  const runtimeFile = writeRuntimeFile(dataDir, {
    databaseUrl,
    runDir,
    publicUrl: settings.publicUrl,
    masterKeyFile: settings.masterKeyHex === null ? masterKeyFileIn(dataDir) : null,
    host: settings.host,
    port: settings.port,
    metricsHost: settings.metricsHost,
    metricsPort: settings.metricsPort,
    carrierApiBase: readCarrierBases({ ...process.env, ...options.controlEnv }).bases,
    webhookAllowCidrs: options.controlEnv?.['WEBHOOK_ALLOW_CIDRS'] ?? process.env['WEBHOOK_ALLOW_CIDRS'] ?? '',
    modelAllowCidrs: options.controlEnv?.['MODEL_ALLOW_CIDRS'] ?? process.env['MODEL_ALLOW_CIDRS'] ?? '',
  });

  const output = options.childOutput === undefined ? {} : { output: options.childOutput };
  const children: SupervisedChild[] = [];
  let stopping: Promise<void> | null = null;
  const stop = (drainLimitMs: number): Promise<void> => {
    stopping ??= (async () => {
      const [control, ...media] = children;
      await Promise.all(media.map((child) => child.stop(drainLimitMs)));
      await control?.stop(CONTROL_STOP_LIMIT_MS);
      await postgres?.stop();
      rmSync(runtimeFile, { force: true });
      rmSync(runDir, { recursive: true, force: true });
    })();
    return stopping;
  };

  try {
    const control = superviseChild({
      name: 'control',
      entry: builtEntry('src/main.js'),
      env: controlEnv(settings, { databaseUrl, masterKeyHex, dataDir, runDir }, options.controlEnv),
      log,
      ...output,
    });
    children.push(control);
    await control.ready;
    for (let index = 0; index < settings.mediaProcesses; index++) {
      children.push(
        superviseChild({
          name: `media-${index}`,
          entry: builtEntry('media/main.js'),
          env: { PARLEY_MEDIA_CONFIG: JSON.stringify(mediaConfig(settings, index, { dataDir, runDir })) },
          log,
          ...output,
        }),
      );
    }
    await Promise.all(children.map((child) => child.ready));
    return {
      publicUrl: settings.publicUrl,
      databaseUrl,
      masterKeyHex,
      control,
      media: children.slice(1),
      postgres,
      stop,
      async kill() {
        for (const child of children) child.kill();
        await postgres?.stop();
        rmSync(runtimeFile, { force: true });
        rmSync(runDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await stop(0);
    throw error;
  }
}

function controlEnv(
  settings: ServiceSettings,
  made: { databaseUrl: string; masterKeyHex: string; dataDir: string; runDir: string },
  more: Record<string, string> = {},
): Record<string, string> {
  return {
    DATABASE_URL: made.databaseUrl,
    PARLEY_MASTER_KEY: made.masterKeyHex,
    PARLEY_DATA_DIR: made.dataDir,
    PARLEY_RUN_DIR: made.runDir,
    PUBLIC_URL: settings.publicUrl,
    PARLEY_METRICS_HOST: settings.metricsHost,
    PARLEY_METRICS_PORT: String(settings.metricsPort),
    PARLEY_LOG_LEVEL: settings.logLevel,
    ...more,
  };
}

function mediaConfig(settings: ServiceSettings, index: number, made: { dataDir: string; runDir: string }): object {
  return {
    mediaId: `media-${index}`,
    host: settings.host,
    port: settings.port,
    processes: settings.mediaProcesses,
    runDir: made.runDir,
    dataDir: made.dataDir,
    pipelineThreads: settings.pipelineThreads,
    speechThreads: settings.speechThreads,
    listenThreads: settings.listenThreads,
    capacityCalls: settings.mediaCapacityCalls,
    plivoFramesPerMessage: settings.plivoFramesPerMessage,
    drainLimitMs: settings.drainLimitMs,
    socketServer: settings.socketServer,
    logLevel: settings.logLevel,
  };
}
