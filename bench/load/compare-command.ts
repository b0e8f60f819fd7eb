/**
 * `compare before.json after.json`: what got worse from one run to the other. Exit codes: 0 nothing is worse, 1
 * something is, by more than the tolerance, 2 they cannot be compared, 3 one of the runs could not judge.
 */
import type { Command } from 'commander';
import { comparabilityOf, unjudgedBecause } from './result/comparable.ts';
import { type ComparedMeasure, compareResults } from './result/compare.ts';
import { formatFigure } from './result/format-figure.ts';
import { ResultFault, readResult } from './result/read-result.ts';

export function addCompareCommand(program: Command): void {
  program
    .command('compare')
    .description('Tell whether the second of two stored runs is worse than the first, with 99 % confidence a measure.')
    .argument('<before.json>', 'the result to compare with')
    .argument('<after.json>', 'the result that is judged')
    .option('--tolerance <share>', 'what may get worse: 5% or 0.05', '5%')
    .option('--seed <number>', 'of the draws that the verdict rests on', '1')
    .option('--anyway', 'also where workloads or targets differ, or a run is incomplete or could not judge', false)
    .option('--json', 'print the comparison as JSON', false)
    .action((before: string, after: string, options: CompareFlags) => {
      process.exitCode = compareFiles(before, after, options);
    });
}

interface CompareFlags {
  tolerance: string;
  seed: string;
  anyway: boolean;
  json: boolean;
}

function compareFiles(beforePath: string, afterPath: string, flags: CompareFlags): number {
  try {
    const options = { tolerance: readTolerance(flags.tolerance), seed: readSeed(flags.seed) };
    const [before, after] = [readResult(beforePath), readResult(afterPath)];
    const { objections, warnings } = comparabilityOf(before, after);
    if (objections.length > 0 && !flags.anyway) {
      throw new ResultFault(
        `These runs do not compare: ${objections.join('; ')}.\nSay --anyway to compare them all the same.`,
      );
    }
    const unjudged = unjudgedBecause(before, after);
    if (unjudged !== null && !flags.anyway) {
      process.stderr.write(`There is no verdict: ${unjudged}.\nSay --anyway to compare them all the same.\n`);
      return 3;
    }
    const doubts = [...objections, ...(unjudged === null ? [] : [unjudged])].map(
      (doubt) => `Compared anyway: ${doubt}.`,
    );
    const measures = compareResults(before, after, options);
    const isWorse = measures.some(({ verdict }) => verdict.is === 'worse');
    const report = { tolerance: options.tolerance, isWorse, warnings: [...doubts, ...warnings], measures };
    process.stdout.write(flags.json ? `${JSON.stringify(report, null, 2)}\n` : textOf(report));
    return isWorse ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ResultFault)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
}

function readTolerance(text: string): number {
  const [, number, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim()) ?? [];
  if (number === undefined) throw new ResultFault(`--tolerance takes a share such as 5% or 0.05, not "${text}".`);
  return percent === '%' ? Number(number) / 100 : Number(number);
}

function readSeed(text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new ResultFault(`--seed takes a whole number, not "${text}".`);
}

const MARKS: Record<ComparedMeasure['verdict']['is'], string> = {
  'no worse': ' ',
  better: '+',
  worse: '!',
  'cannot tell': '?',
  shown: ' ',
};

interface Comparison {
  tolerance: number;
  isWorse: boolean;
  warnings: string[];
  measures: ComparedMeasure[];
}

function textOf({ tolerance, isWorse, warnings, measures }: Comparison): string {
  const rows = measures.map(({ name, kind, before, after, verdict }) =>
    [
      `${MARKS[verdict.is]} ${name.padEnd(27)}`,
      formatFigure(kind, before).padStart(12),
      formatFigure(kind, after).padStart(12),
      `   ${verdict.sentence}`,
    ].join(''),
  );
  const worse = measures.filter(({ verdict }) => verdict.is === 'worse').map(({ name }) => name);
  return [
    ...warnings,
    `  ${'measure'.padEnd(27)}${'before'.padStart(12)}${'after'.padStart(12)}   verdict`,
    ...rows,
    '',
    isWorse
      ? `Worse, by more than ${formatFigure('share', tolerance)}: ${worse.join(', ')}.`
      : `Nothing is worse by more than ${formatFigure('share', tolerance)}, as far as can be told.`,
    '',
  ].join('\n');
}
