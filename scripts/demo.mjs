/** `npm run demo`: sets up whatever is missing, then shows one conversation (`bench/demo/main.ts`). */
import { ensureBuilt, ensurePackages } from './bootstrap.mjs';

process.env.PARLEY_DEMO_BEGAN_AT_EPOCH_MS ??= String(Date.now());
ensurePackages();
ensureBuilt();
await import('../dist/bench/demo/main.js');
