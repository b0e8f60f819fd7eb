/** `npm start`: the service alone, for real use. Settings come from the environment (README, "Settings"). */
import { ensureBuilt, ensurePackages } from './bootstrap.mjs';

ensurePackages();
ensureBuilt();
await import('../dist/src/supervisor/main.js');
