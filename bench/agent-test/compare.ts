/**
 * Two versions of an agent under the same scenarios: which expectations hold in one and not in the other. Pure; called
 * by `test-command.ts`.
 */
import type { ScenarioResult, ScenarioRun } from './run-scenario.ts';

interface Change {
  what: string;
  before: string;
  after: string;
  isWorse: boolean;
  why: string;
}

export interface Comparison {
  lines: string[];
  /** Something that held more often before. */
  isWorse: boolean;
}

export function compare(before: readonly ScenarioResult[], after: readonly ScenarioResult[]): Comparison {
  const lines: string[] = [];
  let worse = 0;
  let better = 0;
  for (const one of before) {
    const other = after.find(({ file, name }) => file === one.file && name === one.name);
    const changes = other === undefined ? [] : changesOf(one.runs, other.runs);
    if (changes.length === 0) continue;
    lines.push(`  ${one.name}`);
    for (const { what, before: was, after: is, isWorse, why } of changes) {
      if (isWorse) worse++;
      else better++;
      lines.push(`    ${isWorse ? '✗' : '✓'} ${what}: held ${was}, now ${is}`);
      if (isWorse && why !== '') lines.push(`        ${why}`);
    }
  }
  const [a, b] = [before[0]?.about, after[0]?.about];
  lines.push(
    lines.length === 0
      ? `No expectation changed between ${a} and ${b}.`
      : `${worse} worse, ${better} better in ${b} than in ${a}.`,
  );
  return { lines, isWorse: worse > 0 };
}

const HELD_TO_ITS_END = 'the call is held to its end';

function changesOf(before: readonly ScenarioRun[], after: readonly ScenarioRun[]): Change[] {
  const names = new Set([...before, ...after].flatMap((run) => checksOf(run).map(({ what }) => what)));
  return [...names].flatMap((what) => {
    const [was, is] = [shareOf(before, what), shareOf(after, what)];
    if (was.share === is.share) return [];
    return [{ what, before: was.text, after: is.text, isWorse: is.share < was.share, why: is.why }];
  });
}

function checksOf({ held, checks }: ScenarioRun): { what: string; held: boolean | null; why: string }[] {
  return [{ what: HELD_TO_ITS_END, held: held.fault === null, why: held.fault ?? '' }, ...checks];
}

function shareOf(runs: readonly ScenarioRun[], what: string): { share: number; text: string; why: string } {
  const own = runs.flatMap((run) => checksOf(run).filter((one) => one.what === what));
  const held = own.filter((one) => one.held === true).length;
  const why = own.find((one) => one.held !== true)?.why ?? '';
  return { share: held / runs.length, text: `${held} of ${runs.length}`, why };
}
