/** The figures of `npm run bench -- console` as lines to read, each beside what it is held to. */
import type { CallLogFigures } from './call-log.ts';
import type { StepFigures } from './in-step.ts';
import type { ListeningFigures } from './listening.ts';
import type { BoardFigures } from './live-board.ts';

export interface PartFigures {
  log: CallLogFigures;
  board: BoardFigures;
  step: StepFigures;
  listen: ListeningFigures;
}

interface Load {
  load: { before: number; after: number };
}

type LinesOf = { [Part in keyof PartFigures]: (figures: PartFigures[Part]) => string[] };

const ms = (value: number): string => `${value.toFixed(0)} ms`;

const LINES: LinesOf = {
  log: ({ calls, callsInAll, visits, filters, scrolled, exports, statements }) => {
    const { cold, again, insideMs } = visits;
    const slow = filters.toSorted((a, b) => b.medianMs - a.medianMs);
    const heavy = statements.toSorted((a, b) => b.ms - a.ms);
    return [
      `the calls page among ${calls} calls of the workspace, ${callsInAll} in all`,
      `  first rows after the page's code: ${ms(cold.afterCodeMs.p50)}, at most ${ms(cold.afterCodeMs.max)} (goal 300 ms); from another page of the console ${ms(insideMs.p50)}, at most ${ms(insideMs.max)}`,
      `  from nothing: ${ms(cold.rowsMs.p50)}, at most ${ms(cold.rowsMs.max)}, ${(cold.transferBytes / 1000).toFixed(0)} kB; again: ${ms(again.rowsMs.p50)}; of it the list itself ${ms(cold.listMs.p50)}`,
      `  nodes after scrolling through ${scrolled.rows} rows: at most ${scrolled.mostNodes} (goal 1,500); frames over 50 ms: ${scrolled.longFrames} of ${scrolled.frames}, the longest ${ms(scrolled.longestMs)}; heap ${scrolled.heapMegabytes.toFixed(0)} MB`,
      `  ${filters.length} filters, median of three: ${slow
        .slice(0, 6)
        .map(({ name, medianMs, maxMs }) => `${name} ${ms(medianMs)} (${ms(maxMs)})`)
        .join('; ')}; the quickest ${ms(slow.at(-1)?.medianMs ?? Number.NaN)}`,
      ...exports.map(
        (one) =>
          `  ${one.format}: ${one.rows} rows in ${one.seconds.toFixed(1)} s, ${(one.sizeBytes / 1e6).toFixed(1)} MB packed, ${one.lines} lines fetched in ${one.fetchSeconds.toFixed(1)} s; progress seen ${one.progressSeen} times; control ${one.controlMegabytes.before.toFixed(0)} → ${one.controlMegabytes.most.toFixed(0)} MB`,
      ),
      '  the heaviest of what is asked of the database:',
      ...heavy
        .slice(0, 8)
        .map(
          (one) =>
            `    ${one.of}: ${one.ms.toFixed(1)} ms, ${one.statements} statements, at most ${one.mostRemoved} rows read in vain${one.wholeTables.length === 0 ? '' : `, whole tables: ${one.wholeTables.join()}`}`,
        ),
    ];
  },
  board: ({ calls, shownMs, notShown, steered, atTheEnd, nodes, scrolled, emulatorLateMs }) => [
    `the live board with ${calls.live} calls of ${calls.wanted} (${calls.refused} refused)`,
    `  event to screen: p50 ${ms(shownMs.p50)}, p95 ${ms(shownMs.p95)}, at most ${ms(shownMs.max)}, ${shownMs.count} events in sight (goal 500 ms p95); ${notShown} never drawn; ${steered.done} steps done, ${steered.not} not`,
    `  at the end: ${atTheEnd.different.length} of ${atTheEnd.compared} calls shown otherwise than the service has them`,
    ...atTheEnd.different.slice(0, 5).map((line) => `    ${line}`),
    `  ${nodes} nodes; frames over 50 ms while scrolling: ${scrolled.longFrames} of ${scrolled.frames}, the longest ${ms(scrolled.longestMs)}; the far ends were ${ms(emulatorLateMs)} late at most`,
  ],
  step: ({ turns, mostMs }) => [
    `the transcript beside its sound: at most ${ms(mostMs)} apart (goal 100 ms)`,
    ...turns.map(
      ({ role, text, startMs, markedAfterMs, playerAfterMs }) =>
        `  ${role.padEnd(6)} at ${(startMs / 1000).toFixed(2)} s: marked ${markedAfterMs === null ? 'with no sound near' : `${ms(markedAfterMs)} after its sound`}, by the player's own place ${ms(playerAfterMs)}: ${text}`,
    ),
  ],
  listen: ({ behindMs, beeps, saidBehindMs, compared }) => [
    `listening in: p50 ${ms(behindMs.p50)}, p95 ${ms(behindMs.p95)}, at most ${ms(behindMs.max)} behind, ${behindMs.count} of ${beeps} beeps (goal 500 ms); the page itself said ${saidBehindMs} ms`,
    `  at the caller: ${compared.different} of ${compared.samples} samples differ from a call without a listener`,
  ],
};

export function linesOf<Part extends keyof PartFigures>(part: Part, figures: PartFigures[Part] & Load): string[] {
  const { before, after } = figures.load;
  return [...LINES[part](figures), `  load average ${before.toFixed(1)} before, ${after.toFixed(1)} after`];
}
