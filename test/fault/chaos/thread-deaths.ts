/**
 * A pipeline thread dies in the middle of conversations. Places them, ends the thread that carries them in one of five
 * ways, lets them come to their end, and says what became of each. Used by the fault tests (a few conversations) and by
 * the scenario (twenty).
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { EmulatedCall } from '../../../bench/harness/emulator-process.ts';
import type { Gateway } from '../../../bench/harness/gateway.ts';
import { PATIENCE_MS } from '../../../bench/harness/patience.ts';
import type { Call } from '../../../clients/typescript/src/client.ts';
import type { Database } from '../../../src/store/database.ts';
import { busiestThread, killThread, type ThreadDeath } from '../nemesis/thread-faults.ts';
import { turnsBegun } from './speech-begun.ts';
import { faultsIn } from './transcript-check.ts';

export interface ThreadDeathReport {
  death: ThreadDeath;
  calls: number;
  /** Not ended by the agent's own goodbye. */
  lost: string[];
  /** What is wrong with a transcript (`transcript-check.ts`), with the whole of it. */
  holes: string[];
  /** Calls whose carrier opened another stream after the death, with when: the socket should have stayed. */
  reconnected: string[];
  /** Of them, those that were over, or near it, when the thread died: they may have had no more to do with it. */
  escaped: string[];
  /** One for each call that was moved. */
  gapsMs: number[];
  /** Answers that the callees gave, and how many of them were understood. */
  answers: { spoken: number; understood: number };
  /** What the calls were warned of, by code. */
  warnings: Record<string, number>;
}

export interface ThreadDeathOptions {
  gateway: Gateway;
  database: Database;
  numbers: readonly string[];
  death: ThreadDeath;
  /** Intents that a whole conversation has, in order. */
  intents: readonly string[];
  /** Calls begin so far apart, in one after the other's time: callers do not all speak at once. */
  spacingMs: number;
  /** From the first sound that the last callee had of the agent to the death. */
  afterMs: number;
}

/** Longer than the agent's goodbye. */
const NEAR_ITS_END_MS = 3_000;

export async function runThreadDeath(options: ThreadDeathOptions): Promise<ThreadDeathReport> {
  const { gateway, database, numbers, death, intents } = options;
  const pid = gateway.service.media[0]!.pid()!;
  const earlier = new Set((await gateway.emulator.calls()).map(({ callUuid }) => callUuid));
  const callUuids = await Promise.all(
    numbers.map(async (number, at) => {
      await wait(at * options.spacingMs);
      return place(gateway, number);
    }),
  );
  const farEndOf = (calls: readonly EmulatedCall[], number: string) =>
    calls.find(({ to, callUuid }) => number.endsWith(to) && !earlier.has(callUuid));
  // A call is in the thread only when its stream is open, which a busy machine is slow to do after the answer.
  await untilAll(numbers, async () => {
    const calls = await gateway.emulator.calls();
    return new Set(numbers.filter((number) => (farEndOf(calls, number)?.firstAgentSoundAtEpochMs ?? null) !== null));
  });
  await wait(options.afterMs);
  const { atEpochMs: diedAtEpochMs } = await killThread(pid, await busiestThread(pid, /^pipeline-/), death);
  const goneAtEpochMs = Date.now();

  const entries = await Promise.all(
    callUuids.map((callUuid) => gateway.client.waitFor(callUuid, 'its end', ({ endedAt }) => endedAt !== null)),
  );
  const events = await database.query<{ call_uuid: string; kind: string; data: Record<string, unknown> }>(
    `SELECT call_uuid, kind, data FROM call_events
      WHERE kind IN ('recovery', 'warning') AND call_uuid = ANY ($1::uuid[])`,
    [callUuids],
  );
  const begun = await turnsBegun(database, callUuids);
  const warnings: Record<string, number> = {};
  for (const { kind, data } of events) {
    const code = String(data['code']);
    if (kind === 'warning') warnings[code] = (warnings[code] ?? 0) + 1;
  }
  const emulated = await gateway.emulator.calls();
  const farOf = (number: string) => farEndOf(emulated, number);
  return {
    death,
    calls: callUuids.length,
    lost: entries
      .filter((entry) => `${entry.status}/${entry.endedReason}` !== 'completed/agent_hangup')
      .map((entry) => `${entry.callUuid} ${entry.status}/${entry.endedReason}`),
    holes: entries.flatMap(({ callUuid, turns }, at) => {
      const callee = farOf(numbers[at]!);
      const spoken = callee?.said.length ?? 0;
      const faults = faultsIn(turns, { intents, agentBegan: begun.get(callUuid) ?? [], spoken, deaths: 1 });
      return faults.map(
        (fault) => `${callUuid} ${fault}: ${JSON.stringify(turns.map(shortened))}; ${accountOf(callee)}`,
      );
    }),
    reconnected: numbers.flatMap((number) => {
      const streams = farOf(number)?.streams ?? [];
      return streams.some(({ openedAtEpochMs }) => openedAtEpochMs > diedAtEpochMs)
        ? [
            `${number}, ms from the death: ${JSON.stringify(streams.map((stream) => sinceDeath(stream, diedAtEpochMs)))}`,
          ]
        : [];
    }),
    escaped: numbers.filter((number) => {
      const overAtEpochMs = farOf(number)?.hungUpAtEpochMs ?? Number.POSITIVE_INFINITY;
      return overAtEpochMs < goneAtEpochMs + NEAR_ITS_END_MS;
    }),
    gapsMs: events.filter(({ kind }) => kind === 'recovery').map(({ data }) => Number(data['gapMs'])),
    answers: {
      spoken: numbers.reduce((sum, number) => sum + (farOf(number)?.said.length ?? 0), 0),
      understood: entries.reduce((sum, { turns }) => sum + turns.filter((turn) => turn.intent !== undefined).length, 0),
    },
    warnings,
  };
}

