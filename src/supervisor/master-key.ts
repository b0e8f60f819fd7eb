/**
 * The key that seals credentials and secrets at rest: given by the operator, or a generated file that only its owner
 * can read. Whether it is the one that the database is sealed under, control finds out (`src/sealing/key-register.ts`).
 */
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { keysInFile, type MasterKeySetting, readMasterKeys } from '../config/master-key-setting.ts';

export interface MasterKeySource {
  /** 64 hexadecimal digits each, the newest first. */
  keys: readonly string[];
  /** Where they lie and may change; null: nowhere that is known. */
  file: string | null;
}

export function masterKeyFileIn(dataDir: string): string {
  return join(dataDir, 'master.key');
}

/** `clusterHome` is the embedded database's folder, null where the operator's own database serves. */
export function readMasterKey(
  given: MasterKeySetting | null,
  dataDir: string,
  clusterHome: string | null,
  warn: (line: string) => void,
): MasterKeySource {
  // Former versions told the cluster's key by a plain digest of it; the database does so now.
  if (clusterHome !== null) rmSync(join(clusterHome, 'master-key.sha256'), { force: true });
  if (given !== null) return { keys: readMasterKeys(given), file: given.from === 'file' ? given.path : null };
  const file = masterKeyFileIn(dataDir);
  if (!existsSync(file)) {
    if (clusterHome !== null && existsSync(join(clusterHome, 'cluster'))) {
      throw new Error(
        `The database in ${clusterHome} was written with a master key, and ${file} is missing: its stored credentials could not be read. Restore the key (master.key in the data folder, or PARLEY_MASTER_KEY), or remove ${clusterHome} to begin afresh.`,
      );
    }
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(file, `${newMasterKey()}\n`, { mode: 0o600, flag: 'wx' });
    warn(
      `PARLEY_MASTER_KEY is not set: made ${file}. Whoever holds this file can read the stored credentials, and without it they are lost; for production set PARLEY_MASTER_KEY from a secret store.`,
    );
  }
  return { keys: keysInFile(file), file };
}

/** 64 hexadecimal digits. */
export function newMasterKey(): string {
  return randomBytes(32).toString('hex');
}

/** Whole or not at all, on the disk when it returns, and still the service's to read. The file is there. */
export function replaceMasterKeyFile(file: string, keys: readonly string[]): void {
  const { uid, gid } = statSync(file);
  const temporary = `${file}.new`;
  rmSync(temporary, { force: true });
  const fd = openSync(temporary, 'wx', 0o600);
  try {
    writeFileSync(fd, keys.map((key) => `${key}\n`).join(''));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  chownSync(temporary, uid, gid);
  renameSync(temporary, file);
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
