/**
 * Asks again and again, so many at a time and so many in all, and counts what it was answered. The attacks by requests
 * stand on it.
 */

export interface TurnSiege {
  readonly opened: number;
  /** By status, and the code where there is one. */
  readonly ends: ReadonlyMap<string, number>;
  /** When all were answered. */
  readonly done: Promise<void>;
  /** Asks no more, and resolves when the last one was answered. */
  stop(): Promise<void>;
}

export function inTurn(
  { atOnce, inAll }: { atOnce: number; inAll: number },
  ask: (turn: number) => Promise<string>,
): TurnSiege {
  const ends = new Map<string, number>();
  let opened = 0;
  let stopped = false;

  async function askInTurn(): Promise<void> {
    while (!stopped && opened < inAll) {
      const end = await ask(opened++).catch((error: NodeJS.ErrnoException) => error.code ?? error.message);
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
  }

  const done = Promise.all(Array.from({ length: atOnce }, askInTurn)).then(() => {});
  return {
    get opened() {
      return opened;
    },
    ends,
    done,
    stop() {
      stopped = true;
      return done;
    },
  };
}
