/**
 * BullMQ on PostgreSQL (schema `bullmq` of our database), or on Redis when REDIS_URL is set. A job says only "these
 * deliveries are due" and is done as soon as their ids are handed on. Opened and watched by `due-queue.ts`.
 */
import {
  createPostgresBackend,
  type JobProgress,
  type PgPool,
  type PostgresConnectionOptions,
  type PostgresQueueBackend,
  Queue,
  runMigrations,
  Worker,
} from 'bullmq';
import type { Clock } from '../../media/contract/clock.ts';
import { limitsIn, PAUSE_LIMIT_MS } from '../store/address-limits.ts';
import { openSessionPool, type ServerSessions } from '../store/server-sessions.ts';

export interface QueueOptions {
  databaseUrl: string;
  redisUrl: string | null;
  sessions: ServerSessions;
  clock: Clock;
  onDue(deliveryIds: readonly string[]): void;
  /** Each fault of a connection; BullMQ goes on by itself. Called often while a server is away. */
  onTrouble(error: unknown): void;
}

/** Deliveries that fall due together. */
export interface DueNotice {
  deliveryIds: readonly string[];
  delayMs: number;
}

export interface OpenQueue {
  add(notices: readonly DueNotice[]): Promise<unknown>;
  /** False when the worker has given up; then open a new one. */
  isRunning(): boolean;
  /** Never rejects; bounded in time. */
  close(): Promise<void>;
}

/** A job of a former version has none; the sweep finds what it meant. */
type Due = { deliveryIds?: string[] };
type Part = { close(): Promise<unknown> };
/** What this file uses of a queue, whichever store it lies on. */
type AnyQueue = { addBulk(jobs: { name: string; data: Due; opts: object }[]): Promise<unknown> };
type AnyWorker = { isRunning(): boolean };

const QUEUE_NAME = 'webhooks';
const REDIS_PREFIX = 'parley';
/** A job only hands an id on, so many may be in hand at once. */
const WORKER_CONCURRENCY = 50;
/** The queue, its worker and the worker's LISTEN share one pool. */
const POOL_CONNECTIONS = 6;
const REDIS_CONNECT_TIMEOUT_MS = 2_000;
const CLOSE_LIMIT_MS = 3_000;
/**
 * A worker on PostgreSQL is woken by LISTEN and knows when the next notice is due: how often it looks all the same, and
 * for jobs that a death left half done. The sweep makes up for either.
 */
const IDLE_LOOK_SECONDS = 300;

/** Rejects when the store is away; nothing is left open then. */
export async function openWebhookQueue(options: QueueOptions): Promise<OpenQueue> {
  const parts: Part[] = [];
  try {
    return await (options.redisUrl === null ? onPostgres(options, parts) : onRedis(options, options.redisUrl, parts));
  } catch (error) {
    await closeAll(parts, options.clock);
    throw error;
  }
}

