/**
 * `npm run tour`: sets up whatever is missing, then shows every row of the specification working
 * (`bench/tour/main.ts`).
 */
import { ensureBuilt, ensurePackages } from './bootstrap.mjs';

ensurePackages({ whole: true });
ensureBuilt();
await import('../dist/bench/tour/main.js');