function sinceDeath(stream: EmulatedCall['streams'][number], diedAtEpochMs: number): object {
  const { openedAtEpochMs, closedAtEpochMs, closeCode } = stream;
  return {
    opened: Math.round(openedAtEpochMs - diedAtEpochMs),
    closed: closedAtEpochMs === null ? null : Math.round(closedAtEpochMs - diedAtEpochMs),
    closeCode,
  };
}

/** What the far end says of it: who did not hear whom is told apart by it. */
function accountOf(callee: EmulatedCall | undefined): string {
  if (callee === undefined) return 'the callee knows nothing of it';
  const { answeredAtEpochMs, heard, said, framesSent, agentPlayedMs, maxFrameLatenessMs, protocolFaults } = callee;
  const sinceMs = (epochMs: number): number => Math.round(epochMs - (answeredAtEpochMs ?? 0));
  const story = [
    ...heard.map(({ atEpochMs, text, understood }) => ({
      atEpochMs,
      what: `${understood ? 'understood' : 'heard'} "${text}"`,
    })),
    ...said.map(({ startAtEpochMs, text }) => ({ atEpochMs: startAtEpochMs, what: `said "${text}"` })),
  ].sort((a, b) => a.atEpochMs - b.atEpochMs);
  return [
    'the callee',
    ...story.map(({ atEpochMs, what }) => `${what} at ${sinceMs(atEpochMs)} ms,`),
    `sent ${framesSent} frames, at most ${Math.round(maxFrameLatenessMs)} ms late, got ${Math.round(agentPlayedMs)} ms of the agent,`,
    `faults ${JSON.stringify(protocolFaults)}`,
  ].join(' ');
}

function shortened({ turnId, role, text, intent }: Call['turns'][number]): string {
  return `${turnId} ${role} "${text}"${intent === undefined ? '' : ` (${intent})`}`;
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

async function untilAll(wanted: readonly string[], look: () => Promise<Set<string>>): Promise<void> {
  for (const untilMs = performance.now() + PATIENCE_MS; ; ) {
    const found = await look();
    if (wanted.every((one) => found.has(one))) return;
    if (performance.now() > untilMs) throw new Error(`the agent spoke in only ${found.size} of ${wanted.length} calls`);
    await wait(50);
  }
}
