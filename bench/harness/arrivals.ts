/** What has come in, in its order, for whoever waits for one of it: webhooks of the demo and the tour. */
import { PATIENCE_MS } from './patience.ts';

export interface Arrivals<Item> {
  readonly all: readonly Item[];
  add(item: Item): void;
  /** Resolves with the first that `wanted` accepts, past or future; rejects after `limitMs` with `what`. */
  waitFor(what: string, wanted: (item: Item) => boolean, limitMs?: number): Promise<Item>;
}

export function createArrivals<Item>(): Arrivals<Item> {
  const all: Item[] = [];
  const waiting = new Set<() => void>();
  return {
    all,
    add(item) {
      all.push(item);
      for (const check of waiting) check();
    },
    waitFor(what, wanted, limitMs = PATIENCE_MS) {
      return new Promise((resolve, reject) => {
        const check = (): void => {
          const found = all.find(wanted);
          if (found === undefined) return;
          clearTimeout(limit);
          waiting.delete(check);
          resolve(found);
        };
        const limit = setTimeout(() => {
          waiting.delete(check);
          reject(new Error(`waited ${limitMs} ms for ${what}`));
        }, limitMs);
        waiting.add(check);
        check();
      });
    },
  };
}
