/** What `--dry-run` prints: the schedule of a workload as a person checks it, and nothing is called. Pure. */
import type { PlannedCall } from '../contract/planned-call.ts';
import type { Workload } from '../contract/workload.ts';
import { busyMsOf } from './schedule.ts';

const COLUMNS = 60;
const STEPS = ' ▁▂▃▄▅▆▇█';
/** More are not counted out: a file that plans them is a mistake more often than a plan. */
const MOST_CALLS = 2_000_000;

export interface ScheduleFigures {
  calls: number;
  /** `calls` is not all of them. */
  isCut: boolean;
  mostAtOnce: number;
  lastEndMs: number;
  /** Talking or ringing, by column of time. */
  atOnce: number[];
  /** Beginning in it. */
  begun: number[];
  byCaller: Map<string, number>;
  byOutcome: Map<string, number>;
}

/** `untilMs`: where the time line ends, at least. */
export function figuresOf(calls: Iterable<PlannedCall>, untilMs: number): ScheduleFigures {
  const beginsMs: number[] = [];
  const endsMs: number[] = [];
  const byCaller = new Map<string, number>();
  const byOutcome = new Map<string, number>();
  let isCut = false;
  for (const call of calls) {
    if (beginsMs.length === MOST_CALLS) {
      isCut = true;
      break;
    }
    beginsMs.push(call.atMs);
    endsMs.push(call.atMs + busyMsOf(call));
    byCaller.set(call.caller, (byCaller.get(call.caller) ?? 0) + 1);
    byOutcome.set(call.outcome, (byOutcome.get(call.outcome) ?? 0) + 1);
  }
  endsMs.sort((a, b) => a - b);
  const lastEndMs = Math.max(untilMs, endsMs.at(-1) ?? 0);
  const columnMs = Math.max(1, lastEndMs / COLUMNS);
  const begun = new Array<number>(COLUMNS).fill(0);
  const atOnce = new Array<number>(COLUMNS).fill(0);
  const column = (ms: number): number => Math.min(COLUMNS - 1, Math.floor(ms / columnMs));
  let mostAtOnce = 0;
  let ended = 0;
  for (const [at, beginMs] of beginsMs.entries()) {
    while (ended < endsMs.length && endsMs[ended]! <= beginMs) {
      atOnce[column(endsMs[ended]!)] = Math.max(atOnce[column(endsMs[ended]!)]!, at - ended);
      ended++;
    }
    const live = at + 1 - ended;
    mostAtOnce = Math.max(mostAtOnce, live);
    begun[column(beginMs)]!++;
    atOnce[column(beginMs)] = Math.max(atOnce[column(beginMs)]!, live);
  }
  fillBetween(atOnce, beginsMs, endsMs, columnMs);
  return { calls: beginsMs.length, isCut, mostAtOnce, lastEndMs, atOnce, begun, byCaller, byOutcome };
}

/** Columns in which nothing begins hold what goes on at their beginning. */
function fillBetween(atOnce: number[], beginsMs: number[], endsMs: number[], columnMs: number): void {
  let begun = 0;
  let ended = 0;
  for (let at = 0; at < atOnce.length; at++) {
    const ms = at * columnMs;
    while (begun < beginsMs.length && beginsMs[begun]! <= ms) begun++;
    while (ended < endsMs.length && endsMs[ended]! <= ms) ended++;
    atOnce[at] = Math.max(atOnce[at]!, begun - ended);
  }
}

export function dryRunOf(workload: Workload, figures: ScheduleFigures): string {
  const { calls, isCut, mostAtOnce, lastEndMs, atOnce, begun, byCaller, byOutcome } = figures;
  const columnSeconds = lastEndMs / 1000 / COLUMNS;
  const perSecond = begun.map((count) => count / columnSeconds);
  const greatest = (values: readonly number[]): number => values.reduce((most, value) => Math.max(most, value), 0);
  const shares = (counts: ReadonlyMap<string, number>): string =>
    [...counts].map(([name, count]) => `${name} ${count} (${((100 * count) / calls).toFixed(0)} %)`).join(', ');
  const lines = [
    `${workload.name}, seed ${workload.seed}${workload.about === '' ? '' : `: ${workload.about}`}`,
    '',
    `  begin a second  ${columnsOf(perSecond)}  most ${greatest(perSecond).toFixed(1)}`,
    `  at once         ${columnsOf(atOnce)}  most ${mostAtOnce}`,
    `                  0 s${`${(lastEndMs / 1000).toFixed(0)} s`.padStart(COLUMNS - 3)}`,
    '',
    `  calls        ${isCut ? `more than ${calls}` : calls}`,
    `  at once      ${mostAtOnce} as planned; calls beyond ${workload.mostAtOnce} (mostAtOnce) are held back`,
    `  callers      ${calls === 0 ? 'none' : shares(byCaller)}`,
    `  outcomes     ${calls === 0 ? 'none' : shares(byOutcome)}`,
  ];
  if (workload.warmUpSeconds > 0) lines.push(`  counted from ${workload.warmUpSeconds} s on`);
  if (workload.restartsAtSeconds.length > 0) lines.push(`  restarts at  ${workload.restartsAtSeconds.join(', ')} s`);
  if (workload.knee !== undefined) {
    const { of, from, to, stepSeconds, repetitions, unless } = workload.knee;
    lines.push(
      `  knee         between ${from} and ${to} ${of === 'calls' ? 'calls at once' : 'calls a second'}, in steps of ${stepSeconds} s;` +
        ` a step is bad where ${unless.join(' or ')}; ${repetitions} times around it (the first step is shown)`,
    );
  }
  return `${lines.join('\n')}\n`;
}

function columnsOf(values: readonly number[]): string {
  const most = values.reduce((greatest, value) => Math.max(greatest, value), 0);
  const last = STEPS.length - 1;
  return values
    .map((value) => STEPS[most === 0 || value === 0 ? 0 : Math.max(1, Math.round((value / most) * last))])
    .join('');
}
