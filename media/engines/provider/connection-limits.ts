/** How often a connection is used, held to its limits. One a provider thread, which has its share of the process's. */
import type { Clock } from '../../contract/clock.ts';
import type { ConnectionGrant } from '../../contract/grant.ts';

const MINUTE_MS = 60_000;

interface Use {
  open: number;
  /** When the uses of the last minute began, the oldest first. */
  beganAtMs: number[];
  /** Of those who think, in the last minute, the oldest first. */
  tokens: { atMs: number; count: number }[];
}

export class ConnectionUse {
  readonly #clock: Clock;
  readonly #threads: number;
  readonly #uses = new Map<string, Use>();

  /** `threads`: among which the process's limits are shared. */
  constructor(clock: Clock, threads: number) {
    this.#clock = clock;
    this.#threads = threads;
  }

  /** Null: it may be used, until `end` is called with the same pool. Else why not. */
  begin(pool: string, { limits }: ConnectionGrant): string | null {
    const nowMs = this.#clock.nowMs();
    const use = this.#uses.get(pool) ?? { open: 0, beganAtMs: [], tokens: [] };
    while (use.beganAtMs.length > 0 && nowMs - use.beganAtMs[0]! >= MINUTE_MS) use.beganAtMs.shift();
    while (use.tokens.length > 0 && nowMs - use.tokens[0]!.atMs >= MINUTE_MS) use.tokens.shift();
    const { concurrent, requestsPerMinute, tokensPerMinute } = limits;
    if (concurrent !== undefined && use.open >= this.#share(concurrent))
      return `the connection's limit of ${concurrent} at once is reached`;
    // What a request will use is not known: the one that goes over the limit is the last.
    const tokens = use.tokens.reduce((sum, { count }) => sum + count, 0);
    if (tokensPerMinute !== undefined && tokens >= this.#share(tokensPerMinute))
      return `the connection's limit of ${tokensPerMinute} tokens a minute is reached`;
    if (requestsPerMinute !== undefined) {
      if (use.beganAtMs.length >= this.#share(requestsPerMinute))
        return `the connection's limit of ${requestsPerMinute} requests a minute is reached`;
      use.beganAtMs.push(nowMs);
    }
    use.open++;
    this.#uses.set(pool, use);
    return null;
  }

  end(pool: string): void {
    const use = this.#uses.get(pool);
    if (use === undefined) return;
    use.open--;
    if (use.open === 0 && use.beganAtMs.length === 0 && use.tokens.length === 0) this.#uses.delete(pool);
  }

  /** A request has used so many; told when the provider says so. */
  tokens(pool: string, count: number): void {
    const use = this.#uses.get(pool) ?? { open: 0, beganAtMs: [], tokens: [] };
    use.tokens.push({ atMs: this.#clock.nowMs(), count });
    this.#uses.set(pool, use);
  }

  #share(limit: number): number {
    return Math.max(1, Math.floor(limit / this.#threads));
  }
}
