/**
 * `runtime.json` in the data folder: how the command line finds the service that runs there. The supervisor writes it
 * at the start and removes it at the end; `src/config/operator-settings.ts` reads it. It says where a generated master
 * key lies; a key that the operator gave, from a secret store, is never written beside the data that it seals.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface RuntimeFacts {
  databaseUrl: string;
  runDir: string;
  publicUrl: string;
  /** Where the key lies, generated or the operator's; null: it is in no file. */
  masterKeyFile: string | null;
  host: string;
  port: number;
  metricsHost: string;
  metricsPort: number;
  /** As in TRUSTED_PROXIES. */
  trustedProxies: readonly string[];
  /** By carrier, where it is not the carrier's own. */
  carrierApiBase: Readonly<Record<string, string>>;
  /** As in WEBHOOK_ALLOW_CIDRS: the command line judges addresses by the same ranges. */
  webhookAllowCidrs: string;
  /** As in MODEL_ALLOW_CIDRS. */
  modelAllowCidrs: string;
  /** As in RECORDING_STORE; not what opens an object store. */
  recordingStore: 'disk' | 's3';
}

/** Readable by its owner alone: the database's address may hold a password. Returns its path. */
export function writeRuntimeFile(dataDir: string, facts: RuntimeFacts): string {
  const path = join(dataDir, 'runtime.json');
  writeFileSync(path, JSON.stringify(facts), { mode: 0o600 });
  return path;
}
