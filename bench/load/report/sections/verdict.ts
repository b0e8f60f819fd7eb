/** The top of the report: what was asked, what came, what to think of it, and the figures that one looks for first. */
import type { RunResult } from '../../contract/run-result.ts';
import type { JudgedCondition } from '../../result/fail-if.ts';
import { counted, formatFigure, formatNumber } from '../../result/format-figure.ts';
import { askedOf, cameOf, headlineOf, type Said, verdictsOf } from '../../result/words.ts';
import { type Html, html } from '../html.ts';

export function verdictBlock(result: RunResult, conditions: readonly JudgedCondition[]): Html {
  const headline = headlineOf(result, conditions);
  const others = verdictsOf(result, conditions).filter(({ sentence }) => sentence !== headline.sentence);
  return html`<section class="verdict ${headline.is}" aria-labelledby="headline">
<div class="sign">${signOf(headline.is)}</div>
<div>
<h1 id="headline">${headline.sentence}</h1>
<p>${askedOf(result)}</p><p>${cameOf(result)}</p>
${others.length > 0 && html`<ul class="said">${others.map(({ is, sentence }) => html`<li class="${is}">${signOf(is)}<span>${sentence}</span></li>`)}</ul>`}
${conditions.length > 0 && conditionsOf(conditions)}
${result.warnings.length > 0 && html`<ul class="said">${result.warnings.map((warning) => html`<li class="note">${signOf('note')}<span>${warning}</span></li>`)}</ul>`}
</div></section>`;
}

function conditionsOf(conditions: readonly JudgedCondition[]): Html {
  return html`<h2>Asked to fail if</h2><ul class="said">${conditions.map(
    ({ isTrue, text, sentence }) =>
      html`<li class="${isTrue ? 'bad' : 'good'}">${signOf(isTrue ? 'bad' : 'good')}<span><code>${text}</code>${sentence.slice(text.length)} <b>${isTrue ? 'fails' : 'passes'}</b></span></li>`,
  )}</ul>`;
}

/** Told apart by their shapes; the words beside them say the same. */
function signOf(is: Said['is']): Html {
  const shapes: Record<Said['is'], Html> = {
    good: html`<circle cx="12" cy="12" r="10" /><path d="M7 12.5l3.5 3.5L17 9" />`,
    bad: html`<path d="M8 2h8l6 6v8l-6 6H8l-6-6V8z" /><path d="M8.5 8.5l7 7m0-7l-7 7" />`,
    doubt: html`<path d="M12 2.5L22.5 21h-21z" /><path d="M12 9v6m0 2.5v.5" />`,
    note: html`<circle cx="12" cy="12" r="10" /><path d="M12 11v6m0-10v.5" />`,
  };
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${shapes[is]}</svg>`;
}

interface Tile {
  name: string;
  figure: string;
  more: string;
  to: string;
}

export function tilesBlock(result: RunResult): Html {
  const tiles = tilesOf(result);
  return html`<section id="figures" aria-label="Main figures"><ul class="tiles">${tiles.map(
    ({ name, figure, more, to }) =>
      html`<li><a href="#${to}"><span class="name">${name}</span>${figureHtml(figure)}<span class="more">${more}</span></a></li>`,
  )}</ul></section>`;
}

/** The unit smaller than the number. */
function figureHtml(figure: string): Html {
  const [, number, unit] = /^(\S+) (\S+)$/.exec(figure) ?? [];
  return number === undefined
    ? html`<span class="figure">${figure}</span>`
    : html`<span class="figure">${number}<small> ${unit ?? ''}</small></span>`;
}

function tilesOf(result: RunResult): Tile[] {
  const { measures, calls, usage, knee } = result;
  const time = (value: number | null): string => formatFigure('time', value);
  const withoutUnit = (value: number | null): string => time(value).replace(/ ms$/, '');
  const tiles: (Tile | false)[] = [
    knee !== null && {
      name: 'Carried well',
      figure: formatFigure('rate', knee.carried),
      more: knee.of === 'calls' ? 'calls at once' : 'calls a second',
      to: 'knee',
    },
    measures.replyMs.count > 0 && {
      name: 'Reply, p95',
      figure: time(measures.replyMs.p95),
      more: `p50 ${withoutUnit(measures.replyMs.p50)}, p99 ${withoutUnit(measures.replyMs.p99)}`,
      to: 'measure-reply',
    },
    measures.firstWordMs.count > 0 && {
      name: 'First word, p95',
      figure: time(measures.firstWordMs.p95),
      more: `p50 ${withoutUnit(measures.firstWordMs.p50)}, p99 ${withoutUnit(measures.firstWordMs.p99)}`,
      to: 'measure-firstWord',
    },
    measures.frameLatenessMs.count > 0 && {
      name: 'Frame lateness, p99',
      figure: time(measures.frameLatenessMs.p99),
      more: `p50 ${withoutUnit(measures.frameLatenessMs.p50)}, p99.9 ${withoutUnit(measures.frameLatenessMs.p999)}`,
      to: 'measure-frameLateness',
    },
    measures.gapsPerCallMinute !== null && {
      name: 'Gaps a call minute',
      figure: formatNumber(measures.gapsPerCallMinute),
      more: measures.gapMs.count === 0 ? 'none at all' : `longest ${time(measures.gapMs.max)}`,
      to: measures.gapMs.count === 0 ? 'method' : 'measure-gap',
    },
    measures.bargeIns > 0 && {
      name: 'Interruptions heeded',
      figure: formatFigure('share', measures.bargeInsThatStopped / measures.bargeIns),
      more: `p95 ${time(measures.bargeInStopMs.p95)} to silence`,
      to: measures.bargeInStopMs.count === 0 ? 'method' : 'measure-bargeInStop',
    },
    {
      name: 'Errors',
      figure: formatFigure('share', measures.errorShare),
      more: `${formatFigure('count', calls.refused + calls.failed + calls.lost)} of ${counted(calls.planned - calls.heldBack, 'call')}`,
      to: 'calls',
    },
    { name: 'At once', figure: formatFigure('count', calls.mostAtOnce), more: 'calls, at most', to: 'calls' },
    usage.cpuMsPerCallSecond !== null && {
      name: 'CPU a call second',
      figure: `${formatNumber(usage.cpuMsPerCallSecond)} ms`,
      more:
        usage.residentBytesPerCall === null
          ? 'of all its processes'
          : `${formatFigure('bytes', usage.residentBytesPerCall)} a call`,
      to: 'usage',
    },
  ];
  return tiles.filter((tile) => tile !== false);
}
