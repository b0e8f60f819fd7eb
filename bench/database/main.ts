/**
 * `npm run bench -- database [--calls 1,100] [--repeat 5] [--against <folder>] [--statements] [--floor]`: what a warm
 * call costs PostgreSQL and control: commits, statements, write-ahead log, processor time, with what the service does
 * anyway subtracted. `--against` measures another built clone in the same seconds. Prints a table and writes
 * `data/bench/database.json`. Five repetitions of both take less than ten minutes.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageRoot } from '../../src/config/built-entry.ts';
import { readNumber, readOptions, wrongValue } from '../harness/options.ts';
import { percentiles } from '../harness/percentile.ts';
import { startFloor } from './floor.ts';
import { type Figures, measure } from './measure.ts';
import { startSubject } from './subject.ts';

const { values } = readOptions({
  command: 'npm run bench -- database',
  about: 'What a call costs the database.',
  options: {
    calls: { type: 'string', default: '1,100' },
    repeat: { type: 'string', default: '5' },
    against: { type: 'string' },
    floor: { type: 'boolean', default: false },
    statements: { type: 'boolean', default: false },
  },
  meanings: {
    calls: '<list> how many calls at once, each measured by itself',
    repeat: '<N> repetitions',
    against: '<folder> of another clone, which is built',
    floor: 'beside a bare loop of as many statements, commits and posts',
    statements: 'which statements a call makes, and how often',
  },
});

const ONE = { least: 1, isWhole: true };
if (values.against !== undefined && !existsSync(join(values.against, 'dist/bench/harness/gateway.js')))
  wrongValue(`--against: there is no built clone at ${resolve(values.against)} (npm run build there)`);
const folders = [
  ...(values.against === undefined ? [] : [['before', resolve(values.against)] as const]),
  [values.against === undefined ? 'here' : 'after', packageRoot()] as const,
];
const counts = values.calls.split(',').map((count) => readNumber('calls', count, ONE));
const rounds = readNumber('repeat', values.repeat, ONE);
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const subjects = await Promise.all([
  ...folders.map(([name, root]) => startSubject(name, root)),
  ...(values.floor ? [startFloor()] : []),
]);
const runs = await measure(subjects, { calls: counts, rounds, said: say });
for (const subject of subjects) await subject.stop();

type Row = readonly [name: string, digits: number, of: (figures: Figures) => number];
const ROWS: readonly Row[] = [
  ['statements a call', 1, ({ statements }) => statements],
  ['commits a call', 1, ({ commits }) => commits],
  ['of those, starts of sessions', 1, ({ sessions }) => sessions],
  ['write-ahead log, kB a call', 1, ({ walBytes }) => walBytes / 1024],
  ['CPU of control, ms a call', 1, ({ controlMs }) => controlMs],
  ['CPU of PostgreSQL, ms a call', 1, ({ postgresMs }) => postgresMs],
  ['CPU of both, ms a call', 1, ({ controlMs, postgresMs }) => controlMs + postgresMs],
];
const IDLE_ROWS: readonly Row[] = [
  ['commits a second', 2, ({ commits }) => commits],
  ['statements a second', 2, ({ statements }) => statements],
  ['CPU of both, ms a second', 1, ({ controlMs, postgresMs }) => controlMs + postgresMs],
];
for (const calls of [...counts, 0]) {
  const title = calls === 0 ? 'idle' : calls === 1 ? '1 call' : `${calls} calls at once`;
  console.log(`\n${title}; median [least–most] of ${rounds}`);
  console.log(`${''.padEnd(34)}${subjects.map(({ name }) => name.padEnd(26)).join('')}`);
  for (const [row, digits, of] of calls === 0 ? IDLE_ROWS : ROWS) {
    const cells = subjects.map(({ name }) => {
      const all = runs.filter((run) => run.subject === name && run.calls === calls).map(({ figures }) => of(figures));
      const [least, median, most] = percentiles(all, [0, 0.5, 1]).map((value) => value.toFixed(digits));
      return `${median} [${least}–${most}]`.padEnd(26);
    });
    console.log(`${row.padEnd(34)}${cells.join('')}`);
  }
}
if (values.statements) {
  for (const { subject, calls, byText } of runs.filter(
    ({ round, calls }) => calls > 0 && round === Number(values.repeat),
  )) {
    console.log(`\nstatements a call: ${subject}, ${calls} calls (times, ms at the server)`);
    for (const { text, calls: times, ms } of byText)
      console.log(`${times.toFixed(2).padStart(7)} ${ms.toFixed(2).padStart(7)}  ${text.slice(0, 150)}`);
  }
}
mkdirSync('data/bench', { recursive: true });
writeFileSync('data/bench/database.json', JSON.stringify(runs, null, 2));
say('written: data/bench/database.json');
process.exit(0);
