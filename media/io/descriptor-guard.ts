/**
 * Watches how many file descriptors the media process has left. At the limit the kernel refuses to hand out a
 * connection that has come, and a socket server would be woken for it again and again; so new streams are refused while
 * some are left, and the door is shut before the last is gone. What is open goes on. Made by `media/main.ts`; on Linux
 * only, elsewhere it always says that there are enough.
 */
import { readdir, readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Clock } from '../contract/clock.ts';

/** Fewer left: streams are refused. A call needs one for its socket and one for its recording. */
const FEW = 48;
/** Fewer left: no connection is taken any more. Files of recordings and the link to control need the rest. */
const NONE = 16;
/** So many more than `FEW` must be left before it is over. */
const ENOUGH_AGAIN = 16;
const LOOK_EVERY_MS = 1000;
/** While it is tight a second is long. */
const LOOK_CLOSELY_MS = 100;
const CLOSELY_BELOW = 256;

export interface DescriptorUse {
  used: number;
  limit: number;
}

export interface DescriptorGuardOptions {
  clock: Clock;
  log: Logger;
  /** Null: not known here. Rejects with EMFILE when it cannot even look. */
  read(): Promise<DescriptorUse | null>;
  /** Called with true when no connection may be taken, and with false when they may again. */
  shut(isShut: boolean): void;
}

export interface DescriptorGuard {
  /** Streams are to be refused. */
  readonly isShort: boolean;
  /** One look by hand. */
  look(): Promise<void>;
  close(): void;
}

export function createDescriptorGuard({ clock, log, read, shut }: DescriptorGuardOptions): DescriptorGuard {
  let isShort = false;
  let isShut = false;
  let closed = false;
  let cancel: () => void = () => {};

  async function look(): Promise<void> {
    const use = await read().catch(() => ({ used: 0, limit: 0 }));
    if (closed) return;
    const left = use === null ? Number.POSITIVE_INFINITY : use.limit - use.used;
    if (left < FEW && !isShort) {
      isShort = true;
      log.error(
        { ...use },
        'file descriptors are running out: new streams are refused, calls go on; raise the limit (ulimit -n, LimitNOFILE=)',
      );
    } else if (left >= FEW + ENOUGH_AGAIN && isShort) {
      isShort = false;
      log.warn({ ...use }, 'there are file descriptors again');
    }
    const mustShut = left < (isShut ? FEW : NONE);
    if (mustShut !== isShut) {
      isShut = mustShut;
      shut(isShut);
    }
    cancel();
    cancel = clock.after(left < CLOSELY_BELOW ? LOOK_CLOSELY_MS : LOOK_EVERY_MS, () => void look());
  }

  return {
    get isShort() {
      return isShort;
    },
    look,
    close() {
      closed = true;
      cancel();
    },
  };
}

/** From /proc; null where there is none. */
export async function readDescriptorUse(): Promise<DescriptorUse | null> {
  if (process.platform !== 'linux') return null;
  const limits = await readFile('/proc/self/limits', 'latin1');
  const limit = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  // The listing holds the descriptor of the listing itself.
  return { used: (await readdir('/proc/self/fd')).length - 1, limit };
}
