/**
 * The master keys of one command, which a rotation waits for as long as it runs. One that stood still for longer than
 * rotations wait seals nothing any more: its key may be the former one.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { OperatorError } from '../errors/operator-error.ts';
import {
  HOLDER_GONE_AFTER_SECONDS,
  joinHolders,
  leaveHolders,
  sealingOf,
  stayHolder,
} from '../sealing/key-register.ts';
import type { MasterKey, MasterKeys } from '../sealing/master-keys.ts';
import type { Database } from '../store/database.ts';

export interface CommandKeys extends MasterKeys {
  close(): Promise<void>;
}

const SAY_EVERY_MS = 10_000;
/** What is sealed is stored soon after. */
const SEALS_WITHIN_MS = (HOLDER_GONE_AFTER_SECONDS - 5) * 1_000;

/** Rejects with `MasterKeyRefused`. */
export async function openCommandKeys(deps: {
  database: Database;
  clock: Pick<Clock, 'after' | 'nowMs'>;
  holder: string;
  candidates: readonly MasterKey[];
}): Promise<CommandKeys> {
  const { database, clock, holder, candidates } = deps;
  let saidAtMs = clock.nowMs();
  const rows = await joinHolders(database, candidates, { holder, name: 'command' });
  const sealing = sealingOf(rows, candidates);
  const all = [sealing, ...candidates.filter((key) => key !== sealing)];
  let cancel = (): void => {};
  let closed = false;

  async function say(): Promise<void> {
    const atMs = clock.nowMs();
    const isHolder = await stayHolder(database, holder).catch(() => null);
    if (isHolder === true) saidAtMs = atMs;
    if (isHolder !== false && !closed) later();
  }
  function later(): void {
    cancel = clock.after(SAY_EVERY_MS, () => void say());
  }
  later();
  return {
    current() {
      if (clock.nowMs() - saidAtMs <= SEALS_WITHIN_MS) return sealing;
      throw new OperatorError(
        'refused',
        'This command stood still, or had no database, for so long that the master key may have changed: run it again.',
      );
    },
    all: () => all,
    async close() {
      closed = true;
      cancel();
      await leaveHolders(database, holder).catch(() => {});
    },
  };
}
