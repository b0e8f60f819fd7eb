/**
 * The key that seals credentials and secrets at rest: given by the operator, or a generated file that only its owner can read.
 * Beside the embedded cluster lies the key's fingerprint, so that a cluster is never opened with another key than it was written with.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function masterKeyFileIn(dataDir: string): string {
  return join(dataDir, 'master.key');
}

/** `clusterHome` is the embedded database's folder, null where the operator's own database serves. */
export function readMasterKey(
  given: string | null,
  dataDir: string,
  clusterHome: string | null,
  warn: (line: string) => void,
): string {
  const file = masterKeyFileIn(dataDir);
  const fingerprintFile = clusterHome === null ? null : join(clusterHome, 'master-key.sha256');
  const fingerprint = fingerprintFile && existsSync(fingerprintFile) ? readFileSync(fingerprintFile, 'utf8') : null;
  if (given === null && !existsSync(file)) {
    if (fingerprint !== null) throw new Error(mismatch(clusterHome ?? '', `${file} is missing`));
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
    warn(
      `PARLEY_MASTER_KEY is not set: made ${file}. Whoever holds this file can read the stored credentials, and without it they are lost; for production set PARLEY_MASTER_KEY from a secret store.`,
    );
  }
  const key = given ?? readFileSync(file, 'utf8').trim();
  if (!/^[0-9a-fA-F]{64}$/.test(key)) {
    throw new Error(`${file} does not hold 64 hexadecimal digits; restore it from a backup.`);
  }
  const own = createHash('sha256').update(`parley master key ${key.toLowerCase()}`).digest('hex');
  if (fingerprint !== null && fingerprint !== own)
    throw new Error(mismatch(clusterHome ?? '', 'the master key is another'));
  if (fingerprintFile && fingerprint === null) {
    mkdirSync(clusterHome ?? '', { recursive: true });
    writeFileSync(fingerprintFile, own, { mode: 0o600 });
  }
  return key;
}

function mismatch(clusterHome: string, what: string): string {
  return `The database in ${clusterHome} was written with a master key, and ${what}: its stored credentials could not be read. Restore the key (master.key in the data folder, or PARLEY_MASTER_KEY), or remove ${clusterHome} to begin afresh.`;
}
