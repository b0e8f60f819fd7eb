/**
 * Tells the log, and counts for metrics, when a budget bites: the first addresses of a minute by name, and at its end
 * one line for all of it, so that a flood of refusals is no flood of lines.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../contract/clock.ts';

/** `room`: not one address but all together. `connections` are closed without an answer. */
export type Budget = 'requests' | 'bodies' | 'slow_body' | 'streams' | 'connections' | 'room';

const NAMED_A_MINUTE = 4;
const MINUTE_MS = 60_000;

export class BudgetLog {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #named = new Set<string>();
  #thisMinute: Partial<Record<Budget, number>> = {};
  #untold = 0;
  #cancel: (() => void) | null = null;
  /** Since the start. */
  readonly counts: Record<Budget, number> = {
    requests: 0,
    bodies: 0,
    slow_body: 0,
    streams: 0,
    connections: 0,
    room: 0,
  };

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  bitten(budget: Budget, address: string): void {
    this.counts[budget]++;
    this.#thisMinute[budget] = (this.#thisMinute[budget] ?? 0) + 1;
    this.#cancel ??= this.#clock.after(MINUTE_MS, () => this.#endMinute());
    const name = `${budget} ${address}`;
    if (this.#named.has(name) || this.#named.size >= NAMED_A_MINUTE) {
      this.#untold++;
      return;
    }
    this.#named.add(name);
    this.#log.warn({ address, budget }, 'a client address has reached a budget; more of it is refused');
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #endMinute(): void {
    this.#cancel = null;
    if (this.#untold > 0)
      this.#log.warn({ refused: this.#thisMinute }, 'what budgets of client addresses refused in a minute');
    this.#thisMinute = {};
    this.#untold = 0;
    this.#named.clear();
  }
}
