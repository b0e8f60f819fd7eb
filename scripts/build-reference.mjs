/**
 * Puts the API reference that `/docs` shows into `dist/reference`: two files of `swagger-ui-dist`, which are complete
 * in themselves, packed with gzip as browsers take them, and their terms. Copied, so that an installed Parley carries
 * half a megabyte and neither the package nor what its installation would run. Called by `build.mjs`.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
/** By the name under which `/docs` asks for it. */
const FILES = { 'reference.js': 'swagger-ui-bundle.js', 'reference.css': 'swagger-ui.css' };
/** Whoever passes the files on passes these on with them. */
const TERMS = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'];

export function buildReference() {
  const from = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
  const to = join(root, 'dist', 'reference');
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  for (const [name, source] of Object.entries(FILES)) {
    writeFileSync(join(to, `${name}.gz`), gzipSync(readFileSync(join(from, source)), { level: 9 }));
  }
  for (const name of TERMS) copyFileSync(join(from, name), join(to, name));
}
