/**
 * What is written to `call_events`, told in this process as soon as it is committed: the API's event stream listens. It is
 * a bell with the text on it, not a store: whoever subscribes late reads the table first and skips ids that it has.
 */

export interface CallEvent {
  /** The row's id, rising within a call. */
  id: string;
  callUuid: string;
  /** ISO 8601. */
  at: string;
  kind: string;
  data: Record<string, unknown>;
}

export type CallEventListener = (event: CallEvent) => void;

export class CallEventBus {
  readonly #listeners = new Map<string, Set<CallEventListener>>();
  readonly #onFault: (error: unknown) => void;

  /** `onFault` is told of a listener that threw; the others still hear the event. */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** Returns the way to end the subscription; ending twice is fine. */
  subscribe(callUuid: string, listener: CallEventListener): () => void {
    let listeners = this.#listeners.get(callUuid);
    if (listeners === undefined) {
      listeners = new Set();
      this.#listeners.set(callUuid, listeners);
    }
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(callUuid) === listeners) this.#listeners.delete(callUuid);
    };
  }

  publish(event: CallEvent): void {
    const listeners = this.#listeners.get(event.callUuid);
    if (listeners === undefined) return;
    for (const listener of [...listeners]) {
      try {
        listener(event);
      } catch (error) {
        this.#onFault(error);
      }
    }
  }

  /** Calls that somebody listens to. */
  get subscribedCalls(): number {
    return this.#listeners.size;
  }
}