async function onPostgres(options: QueueOptions, parts: Part[]): Promise<OpenQueue> {
  const limits = limitsIn(options.databaseUrl);
  const { pool, close } = openSessionPool({
    config: {
      connectionString: options.databaseUrl,
      max: POOL_CONNECTIONS,
      connectionTimeoutMillis: limits.connectMs,
      statement_timeout: limits.statementMs,
      idle_in_transaction_session_timeout: PAUSE_LIMIT_MS,
      keepAlive: true,
      // A notice that a crash takes is made up for by the sweep; one that waits for the disk holds up those that may
      // not.
      options: '-c search_path=bullmq -c synchronous_commit=off',
    },
    sessions: options.sessions,
    // The worker listens in one and never gives it back. What is cut is a notice, which the sweep makes up for.
    inUse: 'are_cut',
    onIdleError: options.onTrouble,
  });
  parts.push({ close });
  // A connection that dies while BullMQ has it in hand reports by its own event too, which nobody else may hear.
  pool.on('connect', (client) => client.on('error', options.onTrouble));
  const client = await pool.connect();
  try {
    await runMigrations(client);
    // Each job leaves dead rows that the next look-up has to step over: at 100 notices a second
    // a minute of them costs seconds.
    await client.query(
      'ALTER TABLE bullmq.job SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0)',
    );
  } finally {
    client.release();
  }
  // BullMQ types the few methods of a pool that it uses more loosely than pg does.
  const connection = pool as unknown as PgPool;
  const queue = new Queue<Due, void, string, Due, void, string, PostgresQueueBackend, PostgresConnectionOptions>(
    QUEUE_NAME,
    { connection },
    createPostgresBackend,
  );
  parts.push(queue);
  queue.on('error', options.onTrouble);
  const worker = new Worker<Due, void, string, PostgresQueueBackend, JobProgress, PostgresConnectionOptions>(
    QUEUE_NAME,
    async (job) => options.onDue(job.data.deliveryIds ?? []),
    {
      connection,
      concurrency: WORKER_CONCURRENCY,
      drainDelay: IDLE_LOOK_SECONDS,
      stalledInterval: IDLE_LOOK_SECONDS * 1_000,
    },
    createPostgresBackend,
  );
  parts.push(worker);
  worker.on('error', options.onTrouble);
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
  return opened(queue, worker, parts, options.clock);
}

async function onRedis(options: QueueOptions, redisUrl: string, parts: Part[]): Promise<OpenQueue> {
  let over = false;
  const shared = {
    url: redisUrl,
    connectTimeout: REDIS_CONNECT_TIMEOUT_MS,
    // BullMQ cannot stop a connection that is between two tries; this does.
    retryStrategy: (tries: number) => (over ? null : Math.min(tries * 200, REDIS_CONNECT_TIMEOUT_MS)),
  };
  // Notices given while Redis is away must fail, not pile up in memory: the sweep has them.
  const queue = new Queue<Due>(QUEUE_NAME, {
    connection: { ...shared, enableOfflineQueue: false },
    prefix: REDIS_PREFIX,
  });
  parts.push(queue);
  queue.on('error', options.onTrouble);
  const worker = new Worker<Due>(QUEUE_NAME, async (job) => options.onDue(job.data.deliveryIds ?? []), {
    connection: { ...shared, maxRetriesPerRequest: null },
    prefix: REDIS_PREFIX,
    concurrency: WORKER_CONCURRENCY,
  });
  parts.push(worker);
  worker.on('error', options.onTrouble);
  parts.push({
    async close() {
      over = true;
    },
  });
  await within(
    Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]),
    2 * REDIS_CONNECT_TIMEOUT_MS,
    options.clock,
  );
  return opened(queue, worker, parts, options.clock);
}

function opened(queue: AnyQueue, worker: AnyWorker, parts: Part[], clock: Clock): OpenQueue {
  return {
    add: (notices) =>
      queue.addBulk(
        notices.map(({ deliveryIds, delayMs }) => ({
          name: 'due',
          data: { deliveryIds: [...deliveryIds] },
          // One job of the same ids and pause: a notice that is given twice while the first waits is one.
          opts: {
            jobId: `${deliveryIds[0]}-${deliveryIds.length}-${delayMs}`,
            delay: delayMs,
            removeOnComplete: true,
            removeOnFail: true,
          },
        })),
      ),
    isRunning: () => worker.isRunning(),
    close: () => closeAll(parts, clock),
  };
}

/** Worker first, pool last. What does not close in time is left to the end of the process. */
async function closeAll(parts: Part[], clock: Clock): Promise<void> {
  for (const part of parts.splice(0).reverse()) await within(part.close(), CLOSE_LIMIT_MS, clock).catch(() => {});
}

async function within<Result>(work: Promise<Result>, limitMs: number, clock: Clock): Promise<Result> {
  let cancel = (): void => {};
  const limit = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(limitMs, () => reject(new Error(`the queue did not answer within ${limitMs} ms`)));
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    cancel();
  }
}
