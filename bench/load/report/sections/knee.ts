/** How delays grow with the load, and where the target no longer carries it. */
import type { RunResult } from '../../contract/run-result.ts';
import { formatFigure } from '../../result/format-figure.ts';
import { type Chart, type ChartLine, chartFigure } from '../chart.ts';
import { html } from '../html.ts';
import type { Section } from '../section.ts';

export function kneeSection({ knee }: RunResult): Section | null {
  if (knee === null || knee.steps.length === 0) return null;
  const unit = knee.of === 'calls' ? 'calls at once' : 'calls a second';
  const steps = [...knee.steps].sort((a, b) => a.load - b.load || Number(a.good) - Number(b.good));
  const lines: ChartLine[] = [
    ...(knee.carried === null ? [] : [{ at: knee.carried, text: 'carried', dash: [] }]),
    ...(knee.notCarried === null ? [] : [{ at: knee.notCarried, text: 'not carried', dash: [6, 4] }]),
  ];
  const load = (value: number | null): string => formatFigure('rate', value);
  const chart: Chart = {
    id: 'plot-knee',
    heightPx: 280,
    x: { kind: 'load', values: steps.map((step) => step.load), max: steps.at(-1)!.load * 1.05, name: unit },
    y: { name: 'reply p95, ms', kind: 'time' },
    right: { name: 'lateness, ms', kind: 'time' },
    series: [
      {
        name: 'frame lateness p99',
        style: 'line',
        colour: 2,
        dash: [7, 4],
        values: steps.map(({ frameLateP99Ms }) => frameLateP99Ms),
        kind: 'time',
        isRight: true,
      },
      {
        name: 'reply p95',
        style: 'line',
        colour: 1,
        values: steps.map(({ replyP95Ms }) => replyP95Ms),
        kind: 'time',
      },
      {
        name: 'carried well',
        style: 'points',
        shape: 'circle',
        colour: 1,
        values: steps.map(({ good, replyP95Ms }) => (good ? replyP95Ms : null)),
        kind: 'time',
      },
      {
        name: 'not carried',
        style: 'points',
        shape: 'cross',
        colour: 4,
        values: steps.map(({ good, replyP95Ms }) => (good ? null : replyP95Ms)),
        kind: 'time',
      },
    ],
    lines,
    bands: knee.low === null || knee.high === null ? [] : [{ from: knee.low, to: knee.high }],
  };
  const spread =
    knee.low === null || knee.high === null || knee.low === knee.high
      ? ''
      : ` Its repetitions lie between ${load(knee.low)} and ${load(knee.high)}.`;
  const answer =
    knee.carried === null
      ? `Even the least load was not carried well: ${load(knee.notCarried)} ${unit}.`
      : `${load(knee.carried)} ${unit} were carried well${knee.notCarried === null ? ', the most that was tried' : `, ${load(knee.notCarried)} were not`}.${spread}`;
  const heads = ['load', 'carried', 'reply p95', 'lateness p99', 'gaps a minute', 'errors', 'cores', 'why not'];
  const rows = steps.map((step) => [
    load(step.load),
    step.good ? 'yes' : 'no',
    formatFigure('time', step.replyP95Ms),
    formatFigure('time', step.frameLateP99Ms),
    formatFigure('rate', step.gapsPerCallMinute),
    formatFigure('share', step.errorShare),
    formatFigure('rate', step.cpuCores),
    step.why.join('; '),
  ]);
  const body = html`<div class="card"><p class="answer">${answer}</p>${chartFigure(chart, 'Delay against load', answer, { heads, rows })}</div>`;
  return { id: 'knee', title: 'The knee', short: 'Knee', body, charts: [chart] };
}
