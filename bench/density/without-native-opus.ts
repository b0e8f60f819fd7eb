/**
 * Loaded into processes by `--import`, on each of their threads: they find no native Opus, so that its WebAssembly is
 * measured on a machine where both are there. Given by `opus-builds.ts`.
 */
import Module from 'node:module';

const NATIVE = '@discordjs/opus';
type Load = (request: string, ...rest: unknown[]) => unknown;

const loader = Module as unknown as { _load: Load };
const load = loader._load;
loader._load = function (this: unknown, request, ...rest) {
  if (request === NATIVE) throw new Error(`${NATIVE} is left out here`);
  return load.call(this, request, ...rest);
};
