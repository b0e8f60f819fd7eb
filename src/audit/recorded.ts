/**
 * Tells who links the audit rows of this process that there are new ones, so that nobody has to look each second. Rows
 * of other processes, the command line's among them, are found by the look that all share (`store/due-look.ts`).
 */
const listeners = new Set<(chain: string) => void>();

/** A row of this chain is committed. */
export function tellRecorded(chain: string): void {
  for (const listener of listeners) listener(chain);
}

/** Returns what ends it. */
export function onRecorded(listener: (chain: string) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
