/**
 * `npm run bench -- turns [--calls 200] [--at-once 20] [--voice slt]`: how long a caller waits for an answer, and how
 * often one comes into a sentence that is not over. Callees recite words that fit the step, words that fit none, and
 * sentences with pauses; what is measured is the sound at the far end, by the carrier emulator's own recordings. Prints
 * tables and writes `data/bench/turns.json`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { importAgent } from '../../src/agents/stored-agents.ts';
import { openDatabase } from '../../src/store/database.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { percentile } from '../harness/percentile.ts';
import { type Heard, heardAfter, runsOf } from './far-end.ts';
import { agentFor, CONVERSATIONS, calleeOf, type LineKind, lineOf, numberOf, PAUSES_MS } from './lines.ts';

const LONGEST_CALL_MS = 120_000;
const USAGE = `npm run bench -- turns [--calls 200] [--at-once 20] [--voice slt]

  --calls    calls of four lines each: one of the grammar, one that fits nothing, two with pauses of 0.5 to 1.1 s   200
  --at-once  of them at the same time                                                                         20
  --voice    of the agent: slt, rms, awb, kal16                                                               slt`;

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '200' },
    'at-once': { type: 'string', default: '20' },
    voice: { type: 'string', default: 'slt' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const calls = Number(values.calls);
const atOnce = Number(values['at-once']);

interface Measured extends Heard {
  call: number;
  expect: string;
  kind: LineKind;
  text: string;
  pauseMs: number | null;
}

const conversationOf = (call: number) => CONVERSATIONS[call % CONVERSATIONS.length]!;

async function importAgents(gateway: Gateway): Promise<string[]> {
  const { databaseUrl } = gateway.service;
  const database = openDatabase({ connectionString: databaseUrl, maxConnections: 1, onIdleError: () => {} });
  try {
    const ids: string[] = [];
    for (const conversation of CONVERSATIONS) {
      const definition = agentFor(conversation, values.voice);
      ids.push((await importAgent(database, { slug: gateway.enterprise, definition })).id);
    }
    return ids;
  } finally {
    await database.close();
  }
}

async function callOnce(gateway: Gateway, agentId: string, call: number): Promise<Measured[]> {
  const { enterprise, lineId: from } = gateway;
  const { body } = await gateway.client.place({ to: numberOf(call), agentId, enterprise, from, name: 'Dana' });
  if (!body.callUuid) throw new Error(`the placement failed: ${body.message}`);
  await gateway.client.waitFor(body.callUuid, 'its end', ({ endedAt }) => endedAt !== null, LONGEST_CALL_MS);
  const emulated = (await gateway.emulator.calls()).find(({ to }) => numberOf(call).endsWith(to.replace('+', '')));
  if (emulated === undefined) throw new Error(`the emulator knows no call to ${numberOf(call)}`);
  const wav = await gateway.emulator.recording(emulated.callUuid);
  const callee = runsOf(wav, 0);
  const agent = runsOf(wav, 1);
  const { said } = emulated;
  return said.map(({ startMs }, turn) => {
    const untilMs = said[turn + 1]?.startMs ?? emulated.recordingMs ?? startMs;
    const { kind, text } = lineOf(conversationOf(call), call, turn);
    const pause = /<(\d+)>/.exec(text)?.[1];
    const pauseMs = pause === undefined ? null : Number(pause);
    const heard = heardAfter({ startMs, untilMs }, callee, agent);
    return { call, expect: conversationOf(call).expect, kind, text, pauseMs, ...heard };
  });
}

const ms = (value: number): string => (Number.isNaN(value) ? '–' : String(Math.round(value))).padStart(7);

function printWaits(lines: readonly Measured[]): void {
  console.log(
    `\nsilence that the agent owed after a line, ms${' '.repeat(15)}n      p50    p95    p99    max  unanswered`,
  );
  const row = (name: string, of: readonly Measured[]): void => {
    const owed = of.map(({ owedMs }) => owedMs);
    const parts = [0.5, 0.95, 0.99, 1].map((part) => ms(percentile(owed, part))).join('');
    const unanswered = of.filter(({ answerMs }) => answerMs === null).length;
    console.log(`${name.padEnd(54)}${String(of.length).padStart(6)}  ${parts}  ${unanswered}`);
  };
  for (const { expect } of CONVERSATIONS) {
    for (const kind of ['phrase', 'strange', 'paused'] as const) {
      const of = lines.filter((line) => line.expect === expect && line.kind === kind);
      if (of.length > 0) row(`${expect}, ${kind}`, of);
    }
  }
  row('all lines', lines);
  const longest = new Map<number, Measured>();
  for (const line of lines) if (line.owedMs >= (longest.get(line.call)?.owedMs ?? 0)) longest.set(line.call, line);
  row('the longest of each call', [...longest.values()]);
}

function printCutOffs(lines: readonly Measured[]): void {
  console.log('\nsentences into which the agent spoke, by the pause in them');
  for (const pauseMs of PAUSES_MS) {
    const of = lines.filter((line) => line.pauseMs === pauseMs);
    const cut = of.filter(({ cutOff }) => cutOff);
    const texts = [...new Set(cut.map(({ text }) => text))].slice(0, 3).join('; ');
    console.log(
      `${ms(pauseMs)} ms: ${String(cut.length).padStart(3)} of ${of.length}${texts === '' ? '' : `   (${texts})`}`,
    );
  }
  const whole = lines.filter(({ pauseMs }) => pauseMs === null);
  console.log(`  without: ${String(whole.filter(({ cutOff }) => cutOff).length).padStart(3)} of ${whole.length}`);
}

const gateway = await startGateway({
  dataDir: 'data/bench/turns',
  agent: agentFor(CONVERSATIONS[0]!, values.voice),
  personas: Array.from({ length: calls }, (_one, call) => calleeOf(conversationOf(call), call)),
  concurrentCalls: atOnce + 5,
  callsPerSecond: 20,
  log: (line) => process.stderr.write(`${line}\n`),
});
try {
  const agentIds = await importAgents(gateway);
  const lines: Measured[] = [];
  const faults: string[] = [];
  let next = 0;
  const takeCalls = async (): Promise<void> => {
    for (let call = next++; call < calls; call = next++) {
      try {
        lines.push(...(await callOnce(gateway, agentIds[call % agentIds.length]!, call)));
      } catch (error) {
        faults.push(`call ${call}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, takeCalls));
  console.log(`${calls} calls, ${atOnce} at once, ${lines.length} lines; voice ${values.voice}`);
  for (const fault of faults) console.log(fault);
  printWaits(lines);
  printCutOffs(lines);
  mkdirSync('data/bench', { recursive: true });
  writeFileSync('data/bench/turns.json', JSON.stringify({ node: process.version, lines, faults }, null, 2));
} finally {
  await gateway.stop();
}
process.exit(0);
