/** The database: does it answer, is it new enough, has it this program's schema, and do the clocks agree? */
import type { Queryable } from '../store/database.ts';
import { contractedAway, knownMigrations } from '../store/migration-files.ts';
import { type CheckResult, fail, ok, warn } from './check.ts';

const OLDEST_VERSION = 130_000;
const GO_ON = 'Run the newer version of Parley: a database only moves forward.';
const SKEW_WARN_MS = 2_000;
const SKEW_FAIL_MS = 30_000;

export async function checkDatabase(database: Queryable, isRunning: boolean): Promise<CheckResult[]> {
  let version: { number: number; text: string };
  try {
    version = await readVersion(database);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const way = 'Check DATABASE_URL, the network and the password; calls that run go on, new ones get 500.';
    return [fail('database', `does not answer (${code ?? message})`, way)];
  }
  if (version.number < OLDEST_VERSION) {
    return [fail('database', `PostgreSQL ${version.text}`, 'Parley needs PostgreSQL 13 or later.')];
  }
  return [
    ok('database', `PostgreSQL ${version.text}`),
    await checkMigrations(database, isRunning),
    await checkClock(database),
  ];
}

async function readVersion(database: Queryable): Promise<{ number: number; text: string }> {
  const [row] = await database.query<{ number: string; text: string }>(
    "SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS text",
  );
  return { number: Number(row?.number), text: row?.text ?? '' };
}

async function checkMigrations(database: Queryable, isRunning: boolean): Promise<CheckResult> {
  const known = knownMigrations();
  const [there] = await database.query<{ found: boolean }>("SELECT to_regclass('migrations') IS NOT NULL AS found");
  const done = there?.found
    ? (await database.query<{ name: string }>('SELECT name FROM migrations')).map(({ name }) => name)
    : [];
  const missing = known.filter((name) => !done.includes(name));
  const newer = done.filter((name) => !known.includes(name));
  const isNewer = `the database is newer than this program (${newer.join(', ')})`;
  if (contractedAway(newer, known).length > 0) {
    return fail(
      'migrations',
      `${isNewer}, and lacks what this one needs`,
      `${GO_ON} Or restore the backup from before.`,
    );
  }
  if (missing.length === 0) {
    return newer.length === 0
      ? ok('migrations', `all ${known.length} are done`)
      : warn('migrations', `${isNewer}, which goes on with it during an upgrade`, GO_ON);
  }
  const detail = `${missing.length} of ${known.length} are not done (${missing.join(', ')})`;
  return isRunning
    ? fail('migrations', detail, "Restart the service, which does them, or run 'parley migrate'.")
    : warn('migrations', detail, "The next start does them; or run 'parley migrate'.");
}

/** A skew is what neither the question's instant nor the answer's explains: a slow answer is none. */
async function checkClock(database: Queryable): Promise<CheckResult> {
  const askedAtMs = Date.now();
  const [row] = await database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  const answeredAtMs = Date.now();
  const theirsMs = row?.now.getTime() ?? 0;
  const skewMs = theirsMs - Math.min(Math.max(theirsMs, askedAtMs), answeredAtMs);
  return skewResult('clock against the database', skewMs, SKEW_WARN_MS, SKEW_FAIL_MS);
}

/** `skewMs`: how far the other clock is ahead of ours. */
export function skewResult(name: string, skewMs: number, warnMs: number, failMs: number): CheckResult {
  const size = Math.abs(skewMs);
  const amount = size < 1_000 ? `${Math.round(size)} ms` : `${(size / 1_000).toFixed(1)} s`;
  const detail = `ours is ${amount} ${skewMs > 0 ? 'behind' : 'ahead'}`;
  const way =
    'Let both machines keep time (chrony or systemd-timesyncd): signatures, leases and limits compare clocks.';
  if (size >= failMs) return fail(name, detail, way);
  return size >= warnMs ? warn(name, detail, way) : ok(name, detail);
}
