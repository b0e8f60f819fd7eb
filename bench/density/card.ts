/**
 * The density card as Markdown, of a stored result alone: the same result always makes the same card. Called by
 * `main.ts`.
 */
import { counted, formatBytes, formatFigure, formatMs, formatSpan } from '../load/result/format-figure.ts';
import { costTable, kneeTable, socketTable, spentTable } from './card-tables.ts';
import type { DensityResult } from './density-result.ts';
import { KNEE_LIMITS, KNEE_STEP_SECONDS } from './kinds.ts';
import { validRuns } from './reckon.ts';

/** Ends with a line break. */
export function cardOf(result: DensityResult): string {
  const blocks = [
    '# How many calls a core carries',
    headOf(result),
    '## What a call costs',
    costTable(result),
    costWords(result),
    '## Where the time goes',
    spentTable(result),
    '`Far ends, emulators` ran on the same machine and are no part of the service: processor time is counted by process, so they are not in its figures. What they took from it is in its lateness, and in its knee.',
    '## The knee of the whole service',
    kneeTable(result),
    kneeWords(result),
    ...socketBlocks(result),
    '## Doubts',
    ...doubtsOf(result).map((doubt) => `- ${doubt}`),
    '## The machine',
    machineOf(result),
  ];
  // Items of a list belong together.
  const joined = blocks.reduce((text, block, at) => {
    const isItem = block.startsWith('- ') && blocks[at - 1]!.startsWith('- ');
    return `${text}${at === 0 ? '' : isItem ? '\n' : '\n\n'}${block}`;
  }, '');
  return `${joined}\n`;
}

function headOf({ repetitions, isQuick, startedAt, tookMs, tool }: DensityResult): string {
  const by = `Made by \`npm run bench -- density\` on ${startedAt.slice(0, 10)}, of ${commitOf(tool)}`;
  const how = isQuick
    ? '**the quick form: one repetition, no memory and no knees. A look, and nothing to quote**'
    : `${counted(repetitions, 'repetition')} in turn, ${formatSpan(tookMs)}`;
  return `${by}; ${how}. Figures are medians, with the smallest and the largest of the repetitions in brackets. They hold for the machine below; the command makes the card of yours.`;
}

const commitOf = ({ version, commit }: DensityResult['tool']): string =>
  commit === null ? `version ${version}` : `commit ${commit}`;

function costWords({ machine }: DensityResult): string {
  return [
    '**Calls a core** is 1000 divided by the milliseconds of processor that the whole service (control, PostgreSQL, media) spends for one second of one call, at the stated number of calls at once, which leaves the cores room. It is a rate of cost and no promise: it reckons that a core can be filled to the brim, and no core of a service that has to be in time should be.',
    `Each call of a row begins, talks and ends within the run; so placing it, its webhooks, its recording and its end are in the cost, as are the service's own idle turns. What control and PostgreSQL spend is spent on a call's beginning and end for the most part: of longer calls a core carries more, up to what stands under **media alone**, which counts nothing else.`,
    '**Memory a call** is what a further call holds in media when garbage is collected: heaps and buffers of all its threads while all talk, above those of a warm process without calls. **Resident, from cold** is what the processes of the service together grew by in a run that began cold, divided by the calls at once: heaps that later calls use again, connections of PostgreSQL and compiled code are in it, so of few calls it says far too much.',
    '**Commits** are those that PostgreSQL counted when the last call was over; it tells of a connection with up to a second of delay, so the last are missing.',
    `**At its limit first** is what would be full if the load rose at the same cost a call: one thread, which no second core helps, or ${machine.cores === 1 ? 'the core' : `all ${machine.cores} cores`} with the service alone on them.`,
  ].join('\n\n');
}

function kneeWords({ machine }: DensityResult): string {
  const { maxFrameLateP99Ms, minRealTimeShare } = KNEE_LIMITS;
  return `The greatest number of calls at once, all begun within ${KNEE_STEP_SECONDS / 4} s, that was carried: frames at the far end no later than ${formatMs(maxFrameLateP99Ms)} at p99, at least ${formatFigure('share', minRealTimeShare)} of real time, and no more than 1 % of the calls failed or refused. A row that at the load of the first table is not that good already, as an agent that talks in utterances may be, is held to as much worse than there; its limits stand in the table. Far ends and emulated providers share ${counted(machine.cores, 'core')} with the service here, so a service that has them for itself carries more.`;
}

function socketBlocks(result: DensityResult): string[] {
  if (result.sockets.runs.length === 0) return [];
  const { maxFrameLateP99Ms, minRealTimeShare } = KNEE_LIMITS;
  return [
    '## uWebSockets.js alone, beside ours',
    socketTable(result),
    `Streams of a carrier at ${result.sockets.runs[0]!.calls} calls, by the raw generator of \`npm run bench -- calls\`: \`uWS alone\` throws away unread what comes and sends one constant message a frame, which no gateway on it can undercut; ours is the media process with an agent of a tone, without control and database. The knee is searched in steps of 50 calls, with the same limits (${formatMs(maxFrameLateP99Ms)}, ${formatFigure('share', minRealTimeShare)}), and a generator that is at its own limit ends it too: then the knee lies higher, and \`broke by\` says so.`,
  ];
}

function doubtsOf({ rows, machine }: DensityResult): string[] {
  const doubts = rows.flatMap((row) => {
    const name = `${row.agent}; ${row.codec}`;
    const voids = row.runs.filter(({ voidBecause }) => voidBecause !== null);
    const noisy = validRuns(row).filter(({ noise }) => noise !== null);
    return [
      ...(voids.length === 0
        ? []
        : [`${name}: ${voids.length} of ${row.runs.length} runs void and left out: ${voids[0]!.voidBecause}.`]),
      ...(noisy.length === 0
        ? []
        : [`${name}: the machine was noisy in ${noisy.length} of ${row.runs.length} runs: ${noisy[0]!.noise}.`]),
    ];
  });
  const { noiseP99Ms } = machine;
  const quiet = `Before the first run a thread that does nothing was woken ${noiseP99Ms === null ? 'at an unknown time' : `${formatFigure('time', noiseP99Ms)} late at p99`}, load average ${machine.loadBefore.toFixed(1)}.`;
  return doubts.length === 0 ? [`No run was void, and none was on a noisy machine. ${quiet}`] : [...doubts, quiet];
}

function machineOf({ machine, tool }: DensityResult): string {
  return `${machine.cpu}, ${counted(machine.cores, 'core')}, ${formatBytes(machine.memoryBytes)} of memory, ${machine.system}, Node.js ${tool.node}, PostgreSQL embedded on the same disk.`;
}
