/**
 * A pipeline thread dies in the middle of conversations. Places them, ends the thread that carries them in one of five ways, lets them come
 * to their end, and says what became of each. Used by the fault tests (a few conversations) and by the chaos bench (twenty).
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../src/store/database.ts';
import type { CallEntry } from '../harness/call-client.ts';
import type { Gateway } from '../harness/gateway.ts';
import { busiestThread, killThread, type ThreadDeath } from '../harness/thread-faults.ts';
import { ASKED_AGAIN } from './conversation-agent.ts';

export interface ThreadDeathReport {
  death: ThreadDeath;
  calls: number;
  /** Not ended by the agent's own goodbye. */
  lost: string[];
  /** What is wrong with a transcript: a turn's number that is missing, an intent that never came; beside it what the callee heard. */
  holes: string[];
  /** Calls whose carrier opened a second stream: the socket should have stayed. */
  reconnected: number;
  /** One for each call that was moved. */
  gapsMs: number[];
}

export interface ThreadDeathOptions {
  gateway: Gateway;
  database: Database;
  numbers: readonly string[];
  death: ThreadDeath;
  /** Intents that a whole conversation has, in order. */
  intents: readonly string[];
  /** From the answer of the last call to the death. */
  afterMs: number;
}

const ANSWER_LIMIT_MS = 30_000;
const END_LIMIT_MS = 120_000;

export async function runThreadDeath(options: ThreadDeathOptions): Promise<ThreadDeathReport> {
  const { gateway, database, numbers, death, intents } = options;
  const callUuids = await Promise.all(numbers.map((number) => place(gateway, number)));
  await untilAll(callUuids, ANSWER_LIMIT_MS, async () => {
    const rows = await database.query<{ call_uuid: string }>(
      `SELECT DISTINCT call_uuid FROM call_events WHERE kind = 'media.started' AND call_uuid = ANY ($1::uuid[])`,
      [callUuids],
    );
    return new Set(rows.map((row) => row.call_uuid));
  });
  await wait(options.afterMs);
  const pid = gateway.service.media[0]!.pid()!;
  await killThread(pid, await busiestThread(pid, /^pipeline-/), death);

  const entries = await Promise.all(
    callUuids.map((callUuid) =>
      gateway.client.waitFor(callUuid, 'its end', ({ endedAt }) => endedAt !== null, END_LIMIT_MS),
    ),
  );
  const recoveries = await database.query<{ gap: number }>(
    `SELECT (data ->> 'gapMs')::float AS gap FROM call_events WHERE kind = 'recovery' AND call_uuid = ANY ($1::uuid[])`,
    [callUuids],
  );
  const emulated = await gateway.emulator.calls();
  const lastTo = (number: string) => emulated.findLast((call) => number.endsWith(call.to));
  return {
    death,
    calls: callUuids.length,
    lost: entries
      .filter((entry) => `${entry.status}/${entry.endedReason}` !== 'completed/agent_hangup')
      .map((entry) => `${entry.callUuid} ${entry.status}/${entry.endedReason}`),
    holes: entries.flatMap((entry, at) =>
      holesIn(entry, intents).map((hole) => `${hole}; heard there: ${JSON.stringify(lastTo(numbers[at]!)?.heard)}`),
    ),
    reconnected: numbers.filter((number) => lastTo(number)?.streams.length !== 1).length,
    gapsMs: recoveries.map((row) => row.gap),
  };
}

function holesIn({ callUuid, turns }: CallEntry, intents: readonly string[]): string[] {
  const holes: string[] = [];
  const ids = turns.map((turn) => turn.turnId).join(' ');
  if (ids !== turns.map((_, at) => `t${at + 1}`).join(' ')) holes.push(`${callUuid} has the turns ${ids}`);
  const heard = turns.map((turn) => turn.intent).filter((intent) => intent !== undefined && intent !== ASKED_AGAIN);
  const once = heard.filter((intent, at) => intent !== heard[at - 1]);
  if (once.join(' ') !== intents.join(' ')) holes.push(`${callUuid} has the intents ${heard.join(' ')}`);
  return holes;
}

async function place(gateway: Gateway, number: string): Promise<string> {
  const placed = await gateway.client.place({
    to: number,
    agentId: gateway.agentId,
    enterprise: gateway.enterprise,
    from: gateway.lineId,
    name: 'Dana',
  });
  if (placed.body.callUuid === undefined) throw new Error(`${number} was answered ${placed.httpStatus}`);
  return placed.body.callUuid;
}

async function untilAll(wanted: readonly string[], limitMs: number, look: () => Promise<Set<string>>): Promise<void> {
  for (const untilMs = performance.now() + limitMs; ; ) {
    const found = await look();
    if (wanted.every((one) => found.has(one))) return;
    if (performance.now() > untilMs) throw new Error(`only ${found.size} of ${wanted.length} calls have a stream`);
    await wait(50);
  }
}
