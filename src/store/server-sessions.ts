/**
 * Pools of sessions at one PostgreSQL, which let go together when it shuts down. A server that was told to end by
 * SIGTERM refuses new sessions and waits for the old ones to leave. A pool's never would: the server would neither
 * serve nor end. So whoever is refused for that tells all pools of the process: sessions that are idle end at once, the
 * others after their work. From then on the database is away, until it takes sessions again. Used by `database.ts` and
 * the queue.
 */
import pg from 'pg';
import { isShuttingDown } from './database-away.ts';

/** Of one process at one server. */
export interface ServerSessions {
  /** `letGo` is called each time the server says that it shuts down, often several times. Returns what ends that. */
  join(letGo: () => void): () => void;
  /** Whatever the server says in error; lets go when it tells of a shutdown. */
  failed(error: unknown): void;
}

export interface SessionPoolOptions {
  /** `Client` and `idleTimeoutMillis` are set here. */
  config: pg.PoolConfig;
  sessions: ServerSessions;
  /** In a shutdown, of sessions in use: they end when they are released, or at once, as if the server were killed. */
  inUse: 'finish' | 'are_cut';
  /** A session that waited in the pool ended. Required: unheard, it would take the process down. */
  onIdleError(error: Error): void;
  /** For tests; default 60 s. */
  renewSeconds?: number;
}

export interface SessionPool {
  pool: pg.Pool;
  /**
   * Gives a session back; it ends when it is `broken`, was let go of or is the one to be renewed, which its own
   * `release` does not know.
   */
  release(client: pg.PoolClient, broken: boolean): void;
  close(): Promise<void>;
}

/**
 * Where no session was opened for so long, one is renewed, so that a service that needs no new ones meets the refusal
 * too. One, not all: a new session costs a commit, a process at the server and every plan.
 */
const RENEW_SECONDS = 60;
/** A session that waits longer ends; networks forget a silent connection after four minutes and more. */
const IDLE_MS = 120_000;

export function createServerSessions(): ServerSessions {
  const pools = new Set<() => void>();
  return {
    join(letGo) {
      pools.add(letGo);
      return () => pools.delete(letGo);
    },
    failed(error) {
      if (!isShuttingDown(error)) return;
      for (const letGo of pools) letGo();
    },
  };
}

export function openSessionPool(options: SessionPoolOptions): SessionPool {
  const { config, sessions, inUse } = options;
  const renewMs = (options.renewSeconds ?? RENEW_SECONDS) * 1_000;
  const open = new Set<pg.PoolClient>();
  const held = new Set<pg.PoolClient>();
  const left = new WeakSet<pg.PoolClient>();
  const pool = new pg.Pool({
    ...config,
    idleTimeoutMillis: IDLE_MS,
    Client: tellingClient(sessions.failed),
  });
  pool.on('error', options.onIdleError);
  let openedAtMs = performance.now();
  pool.on('connect', (client) => {
    open.add(client);
    openedAtMs = performance.now();
  });
  pool.on('acquire', (client) => held.add(client));
  pool.on('release', (_error, client) => held.delete(client));
  pool.on('remove', (client) => {
    open.delete(client);
    held.delete(client);
  });

  const leave = sessions.join(() => {
    for (const client of open) left.add(client);
    if (inUse === 'are_cut') for (const client of held) client.connection.stream.destroy();
    // An idle session ends when somebody takes it and gives it back so; whoever is faster gives it back so too.
    for (let idle = pool.idleCount; idle > 0; idle--) {
      pool.connect().then(
        (client) => release(client, false),
        () => {},
      );
    }
  });

  function release(client: pg.PoolClient, broken: boolean): void {
    const isRenewed = performance.now() - openedAtMs >= renewMs;
    if (isRenewed) openedAtMs = performance.now();
    client.release(broken || isRenewed || left.has(client));
  }

  return {
    pool,
    release,
    close() {
      leave();
      return pool.end();
    },
  };
}

/** A client that passes on what the server says in error: to one that connects, asks, or waits. */
function tellingClient(failed: (error: unknown) => void): new () => pg.ClientBase {
  return class TellingClient extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super(config);
      this.connection.on('errorMessage', failed);
    }
  };
}
