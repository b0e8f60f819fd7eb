/**
 * Texts between nodes, by name. They may be lost and never come twice: what must happen stands in a row, and a text
 * only makes it fast, or asks. With Redis its channels carry them; without, PostgreSQL does (`postgres-bells.ts`,
 * `redis-bells.ts`). What they say is `wire.ts`'s.
 */
export interface Bells {
  /** Rejects where it is known not to have gone. */
  send(node: string, text: string): Promise<void>;
  /** Idempotent; never waits. */
  close(): void;
}

export interface BellsOptions {
  /** This node. */
  node: string;
  heard(text: string): void;
}
