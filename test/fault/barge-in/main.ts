/**
 * `npm run fault -- barge-in [--set held-out] [--cases 120] [--seed 1]`: interruptions, assent in two languages and
 * noises, talked and made into the words of an agent that converses, over emulated providers in real time. Ends with
 * code 1 when fewer than 95 % of the interruptions stop it, more than 5 % of the rest do, or old words are heard after
 * a stop.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { readOptions } from '../../../bench/harness/options.ts';
import { EARS, type EarName, planCases } from './plan.ts';
import { runBargeIn } from './run.ts';
import { type Tally, tableOf, tallyOf } from './table.ts';
import type { Verdict } from './verdict.ts';

const { values } = readOptions({
  command: 'npm run fault -- barge-in',
  about:
    'Callers who talk, murmur and cough into the words of an agent: who stops it, how soon, and what is heard after?',
  options: {
    set: { type: 'string', default: 'held-out' },
    cases: { type: 'string', default: '120' },
    seed: { type: 'string', default: '1' },
    'at-once': { type: 'string', default: '6' },
    ear: { type: 'string', default: 'both' },
    only: { type: 'string', default: '' },
    keep: { type: 'string' },
  },
  meanings: {
    set: '<name> held-out, or tuning: other words, voices and noises, to set rules by',
    cases: '<N> calls of one case each',
    seed: '<N> the same cases again',
    'at-once': '<N> calls at the same time',
    ear: '<name> deepgram, deepgram-flux, or both in turn',
    only: '<kinds> such as word,cough',
    keep: '<folder> for recordings and events of the calls',
  },
});
const { set } = values;
if (set !== 'held-out' && set !== 'tuning') throw new Error(`--set is held-out or tuning, not ${set}`);
const ears = values.ear === 'both' ? EARS : [values.ear as EarName];
if (!ears.every((ear) => EARS.includes(ear))) throw new Error(`--ear is ${EARS.join(', ')} or both, not ${values.ear}`);
const only = values.only.split(',').filter((kind) => kind !== '');
const cases = planCases(set, Number(values.cases), Number(values.seed), ears).filter(
  ({ kind }) => only.length === 0 || only.includes(kind),
);

function shares({ stoppedShare, interruptions, falseStopShare, others }: Tally): string {
  return (
    `${(100 * stoppedShare).toFixed(1)} % of ${interruptions} interruptions stop the agent, ` +
    `${(100 * falseStopShare).toFixed(1)} % of ${others} other sounds do`
  );
}

function lineOf({
  one,
  outcome,
  isRight,
  silentAfterMs,
  decidedAfterMs,
  staleFrames,
  heardCutMs,
  heard,
}: Verdict): string {
  const ms = (value: number | null): string => (value === null ? '–' : String(Math.round(value))).padStart(5);
  const what = `${one.kind.padEnd(9)} ${one.ear === 'deepgram' ? 'v1  ' : 'flux'} “${one.says}”`.padEnd(58);
  return `${isRight ? '  ' : '✗ '}${what} ${outcome.padEnd(13)}${ms(silentAfterMs)}${ms(decidedAfterMs)}${ms(heardCutMs)}  ${staleFrames > 0 ? `${staleFrames} stale  ` : ''}[${heard}] ${one.snrDb} dB`;
}

const report = await runBargeIn({
  set,
  cases,
  atOnce: Number(values['at-once']),
  ...(values.keep === undefined ? {} : { keepIn: values.keep }),
  told: (verdict) => process.stderr.write(`${lineOf(verdict)}\n`),
  log: (line) => process.stderr.write(`${line}\n`),
});
const tally = tallyOf(report.verdicts);
const ofUnderstood = tallyOf(report.verdicts.filter(({ one }) => !report.misheard.includes(one.id)));
console.log(`${set} set, seed ${values.seed}: ${report.verdicts.length} cases, ${values['at-once']} at once`);
if (!report.hasEspeak) console.log('espeak-ng is not there: German was read by an English voice');
console.log(
  `${report.recast} clips were given another speaker, ${report.moved} a quieter room: by itself the recogniser understands each`,
);
console.log(`the emulated carrier ran at most ${Math.round(report.maxLatenessMs)} ms late\n`);
for (const line of tableOf(report.verdicts)) console.log(line);
console.log('');
for (const fault of report.faults) console.log(`FAULT ${fault}`);
for (const verdict of report.verdicts.filter(({ isRight }) => !isRight)) console.log(lineOf(verdict));
const isGood =
  report.faults.length === 0 &&
  ofUnderstood.stoppedShare >= 0.95 &&
  ofUnderstood.falseStopShare <= 0.05 &&
  tally.staleFrames === 0 &&
  tally.stuck === 0;
console.log(
  `${shares(tally)}; ${tally.staleFrames} stale frames\n` +
    `in ${report.misheard.length} clips the recogniser hears other words by itself; without them: ${shares(ofUnderstood)}`,
);
mkdirSync('data/bench', { recursive: true });
writeFileSync(
  'data/bench/barge-in.json',
  JSON.stringify({ node: process.version, set, seed: values.seed, ...report }, null, 1),
);
process.exit(isGood ? 0 : 1);
