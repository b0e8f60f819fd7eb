/**
 * From one master key to the next while the service runs. The register says how far it is, so whoever calls this again
 * after a kill goes on from there:
 *
 *   sealing old ── the new one is announced ──► + coming new ── every holder knows it ──► sealing new, leaving old
 *                                               ── every holder seals with it, nothing lies
 *                                               under the old one ──► sealing new
 */

import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import {
  holdsKey,
  type KeyHolder,
  type KeyState,
  lockRegister,
  type RegisteredKey,
  readHolders,
  readRegister,
  registerKey,
} from '../sealing/key-register.ts';
import type { MasterKey } from '../sealing/master-keys.ts';
import { type PassReport, resealAll } from '../sealing/reseal.ts';
import type { Database, Queryable } from '../store/database.ts';
import { resignAll } from './resign.ts';

export interface RotationOptions {
  database: Database;
  /** The new key, then the one until now. */
  keys: readonly [MasterKey, MasterKey];
  by: ChangedBy;
  batchRows: number;
  /** Between two batches, so that calls have the database to themselves. */
  pauseMs: number;
  wait(ms: number): Promise<void>;
  nowMs(): number;
  told(progress: RotationProgress): void;
}

export type RotationProgress =
  | { step: 'announced' }
  | { step: 'waiting'; for: 'holders' | 'transactions'; count: number; names: string[] }
  | { step: 'turned' }
  | { step: 'resealed'; values: number };

export interface RotationReport {
  resealed: number;
  resigned: number;
  /** Values that neither key opens, by `table.column`; they are as they were. */
  unreadable: Record<string, number>;
}

/** Not now; the message is for the operator, and what was done stays done. */
export class RotationRefused extends Error {
  override readonly name = 'RotationRefused';
}

const LOOK_EVERY_MS = 250;
/** Longer than a holder that ended without a word is counted. */
const HOLDERS_LIMIT_MS = 60_000;
const TRANSACTIONS_LIMIT_MS = 60_000;
/** A backup, say; whoever seals writes sooner. */
const ONLY_READS_AFTER_SECONDS = 30;
/** What was sealed and waits for a connection gets one within 2 s, or fails. */
const CONNECTION_WAIT_MS = 2_500;
const MOST_PASSES = 1_000;

export async function rotateMasterKey(options: RotationOptions): Promise<RotationReport> {
  const { database, keys, told } = options;
  const [to, from] = keys;
  if (await announced(options)) told({ step: 'announced' });
  await untilHolders(
    options,
    ({ knows }) => knows.some((id) => id.equals(to.id)),
    'do not have the new key yet. Those whose key is a file find it there by themselves; start the others again with both keys, then run this again',
    (tx) => turn(tx, to),
  );
  told({ step: 'turned' });
  await untilHolders(
    options,
    ({ sealsWith }) => sealsWith.equals(to.id),
    'still seal with the former key; run this again',
  );

  let total = 0;
  const breathe = async (): Promise<void> => {
    if (options.pauseMs > 0) await options.wait(options.pauseMs);
  };
  const pass = (): Promise<PassReport> =>
    resealAll({
      ...options,
      breathe,
      resealed(values) {
        total += values;
        if (values > 0) told({ step: 'resealed', values: total });
      },
    });
  await pass();
  // Whoever had sealed under the former key before the turn has committed by then.
  await untilOlderTransactionsEnd(options);
  let last: PassReport | null = null;
  let resigned = 0;
  for (let passes = 0; last === null || last.resealed + last.passedOver > 0; passes++) {
    if (passes === MOST_PASSES) throw new RotationRefused('Some rows are locked all the time; run this again.');
    if (passes > 0) await options.wait(LOOK_EVERY_MS);
    last = await pass();
    const signed = await resignAll(database, keys, breathe);
    resigned += signed.resigned;
    last.passedOver += signed.passedOver;
  }
  const unreadable = Object.fromEntries(last.unreadable);
  await database.transaction(async (tx) => {
    await lockRegister(tx);
    await tx.query(`DELETE FROM master_keys WHERE state = 'leaving' AND key_id = $1`, [from.id]);
    await note(tx, options.by, 'master_key.rotated', to, { resealed: total, resigned, unreadable });
  });
  return { resealed: total, resigned, unreadable };
}

