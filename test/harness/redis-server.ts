/**
 * A real redis-server of one's own, on a free port of the loopback, without a disk. Null when there is no such program
 * here.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { freePort } from '../../bench/harness/free-port.ts';
import { PATIENCE_MS } from '../../bench/harness/patience.ts';

export interface OwnRedis {
  readonly url: string;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** The same port again, empty. */
  start(): Promise<void>;
  /** Stands still, connections open, until `resume`. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

export const NO_REDIS = 'redis-server is not installed here (Debian: apt-get install redis-server)';

export async function startOwnRedis(): Promise<OwnRedis | null> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess | null = null;

  async function start(): Promise<boolean> {
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const server = spawn('redis-server', args, { stdio: 'ignore' });
    const failed = new Promise<false>((resolve) => {
      server.once('error', () => resolve(false));
      server.once('exit', () => resolve(false));
    });
    child = server;
    const answers = (async (): Promise<boolean> => {
      const redis = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
      redis.on('error', () => {});
      try {
        await redis.ping();
        return true;
      } finally {
        redis.disconnect();
      }
    })();
    const late = new Promise<false>((resolve) => setTimeout(() => resolve(false), PATIENCE_MS).unref());
    return Promise.race([answers, failed, late]);
  }

  async function kill(): Promise<void> {
    const server = child;
    child = null;
    if (server === null || server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGCONT');
    const exit = once(server, 'exit');
    server.kill('SIGKILL');
    await exit;
  }

  if (!(await start())) return null;
  return {
    url,
    kill,
    async start() {
      if (!(await start())) throw new Error('redis-server did not start again');
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    close: kill,
  };
}
