/**
 * A result for a terminal of 100 columns: what was asked and what came, whether the tool may be believed, delays,
 * sound, what the target used, what to look at. Used when a run is over and by `report`.
 */
import type { RunResult } from '../contract/run-result.ts';
import type { JudgedCondition } from './fail-if.ts';
import { formatAt, formatFigure, NO_FIGURE } from './format-figure.ts';
import { TIME_MEASURES, TOOL_TIMES } from './measures.ts';
import { headOfTrends, sayTrend } from './trends.ts';
import { askedOf, cameOf, verdictsOf } from './words.ts';

const COLUMNS = 100;
const NAME_COLUMNS = 20;
const FIGURE_COLUMNS = 11;
const MOST_CODES = 8;
const MOST_WORST = 5;
const MOST_THREADS = 6;
const LEAST_THREAD_MS = 100;

/** Ends with a line break. */
export function tableOf(result: RunResult, conditions: readonly JudgedCondition[] = []): string {
  const blocks = [
    headOf(result),
    callsOf(result),
    delaysOf(result),
    soundOf(result),
    usageOf(result),
    trendsOf(result),
    kneeOf(result),
    worstOf(result),
    result.warnings.flatMap((warning) => wrapped(`warning: ${warning}`)),
    conditions.flatMap(({ isTrue, sentence }) => wrapped(`${isTrue ? 'FAIL' : 'ok  '} ${sentence}`)),
    verdictsOf(result, conditions).flatMap(({ sentence }) => wrapped(sentence)),
  ];
  const filled = blocks
    .filter((block) => block.length > 0)
    .map((block) => block.map((line) => cut(printable(line))).join('\n'));
  return `${filled.join('\n\n')}\n`;
}

/** What a target says is foreign text: nothing of it steers the terminal. */
const printable = (line: string): string => line.replace(/[\p{Cc}\p{Cf}]/gu, '?');

function headOf(result: RunResult): string[] {
  const { target, workload } = result;
  return [
    ...wrapped(`${workload.name}: ${target.kind} at ${target.address}, ${result.startedAt}`),
    ...wrapped(askedOf(result)),
    ...wrapped(cameOf(result)),
  ];
}

function callsOf({ calls }: RunResult): string[] {
  const fates = [
    ['planned', calls.planned],
    ['talked', calls.talked],
    ['unanswered (planned)', calls.unanswered],
    ['refused', calls.refused],
    ['failed', calls.failed],
    ['lost', calls.lost],
    ['held back', calls.heldBack],
    ['cut by the stop', calls.cut],
  ] as const;
  const shown = fates.filter(([name, count]) => count > 0 || name === 'planned' || name === 'talked');
  return [
    'calls',
    ...shown.map(([name, count]) => row(name, [formatFigure('count', count)])),
    ...codesOf('refused', calls.refusedBy),
    ...codesOf(calls.lost > 0 ? 'failed or lost' : 'failed', calls.failedBy),
  ];
}

function codesOf(fate: string, codes: Record<string, number>): string[] {
  const sorted = Object.entries(codes).sort(([, a], [, b]) => b - a);
  const lines = sorted
    .slice(0, MOST_CODES)
    .map(([code, count]) => cut(`  ${fate}: ${formatFigure('count', count)} × ${code}`));
  return sorted.length > MOST_CODES ? [...lines, `  ${fate}: ${sorted.length - MOST_CODES} more codes`] : lines;
}

function delaysOf(result: RunResult): string[] {
  const measured = [...TIME_MEASURES, ...TOOL_TIMES]
    .map((measure) => ({ title: measure.title, times: measure.of(result) }))
    .filter(({ times }) => times.count > 0);
  if (measured.length === 0) return [];
  const time = (value: number | null): string => formatFigure('time', value);
  return [
    row('', ['count', 'p50', 'p90', 'p95', 'p99', 'p99.9', 'max']),
    ...measured.map(({ title, times }) =>
      row(title.replace('Tool: ', 'tool: '), [
        formatFigure('count', times.count),
        ...[times.p50, times.p90, times.p95, times.p99, times.p999, times.max].map(time),
      ]),
    ),
  ];
}

function soundOf({ measures }: RunResult): string[] {
  const { bargeIns, bargeInsThatStopped, gapsPerCallMinute, realTimeShareMean, realTimeShareWorst } = measures;
  const rows: [string, string | null][] = [
    ['gaps a call minute', gapsPerCallMinute === null ? null : formatFigure('rate', gapsPerCallMinute)],
    [
      'share of real time',
      realTimeShareMean === null
        ? null
        : `${formatFigure('share', realTimeShareMean)}, worst call ${formatFigure('share', realTimeShareWorst)}`,
    ],
    ['audio lost', measures.lostShare === null ? null : formatFigure('share', measures.lostShare)],
    ['audio repeated', measures.repeatedShare === null ? null : formatFigure('share', measures.repeatedShare)],
    ['interruptions', bargeIns === 0 ? null : `${bargeInsThatStopped} of ${bargeIns} stopped the target`],
    ['turns unanswered', measures.turnsUnanswered === 0 ? null : formatFigure('count', measures.turnsUnanswered)],
  ];
  const shown = rows.filter((one): one is [string, string] => one[1] !== null);
  return shown.length === 0
    ? []
    : ['sound', ...shown.map(([name, text]) => `${`  ${name}`.padEnd(NAME_COLUMNS + 4)}${text}`)];
}

