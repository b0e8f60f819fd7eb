#!/usr/bin/env node
/** `npx parley-emulator`: the carrier emulator of an installed package; in a clone it is `npm run emulator`. */
await import('../scripts/emulator.mjs');
