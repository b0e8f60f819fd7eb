/**
 * Handlers of one instance. A handler that throws harms nobody: its error goes to the page's own error reporting.
 * Handlers may call start() and end(): what that tells is told after the present event, so that all see the same order.
 */
import type { EventName, StatusEvent } from '../contract/ports.ts';

type Handler = (payload: never) => void;

export interface Events {
  /** Returns the way to unsubscribe. A late `status` handler is told the present one at once. */
  on(name: EventName, handler: Handler): () => void;
  emit(name: EventName, payload: unknown): void;
  /** Never twice the same in a row. */
  status(event: StatusEvent): void;
}

export function createEvents(): Events {
  const handlers = new Map<string, Set<Handler>>();
  const waiting: [EventName, unknown][] = [];
  let last: StatusEvent | null = null;
  let isTelling = false;

  function emit(name: EventName, payload: unknown): void {
    if (name !== 'status' && !handlers.get(name)?.size) return;
    waiting.push([name, payload]);
    if (isTelling) return;
    isTelling = true;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      for (const handler of [...(handlers.get(next[0]) ?? [])]) guarded(handler, next[1]);
    }
    isTelling = false;
  }

  return {
    on(name, handler) {
      if (typeof handler !== 'function') return () => {};
      const of = handlers.get(name) ?? new Set();
      handlers.set(name, of.add(handler));
      if (name === 'status' && last !== null) guarded(handler, last);
      return () => void of.delete(handler);
    },
    emit,
    status(event) {
      if (last?.status === event.status) return;
      last = event;
      emit('status', event);
    },
  };
}

function guarded(handler: Handler, payload: unknown): void {
  try {
    handler(payload as never);
  } catch (error) {
    setTimeout(() => {
      throw error;
    });
  }
}
