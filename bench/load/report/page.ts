/**
 * The report as one document that asks nobody for anything: its policy allows no request at all, and names the two
 * scripts and the style sheet by their hashes.
 */
import { createHash } from 'node:crypto';
import type { RunResult } from '../contract/run-result.ts';
import type { JudgedCondition } from '../result/fail-if.ts';
import { dataIn, type Html, html, scriptText, trusted } from './html.ts';
import type { Section } from './section.ts';
import { callsSection } from './sections/calls.ts';
import { delaysSection } from './sections/delays.ts';
import { kneeSection } from './sections/knee.ts';
import { machineSection, methodSection, usageSection, workloadSection } from './sections/setting.ts';
import { timelineSection } from './sections/timeline.ts';
import { tilesBlock, verdictBlock } from './sections/verdict.ts';
import { worstSection } from './sections/worst.ts';

export interface PageParts {
  styles: string[];
  /** Run in this order. */
  scripts: string[];
}

export function pageOf(result: RunResult, conditions: readonly JudgedCondition[], parts: PageParts): string {
  const sections = [
    timelineSection(result),
    kneeSection(result),
    delaysSection(result),
    callsSection(result),
    worstSection(result),
    usageSection(result),
    machineSection(result),
    methodSection(result),
    workloadSection(result),
  ].filter((section) => section !== null);
  const style = parts.styles.join('\n').replace(/\r\n?/g, '\n');
  const scripts = parts.scripts.map(scriptText);
  const charts = sections.flatMap((section) => section.charts);
  return html`${trusted('<!doctype html>')}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf(style, scripts)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${result.workload.name}, ${result.startedAt.slice(0, 16).replace('T', ' ')} – load report</title>
<style>${trusted(style)}</style>
</head>
<body>
<a class="skip" href="#figures">To the figures</a>
${bannerOf(result)}
<main>
${verdictBlock(result, conditions)}
${tilesBlock(result)}
<nav aria-label="Parts of the report"><ul>${sections.map(({ id, short }) => html`<li><a href="#${id}">${short}</a></li>`)}</ul></nav>
${sections.map(sectionHtml)}
</main>
<footer>Load report, format ${result.version}. It stands by itself: this file holds all of its data and asks nobody for anything. Plots by uPlot (MIT).</footer>
<script type="application/json" id="charts">${dataIn(charts)}</script>
${scripts.map((script) => html`<script>${trusted(script)}</script>`)}
</body>
</html>
`.text;
}

function policyOf(style: string, scripts: readonly string[]): string {
  const hashed = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return [
    "default-src 'none'",
    `script-src ${scripts.map(hashed).join(' ')}`,
    `style-src ${hashed(style)}`,
    'img-src data:',
    'media-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

function bannerOf({ workload, target, startedAt }: RunResult): Html {
  return html`<header class="banner"><p class="brand"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M2 12h3l2-6 4 13 4-16 3 9h4" /></svg>Parley <span>load report</span></p>
<p class="run"><b>${workload.name}</b> <span>${target.kind} · ${target.address}</span> <time datetime="${startedAt}">${startedAt.slice(0, 16).replace('T', ' ')} UTC</time></p></header>`;
}

const sectionHtml = ({ id, title, body }: Section): Html =>
  html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${body}</section>`;
