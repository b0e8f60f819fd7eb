/**
 * `npm run bench -- calls [--calls 300] [--seconds 10] [--repeat 5] [--subjects naive,floor,uws,uws60,ws] [--knee]
 * [--knee-of …] [--record] [--tls]`: what a call costs in our gateway and in the one that published examples show,
 * side by side in one run; and how many calls fit on this machine before lateness breaks (`--knee`). `--record`
 * measures what recording costs beside it: the same media process with and without it, in turn. `--tls`: what TLS
 * costs, of uWebSockets.js's own and in a proxy before us. Prints a table and writes `data/bench/calls.json`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { readOptions } from '../harness/options.ts';
import { findKnee, type Knee } from './knee.ts';
import { measure, type RunResult } from './measure.ts';
import {
  behindTlsProxy,
  type Subject,
  startMediaProcess,
  startNaiveGateway,
  startUwsFloor,
  startUwsFloorWithTls,
} from './subjects.ts';
import { printKnees, printSummary } from './table.ts';

const startOurs = (): Promise<Subject> => startMediaProcess('uws', 1);

const STARTERS: Record<string, () => Promise<Subject>> = {
  naive: startNaiveGateway,
  floor: startUwsFloor,
  'floor-tls': startUwsFloorWithTls,
  uws: startOurs,
  'uws-nginx': () => behindTlsProxy('nginx', startOurs),
  'uws-haproxy': () => behindTlsProxy('haproxy', startOurs),
  uws60: () => startMediaProcess('uws', 3),
  ws: () => startMediaProcess('ws', 1),
  recorded: () => startMediaProcess('uws', 1, 'warn', true),
};
const WARM_UP_MS = 3_000;
const KNEE_MEASURE_MS = 5_000;
/** Calls begin at the same times in each repetition of each subject. */
const SEED = 2026;

const { values } = readOptions({
  command: 'npm run bench -- calls',
  about: 'What a call costs, beside a naive gateway.',
  options: {
    calls: { type: 'string', default: '300' },
    seconds: { type: 'string', default: '10' },
    repeat: { type: 'string', default: '5' },
    subjects: { type: 'string' },
    knee: { type: 'boolean', default: false },
    'knee-of': { type: 'string' },
    record: { type: 'boolean', default: false },
    tls: { type: 'boolean', default: false },
  },
  meanings: {
    calls: '<N> calls at once',
    seconds: '<N> how long each run is measured',
    repeat: '<N> repetitions',
    subjects:
      '<list> of naive, floor (uWebSockets.js alone), floor-tls, uws, uws60, uws-nginx, uws-haproxy, ws, recorded',
    knee: 'find how many calls each subject carries',
    'knee-of': '<list> and only these',
    record: 'what recording costs: uws beside the same with the recorder at work',
    tls: 'what TLS costs: uWebSockets.js alone with its own, and ours behind nginx and HAProxy',
  },
});
const usual = values.record
  ? 'uws,recorded'
  : values.tls
    ? 'floor,floor-tls,uws,uws-nginx,uws-haproxy'
    : 'naive,floor,uws,uws60,ws';
const names = (values.subjects ?? usual).split(',');
const kneeNames = values['knee-of']?.split(',') ?? names;
for (const name of [...names, ...kneeNames]) {
  if (!STARTERS[name]) throw new Error(`--subjects knows ${Object.keys(STARTERS).join(', ')}, not ${name}`);
}

async function runOnce(name: string, calls: number, measureMs: number): Promise<RunResult> {
  const subject = await STARTERS[name]!();
  try {
    return await measure(subject, { calls, warmUpMs: WARM_UP_MS, measureMs, seed: SEED });
  } finally {
    await subject.stop();
  }
}

const results: RunResult[] = [];
for (let round = 1; round <= Number(values.repeat); round++) {
  // Interleaved, so that a slow spell of the machine falls on all of them.
  for (const name of names) {
    const result = await runOnce(name, Number(values.calls), Number(values.seconds) * 1000);
    results.push(result);
    process.stderr.write(
      `round ${round} ${result.subject}: ${result.cpuMsPerCallSecond.toFixed(2)} ms CPU per call-second${result.voidBecause === null ? '' : ` (void: ${result.voidBecause})`}\n`,
    );
  }
}
printSummary(results);

const knees: Knee[] = [];
if (values.knee || values['knee-of'] !== undefined) {
  for (const name of kneeNames) knees.push(await findKnee(name, (calls) => runOnce(name, calls, KNEE_MEASURE_MS)));
  printKnees(knees);
}
mkdirSync('data/bench', { recursive: true });
writeFileSync('data/bench/calls.json', JSON.stringify({ node: process.version, results, knees }, null, 2));
process.stdout.write('\nwritten: data/bench/calls.json\n');
process.exit(0);
