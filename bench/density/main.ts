/**
 * `npm run bench -- density [--repetitions 5] [--quick] [--out docs/density.md]`: calls a core and memory a call for
 * each kind of agent and codec, CPU and commits of the whole service, uWebSockets.js alone beside ours, and what limits
 * each. Runs on this machine by itself; writes the card and, beside it, a JSON of all runs. Ends with 3 where a row
 * could not be judged in any repetition, with 130 after Ctrl-C; then nothing is written.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { readNames, readNumber, readOptions } from '../harness/options.ts';
import { EXIT } from '../load/run/exit-code.ts';
import { cardOf } from './card.ts';
import { type DensityResult, densitySchema } from './density-result.ts';
import { KINDS } from './kinds.ts';
import { measureDensity, NothingJudged } from './measure-density.ts';
import { validRuns } from './reckon.ts';

const IDS = KINDS.map(({ id }) => id);
/** What mu-law costs, phones show; it is left out so that the whole stays below half an hour. */
const DEFAULT_IDS = IDS.filter((id) => id !== 'web-mulaw');
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const { values } = readOptions({
  command: 'npm run bench -- density',
  about: 'Calls a core and memory a call for each kind of agent and codec, and what limits each.',
  options: {
    repetitions: { type: 'string', default: '5' },
    quick: { type: 'boolean', default: false },
    out: { type: 'string', default: 'docs/density.md' },
    rows: { type: 'string', default: DEFAULT_IDS.join(',') },
    'knee-repetitions': { type: 'string', default: '1' },
    'no-sockets': { type: 'boolean', default: false },
    'data-dir': { type: 'string', default: 'data/bench/density' },
    from: { type: 'string' },
  },
  meanings: {
    repetitions: '<N> of each row, in turn',
    quick: 'one repetition, no memory and no knees: a look, and no card to quote',
    out: '<file> the card; a JSON of the same name lies beside it',
    rows: `<list> of ${IDS.join(', ')}`,
    'knee-repetitions': '<N> tries at the edge of a knee; 0: no knees',
    'no-sockets': 'rows alone: no uWebSockets.js by itself, no bare media process',
    'data-dir': '<folder> of the service that is measured',
    from: '<file> make the card of a stored JSON again; nothing is measured',
  },
});

const jsonOf = (card: string): string => `${card.replace(/\.md$/, '')}.json`;

function write(result: DensityResult): void {
  mkdirSync(dirname(values.out), { recursive: true });
  writeFileSync(values.out, cardOf(result));
  writeFileSync(jsonOf(values.out), `${JSON.stringify(result, null, 1)}\n`);
  process.stdout.write(`written: ${values.out}\nwritten: ${jsonOf(values.out)}\n`);
}

const countOf = (option: 'repetitions' | 'knee-repetitions', least: number): number =>
  readNumber(option, values[option], { least, isWhole: true });

if (values.from !== undefined) {
  write(densitySchema.parse(JSON.parse(readFileSync(values.from, 'utf8'))));
  process.exit(EXIT.well);
}
const rows = readNames('rows', values.rows, IDS);
const stopped = new AbortController();
process.once('SIGINT', () => stopped.abort());
process.once('SIGTERM', () => stopped.abort());
try {
  const result = await measureDensity({
    kinds: KINDS.filter(({ id }) => rows.includes(id)),
    repetitions: values.quick ? 1 : countOf('repetitions', 1),
    kneeRepetitions: values.quick ? 0 : countOf('knee-repetitions', 0),
    isQuick: values.quick,
    withSockets: !values['no-sockets'],
    withMemory: !values.quick,
    dataDir: values['data-dir'],
    signal: stopped.signal,
    say,
  });
  write(result);
  const unjudged = result.rows.filter((row) => row.runs.length > 0 && validRuns(row).length === 0);
  for (const { agent, codec, runs } of unjudged) say(`not judged: ${agent}, ${codec}: ${runs[0]!.voidBecause}`);
  process.exit(unjudged.length === 0 ? EXIT.well : EXIT.notJudged);
} catch (error) {
  if (stopped.signal.aborted) {
    say('stopped; nothing is written');
    process.exit(EXIT.interrupted);
  }
  if (!(error instanceof NothingJudged)) throw error;
  say(`nothing could be judged, and nothing is written: ${error.message}`);
  process.exit(EXIT.notJudged);
}
