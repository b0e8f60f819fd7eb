/**
 * What every command of this repository does first on a fresh clone: install the packages, build. Plain JavaScript
 * without packages, because there are none yet. npm's install scripts stay blocked: nothing here needs them.
 * Run by itself it installs what `npm start` and its build take, and builds nothing: the Dockerfile's first step.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeForeignBinaries, removeThinnedPackages } from './foreign-binaries.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');
/** What building takes beside what runs; `devDependencies` has the versions. */
const BUILD_PACKAGES = [
  '@preact/signals',
  '@simplewebauthn/browser',
  'es-module-lexer',
  'esbuild',
  'preact',
  'swagger-ui-dist',
];
const SOURCE_FOLDERS = ['src', 'media', 'bench', 'widget', 'console', 'clients', 'test/fault', 'test/harness'];

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

/**
 * npm's arguments. For fewer than the whole, the development packages are left out, and those of them that build are
 * taken as if they were run-time ones, at the lock's versions.
 */
export function installArguments(isWhole, { devDependencies }) {
  // `npm ci` refuses lock files written where a registry lacks another platform's optional package; this keeps to the
  // lock all the same.
  const always = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  if (isWhole) return always;
  return [...always, '--omit=dev', '--save-prod', ...BUILD_PACKAGES.map((name) => `${name}@${devDependencies[name]}`)];
}

/**
 * Installs exactly the locked versions when they are not there or the lock file changed: what `npm run demo` and
 * `npm start` run and what builds it, and for `whole` what checks, tests and benches take too. Once the whole is there
 * it stays, but for binaries for other platforms.
 */
export function ensurePackages({ whole = false } = {}) {
  const lockFile = join(root, 'package-lock.json');
  if (!existsSync(lockFile)) return;
  const isWhole = whole || existsSync(join(modules, 'vitest'));
  const machine = `${process.platform} ${process.arch}`;
  const lock = createHash('sha256').update(readFileSync(lockFile)).digest('hex');
  const stamp = join(modules, '.parley-lock');
  const wanted = `${lock} ${isWhole ? 'whole' : 'run'} ${machine}`;
  const had = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  if (had === wanted) return;
  if (had !== '' && !had.endsWith(` ${machine}`)) removeThinnedPackages(modules);
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  run(
    'npm',
    installArguments(isWhole, manifest),
    isWhole ? 'installing packages, those of the tests too' : 'installing packages',
  );
  const megabytes = Math.round(removeForeignBinaries(modules, process) / 1e6);
  if (megabytes > 0) process.stderr.write(`removed ${megabytes} MB of binaries for other platforms\n`);
  writeFileSync(stamp, wanted);
}

function newestMtimeMs(folder) {
  let newest = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && /(?<!\.test)\.(tsx?|mjs|css|html)$/.test(entry.name)) {
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
  run(process.execPath, [join(root, 'scripts', 'build.mjs')], 'building');
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

if (process.argv[1] === fileURLToPath(import.meta.url)) ensurePackages();
