/** A redis-server of a test's own, that can be killed, stopped and emptied, behind a proxy that can make it slow. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, connect as netConnect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../bench/harness/free-port.ts';

export const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0;

export interface RedisProcess {
  url: string;
  /** Each chunk, each way. */
  delayMs: number;
  start(): Promise<void>;
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** FLUSHALL. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

export async function startRedis(): Promise<RedisProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-redis-'));
  const redisPort = await freePort();
  const sockets = new Set<Socket>();
  let child: ChildProcess | null = null;

  const proxy = createServer((client) => {
    const server = netConnect(redisPort, '127.0.0.1');
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => {
        if (redis.delayMs === 0) to.write(chunk);
        else setTimeout(() => to.writable && to.write(chunk), redis.delayMs);
      });
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));

  const redis: RedisProcess = {
    url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    delayMs: 0,
    async start() {
      const options = ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
      child = spawn('redis-server', [...options, '--dir', folder], { stdio: 'ignore' });
      while ((await command(redisPort, 'PING')) !== '+PONG') await new Promise((resolve) => setTimeout(resolve, 20));
    },
    async signal(name) {
      child?.kill(name);
      if (name === 'SIGKILL' && child !== null) await once(child, 'exit');
    },
    async empty() {
      await command(redisPort, 'FLUSHALL');
    },
    async close() {
      if (child !== null && child.exitCode === null && child.signalCode === null) await redis.signal('SIGKILL');
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await redis.start();
  return redis;
}

/** The first line of the answer; empty when there is none. */
function command(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = netConnect(port, '127.0.0.1', () => socket.write(`${text}\r\n`));
    socket.once('data', (chunk) => {
      socket.destroy();
      resolve(chunk.toString().split('\r\n')[0] ?? '');
    });
    socket.once('error', () => resolve(''));
  });
}
