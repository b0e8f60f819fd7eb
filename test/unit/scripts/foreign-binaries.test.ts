import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { UWS_BINARY_SHA256 } from '../../../media/io/socket-server/binary-checksums.ts';
// @ts-expect-error plain JavaScript without types
import { removeForeignBinaries, removeThinnedPackages } from '../../../scripts/foreign-binaries.mjs';

let modules: string;

beforeEach(() => {
  modules = mkdtempSync(join(tmpdir(), 'parley-modules-'));
});

afterEach(() => rmSync(modules, { recursive: true, force: true }));

function put(paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(modules, path)), { recursive: true });
    writeFileSync(join(modules, path), 'four');
  }
}

const left = (): string[] =>
  readdirSync(modules, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(modules.length + 1))
    .sort();

it('keeps what this machine loads with any Node that Parley runs on, and all that is no binary', () => {
  const kept = [
    'onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1',
    'onnxruntime-node/bin/napi-v6/linux/x64/onnxruntime_binding.node',
    'onnxruntime-node/dist/index.js',
    'other/uws_darwin_arm64_115.node',
    'uWebSockets.js/docs/uws_darwin_arm64_115.node.md',
    'uWebSockets.js/index.d.ts',
    'uWebSockets.js/uws_linux_x64_115.node',
    'uWebSockets.js/uws_linux_x64_137.node',
  ];
  const foreign = [
    'onnxruntime-node/bin/napi-v6/linux/arm64/onnxruntime_binding.node',
    'onnxruntime-node/bin/napi-v6/win32/x64/DirectML.dll',
    'uWebSockets.js/uws_darwin_x64_115.node',
    'uWebSockets.js/uws_linux_arm64_115.node',
    'uWebSockets.js/uws_linux_arm_115.node',
    'uWebSockets.js/uws_linux_x64_93.node',
    'uWebSockets.js/uws_win32_x64_115.node',
  ];
  put([...kept, ...foreign]);
  expect(removeForeignBinaries(modules, { platform: 'linux', arch: 'x64' })).toBe(4 * foreign.length);
  expect(left()).toEqual(kept);
  expect(removeForeignBinaries(modules, { platform: 'linux', arch: 'x64' })).toBe(0);
});

it('never removes a binary whose bytes are pinned from a machine that loads it', () => {
  for (const key of Object.keys(UWS_BINARY_SHA256)) {
    const [platform, arch] = key.split('_');
    const path = `uWebSockets.js/uws_${key}.node`;
    put([path]);
    removeForeignBinaries(modules, { platform, arch });
    expect(left()).toContain(path);
  }
});

it('does nothing where the packages are not installed', () => {
  expect(removeForeignBinaries(modules, { platform: 'linux', arch: 'x64' })).toBe(0);
});

it('takes the thinned packages away whole, and nothing else', () => {
  put(['uWebSockets.js/package.json', 'onnxruntime-node/package.json', 'ws/package.json']);
  removeThinnedPackages(modules);
  expect(left()).toEqual(['ws/package.json']);
  expect(existsSync(join(modules, 'uWebSockets.js'))).toBe(false);
});
