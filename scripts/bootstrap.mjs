/**
 * What every command of this repository does first on a fresh clone: install the packages, build. Plain JavaScript
 * without packages, because there are none yet. npm's install scripts stay blocked: nothing here needs them.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const SOURCE_FOLDERS = ['src', 'media', 'bench', 'widget', 'clients', 'test/fault', 'test/harness'];

function run(command, args, what) {
  const started = Date.now();
  process.stderr.write(`${what} …`);
  const done = spawnSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (done.status !== 0) {
    process.stderr.write(` failed\n${done.stdout ?? ''}${done.stderr ?? ''}${done.error?.message ?? ''}\n`);
    process.exit(1);
  }
  process.stderr.write(` ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
}

/** Installs exactly the locked versions when they are not there or the lock file changed. */
export function ensurePackages() {
  const lockFile = join(root, 'package-lock.json');
  if (!existsSync(lockFile)) return;
  const lock = createHash('sha256').update(readFileSync(lockFile)).digest('hex');
  const stamp = join(root, 'node_modules', '.parley-lock');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  // `npm ci` refuses lock files written where a registry lacks another platform's optional package; this keeps to the
  // lock all the same.
  run('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'], 'installing packages');
  writeFileSync(stamp, lock);
}

function newestMtimeMs(folder) {
  let newest = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && /(?<!\.test)\.(ts|css)$/.test(entry.name)) {
      newest = Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
    }
  }
  return newest;
}

/**
 * Builds `dist/` when a source file is newer than it; types are checked by `npm run check`, not here. A packed copy
 * brings `dist/` and no compiler settings.
 */
export function ensureBuilt() {
  const stamp = join(root, 'dist', '.built');
  if (!existsSync(join(root, 'tsconfig.build.json'))) return;
  const builtAtMs = existsSync(stamp) ? statSync(stamp).mtimeMs : 0;
  if (SOURCE_FOLDERS.every((folder) => newestMtimeMs(join(root, folder)) <= builtAtMs)) return;
  run(
    process.execPath,
    [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json', '--noCheck'],
    'building',
  );
  run(process.execPath, [join(root, 'scripts', 'build-widget.mjs')], 'building the widget');
  writeFileSync(stamp, '');
}

/** True when the command is on the PATH. */
export function hasCommand(name) {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
