/**
 * What `parley doctor` looks at: the running service's own account of itself (`runtime.json`), else what the environment would make
 * of one. Faulty settings are a result, not an end.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readCarrierBases } from '../config/load.ts';
import { readRuntimeFile } from '../config/operator-settings.ts';
import { loadServiceSettings } from '../config/service-settings.ts';

export interface DoctorSettings {
  dataDir: string;
  /** A service has said that it runs on the data folder, and has not said that it stopped. */
  claimsToRun: boolean;
  runDir: string | null;
  /** Null: the embedded database, which does not run now. */
  databaseUrl: string | null;
  masterKeyHex: string | null;
  /** Where the generated key lies, or would; null: the running service was given one. */
  masterKeyFile: string | null;
  publicUrl: string;
  host: string;
  port: number;
  metricsHost: string;
  metricsPort: number;
  carrierApiBase: Readonly<Record<string, string>>;
}

/** Throws one error that names every setting at fault. */
export function loadDoctorSettings(environment: Readonly<Record<string, string | undefined>>): DoctorSettings {
  const dataDir = resolve(environment['PARLEY_DATA_DIR'] || 'data');
  const runtimeFile = join(dataDir, 'runtime.json');
  const runtime = readRuntimeFile(runtimeFile);
  const bases = readCarrierBases(environment);
  const settings = loadServiceSettings(environment);
  if (bases.faults.length > 0) throw new Error(`Settings at fault:\n${bases.faults.join('\n')}`);
  const { masterKeyFile = join(dataDir, 'master.key') } = runtime;
  return {
    dataDir,
    claimsToRun: existsSync(runtimeFile),
    runDir: runtime.runDir ?? null,
    databaseUrl: runtime.databaseUrl ?? settings.databaseUrl,
    masterKeyHex: settings.masterKeyHex ?? keyIn(masterKeyFile),
    masterKeyFile,
    publicUrl: runtime.publicUrl ?? settings.publicUrl,
    host: runtime.host ?? settings.host,
    port: runtime.port ?? settings.port,
    metricsHost: runtime.metricsHost ?? settings.metricsHost,
    metricsPort: runtime.metricsPort ?? settings.metricsPort,
    carrierApiBase: { ...runtime.carrierApiBase, ...bases.bases },
  };
}

/** Null when there is none, or one that is none; the key has a check of its own. */
function keyIn(file: string | null): string | null {
  if (file === null || !existsSync(file)) return null;
  const text = readFileSync(file, 'utf8').trim();
  return /^[0-9a-fA-F]{64}$/.test(text) ? text : null;
}
