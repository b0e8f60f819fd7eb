/**
 * Makes `dist/` of the folders that `tsconfig.build.json` includes: types are taken out file by file, and what a module
 * imports as `./x.ts` becomes `./x.js`. The same modules as `tsc -p tsconfig.build.json` makes
 * (`test/unit/scripts/build-sources.test.ts` compares), in a tenth of its time and without the compiler; types are
 * checked by `npm run check`. What is plain JavaScript by its name (`.mjs`) is copied. Called by `build.mjs`.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { init, parse } from 'es-module-lexer';
import { build } from 'esbuild';

const SETTINGS = 'tsconfig.build.json';
/** As in `tsconfig.json`: what Node 20 runs as it is. */
const TARGET = 'es2023';

/** What no program is: the settings exclude tests too, and a declaration has nothing to write. */
const NOT_BUILT = /\.(test|d)\.ts$/;

/** None where there is no such folder: the image is built without the tests. */
function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const isSource = (path) => path.endsWith('.ts') && !NOT_BUILT.test(path);

/**
 * `./x.ts` in `import`, `export … from` and `import()` becomes `./x.js`, which is as long: source maps stay true.
 * A name that is computed is left alone.
 */
function withBuiltSpecifiers(path, code, outputs) {
  let built = '';
  let at = 0;
  for (const { n: specifier, s: start, e: end } of parse(code)[0]) {
    if (specifier === undefined || !/^\.{1,2}\/.*\.ts$/.test(specifier)) continue;
    const target = resolve(dirname(path), specifier.replace(/ts$/, 'js'));
    if (!outputs.has(target)) {
      throw new Error(`${path} imports ${target}, which was not built: has ${SETTINGS} its folder in "include"?`);
    }
    // The positions in an `import()` hold its quotes too.
    built += code.slice(at, start) + code.slice(start, end).replace(/\.ts(?=['"`]?$)/, '.js');
    at = end;
  }
  return built + code.slice(at);
}

/**
 * `folder` holds the settings and the folders that they include. Files are written over, so that a service which runs
 * from them finds each at any time; then those go whose source is gone. Rejects, and leaves what was built as it was,
 * where a file is no TypeScript or imports one that is not built.
 */
export async function buildSources(folder, outFolder) {
  const { include } = JSON.parse(readFileSync(join(folder, SETTINGS), 'utf8'));
  const files = include.flatMap((name) => filesIn(join(folder, name)));
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: files.filter(isSource),
    outbase: folder,
    outdir: outFolder,
    // What of the compiler's settings decides about what is written. With all of them each module would begin with
    // 'use strict'.
    tsconfigRaw: { compilerOptions: { target: TARGET, verbatimModuleSyntax: true } },
    platform: 'node',
    target: TARGET,
    charset: 'utf8',
    sourcemap: true,
    sourcesContent: false,
    write: false,
    logLevel: 'silent',
  });
  await init;
  const modules = new Set(outputFiles.map(({ path }) => path));
  const built = outputFiles.map(({ path, contents, text }) => ({
    path,
    contents: path.endsWith('.js') ? withBuiltSpecifiers(path, text, modules) : contents,
  }));
  for (const path of files.filter((file) => file.endsWith('.mjs'))) {
    built.push({ path: join(outFolder, relative(folder, path)), contents: readFileSync(path) });
  }
  const paths = new Set(built.map(({ path }) => path));
  for (const path of new Set(built.map((file) => dirname(file.path)))) mkdirSync(path, { recursive: true });
  for (const { path, contents } of built) writeFileSync(path, contents);
  for (const name of new Set(include.map((one) => one.split('/')[0]))) {
    for (const path of filesIn(join(outFolder, name))) if (!paths.has(path)) rmSync(path);
  }
}
