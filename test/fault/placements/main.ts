/**
 * `npm run fault -- placements [--count 10000] [--rate 100] [--seed N]`: placements at a carrier that times out,
 * resets, fails and succeeds late in 30 of 100 cases. Ends with code 1 when a phone was rung twice for one request.
 */

import { readOptions } from '../../../bench/harness/options.ts';
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import { WAYS, type Way } from './plan.ts';
import { runPlacements } from './run.ts';

const { values } = readOptions({
  command: 'npm run fault -- placements',
  about: 'A carrier that times out, resets and succeeds late: is any phone rung twice?',
  options: {
    count: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
  meanings: { count: '<N> placements', rate: '<N> a second', seed: '<N> the same faults again' },
});
/** The longest that an unknown outcome takes to settle is 60 s. */
const SETTLED_WITHIN_MS = 90_000;
/** Nobody's cancellation takes longer. */
const RING_MS = 6_000;

const report = await runPlacements({
  placements: Number(values.count),
  perSecond: Number(values.rate),
  random: createRandom(Number(values.seed)),
  repeatForMs: SETTLED_WITHIN_MS,
  ringMs: RING_MS,
  endsWithinMs: SETTLED_WITHIN_MS,
  log: (line) => process.stderr.write(`${line}\n`),
});
const requests = report.outcomes.reduce((sum, one) => sum + one.requests, 0);
console.log(
  `seed ${values.seed}: ${report.outcomes.length} placements in ${requests} requests, ${report.dialled} dialled`,
);
console.log(`started at most ${Math.round(report.mostLateMs)} ms late`);
for (const way of Object.keys(WAYS) as Way[]) {
  for (const withKey of [true, false]) {
    const of = report.outcomes.filter(
      ({ planned }) => planned.way === way && (planned.idempotencyKey !== null) === withKey,
    );
    const told = [...new Set(of.map(({ httpStatus }) => httpStatus))]
      .map((status) => `${status}: ${of.filter((one) => one.httpStatus === status).length}`)
      .join(', ');
    console.log(`${way.padEnd(22)} ${withKey ? 'key   ' : 'no key'} ${String(of.length).padStart(6)}   ${told}`);
  }
}
for (const fault of report.faults.slice(0, 20)) console.log(`FAULT ${fault}`);
console.log(report.faults.length === 0 ? 'No number was dialled twice.' : `${report.faults.length} faults`);
process.exit(report.faults.length === 0 ? 0 : 1);
