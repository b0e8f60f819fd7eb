/**
 * Builds the console into `dist/console`: `index.html`, and its parts under names that hold their hash, each also
 * packed for browsers that take it so. Sizes are counted and held to their budget.
 *
 * Called by `build.mjs`; run by itself it only counts, for `npm run check`.
 *
 *   dist/console/index.html   dist/console/manifest.json
 *   dist/console/assets/<part>-<hash>.js|css, and the same with .br and .gz
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'console');

/**
 * gzip. `first`: before anything is asked of the service; `call`: what the page of a call loads beside it. `unpacked`:
 * what the package grows by, with the packed copies.
 */
const BUDGET_BYTES = { first: 35 * 1024, list: 80 * 1024, call: 60 * 1024, all: 300 * 1024, unpacked: 1_000_000 };
const TARGET = ['chrome111', 'firefox113', 'safari16.4'];

/** Files that are read with `entry`, itself among them: its imports, and theirs. */
function closureOf(outputs, entry) {
  const found = new Set();
  const visit = (path) => {
    if (found.has(path)) return;
    found.add(path);
    for (const { path: next, kind } of outputs[path].imports) if (kind === 'import-statement') visit(next);
  };
  visit(entry);
  return found;
}

export async function buildConsole({ outFolder = join(root, 'dist', 'console'), write = true } = {}) {
  const { build } = await import('esbuild');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { outputFiles, metafile } = await build({
    entryPoints: {
      main: join(folder, 'app', 'main.tsx'),
      theme: join(folder, 'app', 'theme.ts'),
      style: join(folder, 'ui', 'styles', 'console.css'),
      // The microphone's way to frames is the widget's: one file for both.
      worklets: join(root, 'widget', 'worklets', 'main.ts'),
    },
    absWorkingDir: root,
    outdir: join(root, 'dist', 'console', 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    write: false,
    metafile: true,
    charset: 'utf8',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    target: TARGET,
    define: { __VERSION__: JSON.stringify(version) },
    logLevel: 'warning',
  });

  const { outputs } = metafile;
  const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]));
  const gzipBytes = new Map([...files].map(([name, bytes]) => [name, gzipSync(bytes, { level: 9 }).length]));
  const outputOf = (entry) => {
    const found = Object.keys(outputs).find((path) => outputs[path].entryPoint === entry);
    if (found === undefined) throw new Error(`The console has no part ${entry}.`);
    return found;
  };
  const sizeOf = (paths) => [...paths].reduce((sum, path) => sum + gzipBytes.get(basename(path)), 0);
  const main = closureOf(outputs, outputOf('console/app/main.tsx'));
  const style = outputOf('console/ui/styles/console.css');
  const theme = outputOf('console/app/theme.ts');
  const withPage = (entry, known) => [...closureOf(outputs, outputOf(entry))].filter((path) => !known.has(path));
  const first = new Set([...main, style, theme]);
  const list = withPage('console/pages/calls/calls-page.tsx', first);
  const signIn = withPage('console/pages/sign-in/sign-in-page.tsx', first);
  const call = withPage('console/pages/call/call-page.tsx', new Set([...first, ...list]));
  const sizes = {
    'sign in': [sizeOf(first) + sizeOf(signIn), BUDGET_BYTES.first],
    'first page, the calls': [sizeOf(first) + sizeOf(list), BUDGET_BYTES.list],
    'the page of a call, beside it': [sizeOf(call), BUDGET_BYTES.call],
    'all of the console': [[...gzipBytes.values()].reduce((sum, bytes) => sum + bytes, 0), BUDGET_BYTES.all],
  };
  // Brotli's copy is no larger than gzip's.
  const copied = [...files].reduce((sum, [name, bytes]) => sum + bytes.length + 2 * gzipBytes.get(name), 0);
  sizes['in the package, unpacked, with two packed copies, at most'] = [copied, BUDGET_BYTES.unpacked];
  const faults = Object.entries(sizes)
    .filter(([, [bytes, budget]]) => bytes > budget)
    .map(([what, [bytes, budget]]) => `${what}: ${bytes} bytes, the budget is ${budget}`);

  const address = (path) => `/console/assets/${basename(path)}`;
  const index = readFileSync(join(folder, 'index.html'), 'utf8')
    .replace('{{style}}', address(style))
    .replace('{{theme}}', address(theme))
    .replace('{{worklets}}', address(outputOf('widget/worklets/main.ts')))
    .replace('{{main}}', address(outputOf('console/app/main.tsx')));
  const result = { version, sizes, faults };
  if (!write) return result;

  rmSync(outFolder, { recursive: true, force: true });
  mkdirSync(join(outFolder, 'assets'), { recursive: true });
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  const manifest = {};
  for (const [name, bytes] of files) {
    const at = join(outFolder, 'assets', name);
    writeFileSync(at, bytes);
    writeFileSync(`${at}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(`${at}.br`, brotliCompressSync(bytes, brotli));
    manifest[name] = { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  }
  writeFileSync(join(outFolder, 'index.html'), index);
  writeFileSync(join(outFolder, 'manifest.json'), `${JSON.stringify({ version, files: manifest }, null, 2)}\n`);
  return result;
}

/** Prints the sizes (gzip, where nothing else is said) and what is over its budget. Returns whether nothing is. */
export function reportConsole({ sizes, faults }) {
  for (const [what, [bytes, budget]] of Object.entries(sizes)) {
    console.log(`console, ${what}: ${bytes} bytes of ${budget}`);
  }
  for (const fault of faults) console.error(fault);
  return faults.length === 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exit(reportConsole(await buildConsole({ write: false })) ? 0 : 1);
}
