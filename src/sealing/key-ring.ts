/**
 * The master keys of a running control process. It follows the database's register: a key that comes is looked for (in
 * the file of the key, which may have changed), from the turn on the other one seals, and what has left stays good for
 * tokens as long as they live. Made by `src/control/open-keys.ts`. No key ever travels through the database.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Database } from '../store/database.ts';
import type { DueLook } from '../store/due-look.ts';
import { createSweeper } from '../store/sweeper.ts';
import {
  holdsKey,
  joinHolders,
  leaveHolders,
  type RegisteredKey,
  readRegister,
  sayHolding,
  sealingOf,
} from './key-register.ts';
import { type MasterKey, type MasterKeys, masterKeyOf } from './master-keys.ts';
import { resealAll } from './reseal.ts';

export interface KeyRing extends MasterKeys {
  /** Idempotent. */
  close(): Promise<void>;
}

export interface KeyRingDeps {
  database: Database;
  clock: Pick<Clock, 'after' | 'nowMs'>;
  log: Logger;
  /** 64 hexadecimal digits each, as they were at the start. */
  given: readonly string[];
  /** What the key's file holds now; null: the keys cannot change without a new start. */
  reread: (() => readonly string[]) | null;
  /** Absent: looks for itself each second. */
  due?: DueLook;
}

const LOOK_EVERY_MS = 1_000;
const SAY_EVERY_MS = 10_000;
/** The register in one text; as `stateOf` has it. */
const STATE_SQL = `SELECT string_agg(encode(key_id, 'hex') || ' ' || state, ',' ORDER BY key_id) FROM master_keys`;
/** No statement and no wait for a connection is longer. */
const TRANSACTIONS_LAST_MS = 15_000;
/** The longest life of what is signed with a derived key: the address of a recording that a webhook tells. */
const TOKENS_LIVE_MS = 86_400_000;

/** Rejects with `MasterKeyRefused`. */
export async function openKeyRing(deps: KeyRingDeps): Promise<KeyRing> {
  const { database, clock, log } = deps;
  const who = { holder: randomUUID(), name: 'control' };
  let candidates: readonly MasterKey[] = deps.given.map(masterKeyOf);
  const rows = await joinHolders(database, candidates, who);
  let current = sealingOf(rows, candidates);
  let registered = ofRegister(rows, candidates);
  /** With the time at which it left. */
  const left = new Map<MasterKey, number>();
  let ring = ringOf();
  /** The register as it was followed last. */
  let seen = stateOf(rows);
  let isToBeSaid = false;
  /** Keys that sealed here, and when that ended: a rotation has not waited for a process that stood still. */
  const ended = new Map<MasterKey, number>();
  let toldMissing = false;

  const unneeded = candidates.filter((key) => !registered.includes(key));
  if (unneeded.length > 0 && !unneeded.includes(candidates[0]!)) {
    log.warn(
      'the previous master key is not needed any more: leave it out of the settings (PARLEY_MASTER_KEY_PREVIOUS)',
    );
  }

  function ringOf(): readonly MasterKey[] {
    return [current, ...[...registered, ...left.keys()].filter((key) => key !== current)];
  }

  /** True: something changed that a rotation waits for. */
  function follow(now: readonly RegisteredKey[]): boolean {
    const before = candidates.length;
    if (now.some((row) => holdsKey(row, candidates) === undefined)) lookAgain(now);
    const sealing = now.find(({ state }) => state === 'sealing');
    const former = current;
    current = (sealing && holdsKey(sealing, candidates)) ?? current;
    const isTurn = former !== current;
    const known = ofRegister(now, candidates);
    if (isTurn) ended.set(former, clock.nowMs());
    for (const key of registered) if (!known.includes(key)) left.set(key, clock.nowMs());
    for (const [key, atMs] of left) {
      if (known.includes(key) || clock.nowMs() - atMs > TOKENS_LIVE_MS) left.delete(key);
    }
    registered = known;
    ring = ringOf();
    if (isTurn) log.info('the new master key seals from now on');
    return isTurn || candidates.length !== before;
  }

  function lookAgain(now: readonly RegisteredKey[]): void {
    try {
      const found = (deps.reread?.() ?? []).map(masterKeyOf);
      candidates = [...candidates, ...found.filter((key) => !candidates.some(({ bytes }) => bytes.equals(key.bytes)))];
    } catch (error) {
      if (!toldMissing) log.warn({ err: error }, 'the file of the master key could not be read again');
    }
    const isMissing = now.some((row) => holdsKey(row, candidates) === undefined);
    if (isMissing && !toldMissing) {
      log.error(
        'a rotation of the master key waits for this node, which does not have the new key: start it again with both keys (PARLEY_MASTER_KEY, PARLEY_MASTER_KEY_PREVIOUS)',
      );
    }
    toldMissing = isMissing;
  }

  /** What this process sealed under the former key after the rotation had looked for the last time. */
  async function mend(): Promise<void> {
    for (const [former, atMs] of ended) {
      if (registered.includes(former) || clock.nowMs() - atMs < TRANSACTIONS_LAST_MS) continue;
      const { resealed, passedOver } = await resealAll({
        database,
        keys: [current, former],
        batchRows: 100,
        breathe: async () => {},
        resealed: () => {},
      });
      if (resealed > 0) {
        log.warn(
          { resealed },
          'this process stood still while the master key was changed; what it had sealed under the former one is sealed anew',
        );
      }
      if (passedOver === 0) ended.delete(former);
    }
  }

  async function look(): Promise<void> {
    const now = await readRegister(database);
    const changed = follow(now);
    seen = stateOf(now);
    await mend();
    if (changed) isToBeSaid = true;
    if (isToBeSaid) await say();
  }

  async function say(): Promise<void> {
    await sayHolding(database, { ...who, knows: candidates, sealsWith: current });
    isToBeSaid = false;
  }

  const failed = (err: unknown): void => {
    log.warn({ err }, 'the register of master keys could not be read; it is tried again');
    // What was to be said is said with the next look that goes well.
    isToBeSaid = true;
  };
  const due = deps.due && {
    look: deps.due,
    sql: (place: (value: unknown) => string) => `${place(seen)}::text IS DISTINCT FROM (${STATE_SQL})`,
    also: () => ended.size > 0 || isToBeSaid,
  };
  const looking = createSweeper({ clock, everyMs: LOOK_EVERY_MS, sweep: look, failed, ...(due && { due }) });
  const saying = createSweeper({ clock, everyMs: SAY_EVERY_MS, sweep: say, failed });
  looking.start(LOOK_EVERY_MS);
  saying.start(SAY_EVERY_MS);
  let closing: Promise<void> | null = null;
  async function close(): Promise<void> {
    await looking.close();
    await saying.close();
    await leaveHolders(database, who.holder).catch(() => {});
  }
  return { current: () => current, all: () => ring, close: () => (closing ??= close()) };
}

function ofRegister(rows: readonly RegisteredKey[], candidates: readonly MasterKey[]): MasterKey[] {
  return rows.map((row) => holdsKey(row, candidates)).filter((key) => key !== undefined);
}

function stateOf(rows: readonly RegisteredKey[]): string {
  const byKey = rows.toSorted((one, other) => Buffer.compare(one.keyId, other.keyId));
  return byKey.map(({ keyId, state }) => `${keyId.toString('hex')} ${state}`).join(',');
}
