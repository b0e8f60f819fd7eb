/**
 * Conversations through the whole service, some turns of which are struck by a fault of a provider or a tool: places
 * them, strikes, and judges each by what is left of it. Used by `npm run fault -- cascade` and, with few calls, by the
 * test.
 */
import type { EmulatedCall } from '../../../bench/harness/emulator-process.ts';
import type { Gateway } from '../../../bench/harness/gateway.ts';
import type { ProvidersProcess } from '../../../bench/harness/providers-process.ts';
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import type { Call } from '../../../clients/typescript/src/client.ts';
import { FILLERS, MOST_SECONDS, numberOf } from './conversation.ts';
import { startConversations } from './conversations.ts';
import type { MoodyTool } from './moody-tool.ts';
import { type OwedSilence, owedSilences } from './owed-silence.ts';
import { linesWith, nameOf, planTurnFaults, strike, type TurnFault } from './turn-faults.ts';

export interface StruckCallsOptions {
  calls: number;
  atOnce: number;
  /** Of the turns. */
  share: number;
  seed: number;
  /** What is struck in each call, instead of a plan by the seed. */
  plan?: (TurnFault | null)[][];
  /** More settings of the service. */
  settings?: Record<string, string>;
  say(line: string): void;
}

export interface StruckCall {
  call: number;
  callUuid: string;
  entry: Call;
  /** By line; null: not struck. */
  faults: readonly (TurnFault | null)[];
  silences: OwedSilence[];
  /** What is missing of it, in words; empty: nothing is. */
  lost: string[];
  /** Why it counts as stuck; empty: it does not. */
  stuck: string[];
}

export interface StruckCallsReport {
  calls: StruckCall[];
  /** Faults that were carried out, by name. */
  struck: Record<string, number>;
  /** Of each emulated provider, at worst. */
  latenessMs: Record<string, number>;
}

const ENDS_WITHIN_MS = (MOST_SECONDS + 60) * 1_000;
const LEFT_WITHIN_MS = 60_000;

export async function runStruckCalls(options: StruckCallsOptions): Promise<StruckCallsReport> {
  const { calls, atOnce, share, seed, settings = {}, say } = options;
  const plan = options.plan ?? planTurnFaults(calls, share, createRandom(seed));
  const struck: Record<string, number> = {};
  const world = await startConversations({ lines: plan.map(linesWith), atOnce, settings });
  const { gateway, providers, tool } = world;
  try {
    strikeAsTheySpeak(gateway, plan, providers, tool, struck);
    const done = await takeCalls(gateway, plan, atOnce, say);
    const latenessMs: Record<string, number> = {};
    for (const name of Object.keys(providers.origins)) latenessMs[name] = (await providers.journal(name)).maxLatenessMs;
    return { calls: done, struck, latenessMs };
  } finally {
    await world.close();
  }
}

/** A turn is struck as its callee begins to speak. */
function strikeAsTheySpeak(
  gateway: Gateway,
  plan: readonly (readonly (TurnFault | null)[])[],
  providers: ProvidersProcess,
  tool: MoodyTool,
  struck: Record<string, number>,
): void {
  const callOf = new Map<string, { call: number; turn: number }>();
  const callByNumber = new Map(plan.map((_, call) => [numberOf(call), call]));
  gateway.emulator.onEvent((event) => {
    if (event.event === 'placed') {
      const call = callByNumber.get(`+${event.to.replace('+', '')}`);
      if (call !== undefined) callOf.set(event.callUuid, { call, turn: 0 });
    }
    if (event.event !== 'said') return;
    const at = callOf.get(event.callUuid);
    const fault = at === undefined ? null : (plan[at.call]?.[at.turn++] ?? null);
    if (fault === null) return;
    struck[nameOf(fault)] = (struck[nameOf(fault)] ?? 0) + 1;
    void strike(fault, providers, tool);
  });
}

async function takeCalls(
  gateway: Gateway,
  plan: readonly (readonly (TurnFault | null)[])[],
  atOnce: number,
  say: (line: string) => void,
): Promise<StruckCall[]> {
  const done: StruckCall[] = [];
  let next = 0;
  const takeOne = async (): Promise<void> => {
    for (let call = next++; call < plan.length; call = next++) {
      done.push(await holdCall(gateway, call, plan[call]!));
      if (done.length % 50 === 0) say(`${done.length} of ${plan.length} calls are over`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, plan.length) }, takeOne));
  return done.sort((a, b) => a.call - b.call);
}

async function holdCall(gateway: Gateway, call: number, faults: readonly (TurnFault | null)[]): Promise<StruckCall> {
  const { agentId, enterprise, lineId: from, client } = gateway;
  const { body } = await client.place({ to: numberOf(call), agentId, enterprise, from, name: 'Dana' });
  const { callUuid } = body;
  if (callUuid === undefined) throw new Error(`the placement of call ${call} failed: ${body.message}`);
  const stuck: string[] = [];
  let entry = await client
    .waitFor(callUuid, 'its end', ({ endedAt }) => endedAt !== null, ENDS_WITHIN_MS)
    .catch((error: Error) => {
      stuck.push(error.message);
      return client.entry(callUuid);
    });
  if (entry.endedReason === null) stuck.push('it has no reason of its end');
  if (entry.endedReason === 'max_duration_reached') stuck.push('it ran into its longest time');
  const lost: string[] = [];
  entry = await client
    .waitFor(callUuid, 'its recording', ({ recording }) => recording?.status === 'ready', LEFT_WITHIN_MS)
    .catch((error: Error) => {
      lost.push(`no recording: ${error.message}`);
      return entry;
    });
  const webhook = await gateway.receiver
    .waitFor((one) => one.callUuid === callUuid && one.verified, LEFT_WITHIN_MS)
    .catch(() => null);
  if (webhook === null) lost.push('no webhook');
  if (!entry.turns.some(({ role }) => role === 'agent')) lost.push('no word of the agent in its entry');
  const emulated = (await gateway.emulator.calls()).find(({ to }) => numberOf(call).endsWith(to.replace('+', '')));
  if (emulated === undefined) throw new Error(`the carrier knows no call to ${numberOf(call)}`);
  const silences = emulated.streamOpenAtEpochMs === null ? [] : await silencesOf(gateway, emulated, entry);
  return { call, callUuid, entry, faults, silences, lost, stuck };
}

async function silencesOf(gateway: Gateway, emulated: EmulatedCall, entry: Call): Promise<OwedSilence[]> {
  const wav = await gateway.emulator.recording(emulated.callUuid);
  const { said, streamOpenAtEpochMs, answeredAtEpochMs, recordingMs } = emulated;
  const beganAtEpochMs = said[0] === undefined ? answeredAtEpochMs! : said[0].startAtEpochMs - said[0].startMs;
  const openedMs = streamOpenAtEpochMs! - beganAtEpochMs;
  return owedSilences({
    wav,
    openedMs,
    saidAtMs: said.map(({ startMs }) => startMs),
    endMs: recordingMs ?? 0,
    fillers: entry.turns
      .filter(({ role, text }) => role === 'agent' && FILLERS.includes(text.trim()))
      .map(({ startMs, endMs }) => ({ startMs: openedMs + startMs, endMs: openedMs + endMs })),
  });
}
