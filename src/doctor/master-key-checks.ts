/**
 * The master key: is it where it should be, can nobody else read it, and is it the one that the
 * database is sealed under?
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { keysInFile } from '../config/master-key-setting.ts';
import { holdsKey, readRegister } from '../sealing/key-register.ts';
import { masterKeyOf } from '../sealing/master-keys.ts';
import type { Queryable } from '../store/database.ts';
import { type CheckResult, fail, ok, warn } from './check.ts';
import type { DoctorSettings } from './doctor-settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export function checkMasterKey(settings: DoctorSettings, environment: Environment): CheckResult[] {
  if (environment['PARLEY_MASTER_KEY']) return [ok('master key', 'from PARLEY_MASTER_KEY')];
  if (environment['PARLEY_MASTER_KEY_COMMAND']) {
    if (settings.masterKeys.length > 0) return [ok('master key', 'from PARLEY_MASTER_KEY_COMMAND')];
    const way = 'Run it by hand as the user of the service: it must print 64 hexadecimal digits within 30 s.';
    return [fail('master key', 'PARLEY_MASTER_KEY_COMMAND gives none', way)];
  }
  const given = environment['PARLEY_MASTER_KEY_FILE'];
  const file = given || settings.masterKeyFile;
  const isGenerated = !given && file === join(settings.dataDir, 'master.key');
  if (file === null) {
    const way = 'Set PARLEY_MASTER_KEY for this command too, so that it can open the stored credentials.';
    return [warn('master key', 'given to the running service, not to this command', way)];
  }
  if (!existsSync(file)) {
    if (given) return [fail('master key', `PARLEY_MASTER_KEY_FILE: there is no ${file}`, 'Correct its path.')];
    const way = 'The first start makes one. For production set PARLEY_MASTER_KEY from a secret store.';
    return [warn('master key', `none yet, and no ${file}`, way)];
  }
  try {
    keysInFile(file);
  } catch (error) {
    const way = 'Restore it from a backup: without it the stored credentials are lost.';
    return [fail('master key', (error as Error).message, way)];
  }
  const mode = statSync(file).mode & 0o777;
  if ((mode & 0o077) !== 0) {
    const detail = `${file} can be read by others (mode ${mode.toString(8)})`;
    // A secret that an orchestrator mounts is guarded by the container's walls.
    return [(isGenerated ? fail : warn)('master key', detail, `chmod 600 ${file}`)];
  }
  if (!isGenerated) return [ok('master key', `in ${file} (mode ${mode.toString(8)})`)];
  return [
    warn(
      'master key',
      `generated, in ${file} (mode ${mode.toString(8)})`,
      'Back it up apart from the database; for production set PARLEY_MASTER_KEY from a secret store.',
    ),
  ];
}

/** Nothing where this command has no key: `checkMasterKey` says so. */
export async function checkKeyOfDatabase(database: Queryable, settings: DoctorSettings): Promise<CheckResult[]> {
  const keys = settings.masterKeys.map(masterKeyOf);
  if (keys.length === 0) return [];
  const rows = await readRegister(database);
  const sealing = rows.find(({ state }) => state === 'sealing');
  if (sealing === undefined) return [];
  if (holdsKey(sealing, keys) === undefined) {
    const way = 'Give this node the key of the others: nothing that is stored opens with this one.';
    return [fail('key of the database', 'the database is sealed under another master key', way)];
  }
  if (rows.length > 1) {
    const way = 'parley master-key rotate goes on with it; until it has ended, every node needs both keys.';
    return [warn('key of the database', 'a rotation of the master key has not ended', way)];
  }
  return [ok('key of the database', 'is this one')];
}
