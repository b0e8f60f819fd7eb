#!/usr/bin/env node
/**
 * `npx parley-start`: the service of an installed package; in a clone it is `npm start`. Data
 * goes to PARLEY_DATA_DIR (./data).
 */
await import('../scripts/start.mjs');
