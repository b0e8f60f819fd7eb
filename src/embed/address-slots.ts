/**
 * Keeps the slot of each visitor's address while its session lives: renewed here each 20 s for all live web sessions,
 * given back at their end, when the address is forgotten too. Any number of nodes may run it.
 * Made and closed by `embed.ts`.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { EmbedLimits } from '../limits/embed-limits.ts';
import type { Database } from '../store/database.ts';
import type { DueLook } from '../store/due-look.ts';
import { createSweeper } from '../store/sweeper.ts';

export interface AddressSlots {
  /** Never throws, never waits. */
  ended(call: { callUuid: string; channel: string }): void;
  /** Idempotent. */
  close(): void;
}

interface Row {
  callUuid: string;
  workspaceId: string;
  publicKey: string;
  address: string;
}

const RENEW_EVERY_MS = 20_000;
const SESSION = `s.call_uuid AS "callUuid", c.workspace_id AS "workspaceId", s.public_key AS "publicKey", s.address`;
/** For the look that all share: somebody talks. */
const MAY_BE_DUE_SQL = `EXISTS (SELECT 1 FROM calls WHERE status = 'in_progress' AND channel = 'web')`;

export function createAddressSlots(deps: {
  database: Database;
  clock: Clock;
  log: Logger;
  limits: Pick<EmbedLimits, 'renew' | 'release'>;
  /** Absent: always. */
  due?: DueLook;
}): AddressSlots {
  const { database, clock, log, limits } = deps;

  async function renewAll(): Promise<void> {
    const live = await database.query<Row>(
      `SELECT ${SESSION} FROM web_sessions s JOIN calls c ON c.call_uuid = s.call_uuid
        WHERE s.address IS NOT NULL AND c.status = 'in_progress'`,
    );
    for (const session of live) await limits.renew(session);
  }

  async function release(callUuid: string): Promise<void> {
    const [session] = await database.query<Row>(
      `WITH before AS (SELECT ${SESSION} FROM web_sessions s JOIN calls c ON c.call_uuid = s.call_uuid
                        WHERE s.call_uuid = $1 AND s.address IS NOT NULL),
            forgotten AS (UPDATE web_sessions SET address = NULL WHERE call_uuid = $1)
       SELECT * FROM before`,
      [callUuid],
    );
    if (session !== undefined) await limits.release(session);
  }

  const sweeper = createSweeper({
    clock,
    everyMs: RENEW_EVERY_MS,
    sweep: renewAll,
    ...(deps.due && { due: { look: deps.due, sql: () => MAY_BE_DUE_SQL } }),
    failed: (err) => log.debug({ err }, 'slots of web visitors could not be renewed'),
  });
  sweeper.start(RENEW_EVERY_MS);
  return {
    ended({ callUuid, channel }) {
      if (channel !== 'web') return;
      release(callUuid).catch((error: unknown) =>
        log.debug({ err: error, callUuid }, "a visitor's slot ends by itself"),
      );
    },
    close: () => void sweeper.close(),
  };
}
