/**
 * A plot as data: made by the sections, drawn by `page/plots.mjs` in the reader's browser with uPlot. Its text
 * alternative is a table beside it; the plot itself is a picture with a sentence as its name, and can be walked through
 * with the arrow keys.
 */
import type { FigureKind } from '../result/format-figure.ts';
import { type Html, html } from './html.ts';

/** A name in `page/report.css`: `--c1` to `--c6`. */
type Colour = 1 | 2 | 3 | 4 | 5 | 6;

export interface ChartSeries {
  name: string;
  style: 'line' | 'area' | 'bars' | 'points';
  colour: Colour;
  /** Of the line, so that colours are not needed to tell lines apart. */
  dash?: number[];
  shape?: 'circle' | 'cross';
  values: (number | null)[];
  kind: FigureKind;
  /** On an axis of its own, at the right. */
  isRight?: boolean;
}

export interface ChartLine {
  at: number;
  text: string;
  dash: number[];
}

/** Something that happened: a symbol at the upper edge, a thin line down. */
export interface ChartFlags {
  name: string;
  symbol: 'triangle' | 'cross';
  colour: Colour;
  at: number[];
}

export interface Chart {
  id: string;
  heightPx: number;
  x: { kind: 'clock' | 'ms' | 'percent' | 'load'; values: number[]; max: number; name: string; isWhole?: boolean };
  y: { name: string; kind: FigureKind };
  right?: { name: string; kind: FigureKind };
  series: ChartSeries[];
  lines?: ChartLine[];
  flags?: ChartFlags[];
  bands?: { from: number; to: number }[];
  /** Plots of the same time move together. */
  sync?: string;
}

export interface Alternative {
  heads: string[];
  rows: (string | number)[][];
}

/** `sentence` says what the picture shows to who cannot see it; `of` sets apart titles that are there several times. */
export function chartFigure(chart: Chart, title: string, sentence: string, alternative: Alternative, of = ''): Html {
  return html`<figure class="chart">
<figcaption><h3>${title}</h3>${legendOf(chart)}</figcaption>
<div class="plot plot-${chart.heightPx}" id="${chart.id}" role="img" tabindex="0" aria-label="${sentence}"></div>
<p class="readout" id="${chart.id}-readout" aria-live="polite"></p>
${alternativeOf(title, alternative, of)}
</figure>`;
}

function alternativeOf(title: string, { heads, rows }: Alternative, of: string): Html {
  const name = `${of === '' ? '' : `${of}: `}${title} as a table`;
  return html`<details class="alternative"><summary>${title} as a table</summary>
<div class="scroll" role="region" tabindex="0" aria-label="${name}">${tableHtml(heads, rows)}</div></details>`;
}

/** The first column names the row, the others are figures. */
export function tableHtml(heads: readonly (string | Html)[], rows: readonly (string | number | Html)[][]): Html {
  return html`<table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map(([name, ...cells]) => html`<tr><th scope="row">${name ?? ''}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table>`;
}

function legendOf({ series, flags = [] }: Chart): Html | string {
  if (series.length + flags.length < 2) return '';
  const items = [
    ...series.map((one) => html`<li>${swatchOf(one)}${one.name}</li>`),
    ...flags.map((one) => html`<li>${flagSwatch(one)}${one.name}</li>`),
  ];
  return html`<ul class="legend">${items}</ul>`;
}

function swatchOf({ style, colour, dash = [], shape }: ChartSeries): Html {
  if (style === 'bars') return swatch(colour, html`<rect x="6" y="2" width="10" height="8" class="fill" />`);
  if (shape === 'cross') return swatch(colour, html`<path d="M7 2l8 8m0-8l-8 8" />`);
  if (style === 'points') return swatch(colour, html`<circle cx="11" cy="6" r="4" class="fill" />`);
  return swatch(colour, html`<path d="M0 6h22" stroke-dasharray="${dash.join(' ')}" />`);
}

const flagSwatch = ({ symbol, colour }: ChartFlags): Html =>
  swatch(
    colour,
    symbol === 'triangle' ? html`<path d="M11 1l6 10H5z" class="fill" />` : html`<path d="M6 1l10 10m0-10L6 11" />`,
  );

const swatch = (colour: Colour, shape: Html): Html =>
  html`<svg class="swatch ink-${colour}" width="22" height="12" viewBox="0 0 22 12" aria-hidden="true">${shape}</svg>`;
