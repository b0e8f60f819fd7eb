/**
 * What stands behind the figures: what the target used, the machine, how each figure is measured, and the workload as
 * it was run.
 */
import type { RunResult } from '../../contract/run-result.ts';
import { formatBytes, formatFigure, formatMs, formatSpan, NO_FIGURE } from '../../result/format-figure.ts';
import { TIME_MEASURES } from '../../result/measures.ts';
import { tableHtml } from '../chart.ts';
import { type Html, html } from '../html.ts';
import type { Section } from '../section.ts';

type Row = [string, string | null];

export function usageSection({ usage }: RunResult): Section | null {
  const figures: Row[] = [
    ['CPU for a second of a call', withUnit(formatFigure('rate', usage.cpuMsPerCallSecond), 'ms')],
    ['memory of a further call', formatFigure('bytes', usage.residentBytesPerCall)],
    ['garbage a pair of frames', formatFigure('bytes', usage.garbageBytesPerFramePair)],
    ['commits a call', formatFigure('rate', usage.commitsPerCall)],
    ['write-ahead log a call', formatFigure('bytes', usage.walBytesPerCall)],
  ];
  const known = figures.filter(([, text]) => text !== NO_FIGURE);
  if (known.length === 0 && usage.processes.length === 0) return null;
  const rows = usage.processes.map(({ name, cpuMeanCores, cpuMaxCores, residentMaxBytes }) => [
    name,
    formatFigure('rate', cpuMeanCores),
    formatFigure('rate', cpuMaxCores),
    formatFigure('bytes', residentMaxBytes),
  ]);
  const processes = html`<div class="scroll" role="region" tabindex="0" aria-label="Processes">${tableHtml(['process', 'cores, mean', 'cores, most', 'memory, most'], rows)}</div>`;
  const body = html`<div class="card">${factsOf(known)}${rows.length > 0 && processes}</div>`;
  return { id: 'usage', title: 'What it used', short: 'Usage', body, charts: [] };
}

const withUnit = (figure: string, unit: string): string => (figure === NO_FIGURE ? figure : `${figure} ${unit}`);

export function machineSection(result: RunResult): Section {
  const { machine, target, tool, generator } = result;
  const facts: Row[] = [
    ['target', `${target.kind} at ${target.address}`],
    ['protocol', target.protocol],
    ['version of the target', target.version],
    ['where it runs', target.onThisMachine ? 'on the machine of the tool' : 'elsewhere'],
    ['processor', `${machine.cpu}, ${machine.cores} cores`],
    ['memory', formatBytes(machine.memoryBytes)],
    ['system', machine.system],
    ['load before the run', formatFigure('rate', machine.loadBefore)],
    ['noise of the machine, p99', machine.noiseP99Ms === null ? null : formatMs(machine.noiseP99Ms)],
    ['taken by other machines', machine.stealShare === null ? null : formatFigure('share', machine.stealShare)],
    ['tool', `${tool.version}${tool.commit === null ? '' : ` (${tool.commit})`}, Node.js ${tool.node}`],
    ['busiest process of the tool', `${formatFigure('share', generator.cpuShare)} of a core`],
    [
      'lateness of the tool, p99',
      `calls ${formatFigure('time', generator.callLatenessMs.p99)}, frames ${formatFigure('time', generator.frameLatenessMs.p99)} (limit ${formatMs(generator.limitMs)})`,
    ],
    ['begun', `${result.startedAt}, took ${formatSpan(result.tookMs)}`],
  ];
  const body = html`<div class="card">${factsOf(facts)}</div>`;
  return { id: 'machine', title: 'Machine and configuration', short: 'Machine', body, charts: [] };
}

function factsOf(facts: readonly Row[]): Html {
  const known = facts.filter(([, text]) => text !== null);
  return html`<dl class="facts">${known.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>`;
}

const DEFINITIONS: readonly [string, string][] = [
  [
    'Planned instants',
    'Calls begin by a schedule that waits for nobody. Delays of a call count from the instant for which it was planned, so a target that is slow cannot hide it by slowing down the tool (coordinated omission). Calls that were held back count in placement with the least that they would have waited.',
  ],
  ['Percentiles', 'Of an HdrHistogram with three digits: p95 is the value that 95 of 100 do not exceed.'],
  [
    'Errors',
    'Calls that failed, that the target refused, or whose stream broke, of all that were begun. Calls that were planned not to be answered are none.',
  ],
  [
    'Share of real time',
    'Audio that came, of what the time asks for, while the target was sending continuously: 100 % is neither slow nor fast.',
  ],
  [
    'Judged or not',
    'A tool that began calls or sent frames late itself, or that had no processor to spare, measures itself. Then it does not judge.',
  ],
];

export function methodSection(result: RunResult): Section {
  const measured = TIME_MEASURES.filter((measure) => measure.of(result).count > 0);
  const items = [...measured.map(({ title, about }) => [title, about] as const), ...DEFINITIONS];
  const body = html`<div class="card"><dl class="definitions">${items.map(([name, about]) => html`<div><dt>${name}</dt><dd>${about}</dd></div>`)}</dl></div>`;
  return { id: 'method', title: 'How it is measured', short: 'Method', body, charts: [] };
}

export function workloadSection({ workload }: RunResult): Section {
  const text = JSON.stringify(workload, null, 2);
  const body = html`<div class="card">${workload.about !== '' && html`<p>${workload.about}</p>`}
<details><summary>The workload file</summary><pre class="scroll" role="region" tabindex="0" aria-label="The workload file">${text}</pre></details></div>`;
  return { id: 'workload', title: 'Workload', short: 'Workload', body, charts: [] };
}
