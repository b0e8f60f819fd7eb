/**
 * Links new audit rows each second while control runs, so that the time in which a row is not yet held by its chain is
 * short. Made by `src/control/ground.ts`; any number of nodes may run it.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Database } from '../store/database.ts';
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
  clock: Pick<Clock, 'after'>;
  log: Logger;
}): AuditLinking {
  let closed = false;
  let failing = false;
  let running: Promise<void> = Promise.resolve();
  let cancel = (): void => {};

  async function link(): Promise<void> {
    try {
      await linkAudit(deps.database, deps.signer);
      failing = false;
    } catch (error) {
      if (!failing) deps.log.warn({ err: error }, 'audit rows could not be linked; they wait, and it is tried again');
      failing = true;
    }
  }

  function later(): void {
    cancel = deps.clock.after(LINK_EVERY_MS, () => {
      running = link().then(() => {
        if (!closed) later();
      });
    });
  }
  later();
  let closing: Promise<void> | null = null;
  async function close(): Promise<void> {
    closed = true;
    cancel();
    await running;
    await link();
  }
  return { close: () => (closing ??= close()) };
}
