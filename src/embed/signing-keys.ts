/**
 * The keys that sign session tokens: Ed25519 pairs in the database, the private half sealed under the master key. The newest signs
 * for 30 days, then a new one is made; each is accepted for 24 h longer. All nodes share them. Whoever signs or verifies asks here;
 * nothing else sees a private key.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Clock } from '../../media/contract/clock.ts';
import type { Database, Queryable } from '../store/database.ts';
import type { Sealer } from '../store/secrets.ts';

const DAY_MS = 86_400_000;
export const SIGNS_FOR_MS = 30 * DAY_MS;
export const ACCEPTED_FOR_MS = SIGNS_FOR_MS + DAY_MS;

export interface SigningKeys {
  /** The key to sign with now; made when there is none, or the last is 30 days old. */
  current(): Promise<{ kid: string; privateKey: KeyObject }>;
  /** Null: there is no such key, or it is not accepted any more. */
  publicKeyOf(kid: string): Promise<KeyObject | null>;
}

interface Row {
  kid: string;
  private_sealed: Buffer;
  public_pem: string;
  created_at: Date;
}

interface Known {
  kid: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
  createdAtEpochMs: number;
}

const MOST_KEYS_A_MONTH = 100;

export function createSigningKeys(deps: { database: Database; sealer: Sealer; clock: Clock }): SigningKeys {
  const { database, sealer, clock } = deps;
  const known = new Map<string, Known>();
  let newest: Known | null = null;

  function learn(row: Row): Known {
    const key: Known = {
      kid: row.kid,
      publicKey: createPublicKey(row.public_pem),
      privateKey: createPrivateKey(sealer.open(row.private_sealed)),
      createdAtEpochMs: row.created_at.getTime(),
    };
    known.set(key.kid, key);
    if (newest === null || key.createdAtEpochMs >= newest.createdAtEpochMs) newest = key;
    return key;
  }

  const maySign = (key: Known): boolean => clock.epochMs() - key.createdAtEpochMs < SIGNS_FOR_MS;

  return {
    async current() {
      if (newest !== null && maySign(newest)) return newest;
      const row = await database.transaction(async (tx) => {
        await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('embed-signing-keys', 0))`);
        const [last] = await tx.query<Row>('SELECT * FROM embed_signing_keys ORDER BY created_at DESC LIMIT 1');
        const nowEpochMs = clock.epochMs();
        if (last !== undefined && nowEpochMs - last.created_at.getTime() < SIGNS_FOR_MS) return last;
        await tx.query('DELETE FROM embed_signing_keys WHERE created_at < $1', [
          new Date(nowEpochMs - 2 * ACCEPTED_FOR_MS),
        ]);
        return makeKey(tx, sealer, nowEpochMs);
      });
      return learn(row);
    },

    async publicKeyOf(kid) {
      let key = known.get(kid);
      if (key === undefined) {
        const [row] = await database.query<Row>('SELECT * FROM embed_signing_keys WHERE kid = $1', [kid]);
        if (row === undefined) return null;
        key = learn(row);
      }
      return clock.epochMs() - key.createdAtEpochMs < ACCEPTED_FOR_MS ? key.publicKey : null;
    },
  };
}

/** `2026-11`; a second one of the same month is `2026-11-2`. */
async function makeKey(tx: Queryable, sealer: Sealer, nowEpochMs: number): Promise<Row> {
  const month = new Date(nowEpochMs).toISOString().slice(0, 7);
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  for (let number = 1; number <= MOST_KEYS_A_MONTH; number++) {
    const kid = number === 1 ? month : `${month}-${number}`;
    const rows = await tx.query<Row>(
      `INSERT INTO embed_signing_keys (kid, private_sealed, public_pem, created_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (kid) DO NOTHING RETURNING *`,
      [kid, sealer.seal(pem), publicKey.export({ type: 'spki', format: 'pem' }).toString(), new Date(nowEpochMs)],
    );
    if (rows[0] !== undefined) return rows[0];
  }
  throw new Error(`${MOST_KEYS_A_MONTH} signing keys were made in ${month}; something makes them over and over.`);
}
