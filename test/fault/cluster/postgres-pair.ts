/**
 * Two real PostgreSQL servers of the machine's own, one the streaming replica of the other: the first is killed and the
 * second promoted. What is committed is on both, as `synchronous_standby_names` says.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../../../bench/harness/free-port.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';

export interface PostgresPair {
  connectionString: string;
  /** The first dies as a machine does. Resolves with where the second is when it takes writes. */
  failOver(): Promise<{ host: string; port: number }>;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const ROLE = 'parley';
const START_LIMIT_MS = 30_000;
const ALWAYS = {
  listen_addresses: HOST,
  unix_socket_directories: '',
  max_connections: '400',
  shared_buffers: '64MB',
  // No machine dies here, only processes.
  fsync: 'off',
  timezone: 'UTC',
};

/** Rejects where Debian's PostgreSQL is not installed. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const user = unprivileged();
  const folder = mkdtempSync(join(tmpdir(), 'parley-pair-'));
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const run = (program: string, ...args: string[]): void => {
    execFileSync(programOf(program), args, { ...user, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
  };
  const serve = (name: string, port: number): ChildProcess => {
    const settings = Object.entries({ ...ALWAYS, port: String(port) }).flatMap(([key, value]) => [
      '-c',
      `${key}=${value}`,
    ]);
    const args = ['-D', join(folder, name), ...settings];
    return spawn(programOf('postgres'), args, { ...user, cwd: '/', detached: true, stdio: 'ignore' });
  };
  const [firstPort, secondPort] = [await freePort(), await freePort()];
  run('initdb', '-D', join(folder, 'first'), '-U', ROLE, '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N');
  const servers = [serve('first', firstPort)];
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map(end));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await asked(firstPort, 'postgres', (database) => database.query('CREATE DATABASE parley'));
    const standby = ['-D', join(folder, 'second'), '-h', HOST, '-p', String(firstPort), '-U', ROLE, '-R', '-c', 'fast'];
    run('pg_basebackup', ...standby);
    servers.push(serve('second', secondPort));
    await asked(firstPort, 'postgres', async (database) => {
      await database.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
      await database.query('SELECT pg_reload_conf()');
      await until(async () => {
        const rows = await database.query(`SELECT 1 AS one FROM pg_stat_replication WHERE sync_state = 'sync'`);
        return rows.length > 0;
      });
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    connectionString: `postgresql://${ROLE}@${HOST}:${firstPort}/parley`,
    async failOver() {
      await end(servers[0]!);
      run('pg_ctl', 'promote', '-w', '-D', join(folder, 'second'));
      return { host: HOST, port: secondPort };
    },
    stop,
  };
}

/** Also while it is still starting. */
async function asked(port: number, name: string, ask: (database: Database) => Promise<unknown>): Promise<void> {
  const connectionString = `postgresql://${ROLE}@${HOST}:${port}/${name}`;
  const database = openDatabase({ connectionString, maxConnections: 1, onIdleError: () => {} });
  try {
    await until(() => database.query('SELECT 1 AS one').then(Boolean, () => false));
    await ask(database);
  } finally {
    await database.close();
  }
}

async function until(look: () => Promise<boolean>): Promise<void> {
  for (const untilMs = performance.now() + START_LIMIT_MS; !(await look()); await wait(100)) {
    if (performance.now() > untilMs) throw new Error('PostgreSQL did not come up as a pair');
  }
}

/** With all that it has begun. */
async function end(server: ChildProcess): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const exit = once(server, 'exit');
  process.kill(-server.pid, 'SIGKILL');
  await exit;
}

function programOf(name: string): string {
  const versions = readVersions();
  if (versions.length === 0) throw new Error('PostgreSQL is not installed here (Debian: apt-get install postgresql)');
  return join(DEBIAN, versions.at(-1)!, 'bin', name);
}

const DEBIAN = '/usr/lib/postgresql';

function readVersions(): string[] {
  try {
    return readdirSync(DEBIAN).sort((a, b) => Number(a) - Number(b));
  } catch {
    return [];
  }
}

/** It does not run as root. */
function unprivileged(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const fields = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((line) => line.startsWith('postgres:'))
    ?.split(':');
  if (fields === undefined) throw new Error('there is no user postgres here');
  return { uid: Number(fields[2]), gid: Number(fields[3]) };
}
