/**
 * The database that comes with Parley, for a first try and for small installations: a real PostgreSQL on a loopback
 * port, with a password, watched and restarted. Started by the supervisor (and by the test run) when DATABASE_URL is
 * absent. A killed supervisor takes its postmaster along (`endWithParent`); one that survived all the same is found by
 * its pid file and stopped first.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installPostgresBinaries } from './binaries.ts';
import { firstStart } from './first-start.ts';
import { type DatabasePlacement, placeDatabase } from './placement.ts';

export interface EmbeddedPostgresOptions {
  /** Parley's data folder; the cluster lies in it, or below /var/lib/parley when run as root. */
  dataDir: string;
  /** Where the cluster lies instead, a folder that the unprivileged user can enter; only in tests. */
  home?: string;
  /** True only in tests: speed for durability, connections for many services on it, and little room for its log. */
  volatile?: boolean;
  log(line: string): void;
}

export interface EmbeddedPostgres {
  connectionString: string;
  /** The postmaster's process id now; fault tests end it. */
  pid(): number | undefined;
  stop(): Promise<void>;
}

const DATABASE = 'parley';
const VOLATILE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_wal_size: '128MB' };
const STOP_LIMIT_MS = 10_000;
/** After SIGQUIT. */
const START_FAILED_MS = 5_000;
const RESTART_AFTER_MS = 200;
const POLL_MS = 25;

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const placed = placeDatabase(options.dataDir);
  const placement = { ...placed, home: options.home ?? placed.home };
  const programs = installPostgresBinaries(placement.programs);
  claimHome(placement);
  const cluster = join(placement.home, 'cluster');
  await stopOrphan(cluster, options.log);
  const password = initialise(programs, cluster, placement);
  const port = await choosePort(join(placement.home, 'port'));

  let child: ChildProcess | undefined;
  let starting = true;
  let stopping = false;
  const launch = (): void => {
    child = runPostmaster(programs, cluster, port, placement, options);
    child.once('exit', (code, signal) => {
      // One that ends while it starts would end again.
      if (stopping || starting) return;
      options.log(`PostgreSQL ended (${signal ?? `code ${code}`}); starting it again`);
      setTimeout(() => !stopping && launch(), RESTART_AFTER_MS);
    });
  };
  const stop = async (): Promise<void> => {
    if (stopping) return;
    stopping = true;
    await endProcess(child);
    rmSync(join(placement.home, 'owner.pid'), { force: true });
  };
  launch();
  const server = `postgresql://parley:${password}@127.0.0.1:${port}`;
  try {
    await firstStart({ port, server, database: DATABASE, ended: () => endOf(child) });
    starting = false;
  } catch (error) {
    // One that hangs with its disk ends when it can; whoever waits for the start is told now.
    await Promise.race([stop(), sleep(STOP_LIMIT_MS + START_FAILED_MS)]);
    throw error;
  }
  return { connectionString: `${server}/${DATABASE}`, pid: () => child?.pid, stop };
}

/** Takes the home folder for this process; refuses when another living Parley holds it. */
function claimHome({ home, user }: DatabasePlacement): void {
  mkdirSync(home, { recursive: true });
  if (user) chownSync(home, user.uid, user.gid);
  chmodSync(home, 0o700);
  const ownerFile = join(home, 'owner.pid');
  const owner = existsSync(ownerFile) ? Number(readFileSync(ownerFile, 'utf8')) : 0;
  if (owner > 0 && owner !== process.pid && isParley(owner)) {
    throw new Error(
      `Another Parley (process ${owner}) is using this data folder. Stop it, or give this one its own with PARLEY_DATA_DIR.`,
    );
  }
  writeFileSync(ownerFile, String(process.pid), { mode: 0o600 });
}

/** Alive, and a Node process: a pid that the system gave to something else does not count. */
function isParley(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync('/proc/self/cmdline') || readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('node');
  } catch {
    return false;
  }
}

