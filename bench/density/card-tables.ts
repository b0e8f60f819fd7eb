/** The tables of the card, each of one question. Pure; put together by `card.ts`. */
import { formatFigure, formatNumber, NO_FIGURE } from '../load/result/format-figure.ts';
import { bytes, hundredths, spreadText, table, tenths, wholeFromTen } from './card-figures.ts';
import type { DensityResult, DensityRow, RowRun, ServiceKnee, SocketRun } from './density-result.ts';
import {
  besideMs,
  callsACoreOf,
  firstLimit,
  mediaThreadMs,
  processMs,
  type Spread,
  serviceMs,
  spreadOf,
  validRuns,
} from './reckon.ts';

const nameOf = ({ agent, codec }: DensityRow): string => `${agent}; ${codec}`;
const loadOf = ({ calls, callSeconds }: DensityRow): string => `${calls}, of ${callSeconds} s`;
const of = (runs: readonly RowRun[], figure: (run: RowRun) => number | null): Spread | null =>
  spreadOf(runs.map(figure));

/** What a call costs. A row without figures says why. */
export function costTable({ rows, machine }: DensityResult): string {
  const heads = [
    ...[
      'agent; codec',
      'calls at once',
      'CPU ms a call-second',
      'calls a core',
      'media alone',
      'memory a call',
      'resident, from cold',
    ],
    ...['commits a call', 'log (WAL) a call', 'late at the far end, p99 ms', 'at its limit first'],
  ];
  return table(
    heads,
    rows.map((row) => {
      const runs = validRuns(row);
      const cpuMs = of(runs, serviceMs);
      if (cpuMs === null) return [nameOf(row), loadOf(row), whyNone(row), ...heads.slice(3).map(() => NO_FIGURE)];
      const limit = firstLimit(runs, machine.cores);
      return [
        nameOf(row),
        loadOf(row),
        spreadText(cpuMs, hundredths),
        spreadText(callsACoreOf(cpuMs), wholeFromTen),
        spreadText(callsACoreOf(of(runs, (run) => processMs(run, 'media'))!), wholeFromTen),
        row.held === null ? NO_FIGURE : bytes(row.held.liveBytesPerCall),
        spreadText(
          of(runs, ({ residentBytesPerCall }) => residentBytesPerCall),
          bytes,
        ),
        spreadText(
          of(runs, ({ commitsPerCall }) => commitsPerCall),
          tenths,
        ),
        spreadText(
          of(runs, ({ walBytesPerCall }) => walBytesPerCall),
          bytes,
        ),
        spreadText(of(runs, ({ frameLateP99Ms }) => frameLateP99Ms)),
        limit === null ? NO_FIGURE : `${limit.what}, at ${wholeFromTen(limit.calls)} calls`,
      ];
    }),
  );
}

function whyNone({ missingBecause, runs }: DensityRow): string {
  return missingBecause ?? `not judged: ${runs[0]?.voidBecause ?? 'it was not run'}`;
}

/** Where the processor's time goes, ms a call-second. */
export function spentTable({ rows }: DensityResult): string {
  const measured = rows.filter((row) => validRuns(row).length > 0);
  const columns: [string, (run: RowRun) => number][] = [
    ['control', (run) => processMs(run, 'control')],
    ['PostgreSQL', (run) => processMs(run, 'postgres')],
    ['media', (run) => processMs(run, 'media')],
    ['of it sockets (main)', (run) => mediaThreadMs(run, 'main')],
    ['pipeline', (run) => mediaThreadMs(run, 'pipeline')],
    ['speech (tts, stt)', (run) => mediaThreadMs(run, 'tts') + mediaThreadMs(run, 'stt')],
    ['providers', (run) => mediaThreadMs(run, 'provider')],
    ['recorder', (run) => mediaThreadMs(run, 'recorder')],
    ['not counted: far ends, emulators', besideMs],
  ];
  return table(
    ['CPU ms a call-second', ...columns.map(([name]) => name)],
    measured.map((row) => [
      nameOf(row),
      ...columns.map(([, figure]) => spreadText(of(validRuns(row), figure), hundredths)),
    ]),
  );
}

/** Calls at once that were carried, by the whole service on the whole machine. */
export function kneeTable({ rows }: DensityResult): string {
  return table(
    ['agent; codec', 'carried', 'not carried', 'what broke', 'limits'],
    rows
      .filter(({ missingBecause }) => missingBecause === null)
      .map((row) => [nameOf(row), ...kneeCells(row.knee, row.noKneeBecause)]),
  );
}

function kneeCells(knee: ServiceKnee | null, noKneeBecause: string | null): string[] {
  if (knee === null) return [NO_FIGURE, NO_FIGURE, noKneeBecause ?? 'not searched', NO_FIGURE];
  const { limits, carried, notCarried, low, high, brokeBy, isOfTool } = knee;
  const number = (value: number | null): string => (value === null ? NO_FIGURE : formatNumber(value));
  const spread = low !== null && high !== null && low !== high ? ` [${low}–${high}]` : '';
  const why = brokeBy.length === 0 ? 'nothing up to there' : brokeBy.join('; ');
  return [
    `${isOfTool ? 'at least ' : ''}${number(carried)}${spread}`,
    number(notCarried),
    isOfTool ? `the load tester on the same cores, not the service: ${why}` : why,
    `${formatFigure('time', limits.maxFrameLateP99Ms)}, ${formatFigure('share', limits.minRealTimeShare)}`,
  ];
}

/** uWebSockets.js alone beside ours. */
export function socketTable({ sockets }: DensityResult): string {
  const subjects = [...new Set(sockets.runs.map(({ subject }) => subject))];
  const validOf = (subject: string): SocketRun[] =>
    sockets.runs.filter((run) => run.subject === subject && run.voidBecause === null);
  return table(
    [
      ...['', 'CPU ms a call-second', 'of it I/O thread', 'pipeline thread', 'calls a core'],
      ...['late at the far end, p99 ms', 'memory a call', 'calls at the knee', 'broke by'],
    ],
    subjects.map((subject) => {
      const runs = validOf(subject);
      const spread = (figure: (run: SocketRun) => number): Spread | null => spreadOf(runs.map(figure));
      const cpuMs = spread((run) => run.cpuMs);
      const knees = sockets.knees.filter((knee) => knee.subject === subject);
      return [
        `${subject}${voidsOf(sockets.runs, subject)}`,
        spreadText(cpuMs, hundredths),
        spreadText(
          spread((run) => run.ioMs),
          hundredths,
        ),
        runs.every(({ pipelineMs }) => pipelineMs === 0)
          ? NO_FIGURE
          : spreadText(
              spread((run) => run.pipelineMs),
              hundredths,
            ),
        spreadText(cpuMs === null ? null : callsACoreOf(cpuMs), wholeFromTen),
        spreadText(
          spread((run) => run.arrivalP99Ms),
          tenths,
        ),
        spreadText(
          spread((run) => run.residentBytesPerCall),
          bytes,
        ),
        spreadText(spreadOf(knees.map(({ calls }) => calls))),
        [...new Set(knees.map(({ brokeBy }) => brokeBy))].join('; ') || 'not searched',
      ];
    }),
  );
}

function voidsOf(runs: readonly SocketRun[], subject: string): string {
  const own = runs.filter((run) => run.subject === subject);
  const voids = own.filter(({ voidBecause }) => voidBecause !== null);
  return voids.length === 0 ? '' : ` (${voids.length} of ${own.length} runs void: ${voids[0]!.voidBecause})`;
}
