/**
 * Links new audit rows each second while control runs, so that the time in which a row is not yet held by its chain is
 * short. Made by `src/control/ground.ts`; any number of nodes may run it.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Database } from '../store/database.ts';
import { createSweeper } from '../store/sweeper.ts';
import type { ChainSigner } from './chain-signer.ts';
import { linkAudit } from './link-chain.ts';

export interface AuditLinking {
  /** Links what waits, then stops. Idempotent. */
  close(): Promise<void>;
}

const LINK_EVERY_MS = 1_000;

export function startAuditLinking(deps: {
  database: Database;
  signer: ChainSigner;
  clock: Pick<Clock, 'after' | 'nowMs'>;
  log: Logger;
}): AuditLinking {
  const link = (): Promise<unknown> => linkAudit(deps.database, deps.signer);
  const failed = (err: unknown): void =>
    deps.log.warn({ err }, 'audit rows could not be linked; they wait, and it is tried again');
  const sweeper = createSweeper({ clock: deps.clock, everyMs: LINK_EVERY_MS, sweep: link, failed });
  sweeper.start(LINK_EVERY_MS);
  let closing: Promise<unknown> | null = null;
  return {
    async close() {
      closing ??= sweeper.close().then(link).catch(failed);
      await closing;
    },
  };
}
