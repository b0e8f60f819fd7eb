/**
 * The database's word on its master keys: which one seals, which one comes or leaves, and who holds which. A key proves
 * itself by a value that was made of it and a salt; the key cannot be made of that value. Used by whoever opens or
 * seals, and by rotation.
 */
import { hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Database, Queryable } from '../store/database.ts';
import { fixedKeys, type MasterKey } from './master-keys.ts';
import { sampleOfEach } from './sealed-columns.ts';
import { createSealer } from './sealer.ts';

export type KeyState = 'coming' | 'sealing' | 'leaving';

export interface RegisteredKey {
  keyId: Buffer;
  salt: Buffer;
  checkValue: Buffer;
  state: KeyState;
}

export interface KeyHolder {
  holder: string;
  name: string;
  knows: Buffer[];
  sealsWith: Buffer;
}

/** Refused: this holder must not seal or open anything here. The message is for the operator. */
export class MasterKeyRefused extends Error {
  override readonly name = 'MasterKeyRefused';
}

/** A holder says each 10 s that it is there; one that has not for so long has ended without a word. */
export const HOLDER_GONE_AFTER_SECONDS = 30;

const SALT_BYTES = 16;
const ONE_NODE_ONE_KEY =
  'All nodes of one database need one key: give this one the key of the others (PARLEY_MASTER_KEY, or a copy of master.key from the data folder of the first).';

export function readRegister(database: Queryable): Promise<RegisteredKey[]> {
  return database.query<RegisteredKey>(
    `SELECT key_id AS "keyId", salt, check_value AS "checkValue", state FROM master_keys
     ORDER BY array_position(ARRAY['sealing', 'coming', 'leaving'], state)`,
  );
}

/** Whoever changes the register, or joins those who follow it, does so alone. */
export async function lockRegister(tx: Queryable): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('master-keys', 0)) AS locked`);
}

export function holdsKey(row: RegisteredKey, keys: readonly MasterKey[]): MasterKey | undefined {
  return keys.find((key) => timingSafeEqual(checkValueOf(key, row.salt), row.checkValue));
}

export async function registerKey(tx: Queryable, key: MasterKey, state: KeyState): Promise<void> {
  const salt = randomBytes(SALT_BYTES);
  await tx.query('INSERT INTO master_keys (key_id, salt, check_value, state) VALUES ($1, $2, $3, $4)', [
    key.id,
    salt,
    checkValueOf(key, salt),
    state,
  ]);
}

function checkValueOf(key: MasterKey, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key.bytes, salt, 'parley master key check', 32));
}

/**
 * Before anything is opened or sealed: these keys are those of the database, or become them where it has none yet.
 * Throws `MasterKeyRefused`. From here on a rotation waits for the holder.
 */
export async function joinHolders(
  database: Database,
  candidates: readonly MasterKey[],
  who: { holder: string; name: string },
): Promise<RegisteredKey[]> {
  return database.transaction(async (tx) => {
    await lockRegister(tx);
    let rows = await readRegister(tx);
    if (rows.length === 0) {
      await registerKey(tx, await firstKey(tx, candidates), 'sealing');
      rows = await readRegister(tx);
    }
    // Who lacks a key that only comes may start: the rotation waits for it.
    const missing = rows.find((row) => row.state !== 'coming' && holdsKey(row, candidates) === undefined);
    if (missing !== undefined) throw refusal(missing, candidates);
    await sayHolding(tx, { ...who, knows: candidates, sealsWith: sealingOf(rows, candidates) });
    return rows;
  });
}

export function sealingOf(rows: readonly RegisteredKey[], keys: readonly MasterKey[]): MasterKey {
  const row = rows.find(({ state }) => state === 'sealing');
  const key = row && holdsKey(row, keys);
  if (key === undefined)
    throw new MasterKeyRefused(`The database is sealed under another master key. ${ONE_NODE_ONE_KEY}`);
  return key;
}

export async function sayHolding(
  database: Queryable,
  {
    holder,
    name,
    knows,
    sealsWith,
  }: { holder: string; name: string; knows: readonly MasterKey[]; sealsWith: MasterKey },
): Promise<void> {
  await database.query(
    `INSERT INTO master_key_holders (holder, name, knows, seals_with) VALUES ($1, $2, $3, $4)
     ON CONFLICT (holder) DO UPDATE SET knows = excluded.knows, seals_with = excluded.seals_with, seen_at = clock_timestamp()`,
    [holder, name, knows.map(({ id }) => id), sealsWith.id],
  );
}

/** False: it was away for so long that it counts as ended, or it has left. */
export async function stayHolder(database: Queryable, holder: string): Promise<boolean> {
  const rows = await database.query(
    'UPDATE master_key_holders SET seen_at = clock_timestamp() WHERE holder = $1 RETURNING holder',
    [holder],
  );
  return rows.length > 0;
}

export async function leaveHolders(database: Queryable, holder: string): Promise<void> {
  await database.query('DELETE FROM master_key_holders WHERE holder = $1', [holder]);
}

/** Those that are there; the rows of others are removed. */
export async function readHolders(database: Queryable): Promise<KeyHolder[]> {
  await database.query(
    `DELETE FROM master_key_holders WHERE seen_at < clock_timestamp() - make_interval(secs => ${HOLDER_GONE_AFTER_SECONDS})`,
  );
  return database.query<KeyHolder>(
    'SELECT holder, name, knows, seals_with AS "sealsWith" FROM master_key_holders ORDER BY holder',
  );
}

/** A database of a former version has sealed values and no register: the key that opens them is its key. */
async function firstKey(tx: Queryable, candidates: readonly MasterKey[]): Promise<MasterKey> {
  const samples = await sampleOfEach(tx);
  const [newest] = candidates;
  if (newest === undefined) throw new MasterKeyRefused('There is no master key.');
  if (samples.length === 0) return newest;
  const opens = candidates.find((key) => {
    const sealer = createSealer(fixedKeys([key]));
    return samples.some(({ sealed, place }) => {
      try {
        sealer.open(sealed, place);
        return true;
      } catch {
        return false;
      }
    });
  });
  if (opens !== undefined) return opens;
  throw new MasterKeyRefused(
    `PARLEY_MASTER_KEY is not the key that the values in this database were sealed under. ${ONE_NODE_ONE_KEY} ${LOST}`,
  );
}

const LOST =
  'If the key is lost for good, what it sealed is lost with it: `parley master-key adopt --former-key-is-lost` lets the database begin anew with the key that you have.';

function refusal(row: RegisteredKey, candidates: readonly MasterKey[]): MasterKeyRefused {
  if (row.state === 'sealing') {
    const keys =
      candidates.length === 1 ? 'the master key that this node has is' : 'the master keys that this node has are';
    return new MasterKeyRefused(
      `The database is sealed under another master key: ${keys} not it. ${ONE_NODE_ONE_KEY} ${LOST}`,
    );
  }
  return new MasterKeyRefused(
    'A rotation of the master key is under way, and this node has only one of the two keys: give the new one as PARLEY_MASTER_KEY and the former one as PARLEY_MASTER_KEY_PREVIOUS (in a file or a command: on two lines) until `parley master-key rotate` has ended.',
  );
}
