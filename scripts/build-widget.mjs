/**
 * Builds the widget into `dist/widget`: its parts under names that hold their hash, then `embed.js`, which knows those
 * names and their Subresource Integrity hashes, so that who pins `embed.js` pins all of it. Sizes are counted and held
 * to their budget.
 *
 * Called by `build.mjs`; run by itself it only counts, for `npm run check`.
 *
 *   dist/widget/embed.js   dist/widget/assets/<part>-<hash>.js|css   dist/widget/manifest.json
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Contract §10, gzip. What a site's visitors load; the hosted pages' own scripts are not among it. */
const BUDGET_BYTES = { 'embed.js': 6 * 1024, all: 24 * 1024 };
const COUNTED = ['embed.js', 'session', 'panel', 'audio'];
/** Current browsers of the last four years; AudioWorklet begins at Chrome 66, Firefox 76, Safari 14.1. */
const TARGET = ['chrome87', 'firefox78', 'safari14.1'];

const PARTS = {
  session: { entry: 'session/main.ts', format: 'iife' },
  panel: { entry: 'panel/main.ts', format: 'iife' },
  audio: { entry: 'worklets/main.ts', format: 'esm' },
  talk: { entry: 'pages/talk/main.ts', format: 'esm' },
  doctor: { entry: 'pages/doctor/main.ts', format: 'esm' },
  preview: { entry: 'pages/preview/main.ts', format: 'esm' },
  page: { entry: 'pages/page.css', format: 'css' },
};

const integrityOf = (bytes) => `sha384-${createHash('sha384').update(bytes).digest('base64')}`;

export async function buildWidget({ outFolder = join(root, 'dist', 'widget'), write = true } = {}) {
  const { build, transform } = await import('esbuild');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

  const cssAsText = {
    name: 'css-as-text',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.css$/ }, async ({ path }) => {
        const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'css', minify: true, target: TARGET });
        return { contents: code.trim(), loader: 'text' };
      }),
  };

  async function bundle(entry, format, define = {}) {
    const { outputFiles } = await build({
      entryPoints: [join(root, 'widget', entry)],
      bundle: true,
      minify: true,
      write: false,
      charset: 'utf8',
      legalComments: 'none',
      target: TARGET,
      plugins: format === 'css' ? [] : [cssAsText],
      ...(format === 'css' ? {} : { format }),
      define: { __VERSION__: JSON.stringify(version), ...define },
      logLevel: 'warning',
    });
    return Buffer.from(outputFiles[0].contents);
  }

  const files = {};
  const built = {};
  const note = (name, file, bytes) => {
    built[file] = bytes;
    files[name] = {
      file,
      bytes: bytes.length,
      gzipBytes: gzipSync(bytes, { level: 9 }).length,
      integrity: integrityOf(bytes),
    };
  };
  for (const [name, { entry, format }] of Object.entries(PARTS)) {
    const bytes = await bundle(entry, format);
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
    note(name, `${name}-${hash}.${format === 'css' ? 'css' : 'js'}`, bytes);
  }
  const parts = Object.fromEntries(
    ['session', 'panel', 'audio'].map((name) => [name, { file: files[name].file, integrity: files[name].integrity }]),
  );
  note('embed.js', 'embed.js', await bundle('loader/main.ts', 'iife', { __PARTS__: JSON.stringify(parts) }));

  const allGzipBytes = COUNTED.reduce((sum, name) => sum + files[name].gzipBytes, 0);
  const faults = [
    [files['embed.js'].gzipBytes, BUDGET_BYTES['embed.js'], 'embed.js'],
    [allGzipBytes, BUDGET_BYTES.all, 'embed.js and all its parts'],
  ]
    .filter(([bytes, budget]) => bytes > budget)
    .map(([bytes, budget, what]) => `${what}: ${bytes} bytes gzip, the budget is ${budget}`);

  if (!write) return { version, allGzipBytes, files, faults };
  rmSync(outFolder, { recursive: true, force: true });
  mkdirSync(join(outFolder, 'assets'), { recursive: true });
  for (const [file, bytes] of Object.entries(built)) {
    writeFileSync(join(outFolder, file === 'embed.js' ? file : join('assets', file)), bytes);
  }
  writeFileSync(join(outFolder, 'manifest.json'), `${JSON.stringify({ version, allGzipBytes, files }, null, 2)}\n`);
  return { version, allGzipBytes, files, faults };
}

/** Prints the sizes and what is over its budget. Returns whether nothing is. */
export function reportWidget({ files, allGzipBytes, faults }) {
  for (const [name, { bytes, gzipBytes }] of Object.entries(files)) {
    console.log(`${name.padEnd(9)} ${String(bytes).padStart(6)} bytes, ${String(gzipBytes).padStart(5)} gzip`);
  }
  console.log(`embed.js and its parts: ${allGzipBytes} bytes gzip`);
  for (const fault of faults) console.error(fault);
  return faults.length === 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exit(reportWidget(await buildWidget({ write: false })) ? 0 : 1);
}