/** True: the new key is announced now; false: it was before. */
function announced({ database, keys: [to, from], by }: RotationOptions): Promise<boolean> {
  return database.transaction(async (tx) => {
    await lockRegister(tx);
    const rows = await readRegister(tx);
    const of = (key: MasterKey): RegisteredKey | undefined => rows.find((row) => holdsKey(row, [key]) !== undefined);
    if (of(to)?.state === 'sealing' && of(from)?.state === 'leaving') return false;
    if (of(from)?.state !== 'sealing') {
      throw new RotationRefused(
        'The previous key is not the one that the database is sealed under: the new key comes first, then the one until now.',
      );
    }
    if (rows.some(({ state }) => state === 'leaving')) {
      throw new RotationRefused('Another rotation has not ended: end it first, with the two keys that it began with.');
    }
    if (of(to)?.state === 'coming') return false;
    // One that was announced and never had its turn has sealed nothing.
    await tx.query(`DELETE FROM master_keys WHERE state = 'coming'`);
    await registerKey(tx, to, 'coming');
    await note(tx, by, 'master_key.rotation_started', to, { from: from.id.toString('hex') });
    return true;
  });
}

async function turn(tx: Queryable, to: MasterKey): Promise<void> {
  const rows = await readRegister(tx);
  const isTo = (state: KeyState): boolean =>
    rows.some((row) => row.state === state && holdsKey(row, [to]) !== undefined);
  if (!isTo('coming')) {
    if (isTo('sealing')) return;
    throw new RotationRefused(
      'Another rotation has announced another key meanwhile: end that one first, with the two keys that it began with.',
    );
  }
  await tx.query(`UPDATE master_keys SET state = 'leaving', since = clock_timestamp() WHERE state = 'sealing'`);
  await tx.query(`UPDATE master_keys SET state = 'sealing', since = clock_timestamp() WHERE state = 'coming'`);
}

/** `then` runs in the transaction that found all of them ready, so that none has come between. */
async function untilHolders(
  { database, wait, nowMs, told }: RotationOptions,
  isReady: (holder: KeyHolder) => boolean,
  problem: string,
  then?: (tx: Queryable) => Promise<void>,
): Promise<void> {
  const untilMs = nowMs() + HOLDERS_LIMIT_MS;
  for (;;) {
    const names = await database.transaction(async (tx) => {
      await lockRegister(tx);
      const others = (await readHolders(tx)).filter((one) => !isReady(one));
      if (others.length === 0) await then?.(tx);
      return others.map(({ holder, name }) => `${name} ${holder}`);
    });
    if (names.length === 0) return;
    told({ step: 'waiting', for: 'holders', count: names.length, names });
    if (nowMs() > untilMs) throw new RotationRefused(`${names.join(', ')}: ${problem}.`);
    await wait(LOOK_EVERY_MS);
  }
}

async function untilOlderTransactionsEnd({ database, wait, nowMs, told }: RotationOptions): Promise<void> {
  await wait(CONNECTION_WAIT_MS);
  const [now] = await database.query<{ at: string }>('SELECT clock_timestamp()::text AS at');
  const untilMs = nowMs() + TRANSACTIONS_LIMIT_MS;
  for (;;) {
    const [older] = await database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < $1::timestamptz
         AND (backend_xid IS NOT NULL OR xact_start > clock_timestamp() - make_interval(secs => $2))`,
      [now?.at, ONLY_READS_AFTER_SECONDS],
    );
    const count = older?.count ?? 0;
    if (count === 0) return;
    told({ step: 'waiting', for: 'transactions', count, names: [] });
    if (nowMs() > untilMs)
      throw new RotationRefused(`${count} transactions of the database do not end; run this again.`);
    await wait(LOOK_EVERY_MS);
  }
}

async function note(tx: Queryable, by: ChangedBy, action: string, to: MasterKey, after: object): Promise<void> {
  await recordAudit(tx, { workspaceId: null, by, action, target: `master_key:${to.id.toString('hex')}`, after });
}
