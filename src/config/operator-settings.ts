/**
 * What the command line needs: the database and the master key. From the environment, or from `runtime.json` in the
 * data folder, which the supervisor writes (mode 0600) while the service runs. Called by `src/cli` and `src/doctor`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { OperatorError } from '../errors/operator-error.ts';
import { keysInFile, type MasterKeySetting, masterKeySetting, readMasterKeys } from './master-key-setting.ts';
import { readRecordingSettings } from './recording-settings.ts';

export interface OperatorSettings {
  databaseUrl: string;
  /** The newest first, read when it is asked for; empty: commands that store or rotate a secret are refused. */
  masterKeys(): readonly string[];
  /** The file that Parley made the key in, and may change; null: the key is the operator's. */
  generatedKeyFile: string | null;
  /** As the service has them; malformed ones are reported by whoever uses them. */
  webhookAllowCidrs: string[];
  modelAllowCidrs: string[];
  /** Absolute. */
  dataDir: string;
  /** As the environment says; malformed ones are reported by whoever uses them. */
  recordings: ReturnType<typeof readRecordingSettings>;
}

/** What a running service says of itself. */
export interface RuntimeFile {
  databaseUrl?: string;
  /** Null: the service was given its key without a file, and so must the command line be. */
  masterKeyFile?: string | null;
  runDir?: string;
  publicUrl?: string;
  host?: string;
  port?: number;
  metricsHost?: string;
  metricsPort?: number;
  /** As in TRUSTED_PROXIES. */
  trustedProxies?: string[];
  /** By carrier, where it is not the carrier's own. */
  carrierApiBase?: Record<string, string>;
  /** As in WEBHOOK_ALLOW_CIDRS. */
  webhookAllowCidrs?: string;
  /** As in MODEL_ALLOW_CIDRS. */
  modelAllowCidrs?: string;
  /** As in RECORDING_STORE. */
  recordingStore?: 'disk' | 's3';
}

/** Throws an `OperatorError` when there is no database to be found, or a setting is at fault. */
export function loadOperatorSettings(environment: Readonly<Record<string, string | undefined>>): OperatorSettings {
  const dataDir = resolve(environment['PARLEY_DATA_DIR'] || 'data');
  const runtime = readRuntimeFile(join(dataDir, 'runtime.json'));
  const databaseUrl = environment['DATABASE_URL'] || runtime.databaseUrl;
  if (databaseUrl === undefined) {
    throw new OperatorError(
      'refused',
      `No service is running on ${dataDir}. Start it with 'npm start', name its folder with PARLEY_DATA_DIR, or set DATABASE_URL and PARLEY_MASTER_KEY.`,
    );
  }
  const generated = join(dataDir, 'master.key');
  const { masterKeyFile = generated } = runtime;
  const masterKey = masterKeySetting(environment);
  if (masterKey.faults.length > 0)
    throw new OperatorError('refused', `Settings at fault:\n  ${masterKey.faults.join('\n  ')}`);
  let keys: readonly string[] | undefined;
  const isGenerated = masterKey.setting === null && masterKeyFile === generated;
  return {
    databaseUrl,
    masterKeys: () => (keys ??= keysOf(masterKey.setting, masterKeyFile, environment)),
    generatedKeyFile: isGenerated ? generated : null,
    webhookAllowCidrs: rangesOf(environment['WEBHOOK_ALLOW_CIDRS'] || runtime.webhookAllowCidrs),
    modelAllowCidrs: rangesOf(environment['MODEL_ALLOW_CIDRS'] || runtime.modelAllowCidrs),
    dataDir,
    recordings: readRecordingSettings(environment),
  };
}

/** As in WEBHOOK_ALLOW_CIDRS. */
export function rangesOf(list = ''): string[] {
  return list
    .split(',')
    .map((cidr) => cidr.trim())
    .filter((cidr) => cidr !== '');
}

/** Empty when no service runs on the folder. Throws an `OperatorError` on a file that cannot be read. */
export function readRuntimeFile(path: string): RuntimeFile {
  if (!existsSync(path)) return {};
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as RuntimeFile;
  } catch (error) {
    throw new OperatorError(
      'refused',
      `${path} cannot be read (${(error as Error).message}); start the service again.`,
    );
  }
}

function keysOf(
  setting: MasterKeySetting | null,
  file: string | null,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  if (setting !== null) return readMasterKeys(setting, environment);
  return file !== null && existsSync(file) ? keysInFile(file) : [];
}