async function stopOrphan(cluster: string, log: (line: string) => void): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  const isPostgres = (): boolean => {
    try {
      process.kill(pid, 0);
      return !existsSync('/proc/self/cmdline') || readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('postgres');
    } catch {
      return false;
    }
  };
  if (!(pid > 0) || !isPostgres()) return;
  log(`stopping a PostgreSQL (process ${pid}) that an earlier run left behind`);
  process.kill(pid, 'SIGINT');
  for (let waitedMs = 0; waitedMs < STOP_LIMIT_MS && isPostgres(); waitedMs += POLL_MS) await sleep(POLL_MS);
  if (isPostgres()) process.kill(pid, 'SIGQUIT');
}

/** Makes the cluster on first use; returns its password. */
function initialise(programs: string, cluster: string, { home, user }: DatabasePlacement): string {
  const passwordFile = join(home, 'password');
  if (existsSync(join(cluster, 'PG_VERSION')) && existsSync(passwordFile))
    return readFileSync(passwordFile, 'utf8').trim();
  rmSync(cluster, { recursive: true, force: true });
  const password = randomBytes(24).toString('hex');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user) chownSync(passwordFile, user.uid, user.gid);
  const made = spawnSync(
    join(programs, 'bin', 'initdb'),
    [
      '-D',
      cluster,
      '-U',
      'parley',
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '-E',
      'UTF8',
      '--locale=C',
      '-N',
    ],
    { ...user, cwd: '/', encoding: 'utf8', env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' } },
  );
  if (made.status !== 0) {
    rmSync(cluster, { recursive: true, force: true });
    throw new Error(
      `PostgreSQL could not make its data folder ${cluster}: ${made.error?.message ?? made.stderr.trim()}`,
    );
  }
  return password;
}

/** The same port at each start where it is still free, so that a connection string stays good. */
async function choosePort(portFile: string): Promise<number> {
  const before = existsSync(portFile) ? Number(readFileSync(portFile, 'utf8')) : 0;
  const port = (before > 0 && (await freePort(before))) || (await freePort(0));
  if (!port) throw new Error('No free loopback port for PostgreSQL.');
  writeFileSync(portFile, String(port));
  return port;
}

function freePort(wanted: number): Promise<number | null> {
  return new Promise((done) => {
    const probe = createServer();
    probe.once('error', () => done(null));
    probe.listen(wanted, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => done(address !== null && typeof address === 'object' ? address.port : null));
    });
  });
}

function runPostmaster(
  programs: string,
  cluster: string,
  port: number,
  { home, user }: DatabasePlacement,
  options: EmbeddedPostgresOptions,
): ChildProcess {
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: options.volatile ? '400' : '100',
    shared_buffers: '64MB',
    logging_collector: 'on',
    log_directory: join(home, 'log'),
    log_filename: 'postgresql-%a.log',
    log_truncate_on_rotation: 'on',
    // Without the rows and values that a message is about.
    log_error_verbosity: 'terse',
    timezone: 'UTC',
    ...(options.volatile ? VOLATILE : {}),
  };
  const args = ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const child = spawn(join(programs, 'bin', 'postgres'), args, {
    ...user,
    cwd: '/',
    // A group of its own: Ctrl-C at the terminal reaches the supervisor, which stops it in order.
    detached: true,
    stdio: 'ignore',
    env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
  });
  child.once('error', (error) => options.log(`PostgreSQL could not be run: ${error.message}`));
  if (child.pid !== undefined) endWithParent(child.pid, child);
  return child;
}

/**
 * A postmaster does not notice that its parent is gone. A shell that waits for the end of its input does: our death,
 * however sudden, closes the pipe, and it asks the postmaster to stop.
 */
function endWithParent(pid: number, child: ChildProcess): void {
  const watch = spawn('sh', ['-c', 'read -r _; kill -INT "$0"', String(pid)], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watch.on('error', () => {});
  watch.unref();
  (watch.stdin as Socket | null)?.unref();
  child.once('exit', () => watch.kill('SIGKILL'));
}

function endOf(child: ChildProcess | undefined): string | null {
  const { exitCode = null, signalCode = null } = child ?? {};
  if (signalCode !== null) return signalCode;
  return exitCode === null ? null : `code ${exitCode}`;
}

async function endProcess(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  child.kill('SIGINT');
  const limit = setTimeout(() => child.kill('SIGQUIT'), STOP_LIMIT_MS);
  await ended;
  clearTimeout(limit);
}
