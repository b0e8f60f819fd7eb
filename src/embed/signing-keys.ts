/**
 * The keys that sign session tokens: Ed25519 pairs in the database, the private half sealed under the master key. The
 * newest signs for 30 days, then a new one is made; each is accepted for 24 h longer. All nodes share them. Whoever
 * signs or verifies asks here; nothing else sees a private key. A `kid` comes from whoever asks and reaches no
 * statement: those that are known lie in memory, and for one that is not, the keys of all nodes are read again, at most
 * every 5 s.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Clock } from '../../media/contract/clock.ts';
import { sealedPlace } from '../sealing/sealed-places.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database, Queryable } from '../store/database.ts';

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

interface VerifyingKey {
  publicKey: KeyObject;
  createdAtEpochMs: number;
}

interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  createdAtEpochMs: number;
}

const MOST_KEYS_A_MONTH = 100;
/** As `makeKey` names them. */
const KID = /^\d{4}-\d{2}(?:-\d{1,3})?$/;
const READ_EVERY_MS = 5_000;

export function createSigningKeys(deps: { database: Database; sealer: Sealer; clock: Clock }): SigningKeys {
  const { database, sealer, clock } = deps;
  const known = new Map<string, VerifyingKey>();
  let newest: SigningKey | null = null;
  let reading: Promise<void> | null = null;
  let readAtMs = Number.NEGATIVE_INFINITY;

  function learn({ kid, public_pem, created_at }: Omit<Row, 'private_sealed'>): void {
    if (known.has(kid)) return;
    known.set(kid, { publicKey: createPublicKey(public_pem), createdAtEpochMs: created_at.getTime() });
  }

  const maySign = (key: SigningKey): boolean => clock.epochMs() - key.createdAtEpochMs < SIGNS_FOR_MS;

  /** Those of all nodes, unless that was done a moment ago. One reading for all who ask meanwhile. */
  function readAll(): Promise<void> {
    if (reading !== null) return reading;
    if (clock.nowMs() - readAtMs < READ_EVERY_MS) return Promise.resolve();
    const read = async (): Promise<void> => {
      const since = new Date(clock.epochMs() - ACCEPTED_FOR_MS);
      const rows = await database.query<Omit<Row, 'private_sealed'>>(
        'SELECT kid, public_pem, created_at FROM embed_signing_keys WHERE created_at > $1',
        [since],
      );
      readAtMs = clock.nowMs();
      for (const row of rows) learn(row);
    };
    reading = read().finally(() => {
      reading = null;
    });
    return reading;
  }

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
      learn(row);
      const privateKey = createPrivateKey(sealer.open(row.private_sealed, sealedPlace.embedSigningKey(row.kid)));
      newest = { kid: row.kid, privateKey, createdAtEpochMs: row.created_at.getTime() };
      return newest;
    },

    async publicKeyOf(kid) {
      if (!KID.test(kid)) return null;
      if (!known.has(kid)) await readAll();
      const key = known.get(kid);
      if (key === undefined) return null;
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
      [
        kid,
        sealer.seal(pem, sealedPlace.embedSigningKey(kid)),
        publicKey.export({ type: 'spki', format: 'pem' }).toString(),
        new Date(nowEpochMs),
      ],
    );
    if (rows[0] !== undefined) return rows[0];
  }
  throw new Error(`${MOST_KEYS_A_MONTH} signing keys were made in ${month}; something makes them over and over.`);
}
