/**
 * `npm run fault -- cascade`: conversations with a language model, 5 % of whose turns are struck by a fault of a
 * provider or a tool; how long the agent was silent when it owed words, what was stuck, what was lost. `deaths`: a
 * provider thread, a pipeline thread and a media process die under conversations. Exits with 1 when the longest owed
 * silence of 99 % of the calls is over 2 s, or anything was stuck, lost, forgotten or said again.
 */
import { randomInt } from 'node:crypto';
import { readOptions } from '../../../bench/harness/options.ts';
import { percentile } from '../../../bench/harness/percentile.ts';
import { injectable } from '../nemesis/thread-faults.ts';
import { LINES } from './conversation.ts';
import { startConversations } from './conversations.ts';
import { runDeath, VICTIMS } from './deaths.ts';
import { runStruckCalls, type StruckCall } from './struck-calls.ts';
import { nameOf } from './turn-faults.ts';

const MOST_SILENT_MS = 2_000;

const { values, positionals } = readOptions({
  command: 'npm run fault -- cascade [turns|deaths]',
  about: 'Conversations with a language model, some turns of which are struck by a fault of a provider or a tool.',
  positionals: true,
  options: {
    calls: { type: 'string' },
    'at-once': { type: 'string', default: '8' },
    share: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  },
  meanings: {
    calls: '<N> conversations: of turns 500, of deaths 4 for each',
    'at-once': '<N> of them at the same time, of turns (default 8)',
    share: '<percent> of the turns that are struck (default 5)',
    seed: '<N> the same faults again',
  },
});

const scenario = positionals[0] ?? 'turns';
if (scenario === 'turns') process.exit((await strikeTurns()) ? 0 : 1);
if (scenario === 'deaths') process.exit((await letDie(Number(values.calls ?? 4))) ? 0 : 1);
console.error(`no scenario "${scenario}": turns, deaths`);
process.exit(2);

/** Each of what may die, under so many conversations. */
async function letDie(calls: number): Promise<boolean> {
  Object.assign(process.env, injectable());
  let isWell = true;
  for (const victim of VICTIMS) {
    const world = await startConversations({
      lines: Array.from({ length: calls }, () => LINES),
      atOnce: calls,
      settings: { PARLEY_PIPELINE_THREADS: '1', PARLEY_MEDIA_PROCESSES: victim === 'media_process' ? '2' : '1' },
    });
    try {
      const { lost, forgotten, repeated, recoveries } = await runDeath(world, victim, { first: 0, calls });
      console.log(
        `${victim.padEnd(16)} ${calls} conversations, ${lost.length} lost, ${forgotten.length} lines forgotten, ${repeated.length} sentences repeated, recoveries ${JSON.stringify(recoveries)}`,
      );
      for (const what of [...lost, ...forgotten, ...repeated]) console.log(`    ${what}`);
      isWell &&= lost.length + forgotten.length + repeated.length === 0;
    } finally {
      await world.close();
    }
  }
  console.log(isWell ? 'passed' : 'FAILED');
  return isWell;
}

async function strikeTurns(): Promise<boolean> {
  const longestOf = ({ silences }: StruckCall): number => Math.max(0, ...silences.map(({ ms }) => ms));
  const ms = (value: number): string => `${Math.round(value)}`.padStart(6);

  console.log(`seed ${values.seed}`);
  const { calls, struck, latenessMs } = await runStruckCalls({
    calls: Number(values.calls ?? 500),
    atOnce: Number(values['at-once']),
    share: Number(values.share) / 100,
    seed: Number(values.seed),
    say: (line) => console.log(line),
  });
  const longest = calls.map(longestOf);
  const row = (name: string, of: readonly number[]): void =>
    console.log(
      `${name.padEnd(28)}${String(of.length).padStart(5)}${[0.5, 0.95, 0.99, 1].map((part) => ms(percentile(of, part))).join('')}`,
    );
  console.log('\nsilence that the agent owed, ms       n   p50   p95   p99   max');
  row('the longest of each call', longest);
  row(
    'each turn',
    calls.flatMap(({ silences }) => silences.map((one) => one.ms)),
  );
  const struckTurns = calls.flatMap(({ faults, silences }) =>
    silences.flatMap(({ ms: silentMs, line }) => {
      const fault = faults[line];
      return fault === null || fault === undefined ? [] : [{ name: nameOf(fault), silentMs }];
    }),
  );
  for (const name of Object.keys(struck).sort())
    row(
      `  ${name}`,
      struckTurns.filter((turn) => turn.name === name).map(({ silentMs }) => silentMs),
    );
  const ends: Record<string, number> = {};
  for (const { entry } of calls) ends[`${entry.endedReason}`] = (ends[`${entry.endedReason}`] ?? 0) + 1;
  const warnings: Record<string, number> = {};
  for (const { entry } of calls)
    for (const { code } of entry.warnings ?? []) warnings[code] = (warnings[code] ?? 0) + 1;
  console.log(`\nemulators were late by at most ${JSON.stringify(latenessMs)} ms`);
  console.log(`struck ${JSON.stringify(struck)}\nends ${JSON.stringify(ends)}\nwarnings ${JSON.stringify(warnings)}`);
  for (const call of calls) {
    const bad = [...call.stuck.map((why) => `stuck: ${why}`), ...call.lost.map((why) => `lost: ${why}`)];
    if (longestOf(call) > MOST_SILENT_MS) {
      const { ms: silentMs, line } = call.silences.reduce((a, b) => (b.ms > a.ms ? b : a));
      bad.push(`silent for ${Math.round(silentMs)} ms after line ${line}`);
    }
    if (bad.length === 0) continue;
    const faults = call.faults.map((fault) => (fault === null ? '-' : nameOf(fault))).join(', ');
    console.log(`call ${call.call} ${call.callUuid} (${call.entry.endedReason}; struck: ${faults}): ${bad.join('; ')}`);
    for (const { role, startMs, endMs, text, heardText } of call.entry.turns)
      console.log(
        `    ${ms(startMs)}-${ms(endMs)} ${role} ${text}${heardText === text ? '' : ` (heard: ${heardText})`}`,
      );
    console.log(`    ${JSON.stringify(call.entry.warnings)} ${JSON.stringify(call.entry.recovery)}`);
  }
  const isQuick = percentile(longest, 0.99) <= MOST_SILENT_MS;
  const isWhole = calls.every(({ stuck, lost }) => stuck.length + lost.length === 0);
  console.log(isQuick && isWhole ? 'passed' : 'FAILED');
  return isQuick && isWhole;
}
