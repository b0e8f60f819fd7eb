/**
 * Leaves a connection alone that fails for everybody: after some failures in a row, in whichever calls, the next call's
 * first request to it fails at once, so that its agent asks its backup without having waited. Each call is refused once
 * while the breaker is open: who comes again has nobody else to ask. One a provider thread; `provider-desk.ts` asks it
 * for each line that is a single request.
 */
import type { Clock } from '../../contract/clock.ts';
import type { ProviderFault } from '../../contract/model.ts';
import { type CircuitBreaker, createCircuitBreaker, failuresInARow } from '../../net/circuit-breaker.ts';

const MOST_FAILURES = 4;
const OPEN_MS = 5_000;
/** Of a try that nobody settles. */
const TRY_LIMIT_MS = 3_000;
/** A request that had said nothing for so long when it was taken back was too late. */
const LATE_MS = 1_000;

/** How a request ended. `taken_back`: by who asked, so long after it was begun; `spoke`: something of it had come. */
export type Fared = { fault: ProviderFault | null } | { takenBackAfterMs: number; spoke: boolean };

interface Guarded {
  breaker: CircuitBreaker;
  /** Calls that were refused since it opened. */
  refused: Set<string>;
}

export class ConnectionBreakers {
  readonly #clock: Clock;
  /** Of connections that have failed lately. */
  readonly #pools = new Map<string, Guarded>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Null: the call may ask. Else why not. */
  refusal(pool: string, callUuid: string): string | null {
    const guarded = this.#pools.get(pool);
    if (guarded === undefined || guarded.breaker.admits() || guarded.refused.has(callUuid)) return null;
    guarded.refused.add(callUuid);
    return `the connection failed ${MOST_FAILURES} times in a row, and is left alone for ${OPEN_MS / 1_000} s`;
  }

  /** The call is over. */
  forget(callUuid: string): void {
    for (const { refused } of this.#pools.values()) refused.delete(callUuid);
  }

  settled(pool: string, fared: Fared): void {
    const isFailure = verdictOf(fared);
    const guarded = this.#pools.get(pool);
    if (guarded !== undefined) {
      guarded.breaker.settled(isFailure);
      if (isFailure === false) this.#pools.delete(pool);
    } else if (isFailure === true) {
      const breaker = createCircuitBreaker({
        clock: this.#clock,
        rule: failuresInARow(MOST_FAILURES),
        openMs: OPEN_MS,
        tryLimitMs: TRY_LIMIT_MS,
      });
      breaker.settled(true);
      this.#pools.set(pool, { breaker, refused: new Set() });
    }
  }
}

/** Null: it says nothing about the connection. */
function verdictOf(fared: Fared): boolean | null {
  if ('fault' in fared) {
    if (fared.fault === 'failed' || fared.fault === 'timeout') return true;
    return fared.fault === null ? false : null;
  }
  if (fared.spoke) return false;
  return fared.takenBackAfterMs >= LATE_MS ? true : null;
}
