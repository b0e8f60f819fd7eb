/**
 * Tells the event streams of this process that something happened in a call. The calls code publishes after commit;
 * `GET …/events` listens. What is stored is read from `call_events`, so an event that was missed still arrives by
 * polling; what is told here is shown before that where the database is late (`api/calls/early-events.ts`); what other
 * nodes tell of comes by `nodes/event-relay.ts`. A listener that throws harms nobody else.
 */

export interface CallEvent {
  callUuid: string;
  /** Row id in `call_events`; null for what is not stored (partial recognitions), or not yet. */
  id: string | null;
  /** It waits for the database, and is told again, with its id, once it is stored. */
  isEarly?: true;
  at: Date;
  /** `status`, `speech`, `turn`, … */
  kind: string;
  data: Record<string, unknown>;
}

export interface CallEventBus {
  publish(event: CallEvent): void;
  /** Returns the function that ends it; ending twice is fine. */
  subscribe(callUuid: string, listener: (event: CallEvent) => void): () => void;
  /** Somebody listens. */
  isFollowed(callUuid: string): boolean;
  /** Rises with each who begins to listen to the call; 0: nobody does. */
  lastFollower(callUuid: string): number;
  /** Calls to which somebody listens. */
  followed(): string[];
  /** `told` hears of each call that begins to be followed. One at a time. */
  whenFollowed(told: (callUuid: string) => void): void;
}

export function createCallEventBus(): CallEventBus {
  const listeners = new Map<string, Set<(event: CallEvent) => void>>();
  const lastFollowers = new Map<string, number>();
  let followers = 0;
  let began = (_callUuid: string): void => {};
  return {
    publish(event) {
      for (const listener of listeners.get(event.callUuid) ?? []) {
        try {
          listener(event);
        } catch {
          // A stream that cannot take it ends by itself; the call and the other streams go on.
        }
      }
    },
    isFollowed: (callUuid) => listeners.has(callUuid),
    lastFollower: (callUuid) => lastFollowers.get(callUuid) ?? 0,
    followed: () => [...listeners.keys()],
    whenFollowed(told) {
      began = told;
    },
    subscribe(callUuid, listener) {
      const own = (event: CallEvent): void => listener(event);
      const set = listeners.get(callUuid) ?? new Set();
      listeners.set(callUuid, set.add(own));
      lastFollowers.set(callUuid, ++followers);
      if (set.size === 1) began(callUuid);
      return () => {
        set.delete(own);
        if (set.size > 0 || listeners.get(callUuid) !== set) return;
        listeners.delete(callUuid);
        lastFollowers.delete(callUuid);
      };
    },
  };
}
