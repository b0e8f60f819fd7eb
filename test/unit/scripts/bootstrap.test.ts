import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
// @ts-expect-error plain JavaScript without types
import { installArguments } from '../../../scripts/bootstrap.mjs';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => JSON.parse(readFileSync(new URL(path, root), 'utf8'));
const manifest = read('package.json') as { devDependencies: Record<string, string> };
const lock = read('package-lock.json') as { packages: Record<string, { version: string }> };

it('installs what runs and what builds it at the versions of the lock, and the rest only when it is asked for', () => {
  const [command, ...few] = installArguments(false, manifest) as string[];
  expect(command).toBe('install');
  expect(few).toContain('--omit=dev');
  const named = few.filter((word) => !word.startsWith('--'));
  const locked = [
    '@preact/signals',
    '@simplewebauthn/browser',
    'es-module-lexer',
    'esbuild',
    'preact',
    'swagger-ui-dist',
  ].map((name) => `${name}@${lock.packages[`node_modules/${name}`]?.version}`);
  expect(named).toEqual(locked);
  const whole = installArguments(true, manifest) as string[];
  expect(whole.filter((word) => !word.startsWith('--'))).toEqual(['install']);
  expect(whole.some((word) => word.startsWith('--omit'))).toBe(false);
});

it("never runs a package's scripts, never changes the lock", () => {
  for (const isWhole of [true, false]) {
    expect(installArguments(isWhole, manifest)).toEqual(expect.arrayContaining(['--ignore-scripts', '--no-save']));
  }
});
