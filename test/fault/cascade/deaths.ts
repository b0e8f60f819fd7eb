/**
 * Something dies under conversations with a language model: the provider thread, the pipeline thread, or the media
 * process (the carrier brings its calls back to another). What is judged is what the model was told and what was said:
 * the history came back, and at most the sentence that was cut was said again. Used by `npm run fault -- cascade` and
 * by the test.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { signal } from '../nemesis/processes.ts';
import { busiestThread, killThread } from '../nemesis/thread-faults.ts';
import { FILLERS, LINES, numberOf } from './conversation.ts';
import type { Conversations } from './conversations.ts';

export const VICTIMS = ['provider_thread', 'pipeline_thread', 'media_process'] as const;
export type Victim = (typeof VICTIMS)[number];

export interface DeathReport {
  victim: Victim;
  calls: number;
  /** Not ended by the agent's own goodbye. */
  lost: string[];
  /** Lines of the callee that the model was not told in the end, with what it was told in the callee's name. */
  forgotten: string[];
  /** Sentences that were said more often than a cut explains. */
  repeated: string[];
  /** How they went on, by what. */
  recoveries: Record<string, number>;
}

/** From the callee's second line to the death: the agent is in the middle of its answer. */
const DIES_AFTER_MS = 3_000;
const ENDS_WITHIN_MS = 120_000;
const BRIDGE = /Sorry, I lost you for a moment\.\s*/g;

/** `calls` conversations, from number `first` on. */
export async function runDeath(
  world: Conversations,
  victim: Victim,
  { first, calls }: { first: number; calls: number },
): Promise<DeathReport> {
  const { gateway, providers } = world;
  const { client, agentId, enterprise, lineId: from } = gateway;
  const speaks = secondLinesOf(world, calls);
  const callUuids: string[] = [];
  for (let at = 0; at < calls; at++) {
    const { body } = await client.place({ to: numberOf(first + at), agentId, enterprise, from, name: 'Dana' });
    if (body.callUuid === undefined) throw new Error(`a placement failed: ${body.message}`);
    callUuids.push(body.callUuid);
  }
  await speaks;
  await wait(DIES_AFTER_MS);
  await kill(world, victim);
  const entries = await Promise.all(
    callUuids.map((callUuid) => client.waitFor(callUuid, 'its end', ({ endedAt }) => endedAt !== null, ENDS_WITHIN_MS)),
  );
  const told = (await providers.journal('openai')).entries.flatMap(({ type, messages }) =>
    // A line that was heard as two turns is in lines of its own.
    type === 'answered' ? [JSON.stringify(messages).toLowerCase().replaceAll('\\n', ' ')] : [],
  );
  const last = told.slice(-3 * calls);
  const report: DeathReport = { victim, calls, lost: [], forgotten: [], repeated: [], recoveries: {} };
  for (const { callUuid, endedReason, turns, recovery } of entries) {
    if (endedReason !== 'agent_hangup') report.lost.push(`${callUuid} ${endedReason}`);
    for (const { what } of recovery) report.recoveries[what] = (report.recoveries[what] ?? 0) + 1;
    report.repeated.push(...repeatedIn(turns.filter(({ role }) => role === 'agent').map(({ heardText }) => heardText)));
  }
  const goodbyes = last.filter((messages) => messages.includes('goodbye'));
  for (const messages of goodbyes.slice(-calls)) {
    const heard = userLinesOf(messages);
    const missing = LINES.filter((line) => !heard.some((said) => isHeardIn(said, line)));
    report.forgotten.push(...missing.map((line) => `${line} in ${JSON.stringify(heard)}`));
  }
  if (goodbyes.length < calls) report.forgotten.push(`only ${goodbyes.length} questions have the last line`);
  return report;
}

/** A sentence may come twice: cut, and said again. */
function repeatedIn(heard: readonly string[]): string[] {
  const count = new Map<string, number>();
  for (const text of heard) {
    for (const sentence of text.replace(BRIDGE, '').split(/(?<=[.?!])\s+/)) {
      if (sentence !== '' && !FILLERS.includes(sentence)) count.set(sentence, (count.get(sentence) ?? 0) + 1);
    }
  }
  const twice = [...count].filter(([, times]) => times > 1);
  return twice.filter(([, times], at) => times > 2 || at > 0).map(([sentence, times]) => `${times} times: ${sentence}`);
}

/** As the recogniser writes a line, up to its first comma: a busy machine's misses an `I`, and forgets nothing. */
function isHeardIn(said: string, line: string): boolean {
  return longWordsOf(said).includes(longWordsOf(line.split(',')[0]!));
}

function longWordsOf(text: string): string {
  return (text.toLowerCase().match(/[a-z']{2,}/g) ?? []).join(' ');
}

/** `messages`: JSON, in lower case. */
function userLinesOf(messages: string): string[] {
  const all = JSON.parse(messages) as { role: string; content: unknown }[];
  return all.filter(({ role }) => role === 'user').map(({ content }) => String(content));
}

/** Resolves when so many callees have begun their second line. */
function secondLinesOf({ gateway }: Conversations, calls: number): Promise<void> {
  let begun = 0;
  return new Promise((resolve) => {
    gateway.emulator.onEvent((event) => {
      if (event.event === 'said' && event.text === LINES[1] && ++begun === calls) resolve();
    });
  });
}

async function kill({ gateway }: Conversations, victim: Victim): Promise<void> {
  const pid = await busiest(gateway.service.media.map((process) => process.pid()!));
  if (victim === 'media_process') {
    signal(pid, 'SIGKILL');
    return;
  }
  const name = victim === 'provider_thread' ? /^provider-/ : /^pipeline-/;
  await killThread(pid, await busiestThread(pid, name), victim === 'provider_thread' ? 'throw' : 'terminate');
}

/** The process that has the calls: where they are all in one, it works the most. */
async function busiest(pids: readonly number[]): Promise<number> {
  if (pids.length === 1) return pids[0]!;
  const before = pids.map(cpuTicksOf);
  await wait(500);
  const used = pids.map((pid, at) => cpuTicksOf(pid) - before[at]!);
  return pids[used.indexOf(Math.max(...used))]!;
}

/** Of user time; Linux only. */
function cpuTicksOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[11]);
}