function usageOf({ usage }: RunResult): string[] {
  const figures: [string, string][] = [
    ['CPU ms, call second', formatFigure('rate', usage.cpuMsPerCallSecond)],
    ['memory a call', formatFigure('bytes', usage.residentBytesPerCall)],
    ['garbage a frame pair', formatFigure('bytes', usage.garbageBytesPerFramePair)],
    ['commits a call', formatFigure('rate', usage.commitsPerCall)],
    ['log (WAL) a call', formatFigure('bytes', usage.walBytesPerCall)],
  ];
  const shown = figures.filter(([, text]) => text !== NO_FIGURE).map(([name, text]) => row(name, [text]));
  const processes = usage.processes.map(({ name, cpuMeanCores, cpuMaxCores, residentMaxBytes }) =>
    row(name, [
      formatFigure('rate', cpuMeanCores),
      formatFigure('rate', cpuMaxCores),
      formatFigure('bytes', residentMaxBytes),
    ]),
  );
  if (processes.length > 0) processes.unshift(row('processes', ['mean cores', 'most cores', 'memory']));
  return [...shown, ...processes, ...threadsOf(usage)];
}

/** `  threads of media-0    main 12.1 s, pipeline-0 8.0 s` */
function threadsOf({ threads }: RunResult['usage']): string[] {
  const names = [...new Set(threads.map(({ process }) => process))];
  return names.flatMap((name) => {
    const own = threads.filter(({ process, cpuMs }) => process === name && cpuMs >= LEAST_THREAD_MS);
    if (own.length < 2) return [];
    const told = own.slice(0, MOST_THREADS).map(({ thread, cpuMs }) => `${thread} ${(cpuMs / 1_000).toFixed(1)} s`);
    return wrapped(`${`threads of ${name}`.padEnd(NAME_COLUMNS)} ${told.join(', ')}`, '  ');
  });
}

function trendsOf({ trends }: RunResult): string[] {
  if (trends.length === 0) return [];
  const rows = trends.map((trend) => {
    const { slope, verdict } = sayTrend(trend);
    return `  ${trend.name.padEnd(NAME_COLUMNS + 4)}${slope}: ${verdict}`;
  });
  return [headOfTrends(trends), ...rows];
}

function kneeOf({ knee }: RunResult): string[] {
  if (knee === null) return [];
  const what = knee.of === 'calls' ? 'calls at once' : 'calls a second';
  const carried = formatFigure('rate', knee.carried);
  const spread =
    knee.low === null ? '' : `, between ${formatFigure('rate', knee.low)} and ${formatFigure('rate', knee.high)}`;
  return [
    `knee: ${carried} ${what} carried well${spread}; ${formatFigure('rate', knee.notCarried)} not`,
    row('load', ['reply p95', 'late p99', 'gaps/min', 'errors', 'cores']),
    ...knee.steps.map((step) =>
      cut(
        `${row(`${step.good ? ' ' : '!'} ${formatFigure('rate', step.load)}`, [
          formatFigure('time', step.replyP95Ms),
          formatFigure('time', step.frameLateP99Ms),
          formatFigure('rate', step.gapsPerCallMinute),
          formatFigure('share', step.errorShare),
          formatFigure('rate', step.cpuCores),
        ])}${step.why.length === 0 ? '' : `  ${step.why.join('; ')}`}`,
      ),
    ),
  ];
}

function worstOf({ worst }: RunResult): string[] {
  if (worst.length === 0) return [];
  const lines = worst.slice(0, MOST_WORST).flatMap(({ index, caller, answeredAtMs, why }) => {
    const when = answeredAtMs === null ? '' : `, at ${formatAt(answeredAtMs)}`;
    return wrapped(`call ${index} (${caller}${when}): ${why.join(' ')}`, '  ');
  });
  return ['calls that stood out', ...lines];
}

function row(name: string, figures: readonly string[]): string {
  return `  ${name.padEnd(NAME_COLUMNS)}${figures.map((text) => text.padStart(FIGURE_COLUMNS)).join('')}`.trimEnd();
}

const cut = (line: string): string => (line.length > COLUMNS ? `${line.slice(0, COLUMNS - 1)}…` : line);

/** At spaces, the lines after the first indented. */
function wrapped(text: string, indent = ''): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(' ')) {
    const longer = line.trim() === '' ? `${line}${word}` : `${line} ${word}`;
    if (longer.length > COLUMNS && line.trim() !== '') {
      lines.push(cut(line));
      line = `${indent}    ${word}`;
    } else line = longer;
  }
  return [...lines, cut(line)];
}
