import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import ts from 'typescript';
import { afterEach, beforeEach, expect, it } from 'vitest';
// @ts-expect-error plain JavaScript without types
import { buildSources } from '../../../scripts/build-sources.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const settings = (name: string) => ts.readConfigFile(join(root, name), ts.sys.readFile).config;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-build-'));
  put('tsconfig.json', JSON.stringify(settings('tsconfig.json')));
  put('tsconfig.build.json', JSON.stringify({ ...settings('tsconfig.build.json'), include: ['src', 'media'] }));
  put('media/contract/kinds.ts', 'export type Kind = 1;\nexport const kind = 1 as const;\n');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const built = (path: string): string => readFileSync(join(folder, 'dist', path), 'utf8');

/** Written alike, whoever made it: without comments, in one line. */
const plain = (code: string): string =>
  transformSync(code.replace(/\/\/# sourceMappingURL.*/, ''), { charset: 'utf8', minifyWhitespace: true }).code;

/** What `tsc -p tsconfig.build.json` makes of it. */
function compiled(text: string): string {
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...settings('tsconfig.json').compilerOptions, ...settings('tsconfig.build.json').compilerOptions },
    root,
  );
  // The package of the folder above says that these are modules; one file by itself does not know.
  return ts.transpileModule(text, { compilerOptions: { ...options, module: ts.ModuleKind.ESNext } }).outputText;
}

const SOURCE = `import { readFileSync } from 'node:fs';
import { type Kind, kind } from '../../media/contract/kinds.ts';
import type { Kind as Other } from '../../media/contract/kinds.ts';
import { type Kind as Third } from './side-effect.ts';
import './side-effect.ts';
export { kind as again } from '../../media/contract/kinds.ts';
export * from "./side-effect.ts";
export type { Kind };

/** import './comment.ts' */
const text = \`
import { a } from './text.ts';
\${await import('./side-effect.ts')} – ü\`;
const quoted = "import('./text.ts')";
const lazy = async (): Promise<unknown> => (await import('./side-effect.ts')) satisfies unknown;
export class Thing<T extends Other | Third = never> {
  static #made = 0;
  declare readonly ghost: T;
  readonly value: T | undefined;
  later?: number;
  constructor(value?: T) {
    this.value = value!;
    Thing.#made++;
  }
  static get made(): number { return Thing.#made; }
}
export const wasm = new URL('./side-effect.ts', import.meta.url);
export const all = [readFileSync, kind as Kind, text, quoted, lazy] as const;
export function over(a: string): string;
export function over(a: number): number;
export function over(a: unknown): unknown { return a; }
`;

it('makes of a module what the compiler makes of it', async () => {
  put('src/deep/main.ts', SOURCE);
  put('src/deep/side-effect.ts', 'export const there = true;\n');
  await buildSources(folder, join(folder, 'dist'));
  const code = built('src/deep/main.js');
  expect(plain(code)).toBe(plain(compiled(SOURCE)));
  expect(code.match(/\.js(?=['"])/g)).toHaveLength(7);
  expect(code.match(/\.ts(?=['"])/g)).toHaveLength(3);
  expect(built('media/contract/kinds.js')).toContain('sourceMappingURL=kinds.js.map');
  const map = JSON.parse(built('src/deep/main.js.map')) as { sources: string[] };
  expect(map.sources).toEqual(['../../../src/deep/main.ts']);
});

it('leaves nothing of a source that is gone, and everything when it fails', async () => {
  put('src/gone.ts', 'export {};\n');
  await buildSources(folder, join(folder, 'dist'));
  put('dist/widget/embed.js', '');
  rmSync(join(folder, 'src/gone.ts'));
  put('src/main.ts', 'const = 1;\n');
  await expect(buildSources(folder, join(folder, 'dist'))).rejects.toThrow(/src\/main\.ts:1:6/);
  expect(existsSync(join(folder, 'dist/src/gone.js'))).toBe(true);
  put('src/main.ts', 'export {};\n');
  await buildSources(folder, join(folder, 'dist'));
  expect(['src/gone.js', 'src/gone.js.map'].filter((path) => existsSync(join(folder, 'dist', path)))).toEqual([]);
  expect(existsSync(join(folder, 'dist/widget/embed.js'))).toBe(true);
});

it('copies what is plain JavaScript', async () => {
  const preload = "import('./text.ts');\n";
  put('src/main.ts', "export const preload = new URL('./preload.mjs', import.meta.url);\n");
  put('src/preload.mjs', preload);
  await buildSources(folder, join(folder, 'dist'));
  expect(built('src/preload.mjs')).toBe(preload);
});

it('builds neither tests nor declarations, and does without a folder that is not there', async () => {
  put('src/main.ts', 'export {};\n');
  put('src/main.test.ts', 'export {};\n');
  put('src/shapes.d.ts', 'export interface Shape {}\n');
  rmSync(join(folder, 'media'), { recursive: true });
  await buildSources(folder, join(folder, 'dist'));
  expect(readdirSync(join(folder, 'dist', 'src')).sort()).toEqual(['main.js', 'main.js.map']);
});

it('refuses a source that imports one outside of the folders that are built, and names both', async () => {
  put('src/main.ts', "import '../clients/client.ts';\n");
  put('clients/client.ts', 'export {};\n');
  await expect(buildSources(folder, join(folder, 'dist'))).rejects.toThrow(
    /src\/main\.js imports .*clients\/client\.js, which was not built: has tsconfig\.build\.json its folder in/,
  );
});
