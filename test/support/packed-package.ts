/**
 * What a user installs: the files that `npm pack` packs and nothing else, beside run-time packages only, in an empty
 * folder. No script of a package runs. For tests that run from `dist/`.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface PackedPackage {
  /** The folder of the package, in `node_modules` of the folder that it was installed into. */
  installed: string;
  /** What was packed. */
  files: string[];
}

/** `npm pack` as it is, without its build: the test command has built. `app`: an empty folder, or none yet. */
export function installPacked(app: string): PackedPackage {
  const installed = join(app, 'node_modules', 'parley');
  const listing = execFileSync('npm', ['pack', '--json', '--dry-run', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: 'pipe',
  });
  const [packed] = JSON.parse(listing) as [{ files: { path: string }[] }];
  const files = packed.files.map(({ path }) => path);
  for (const path of files) {
    mkdirSync(join(installed, dirname(path)), { recursive: true });
    cpSync(join(root, path), join(installed, path));
  }
  const packages = runtimePackages();
  for (const parent of new Set(packages.map((path) => dirname(path)))) {
    copyQuickly(
      packages.filter((path) => dirname(path) === parent),
      join(app, parent),
    );
  }
  return { installed, files };
}

/**
 * `node_modules/…` of each package that `npm install --omit=dev` would bring and that is installed here; what is nested
 * comes with its parent.
 */
function runtimePackages(): string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  return Object.entries(lock.packages)
    .filter(
      ([path, { dev }]) => path.lastIndexOf('node_modules/') === 0 && dev !== true && existsSync(join(root, path)),
    )
    .map(([path]) => path);
}

/** `paths` of the root, into the folder `to`. Links where the file system can: run-time packages are 200 MB. */
function copyQuickly(paths: readonly string[], to: string): void {
  mkdirSync(to, { recursive: true });
  try {
    execFileSync('cp', ['-al', '-t', to, ...paths.map((path) => join(root, path))], { stdio: 'ignore' });
  } catch {
    for (const path of paths) {
      const copy = join(to, basename(path));
      rmSync(copy, { recursive: true, force: true });
      cpSync(join(root, path), copy, { recursive: true });
    }
  }
}
