/**
 * The run from its beginning to its end: how many calls went on, how long they waited, how their sound came, what the
 * processors did; on one axis of time, with what was refused and what failed marked in all of them.
 */
import type { RunResult, TimelineSecond } from '../../contract/run-result.ts';
import { formatAt, formatFigure, formatNumber } from '../../result/format-figure.ts';
import { type Chart, type ChartFlags, type ChartSeries, chartFigure } from '../chart.ts';
import { html } from '../html.ts';
import type { Section } from '../section.ts';

/** More than there are pixels is drawn for nobody. */
const MOST_POINTS = 1_200;
const MOST_ROWS = 60;
const MOST_PROCESSES = 5;
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [1, 5], [14, 4]];

export function timelineSection(result: RunResult): Section | null {
  const { timeline, workload } = result;
  if (timeline.length < 2) return null;
  const seconds = pooled(timeline, MOST_POINTS);
  const figures = [callsChart(seconds), delaysChart(seconds), soundChart(seconds), cpuChart(seconds)]
    .filter((figure) => figure.chart.series.some(({ values }) => values.some((value) => value !== null && value !== 0)))
    .map((figure) => ({ ...figure, chart: { ...figure.chart, ...commonOf(seconds, workload) } }));
  const hasCpu = figures.some(({ chart }) => chart.id === 'plot-timeline-cpu');
  const body = html`<div class="card stack">
<p class="hint">Drag over a plot to look at a part of the run, double-click for the whole. In a plot, the arrow keys go from second to second.</p>
${figures.map(({ chart, title, sentence, heads, row }) =>
  chartFigure(chart, title, sentence, {
    heads: ['at', ...heads],
    rows: pooled(timeline, MOST_ROWS).map((second) => [formatAt(second.atMs), ...row(second)]),
  }),
)}
${!hasCpu && html`<p class="hint">There are no figures of processors: the target is not on this machine, or gives none.</p>`}
</div>`;
  return {
    id: 'timeline',
    title: 'The run over time',
    short: 'Over time',
    body,
    charts: figures.map(({ chart }) => chart),
  };
}

interface Figure {
  chart: Chart;
  title: string;
  sentence: string;
  heads: string[];
  row: (second: TimelineSecond) => string[];
}

function commonOf(seconds: readonly TimelineSecond[], workload: RunResult['workload']): Partial<Chart> {
  const at = (having: (second: TimelineSecond) => number): number[] =>
    seconds.filter((second) => having(second) > 0).map(({ atMs }) => atMs / 1_000);
  const flags: ChartFlags[] = [
    { name: 'refused', symbol: 'triangle', colour: 3, at: at(({ refused }) => refused) },
    { name: 'failed or lost', symbol: 'cross', colour: 4, at: at(({ failed }) => failed) },
  ];
  return {
    sync: 'run',
    flags: flags.filter((one) => one.at.length > 0),
    lines: workload.restartsAtSeconds.map((restart) => ({ at: restart, text: 'restart', dash: [6, 4] })),
    bands: workload.warmUpSeconds > 0 ? [{ from: 0, to: workload.warmUpSeconds }] : [],
  };
}

function chartOf(id: string, seconds: readonly TimelineSecond[], y: Chart['y'], series: ChartSeries[]): Chart {
  const values = seconds.map(({ atMs }) => atMs / 1_000);
  return {
    id: `plot-timeline-${id}`,
    heightPx: 180,
    x: { kind: 'clock', values, max: values.at(-1)!, name: 'of the run' },
    y,
    series: series.filter((one) => one.values.some((value) => value !== null)),
  };
}

function callsChart(seconds: readonly TimelineSecond[]): Figure {
  const live = seconds.map((second) => second.live);
  const begun = seconds.map((second) => second.begun);
  const chart = chartOf('calls', seconds, { name: 'calls', kind: 'count' }, [
    { name: 'calls at once', style: 'area', colour: 1, values: live, kind: 'count' },
    { name: 'begun a second', style: 'line', colour: 2, dash: [2, 3], values: begun, kind: 'rate', isRight: true },
  ]);
  chart.right = { name: 'a second', kind: 'rate' };
  const refused = seconds.reduce((sum, second) => sum + second.refused, 0);
  const failed = seconds.reduce((sum, second) => sum + second.failed, 0);
  return {
    chart,
    title: 'Calls',
    sentence: `Calls at once over time, at most ${Math.max(...live)}; ${refused} refused, ${failed} failed or lost.`,
    heads: ['at once', 'begun a second', 'refused', 'failed or lost'],
    row: (second) => [
      formatFigure('count', second.live),
      formatNumber(second.begun),
      formatFigure('count', second.refused),
      formatFigure('count', second.failed),
    ],
  };
}

function delaysChart(seconds: readonly TimelineSecond[]): Figure {
  const replies = seconds.map((second) => second.replyP95Ms);
  const words = seconds.map((second) => second.firstWordP95Ms);
  return {
    chart: chartOf('delays', seconds, { name: 'ms', kind: 'time' }, [
      { name: 'reply p95', style: 'line', colour: 1, values: replies, kind: 'time' },
      { name: 'first word p95', style: 'line', colour: 2, dash: [7, 4], values: words, kind: 'time' },
    ]),
    title: 'Delays',
    sentence: `Reply time and first word over time, p95 of each second; the longest p95 of replies is ${formatFigure('time', greatest(replies))}.`,
    heads: ['reply p95', 'first word p95'],
    row: (second) => [formatFigure('time', second.replyP95Ms), formatFigure('time', second.firstWordP95Ms)],
  };
}

