/**
 * `npm run emulator`: sets up whatever is missing, then runs a carrier on this machine (`bench/emulators/main.ts`), or with
 * `providers` as its first word emulated providers (`bench/emulators/providers/main.ts`).
 */
import { ensureBuilt, ensurePackages } from './bootstrap.mjs';

ensurePackages();
ensureBuilt();
const providers = process.argv[2] === 'providers';
if (providers) process.argv.splice(2, 1);
await import(providers ? '../dist/bench/emulators/providers/main.js' : '../dist/bench/emulators/main.js');
