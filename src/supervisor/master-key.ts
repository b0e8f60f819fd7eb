/** The key that seals credentials and secrets at rest: given by the operator, or a generated file that only its owner can read. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function masterKeyFileIn(dataDir: string): string {
  return join(dataDir, 'master.key');
}

export function readMasterKey(given: string | null, dataDir: string, warn: (line: string) => void): string {
  if (given !== null) return given;
  const file = masterKeyFileIn(dataDir);
  if (!existsSync(file)) {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
    warn(
      `PARLEY_MASTER_KEY is not set: made ${file}. Whoever holds this file can read the stored credentials, and without it they are lost; for production set PARLEY_MASTER_KEY from a secret store.`,
    );
  }
  const key = readFileSync(file, 'utf8').trim();
  if (!/^[0-9a-fA-F]{64}$/.test(key))
    throw new Error(`${file} does not hold 64 hexadecimal digits; restore it from a backup.`);
  return key;
}
