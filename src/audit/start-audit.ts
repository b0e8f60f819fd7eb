/**
 * Links new audit rows within a second while control runs, so that the time in which a row is not yet held by its chain
 * is short; within some seconds what other processes wrote and left. Made by `src/control/ground.ts`; any number of
 * nodes may run it.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Database } from '../store/database.ts';
import type { DueLook } from '../store/due-look.ts';
import { createSweeper } from '../store/sweeper.ts';
import type { ChainSigner } from './chain-signer.ts';
import { linkAudit } from './link-chain.ts';
import { onRecorded } from './recorded.ts';

export interface AuditLinking {
  /** Links what waits, then stops. Idempotent. */
  close(): Promise<void>;
}

/** From the first row of this process that waits. */
const LINK_AFTER_MS = 1_000;
/** Rows that nobody links, because their process has ended: the command line's, say. */
const ARE_LEFT = `EXISTS (SELECT 1 FROM audit_log WHERE position IS NULL AND at < clock_timestamp() - interval '${LINK_AFTER_MS + 500} ms')`;

export function startAuditLinking(deps: {
  database: Database;
  signer: ChainSigner;
  clock: Pick<Clock, 'after' | 'nowMs'>;
  log: Logger;
  /** Absent: each second, as the sweep of its own. */
  due?: DueLook;
}): AuditLinking {
  const { database, signer, clock, due } = deps;
  let waiting = new Set<string>();
  let cancel = (): void => {};
  let linking: Promise<void> = Promise.resolve();
  const linkAll = (): Promise<unknown> => linkAudit(database, signer);
  const failed = (err: unknown): void =>
    deps.log.warn({ err }, 'audit rows could not be linked; they wait, and it is tried again');
  const sweeper = createSweeper({
    clock,
    everyMs: LINK_AFTER_MS,
    sweep: linkAll,
    failed,
    ...(due && { due: { look: due, sql: () => ARE_LEFT } }),
  });

  async function linkWaiting(): Promise<void> {
    const chains = waiting;
    waiting = new Set();
    try {
      for (const chain of chains) await linkAudit(database, signer, chain);
    } catch {
      // They are left: whoever looks says why it cannot link them.
      sweeper.nudge();
    }
  }

  const forget = onRecorded((chain) => {
    if (waiting.size === 0) {
      cancel = clock.after(LINK_AFTER_MS, () => {
        linking = linking.then(linkWaiting);
      });
    }
    waiting.add(chain);
  });
  sweeper.start(LINK_AFTER_MS);
  let closing: Promise<unknown> | null = null;
  async function close(): Promise<void> {
    forget();
    cancel();
    await sweeper.close();
    await linking;
    await linkAll().catch(failed);
  }
  return {
    async close() {
      closing ??= close();
      await closing;
    },
  };
}
