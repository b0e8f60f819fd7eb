/**
 * What `parley doctor` looks at: the running service's own account of itself (`runtime.json`), else what the
 * environment would make of one. Faulty settings are a result, not an end.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { readCarrierBases } from '../config/load.ts';
import { keysInFile, type MasterKeySetting, readMasterKeys } from '../config/master-key-setting.ts';
import { readRuntimeFile } from '../config/operator-settings.ts';
import { loadServiceSettings } from '../config/service-settings.ts';
import type { MachineShape } from './agent-load.ts';

export interface DoctorSettings {
  dataDir: string;
  /** A service has said that it runs on the data folder, and has not said that it stopped. */
  claimsToRun: boolean;
  runDir: string | null;
  /** Null: the embedded database, which does not run now. */
  databaseUrl: string | null;
  /** The newest first; empty: none, or they cannot be read. */
  masterKeys: readonly string[];
  /** Where the key of the service lies, or would; null: the running service was given one that lies in no file. */
  masterKeyFile: string | null;
  publicUrl: string;
  host: string;
  port: number;
  metricsHost: string;
  metricsPort: number;
  trustedProxies: readonly string[];
  /** Of this command's environment. */
  metricsToken: string | null;
  carrierApiBase: Readonly<Record<string, string>>;
  /** Of the running service; null: none runs. */
  recordingStore: 'disk' | 's3' | null;
  /** As the environment would have it. */
  machine: MachineShape;
}

/** Throws one error that names every setting at fault. */
export function loadDoctorSettings(environment: Readonly<Record<string, string | undefined>>): DoctorSettings {
  const dataDir = resolve(environment['PARLEY_DATA_DIR'] || 'data');
  const runtimeFile = join(dataDir, 'runtime.json');
  const runtime = readRuntimeFile(runtimeFile);
  const settings = loadServiceSettings(environment);
  const { bases } = readCarrierBases(environment);
  const { masterKeyFile = join(dataDir, 'master.key') } = runtime;
  return {
    dataDir,
    claimsToRun: existsSync(runtimeFile),
    runDir: runtime.runDir ?? null,
    databaseUrl: runtime.databaseUrl ?? settings.databaseUrl,
    masterKeys: keysOf(settings.masterKey, masterKeyFile, environment),
    masterKeyFile,
    publicUrl: runtime.publicUrl ?? settings.publicUrl,
    host: runtime.host ?? settings.host,
    port: runtime.port ?? settings.port,
    metricsHost: runtime.metricsHost ?? settings.metricsHost,
    metricsPort: runtime.metricsPort ?? settings.metricsPort,
    trustedProxies: runtime.trustedProxies ?? settings.trustedProxies,
    metricsToken: settings.metricsToken,
    carrierApiBase: { ...runtime.carrierApiBase, ...bases },
    recordingStore: runtime.recordingStore ?? null,
    machine: { cores: availableParallelism(), ...settings },
  };
}

/** The key has a check of its own. */
function keysOf(
  setting: MasterKeySetting | null,
  file: string | null,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  try {
    if (setting !== null) return readMasterKeys(setting, environment);
    return file !== null && existsSync(file) ? keysInFile(file) : [];
  } catch {
    return [];
  }
}
