/**
 * Hears notifications of PostgreSQL, on a session of its own: one that waits holds nobody up. One that ends is opened
 * again, also one that is cut off without a word, which only a question shows. What came while it was away is not
 * heard; `opened` says that there is a new session, so that its owner looks for itself.
 */
import pg from 'pg';
import { createBackoff } from '../../media/contract/backoff.ts';
import { type Clock, every } from '../../media/contract/clock.ts';
import { limitsIn } from './address-limits.ts';
import type { ServerSessions } from './server-sessions.ts';

export interface ListenerOptions {
  connectionString: string;
  /** An identifier: `a-z`, `0-9` and `_`, at most 63. */
  channel: string;
  clock: Pick<Clock, 'after'>;
  /** With which it leaves when the server shuts down. */
  sessions: Pick<ServerSessions, 'join'>;
  heard(payload: string): void;
  opened(): void;
  /** Told once for each time that it went. */
  lost(error: Error): void;
}

export interface Listener {
  /** Idempotent; never waits. */
  close(): void;
}

/** Who only listens would not see that the way to the server is gone. */
const ASK_EVERY_MS = 10_000;
const ANSWER_LIMIT_MS = 5_000;
const RETRY_PAUSES = { firstMs: 100, longestMs: 2_000 };

export function listenTo(options: ListenerOptions): Listener {
  const { connectionString, channel, clock } = options;
  const retries = createBackoff(RETRY_PAUSES);
  let client: pg.Client | null = null;
  let closed = false;
  let wasLost = false;
  let cancel = (): void => {};

  function gone(of: pg.Client, error: Error): void {
    if (client !== of) return;
    client = null;
    void of.end().catch(() => {});
    if (closed) return;
    if (!wasLost) options.lost(error);
    wasLost = true;
    cancel = clock.after(retries.nextMs(), open);
  }

  function open(): void {
    const opening = new pg.Client({
      connectionString,
      connectionTimeoutMillis: limitsIn(connectionString).connectMs,
      query_timeout: ANSWER_LIMIT_MS,
      keepAlive: true,
      application_name: 'parley listener',
    });
    client = opening;
    opening.on('error', (error) => gone(opening, error));
    opening.on('end', () => gone(opening, new Error('the session ended')));
    opening.on('notification', ({ payload = '' }) => options.heard(payload));
    opening
      .connect()
      .then(() => opening.query(`LISTEN "${channel}"`))
      .then(() => {
        retries.reset();
        wasLost = false;
        options.opened();
      })
      .catch((error: Error) => gone(opening, error));
  }
  open();
  const cancelAsking = every(clock, ASK_EVERY_MS, () => {
    const asked = client;
    asked?.query('SELECT 1').catch((error: Error) => gone(asked, error));
  });
  const leave = options.sessions.join(() => {
    if (client !== null) gone(client, new Error('the server shuts down'));
  });

  return {
    close() {
      closed = true;
      leave();
      cancel();
      cancelAsking();
      const ending = client;
      client = null;
      void ending?.end().catch(() => {});
    },
  };
}
