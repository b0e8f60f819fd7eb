/**
 * Removes from `node_modules` the binaries of two packages that bring those of every platform in one: 470 MB of which
 * this machine loads 40. Called by `bootstrap.mjs` after npm, in a clone alone. Those of newer Node versions stay, for
 * who changes between them; which one is loaded, and that its bytes are the pinned ones, is `uws-server.ts`'s to say.
 */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

/** `process.versions.modules` of Node 20, the oldest on which Parley runs. */
const OLDEST_ABI = 115;

/** By package: whether `file`, named from the package's folder with `/`, is a binary for another than `machine`. */
const FOREIGN = {
  'uWebSockets.js': (file, { platform, arch }) => {
    const binary = /^uws_([a-z0-9]+)_([a-z0-9]+)_(\d+)\.node$/.exec(file);
    return binary !== null && (binary[1] !== platform || binary[2] !== arch || Number(binary[3]) < OLDEST_ABI);
  },
  'onnxruntime-node': (file, { platform, arch }) => {
    const binary = /^bin\/napi-v\d+\/([^/]+)\/([^/]+)\//.exec(file);
    return binary !== null && (binary[1] !== platform || binary[2] !== arch);
  },
};

/** Returns how many bytes went. `machine`: as `process.platform` and `process.arch` name it. */
export function removeForeignBinaries(modules, machine) {
  let bytes = 0;
  for (const [name, isForeign] of Object.entries(FOREIGN)) {
    const folder = join(modules, name);
    if (!existsSync(folder)) continue;
    for (const file of readdirSync(folder, { recursive: true })) {
      const path = join(folder, file);
      if (!isForeign(file.split(sep).join('/'), machine) || !statSync(path).isFile()) continue;
      bytes += statSync(path).size;
      rmSync(path);
    }
  }
  return bytes;
}

/** For another machine than the one they were thinned out on, npm has to bring these packages whole once more. */
export function removeThinnedPackages(modules) {
  for (const name of Object.keys(FOREIGN)) rmSync(join(modules, name), { recursive: true, force: true });
}
