/**
 * The race's tables, as Markdown: what each subject carries, what a conversation costs it, how it answers. Medians with
 * the smallest and the largest of the repetitions; runs that are void are left out where others are not. Pure.
 */
import { percentile, percentiles } from '../harness/percentile.ts';
import { SCRIPTED_MS, WORK_MS } from './conversation.ts';
import type { Climb } from './ladder.ts';
import type { RungResult } from './rung.ts';

const MEGABYTE = 1e6;

export function tablesOf(results: readonly RungResult[], climbs: readonly Climb[]): string {
  const subjects = [...new Set(results.map(({ subject }) => subject))];
  const carried = subjects.flatMap((subject) => {
    const own = climbs.filter((one) => one.subject === subject);
    if (own.length === 0) return [];
    const brokeBy = [...new Set(own.map(({ brokeBy, endedBy }) => brokeBy ?? endedBy ?? 'nothing'))];
    const sign = own.some(({ brokeBy }) => brokeBy === null) ? 'at least ' : '';
    const all = own.map(({ carried: count }) => count);
    return [[subject, `${sign}${spread(all, 0)}`, brokeBy.join('; ')]];
  });
  const costs = subjects.flatMap((subject) => rungsOf(results, subject).map((runs) => costRow(subject, runs)));
  const replies = subjects.flatMap((subject) => rungsOf(results, subject).map((runs) => replyRow(subject, runs)));
  return [
    table(['subject', 'conversations a core', 'broke by'], carried),
    table(
      ['subject', 'at once', 'CPU ms a conversation-second', 'of the core, %', 'MB a conversation', 'MB idle'],
      costs,
    ),
    `Replies, ms. The providers alone take ${SCRIPTED_MS}: their work ${WORK_MS}, and the recogniser's pause.`,
    'Own is what a reply takes beyond their work: patience, whoever has it, and what the subject does itself.\n',
    table(
      [
        'subject',
        'at once',
        'reply p50',
        'own p50',
        'p99',
        'replies',
        'no answer',
        'over 2 s',
        'too early',
        'silenced p50',
        'p95',
        'talked over',
        'sound late, %',
      ],
      replies,
    ),
  ].join('\n');
}

const BEGIN = '<!-- tables of the race -->\n';
const END = '<!-- end of the tables -->';

/** A page with other tables between its marks; throws where it has none. */
export function withTables(page: string, tables: string): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`the page needs the lines ${BEGIN.trim()} and ${END} for its tables`);
  return `${page.slice(0, from + BEGIN.length)}\n${tables}${page.slice(to)}`;
}

function rungsOf(results: readonly RungResult[], subject: string): RungResult[][] {
  const own = results.filter((one) => one.subject === subject);
  const rungs = [...new Set(own.map(placeOf))].sort((a, b) => a - b);
  return rungs.map((rung) => {
    const all = own.filter((one) => placeOf(one) === rung);
    const valid = all.filter(({ voidBecause }) => voidBecause === null);
    return valid.length > 0 ? valid : all;
  });
}

/** Runs at rest first: they are none of the ladder's. */
const placeOf = ({ conversations, isAtRest }: RungResult): number => (isAtRest ? 0 : conversations);

function costRow(subject: string, runs: readonly RungResult[]): string[] {
  const of = (value: (run: RungResult) => number, digits: number): string => spread(runs.map(value), digits);
  return [
    subject,
    atOnce(runs),
    of(({ cpuMs }) => cpuMs, 2),
    of(({ coreShare }) => coreShare * 100, 0),
    of(({ memoryBytes }) => memoryBytes / MEGABYTE, 2),
    of(({ idleBytes }) => idleBytes / MEGABYTE, 0),
  ];
}

function replyRow(subject: string, runs: readonly RungResult[]): string[] {
  const sum = (value: (run: RungResult) => number): number => runs.reduce((total, run) => total + value(run), 0);
  const repliesMs = runs.flatMap(({ heard }) => heard.repliesMs);
  const silencedMs = runs.flatMap(({ heard }) => heard.silencedMs);
  const late =
    sum(({ heard }) => heard.lateMs) /
    Math.max(
      1,
      sum(({ heard }) => heard.playedMs),
    );
  const halfMs = runs.map(({ heard }) => percentile(heard.repliesMs, 0.5));
  return [
    subject,
    atOnce(runs),
    spread(halfMs, 0),
    spread(
      halfMs.map((ms) => ms - WORK_MS),
      0,
    ),
    shown(percentile(repliesMs, 0.99), 0),
    String(repliesMs.length),
    String(sum(({ heard }) => heard.unanswered)),
    String(repliesMs.filter((ms) => ms > 2_000).length + sum(({ heard }) => heard.unanswered)),
    String(sum(({ heard }) => heard.tooEarly)),
    shown(percentile(silencedMs, 0.5), 0),
    shown(percentile(silencedMs, 0.95), 0),
    `${sum(({ heard }) => heard.talkedOver)} of ${sum(({ heard }) => heard.talkedOver) + silencedMs.length}`,
    shown(late * 100, 2),
  ];
}

function atOnce(runs: readonly RungResult[]): string {
  const { conversations, isAtRest } = runs[0]!;
  const isVoid = runs.every(({ voidBecause }) => voidBecause !== null);
  return `${conversations}${isAtRest ? ', at rest' : ''}${isVoid ? ' (void)' : ''}`;
}

function spread(values: readonly number[], digits: number): string {
  const [min, median, max] = percentiles(values, [0, 0.5, 1]);
  const one = shown(median!, digits);
  return values.length < 2 ? one : `${one} [${shown(min!, digits)}–${shown(max!, digits)}]`;
}

const shown = (value: number, digits: number): string => (Number.isNaN(value) ? '–' : value.toFixed(digits));

function table(head: readonly string[], rows: readonly string[][]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''].join('\n');
}
