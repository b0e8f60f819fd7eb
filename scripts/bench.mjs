/** `npm run bench -- <scenario> [options]`: builds if needed and runs `bench/<scenario>/main.ts`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensurePackages, root } from './bootstrap.mjs';

const SCENARIOS = {
  calls: 'what a call costs, against a naive gateway',
  chaos: 'parts of the service die under calls',
  codecs: 'base64 and G.711 beside Buffer and other ways',
  voices: 'what telling voices from noise costs, with and without the neural model',
  live: 'what a web session costs, PCM beside Opus',
  history: 'webhooks under a nemesis: is anything lost, invented, out of order?',
  fuzz: 'mutated WebSocket messages at both socket servers',
  placements: 'a carrier that times out, resets and succeeds late: is any phone rung twice?',
  api: 'how fast a call is placed at 200 requests a second',
  'first-word': 'from the answer to the first word of the agent',
  rotation: 'the master key changes under calls, with 100,000 sealed values and two kills',
  overload: 'more leads than the machine can talk to: who is refused, does an answered call die?',
  siege: 'hostile clients at the public port: do honest ones, probes, callbacks and calls notice?',
  turns: 'how long a caller waits for an answer, and how often it comes into their sentence',
  'call-log': 'a page of the call log among a million calls',
  webhooks: 'from the commit of an event to its receiver, with and without 50 that hang',
  'webhooks-beside': 'the same, of two gateways at once: beside 50 that answer, and beside 50 that hang',
};
const [scenario, ...rest] = process.argv.slice(2);
ensurePackages();
ensureBuilt();
const entry = join(root, 'dist', 'bench', scenario ?? '', 'main.js');
if (!scenario || !(scenario in SCENARIOS) || !existsSync(entry)) {
  const isAsked = scenario === undefined || scenario === '--help' || scenario === '-h';
  const say = isAsked ? console.log : console.error;
  if (!isAsked) say(`There is no bench '${scenario}'.`);
  say('npm run bench -- <scenario>; scenarios:');
  for (const [name, what] of Object.entries(SCENARIOS)) say(`  ${name.padEnd(15)} ${what}`);
  say('What one takes: npm run bench -- calls --help');
  process.exit(isAsked ? 0 : 2);
}
process.argv = [process.argv[0], entry, ...rest];
await import(entry);
