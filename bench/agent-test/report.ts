/** What a run of scenarios is told as: lines for people. Pure; printed by `test-command.ts`. */
import { transcriptLines } from './held-call.ts';
import type { ScenarioResult, ScenarioRun } from './run-scenario.ts';

const MARKS = { passed: '✓', failed: '✗', unjudged: '?', skipped: '-' } as const;

export function resultLines(result: ScenarioResult): string[] {
  const { name, runs, passed, minPassRate, outcome } = result;
  if (outcome === 'skipped') return [`  ${MARKS[outcome]} ${name} (skipped: ${result.why})`];
  const seconds = runs.reduce((sum, { ms }) => sum + ms, 0) / 1_000;
  const rate =
    runs.length === 1
      ? ''
      : `, ${passed} of ${runs.length} passed${minPassRate === 1 ? '' : ` (wanted ${percent(minPassRate)})`}`;
  const head = `  ${MARKS[outcome]} ${name} (${seconds.toFixed(2)} s${rate})`;
  const failures = passed === runs.length ? [] : failureLines(runs);
  return [head, ...failures, ...spreadLines(runs, failures)];
}

/** Where the judge was not of one mind; not what stands among the failures already. */
function spreadLines(runs: readonly ScenarioRun[], told: readonly string[]): string[] {
  const all = runs
    .flatMap(({ checks }) => checks)
    .flatMap(({ what, spread }) => {
      const isTold =
        spread !== undefined && told.some((line, at) => line.trim().startsWith(spread) && told[at - 1]?.includes(what));
      return spread === undefined || isTold ? [] : [`      note: ${what}: ${spread}`];
    });
  return [...new Set(all)];
}

/** Each expectation that did not hold, how often, and what was there instead the first time; then that call. */
export function failureLines(runs: readonly ScenarioRun[]): string[] {
  const lines: string[] = [];
  const times = (count: number): string => (runs.length === 1 ? '' : ` (in ${count} of ${runs.length} runs)`);
  const faults = runs.flatMap(({ held }) => (held.fault === null ? [] : [held.fault]));
  for (const fault of new Set(faults)) {
    lines.push(`      ${fault}${times(faults.filter((one) => one === fault).length)}`);
  }
  const missed = runs.flatMap(({ checks }) => checks.filter(({ held }) => held !== true));
  for (const what of new Set(missed.map((one) => one.what))) {
    const same = missed.filter((one) => one.what === what);
    const word = same.every(({ held }) => held === null) ? 'could not be judged' : 'does not hold';
    lines.push(`      ${what}: ${word}${times(same.length)}`, `        ${same[0]!.why}`);
  }
  const first = runs.find(({ outcome }) => outcome !== 'passed');
  if (first === undefined) return lines;
  lines.push('      the call:', ...transcriptLines(first.held).map((line) => `        ${line}`));
  const { end, warnings } = first.held;
  if (end !== null) lines.push(`        ended: ${end.reason}${end.error === null ? '' : `, ${end.error}`}`);
  lines.push(...warnings.map((warning) => `        warning: ${warning}`));
  if (first.keptAt !== undefined) lines.push(`      kept: ${first.keptAt}`);
  return lines;
}

export function summaryLine(results: readonly ScenarioResult[]): string {
  const count = (outcome: ScenarioResult['outcome']): number => results.filter((one) => one.outcome === outcome).length;
  const others = { unjudged: 'not judged', skipped: 'skipped' } as const;
  const more = (['unjudged', 'skipped'] as const).filter((one) => count(one) > 0);
  return [
    `${count('passed')} passed, ${count('failed')} failed`,
    ...more.map((one) => `${count(one)} ${others[one]}`),
  ].join(', ');
}

export const percent = (rate: number): string => `${Math.round(rate * 100)} %`;
