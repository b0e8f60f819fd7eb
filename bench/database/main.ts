/**
 * `npm run bench -- database [--calls 1,100] [--repeat 5] [--against <folder>] [--statements]`: what a warm call costs
 * PostgreSQL and control: commits, statements, write-ahead log, processor time, with what the service does anyway
 * subtracted. `--against` measures another built clone beside this one, in turn. Prints a table and writes
 * `data/bench/database.json`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { packageRoot } from '../../src/config/built-entry.ts';
import { readOptions } from '../harness/options.ts';
import { percentiles } from '../harness/percentile.ts';
import { measure, type RunResult } from './measure.ts';

const { values } = readOptions({
  command: 'npm run bench -- database',
  about: 'What a call costs the database.',
  options: {
    calls: { type: 'string', default: '1,100' },
    repeat: { type: 'string', default: '5' },
    against: { type: 'string' },
    statements: { type: 'boolean', default: false },
  },
  meanings: {
    calls: '<list> how many calls at once, each measured by itself',
    repeat: '<N> repetitions',
    against: '<folder> of another clone, which is built',
    statements: 'which statements a call makes, and how often',
  },
});

interface Run extends RunResult {
  subject: string;
  calls: number;
}

const subjects = [
  ...(values.against === undefined ? [] : [{ name: 'before', root: resolve(values.against) }]),
  { name: values.against === undefined ? 'here' : 'after', root: packageRoot() },
];
const counts = values.calls.split(',').map(Number);
const runs: Run[] = [];
for (let round = 1; round <= Number(values.repeat); round++) {
  // Interleaved, so that a slow spell of the machine falls on all of them.
  for (const calls of counts) {
    for (const { name, root } of subjects) {
      const run = { subject: name, calls, ...(await measure(root, calls)) };
      runs.push(run);
      process.stderr.write(
        `round ${round}, ${name}, ${calls} calls: ${run.call.commits.toFixed(1)} commits, ${run.call.statements.toFixed(1)} statements a call\n`,
      );
    }
  }
}

const ROWS: readonly (readonly [string, number, (run: RunResult) => number])[] = [
  ['commits a call', 1, ({ call }) => call.commits],
  ['of those, starts of sessions', 1, ({ call }) => call.sessions],
  ['statements a call', 1, ({ call }) => call.statements],
  ['write-ahead log, kB a call', 0, ({ call }) => call.walBytes / 1024],
  ['CPU of control, ms a call', 0, ({ call }) => call.controlCpuMs],
  ['CPU of PostgreSQL, ms a call', 0, ({ call }) => call.postgresCpuMs],
  ['CPU of both, ms a call', 0, ({ call }) => call.controlCpuMs + call.postgresCpuMs],
  ['idle: commits a second', 2, ({ idle }) => idle.commits],
  ['idle: CPU of both, ms a second', 1, ({ idle }) => idle.controlCpuMs + idle.postgresCpuMs],
];
for (const calls of counts) {
  console.log(`\n${calls} ${calls === 1 ? 'call' : 'calls at once'}; median [least–most] of ${values.repeat}`);
  console.log(`${''.padEnd(34)}${subjects.map(({ name }) => name.padEnd(24)).join('')}`);
  for (const [row, digits, figure] of ROWS) {
    const cells = subjects.map(({ name }) => {
      const all = runs.filter((run) => run.subject === name && run.calls === calls).map(figure);
      const [least, median, most] = percentiles(all, [0, 0.5, 1]).map((value) => value.toFixed(digits));
      return `${median} [${least}–${most}]`.padEnd(24);
    });
    console.log(`${row.padEnd(34)}${cells.join('')}`);
  }
}
if (values.statements) {
  for (const { subject, calls, byText } of runs.slice(-subjects.length * counts.length)) {
    console.log(`\nstatements a call: ${subject}, ${calls} calls (times, ms at the server)`);
    for (const { text, calls: times, ms } of byText)
      console.log(`${times.toFixed(2).padStart(7)} ${ms.toFixed(2).padStart(7)}  ${text.slice(0, 150)}`);
  }
}
mkdirSync('data/bench', { recursive: true });
writeFileSync('data/bench/database.json', JSON.stringify(runs, null, 2));
process.stdout.write('\nwritten: data/bench/database.json\n');
process.exit(0);
