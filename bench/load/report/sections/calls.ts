/** What became of the calls, and by which codes the target said no. */
import type { RunResult } from '../../contract/run-result.ts';
import { formatFigure } from '../../result/format-figure.ts';
import { tableHtml } from '../chart.ts';
import { type Html, html } from '../html.ts';
import type { Section } from '../section.ts';

export function callsSection({ calls }: RunResult): Section {
  const fates: [string, string, number][] = [
    ['talked', 'answered, and ended by either side', calls.talked],
    ['unanswered', 'as planned: no answer, busy or declined', calls.unanswered],
    ['refused', 'the target said no', calls.refused],
    ['failed', 'came to nothing', calls.failed],
    ['lost', 'answered, and its stream broke', calls.lost],
    ['held back', 'not begun: too many went on', calls.heldBack],
    ['cut', 'the run was stopped under it', calls.cut],
  ];
  const rows = fates
    .filter(([fate, , count]) => count > 0 || fate === 'talked')
    .map(([fate, about, count]) => [
      html`${fate} <small>${about}</small>`,
      formatFigure('count', count),
      ...shareCells(count, calls.planned),
    ]);
  const body = html`<div class="card"><div class="scroll" role="region" tabindex="0" aria-label="Calls by what became of them">${tableHtml(['fate', 'calls', 'share', html`<span class="hidden">share as a bar</span>`], rows)}</div>
${codesOf('Refused, by code', calls.refusedBy, calls.planned)}
${codesOf('Failed or lost, by code', calls.failedBy, calls.planned)}</div>`;
  return { id: 'calls', title: 'What became of the calls', short: 'Calls', body, charts: [] };
}

function codesOf(title: string, codes: Record<string, number>, planned: number): Html | string {
  const sorted = Object.entries(codes).sort(([, a], [, b]) => b - a);
  if (sorted.length === 0) return '';
  const rows = sorted.map(([code, count]) => [
    html`<code>${code}</code>`,
    formatFigure('count', count),
    ...shareCells(count, planned),
  ]);
  return html`<h3>${title}</h3><div class="scroll" role="region" tabindex="0" aria-label="${title}">${tableHtml(['code', 'calls', 'of all', html`<span class="hidden">share as a bar</span>`], rows)}</div>`;
}

function shareCells(count: number, all: number): [string, Html] {
  const share = all === 0 ? 0 : count / all;
  const width = Math.round(share * 1_000) / 10;
  return [
    formatFigure('share', share),
    html`<svg class="bar" width="100%" height="10" aria-hidden="true"><rect class="track" width="100%" height="10" rx="5" /><rect class="part" width="${width}%" height="10" rx="5" /></svg>`,
  ];
}
