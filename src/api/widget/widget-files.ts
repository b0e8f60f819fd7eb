/**
 * What `scripts/build-widget.mjs` has built, in memory: each file with its compressed forms, its type and its integrity
 * hash. Read at the first request, because tests run without a build. Older releases that are kept under
 * `widget/released/<version>` are served too, so that a page which pinned one goes on working after an upgrade.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

export interface WidgetFile {
  bytes: Buffer;
  gzip: Buffer;
  brotli: Buffer;
  type: 'text/javascript; charset=utf-8' | 'text/css; charset=utf-8';
  /** `sha384-…`, for the attribute `integrity`. */
  integrity: string;
}

export interface WidgetFiles {
  version: string;
  /** By version; `embed.js` is that of `version`. */
  loaders: ReadonlyMap<string, WidgetFile>;
  /** By file name, hash included; of all versions. */
  assets: ReadonlyMap<string, WidgetFile>;
  /** File name of a part of the current version, for pages: `talk`, `page`, … */
  nameOf(part: string): string;
}

interface Manifest {
  version: string;
  files: Record<string, { file: string; integrity: string }>;
}

/** Null when the widget was never built. `root` is the folder of `package.json`. */
export function loadWidgetFiles(root: string): WidgetFiles | null {
  const current = join(root, 'dist', 'widget');
  if (!existsSync(join(current, 'manifest.json'))) return null;
  const loaders = new Map<string, WidgetFile>();
  const assets = new Map<string, WidgetFile>();
  const released = join(root, 'widget', 'released');
  const older = existsSync(released) ? readdirSync(released).map((version) => join(released, version)) : [];
  for (const folder of [...older, current]) {
    const { version, files } = readManifest(folder);
    for (const { file, integrity } of Object.values(files)) {
      if (file === 'embed.js') loaders.set(version, readFile(join(folder, file), integrity));
      else assets.set(file, readFile(join(folder, 'assets', file), integrity));
    }
  }
  const { version, files } = readManifest(current);
  return {
    version,
    loaders,
    assets,
    nameOf(part) {
      const found = files[part];
      if (found === undefined) throw new Error(`The widget has no part ${part}: run \`npm run build\`.`);
      return found.file;
    },
  };
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
}

function readFile(path: string, integrity: string): WidgetFile {
  const bytes = readFileSync(path);
  return {
    bytes,
    gzip: gzipSync(bytes, { level: 9 }),
    brotli: brotliCompressSync(bytes),
    type: path.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
    integrity,
  };
}
