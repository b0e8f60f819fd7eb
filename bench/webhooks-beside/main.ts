/**
 * `npm run bench -- webhooks-beside [--rounds 2] [--seconds 25] [--volatile]`: two gateways' deliveries at the same
 * time, each with a database of its own. Beside the measured receivers of one stand 50 that answer, beside those of the
 * other 50 that hang. Whatever else the machine does falls on both alike.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readOptions } from '../harness/options.ts';
import { comparedP99 } from '../webhooks/compared-p99.ts';

const KINDS = ['answer', 'hang'] as const;
readOptions({
  command: 'npm run bench -- webhooks-beside',
  about: 'Deliveries of two gateways at once: beside 50 receivers that answer, and beside 50 that hang.',
  options: { rounds: { type: 'string' }, seconds: { type: 'string' }, volatile: { type: 'boolean' } },
  meanings: { rounds: '<N> rounds', seconds: '<N> of a round', volatile: 'databases that do not sync' },
});
const given = process.argv.slice(2);
const runs = KINDS.map((kind) =>
  fork(fileURLToPath(new URL('../webhooks/main.js', import.meta.url)), [
    ...given,
    '--kinds',
    kind,
    '--folder',
    `webhooks-beside-${kind}`,
  ]),
);
const codes = await Promise.all(runs.map(async (run) => (await once(run, 'exit'))[0] as number | null));
if (codes.some((code) => code !== 0)) process.exit(1);
const [answer, hang] = KINDS.map((kind) => {
  const { times } = JSON.parse(readFileSync(`data/bench/webhooks-beside-${kind}.json`, 'utf8')) as {
    times: Record<string, number[]>;
  };
  return times[kind]!;
});
console.log(`p99 beside 50 that hang against 50 that answer: ${comparedP99(hang!, answer!)}`);
