/**
 * Delays and lateness: for each measure its figures, how often which value came, and the percentile curve, on which the
 * tail that matters has as much room as the rest.
 */
import type { Distribution } from '../../contract/distribution.ts';
import type { RunResult } from '../../contract/run-result.ts';
import { formatFigure, formatMs } from '../../result/format-figure.ts';
import { TIME_MEASURES, type TimeMeasure, TOOL_TIMES } from '../../result/measures.ts';
import { quantileOf, quantilesOf } from '../../result/quantiles.ts';
import { type Chart, chartFigure, tableHtml } from '../chart.ts';
import { type Html, html } from '../html.ts';
import type { Section } from '../section.ts';

const CURVE_POINTS = 160;
const LEAST_BARS = 22;
const PERCENTS = [50, 75, 90, 95, 99, 99.9, 99.99];

export function delaysSection(result: RunResult): Section | null {
  const measured = [...TIME_MEASURES, ...TOOL_TIMES]
    .map((measure) => ({ measure, times: measure.of(result) }))
    .filter(({ times }) => times.count > 0);
  if (measured.length === 0) return null;
  const cards = measured.map(({ measure, times }) => cardOf(measure, times));
  const body = html`${overview(measured)}${cards.map(({ card }) => card)}`;
  return {
    id: 'delays',
    title: 'Delays and lateness',
    short: 'Delays',
    body,
    charts: cards.flatMap(({ charts }) => charts),
  };
}

function overview(measured: { measure: TimeMeasure; times: Distribution }[]): Html {
  const heads = ['milliseconds', 'count', 'p50', 'p90', 'p95', 'p99', 'p99.9', 'longest'];
  const rows = measured.map(({ measure, times }) => [
    measure.title,
    formatFigure('count', times.count),
    ...[times.p50, times.p90, times.p95, times.p99, times.p999, times.max].map(withoutUnit),
  ]);
  return html`<div class="card scroll" role="region" tabindex="0" aria-label="Figures of all delays">${tableHtml(heads, rows)}</div>`;
}

const withoutUnit = (ms: number | null): string => formatFigure('time', ms).replace(/ ms$/, '');

function cardOf(measure: TimeMeasure, times: Distribution): { card: Html; charts: Chart[] } {
  const id = measure.name.replace('.', '-');
  const histogram = histogramOf(id, times, measure.isWholeMs === true);
  const curve = curveOf(id, times);
  const sentence = `Half of the values are at most ${formatFigure('time', times.p50)}, 95 % at most ${formatFigure('time', times.p95)}, 99 % at most ${formatFigure('time', times.p99)}; the longest is ${formatFigure('time', times.max)}.`;
  const card = html`<article class="card measure" id="measure-${id}">
<header><h3>${measure.title}</h3><p>${measure.about}</p>${figuresOf(times)}</header>
<div class="pair">
${chartFigure(histogram.chart, 'How often', `Histogram of ${measure.title}. ${sentence}`, histogram.alternative, measure.title)}
${chartFigure(curve.chart, 'By percentile', `Percentile curve of ${measure.title}. ${sentence}`, curve.alternative, measure.title)}
</div></article>`;
  return { card, charts: [histogram.chart, curve.chart] };
}

function figuresOf(times: Distribution): Html {
  const figures: [string, number | null][] = [
    ['p50', times.p50],
    ['p95', times.p95],
    ['p99', times.p99],
    ['longest', times.max],
  ];
  return html`<dl class="figures">${figures.map(([name, value]) => html`<div><dt>${name}</dt><dd>${formatFigure('time', value)}</dd></div>`)}<div><dt>counted</dt><dd>${formatFigure('count', times.count)}</dd></div></dl>`;
}

/** Bars of one width, from the least value on; the last thousandth would press the rest into a corner. */
function histogramOf(id: string, times: Distribution, isWhole: boolean) {
  const least = times.min ?? 0;
  const most = Math.max(quantileOf(times, 0.999) ?? 0, least + 1);
  const width = niceWidth((most - least) / LEAST_BARS, isWhole ? 1 : 0.1);
  // Whole milliseconds stand in the middle of their bars.
  const from = Math.floor(least / width) * width - (isWhole ? 0.5 : 0);
  const bars = new Array<number>(Math.floor((most - from) / width) + 1).fill(0);
  let beyond = 0;
  for (const [upTo, count] of times.buckets) {
    const at = Math.max(0, Math.ceil((upTo - from) / width - 1e-9) - 1);
    if (at < bars.length) bars[at]! += count;
    else beyond += count;
  }
  const end = from + bars.length * width;
  const marks: [string, number | null, number[]][] = [
    ['p50', times.p50, []],
    ['p95', times.p95, [6, 4]],
    ['p99', times.p99, [2, 3]],
  ];
  const chart: Chart = {
    id: `plot-${id}-histogram`,
    heightPx: 220,
    x: { kind: 'ms', values: bars.map((_, at) => from + (at + 0.5) * width), max: end, name: 'ms', isWhole },
    y: { name: 'values', kind: 'count' },
    series: [{ name: 'values', style: 'bars', colour: 1, values: bars, kind: 'count' }],
    lines: marks.flatMap(([text, at, dash]) => (at === null || at > end ? [] : [{ at, text, dash }])),
  };
  const rangeOf = (at: number): string => {
    const [first, last] = [from + at * width, from + (at + 1) * width];
    if (!isWhole) return `${withoutUnit(round(first))} to ${formatMs(round(last))}`;
    return width === 1 ? formatMs(first + 0.5) : `${first + 0.5} to ${formatMs(last - 0.5)}`;
  };
  const rows = bars.flatMap((count, at) => (count === 0 ? [] : [[rangeOf(at), formatFigure('count', count)]]));
  if (beyond > 0) rows.push([`above ${formatMs(round(end))} (not drawn)`, formatFigure('count', beyond)]);
  return { chart, alternative: { heads: ['from, to', 'values'], rows } };
}

/** 1, 2 or 5 times a power of ten; no finer than `least`. */
function niceWidth(width: number, least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(width, least)));
  const step = [1, 2, 5, 10].find((one) => one * power >= width) ?? 10;
  return step * power;
}

/** By nines: 0, 90, 99, 99.9 % lie as far from one another. To the last value that there is. */
function curveOf(id: string, times: Distribution) {
  const quantile = quantilesOf(times);
  const end = Math.max(1, Math.log10(times.count));
  const nines = Array.from({ length: CURVE_POINTS + 1 }, (_, at) => (end * at) / CURVE_POINTS);
  const chart: Chart = {
    id: `plot-${id}-percentiles`,
    heightPx: 220,
    x: { kind: 'percent', values: nines, max: end, name: 'percentile' },
    y: { name: 'ms', kind: 'time' },
    series: [
      {
        name: 'at most',
        style: 'area',
        colour: 1,
        // The last of all is the longest.
        values: nines.map((at) => (at === end ? times.max : quantile(1 - 10 ** -at))),
        kind: 'time',
      },
    ],
  };
  const shown = PERCENTS.filter((percent) => times.count * (1 - percent / 100) >= 1 - 1e-9);
  const rows = [
    ...shown.map((percent) => [`p${percent}`, formatFigure('time', quantile(percent / 100))]),
    ['longest', formatFigure('time', times.max)],
  ];
  return { chart, alternative: { heads: ['percentile', 'at most'], rows } };
}

const round = (value: number): number => Math.round(value * 100) / 100;
