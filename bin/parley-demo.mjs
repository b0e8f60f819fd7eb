#!/usr/bin/env node
/**
 * `npx parley-demo`: the demo of an installed package; in a clone it is `npm run demo`. Data
 * goes below the current folder.
 */
await import('../scripts/demo.mjs');
