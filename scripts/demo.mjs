/** `npm run demo`: sets up whatever is missing, then shows one conversation (`bench/demo/main.ts`). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensurePackages, root } from './bootstrap.mjs';

if (process.argv.slice(2).some((word) => word === '--help' || word === '-h')) {
  process.stdout.write(readFileSync(join(root, 'bench', 'demo', 'help.txt'), 'utf8'));
  process.exit(0);
}
process.env.PARLEY_DEMO_BEGAN_AT_EPOCH_MS ??= String(Date.now());
ensurePackages();
ensureBuilt();
await import('../dist/bench/demo/main.js');
