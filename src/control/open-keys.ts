/**
 * The master keys of an installation, and whether they are those of its database. Asked by `ground.ts` before anything
 * is sealed or opened.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Config } from '../config/load.ts';
import { keysInFile } from '../config/master-key-setting.ts';
import { assertKeysOpen } from '../recordings/recording-keys.ts';
import { type KeyRing, openKeyRing } from '../sealing/key-ring.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database } from '../store/database.ts';
import type { DueLook } from '../store/due-look.ts';

/** Rejects with what the operator should do; the database is closed then. */
export async function openMasterKeys(
  { masterKeys, masterKeyFile }: Config,
  deps: { database: Database; clock: Clock; log: Logger; due: DueLook },
): Promise<KeyRing> {
  const reread = masterKeyFile === null ? null : () => keysInFile(masterKeyFile);
  try {
    return await openKeyRing({ ...deps, given: masterKeys, reread });
  } catch (error) {
    await deps.due.close();
    await deps.database.close();
    throw error;
  }
}

/** The same. */
export async function refuseOtherKey(database: Database, sealer: Sealer): Promise<void> {
  try {
    await assertKeysOpen(database, sealer);
  } catch (error) {
    await database.close();
    throw error;
  }
}
