/**
 * The calls that stood out: both sides of the conversation as they sounded, with what went wrong marked on them, and
 * the sound itself. The pictures are drawn here, so that they are there without a script and on paper; `page/plots.mjs`
 * moves the playhead.
 */
import type { RunResult, WorstCall } from '../../contract/run-result.ts';
import { formatAt } from '../../result/format-figure.ts';
import { type Html, html } from '../html.ts';
import type { Section } from '../section.ts';

/** Of the picture, in pixels; across, all is in percent of its width. */
const TOP = 26;
const SIDE_HEIGHT = 58;
const BETWEEN = 8;
const HEIGHT = TOP + 2 * SIDE_HEIGHT + BETWEEN + 22;
const TICK_STEPS_MS = [1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000];
const MOST_TICKS = 6;

type Mark = WorstCall['marks'][number];

export function worstSection({ worst }: RunResult): Section | null {
  if (worst.length === 0) return null;
  const body = html`<p class="hint">The gravest first. Above is the caller, below the target.</p>${worst.map(callCard)}`;
  return { id: 'worst', title: 'Calls that stood out', short: 'Stood out', body, charts: [] };
}

function callCard(call: WorstCall): Html {
  const when = call.answeredAtMs === null ? 'never answered' : `answered at ${formatAt(call.answeredAtMs)} of the run`;
  return html`<article class="card call">
<header><h3>Call ${call.index}</h3><p>${call.caller} · ${call.fate.replace('_', ' ')} · ${when}</p></header>
<ul class="why">${call.why.map((why) => html`<li>${why}</li>`)}</ul>
${call.waveform !== null && pictureOf(call, call.waveform)}
${marksList(call)}
${call.soundBase64 !== null && html`<audio controls preload="metadata" id="sound-${call.index}" aria-label="Sound of call ${call.index}" src="data:audio/wav;base64,${call.soundBase64}"></audio>`}
</article>`;
}

function pictureOf(call: WorstCall, { stepMs, left, right }: NonNullable<WorstCall['waveform']>): Html {
  const lengthMs = Math.max(left.length, right.length, 1) * stepMs;
  const name = `Sound of call ${call.index}, ${formatAt(lengthMs)} long, with ${call.marks.length} marks that are listed below.`;
  const below = TOP + SIDE_HEIGHT + BETWEEN;
  return html`<svg class="wave" width="100%" height="${HEIGHT}" role="img" aria-label="${name}" data-sound="sound-${call.index}" data-length-ms="${lengthMs}">
<title>${name}</title>
<rect class="lane" x="0" y="${TOP}" width="100%" height="${SIDE_HEIGHT}" rx="6" /><rect class="lane" x="0" y="${below}" width="100%" height="${SIDE_HEIGHT}" rx="6" />
${call.marks.map((mark) => bandOf(mark, lengthMs))}
${sideOf('caller', left, TOP)}${sideOf('target', right, below)}
${ticksOf(lengthMs)}
${call.marks.map((mark, at) => numberOf(mark, at + 1, lengthMs))}
<line class="playhead" x1="0" x2="0" y1="${TOP}" y2="${below + SIDE_HEIGHT}" visibility="hidden" />
</svg>`;
}

/** A shape that is as high above its middle as below. */
function sideOf(side: string, peaks: readonly number[], top: number): Html {
  const half = 100;
  const upper = peaks.map((peak, at) => `${at} ${Math.round(half - loud(peak) * half)}`);
  const lower = peaks.map((peak, at) => `${at} ${Math.round(half + loud(peak) * half)}`).reverse();
  return html`<svg class="${side}" x="0" y="${top}" width="100%" height="${SIDE_HEIGHT}" viewBox="0 0 ${Math.max(1, peaks.length - 1)} ${2 * half}" preserveAspectRatio="none"><path d="M${[...upper, ...lower].join('L')}Z" /></svg>`;
}

/** Quiet speech is to be seen too; never thinner than a line. */
const loud = (peak: number): number => Math.max(0.02, Math.min(1, peak) ** 0.7);

const part = (ms: number, lengthMs: number): number =>
  Math.round((100_000 * Math.min(Math.max(ms, 0), lengthMs)) / lengthMs) / 1_000;

function bandOf({ atMs, lengthMs: length, kind }: Mark, lengthMs: number): Html {
  const from = part(atMs, lengthMs);
  const width = Math.round((part(atMs + length, lengthMs) - from) * 1_000) / 1_000;
  const height = 2 * SIDE_HEIGHT + BETWEEN;
  return html`<rect class="mark ${kind}" x="${from}%" y="${TOP}" width="${width}%" height="${height}" /><line class="edge ${kind}" x1="${from}%" x2="${from}%" y1="${TOP - 6}" y2="${TOP + height}" />`;
}

/** Never cut off at an edge. */
function numberOf({ atMs, kind }: Mark, number: number, lengthMs: number): Html {
  const at = Math.min(98.6, Math.max(1.4, part(atMs, lengthMs)));
  return html`<circle class="${kind}" cx="${at}%" cy="11" r="9" /><text class="number" x="${at}%" y="15" text-anchor="middle">${number}</text>`;
}

function ticksOf(lengthMs: number): Html[] {
  const step = TICK_STEPS_MS.find((one) => lengthMs / one <= MOST_TICKS) ?? lengthMs;
  const count = Math.floor(lengthMs / step);
  return Array.from({ length: count + 1 }, (_, at) => {
    const anchor = at === 0 ? 'start' : at * step > 0.97 * lengthMs ? 'end' : 'middle';
    return html`<text class="tick" x="${part(at * step, lengthMs)}%" y="${HEIGHT - 5}" text-anchor="${anchor}">${formatAt(at * step)}</text>`;
  });
}

/** With sound each leads to its place, a little before it. */
function marksList(call: WorstCall): Html | string {
  if (call.marks.length === 0) return '';
  const items = call.marks.map((mark, at) => {
    const text = html`<span class="dot ${mark.kind}">${at + 1}</span><span>${formatAt(mark.atMs)}</span> ${mark.text}`;
    const seconds = Math.max(0, Math.round(mark.atMs - 1_500) / 1_000);
    if (call.soundBase64 === null) return html`<li>${text}</li>`;
    return html`<li><button type="button" data-seek="${seconds}" data-sound="sound-${call.index}">${text}</button></li>`;
  });
  return html`<ol class="marks" aria-label="What is marked in call ${call.index}">${items}</ol>`;
}
