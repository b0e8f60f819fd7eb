/**
 * What is told once a transaction has committed, by whoever wrote in it: a ring that came before the commit would find
 * nothing. `database.ts` runs it; a rollback forgets it.
 */

const open = new WeakMap<object, (() => void)[]>();

/** At once where there is no transaction. `tell` must not throw and must not wait. */
export function afterCommit(tx: object, tell: () => void): void {
  const waiting = open.get(tx);
  if (waiting === undefined) tell();
  else waiting.push(tell);
}

/** `tx` is a transaction from now on; what it returns is called when that has committed. */
export function beginTelling(tx: object): () => void {
  const waiting: (() => void)[] = [];
  open.set(tx, waiting);
  return () => {
    open.delete(tx);
    for (const tell of waiting) tell();
  };
}
