/** `npm run emulator`: sets up whatever is missing, then runs a carrier on this machine (`bench/emulators/main.ts`). */
import { ensureBuilt, ensurePackages } from './bootstrap.mjs';

ensurePackages();
ensureBuilt();
await import('../dist/bench/emulators/main.js');
