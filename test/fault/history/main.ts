/**
 * `npm run fault -- history [--events 10000] [--calls 900] [--seeds 1,2,3] [--rate 30]`: webhooks under a nemesis, on
 * both queues (Redis when there is a redis-server). `--calls` of a seed are placed through the emulated carrier; what
 * lacks in events comes from calls that are ended in the database. Exit code 1 when anything was lost, invented, out of
 * order or ended twice.
 */

import { readNames, readOptions } from '../../../bench/harness/options.ts';
import { violationLines } from '../judge/history-checker.ts';
import { runHistory } from './run.ts';
import { EVENTS_PER_TERMINATION } from './terminations.ts';

/** Of each placed call at least the ringing and the end; of each that is ended in the database exactly so many. */
const LEAST_EVENTS_PLACED = 2;
const { values } = readOptions({
  command: 'npm run fault -- history',
  about: 'Webhooks under a nemesis: is anything lost, invented, out of order?',
  options: {
    events: { type: 'string', default: '10000' },
    seeds: { type: 'string', default: `1,2,3,${Date.now() % 1_000_000}` },
    calls: { type: 'string', default: '900' },
    rate: { type: 'string', default: '30' },
    queue: { type: 'string', default: 'postgres,redis' },
  },
  meanings: {
    events: '<N> events',
    seeds: '<list> one run each',
    calls: '<N> calls of a run',
    rate: '<N> calls a second',
    queue: '<list> of postgres, redis',
  },
});
let sound = true;
for (const queue of readNames('queue', values.queue, ['postgres', 'redis'])) {
  const startedAtMs = performance.now();
  const reports = await runHistory({
    queue,
    seeds: values.seeds.split(',').map(Number),
    calls: Number(values.calls),
    terminations: Math.max(
      0,
      Math.ceil((Number(values.events) - LEAST_EVENTS_PLACED * Number(values.calls)) / EVENTS_PER_TERMINATION),
    ),
    callsPerSecond: Number(values.rate),
    log: (line) => process.stderr.write(`${line}\n`),
  });
  for (const { seed, events, requests, refusedWith, steps, missed, violations } of reports) {
    const struck = steps.map(({ victim, act }) => (victim === 'receiver' ? act : victim)).join(', ');
    console.log(
      `${queue} seed ${seed}: ${events} events in ${requests} requests; ${struck}; ${missed} found their victim gone; ${violations.length} violations`,
    );
    if (refusedWith.length > 0)
      console.log(`  ${refusedWith.length} placements refused: ${[...new Set(refusedWith)].join(', ')}`);
    for (const line of violationLines(violations)) console.log(`  ${line}`);
    // Some outlast a client's patience; where none is let in, nothing was looked at.
    sound &&= violations.length === 0 && refusedWith.length < Number(values.calls) / 2;
  }
  console.log(`${queue}: ${Math.round((performance.now() - startedAtMs) / 1_000)} s`);
}
process.exit(sound ? 0 : 1);