function soundChart(seconds: readonly TimelineSecond[]): Figure {
  const late = seconds.map((second) => second.frameLateP99Ms);
  const loop = seconds.map((second) => second.eventLoopDelayP99Ms);
  const gaps = seconds.map((second) => second.gaps);
  const chart = chartOf('sound', seconds, { name: 'ms', kind: 'time' }, [
    { name: 'gaps a second', style: 'bars', colour: 3, values: gaps, kind: 'rate', isRight: true },
    { name: 'frame lateness p99', style: 'line', colour: 1, values: late, kind: 'time' },
    { name: 'event-loop delay p99', style: 'line', colour: 5, dash: [2, 3], values: loop, kind: 'time' },
  ]);
  chart.right = { name: 'gaps', kind: 'rate' };
  return {
    chart,
    title: 'Sound',
    sentence: `Lateness of frames and gaps over time; the greatest p99 of a second is ${formatFigure('time', greatest(late))}.`,
    heads: ['frame lateness p99', 'event-loop delay p99', 'gaps a second'],
    row: (second) => [
      formatFigure('time', second.frameLateP99Ms),
      formatFigure('time', second.eventLoopDelayP99Ms),
      formatNumber(second.gaps),
    ],
  };
}

function cpuChart(seconds: readonly TimelineSecond[]): Figure {
  const names = busiest(seconds);
  const series = names.map(
    (name, at): ChartSeries => ({
      name,
      style: 'line',
      colour: ((at % 6) + 1) as ChartSeries['colour'],
      dash: DASHES[at % DASHES.length]!,
      values: seconds.map(({ cpuCores }) => coresOf(cpuCores, name, names)),
      kind: 'rate',
    }),
  );
  return {
    chart: chartOf('cpu', seconds, { name: 'cores', kind: 'rate' }, series),
    title: 'Processors',
    sentence: `Cores used over time by ${names.join(', ')}.`,
    heads: names,
    row: ({ cpuCores }) => names.map((name) => formatFigure('rate', coresOf(cpuCores, name, names))),
  };
}

const OTHERS = 'all others';

function busiest(seconds: readonly TimelineSecond[]): string[] {
  const sums = new Map<string, number>();
  for (const { cpuCores } of seconds)
    for (const [name, cores] of Object.entries(cpuCores)) sums.set(name, (sums.get(name) ?? 0) + cores);
  const names = [...sums].sort(([, a], [, b]) => b - a).map(([name]) => name);
  return names.length > MOST_PROCESSES + 1 ? [...names.slice(0, MOST_PROCESSES), OTHERS] : names;
}

function coresOf(cores: Record<string, number>, name: string, names: readonly string[]): number | null {
  if (name !== OTHERS || Object.hasOwn(cores, OTHERS)) return cores[name] ?? null;
  const others = Object.entries(cores).filter(([one]) => !names.includes(one));
  return others.length === 0 ? null : others.reduce((sum, [, value]) => sum + value, 0);
}

/** Neighbours together, so that no more than `most` are left: the worst of their delays, the mean of their rates. */
function pooled(timeline: readonly TimelineSecond[], most: number): TimelineSecond[] {
  const size = Math.ceil(timeline.length / most);
  if (size <= 1) return [...timeline];
  const groups = Array.from({ length: Math.ceil(timeline.length / size) }, (_, at) =>
    timeline.slice(at * size, (at + 1) * size),
  );
  return groups.map((group) => {
    const mean = (of: (second: TimelineSecond) => number): number =>
      Math.round((100 * group.reduce((sum, second) => sum + of(second), 0)) / group.length) / 100;
    const sum = (of: (second: TimelineSecond) => number): number => group.reduce((all, second) => all + of(second), 0);
    const names = new Set(group.flatMap(({ cpuCores }) => Object.keys(cpuCores)));
    return {
      atMs: group[0]!.atMs,
      begun: mean(({ begun }) => begun),
      live: Math.max(...group.map(({ live }) => live)),
      refused: sum(({ refused }) => refused),
      failed: sum(({ failed }) => failed),
      replyP95Ms: greatest(group.map(({ replyP95Ms }) => replyP95Ms)),
      firstWordP95Ms: greatest(group.map(({ firstWordP95Ms }) => firstWordP95Ms)),
      frameLateP99Ms: greatest(group.map(({ frameLateP99Ms }) => frameLateP99Ms)),
      gaps: mean(({ gaps }) => gaps),
      cpuCores: Object.fromEntries([...names].map((name) => [name, mean(({ cpuCores }) => cpuCores[name] ?? 0)])),
      eventLoopDelayP99Ms: greatest(group.map(({ eventLoopDelayP99Ms }) => eventLoopDelayP99Ms)),
    };
  });
}

function greatest(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>((most, value) => (value === null ? most : Math.max(most ?? value, value)), null);
}
