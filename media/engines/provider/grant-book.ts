/**
 * The credentials of a provider thread's calls: what the I/O thread grants, until it is revoked. The desk asks for each
 * line. A line may come before the call's grant, for they take different ways; it is waited for, a little.
 */
import type { Clock } from '../../contract/clock.ts';
import type { ConnectionGrant } from '../../contract/grant.ts';

/** The grant was sent first. */
const GRANT_WITHIN_MS = 1_000;

export class GrantBook {
  readonly #clock: Clock;
  readonly #calls = new Map<string, readonly ConnectionGrant[]>();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  give(callUuid: string, grants: readonly ConnectionGrant[]): void {
    this.#calls.set(callUuid, grants);
    for (const tell of [...(this.#waiting.get(callUuid) ?? [])]) tell();
  }

  /** The call is over. */
  revoke(callUuid: string): void {
    this.#calls.delete(callUuid);
  }

  /** Null: the call may not use a connection of this name. Returns what forgets the question. */
  find(callUuid: string, name: string, found: (grant: ConnectionGrant | null) => void): () => void {
    const grants = this.#calls.get(callUuid);
    const named = (): ConnectionGrant | null => this.#calls.get(callUuid)?.find((one) => one.name === name) ?? null;
    if (grants !== undefined) {
      found(named());
      return () => {};
    }
    const waiting = this.#waiting.get(callUuid) ?? new Set();
    this.#waiting.set(callUuid, waiting);
    const forget = (): void => {
      cancel();
      waiting.delete(tell);
      if (waiting.size === 0) this.#waiting.delete(callUuid);
    };
    const tell = (): void => {
      forget();
      found(named());
    };
    const cancel = this.#clock.after(GRANT_WITHIN_MS, tell);
    waiting.add(tell);
    return forget;
  }
}
