/**
 * `npm run bench -- cascade [--calls 20] [--total 100]`: free conversations at once against emulated providers with
 * fixed latencies, in a process of their own. What a reply takes of the gateway's own, how soon an interruption
 * silences the agent, whether the transcript is cut where the sound was, what a conversation holds in memory and what
 * is left of many. Prints tables and writes `data/bench/cascade.json`. A figure
 * on which an emulator's lateness bears is void where that was late, and says so.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { openDatabase } from '../../src/store/database.ts';
import { startEmulatedVoice } from '../emulators/providers/voice/emulated-voice.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { readOptions } from '../harness/options.ts';
import { percentiles } from '../harness/percentile.ts';
import { startProvidersProcess } from '../harness/providers-process.ts';
import { type BargeIn, bargeInsOf, type CallFacts, type Reply, repliesOf, voicedBy } from './call-figures.ts';
import { MediaGauge, type MediaReading } from './media-gauge.ts';
import { CALLERS_VOICE, callerOf, LONG_ANSWER, numberOf, SCENARIO, talkingAgent, VOCABULARY, VOICE } from './talk.ts';
import { VoiceBytes } from './voice-bytes.ts';

const LONGEST_CALL_MS = 180_000;
/** Of one call that finds no room. */
const LONGEST_REFUSED_MS = 30_000;
const ASK_AGAIN_MS = 1_000;
/** Later than that, an emulator says nothing about milliseconds. */
const MOST_LATENESS_MS = 20;
/** Into the calls, when all of them talk. */
const MIDDLE_MS = 14_000;
/** What a call leaves for a while: kept connections, the last messages. */
const SETTLE_MS = 60_000;
/** Before what is held by nobody in particular is read. */
const QUIET_MS = 5_000;
const PROVIDERS = ['deepgram', 'openai', 'elevenlabs'] as const;

const { values } = readOptions({
  command: 'npm run bench -- cascade',
  about: 'Free conversations at once against emulated providers, and what they cost.',
  options: {
    calls: { type: 'string', default: '20' },
    total: { type: 'string', default: '0' },
  },
  meanings: {
    calls: '<N> at once; all of them are measured',
    total: '<N> calls after that, as many at once, to see what they leave behind (1000 for the figure)',
  },
});
const atOnce = Number(values.calls);
const total = Number(values.total);

/** Ends of characters, from the first sound on, as the emulated voice makes it. */
async function charEndsOf(text: string): Promise<number[]> {
  const voice = await startEmulatedVoice();
  try {
    const format = { codec: 'pcm_s16le', rateHz: 16_000 } as const;
    const { times } = await voice.speak({ text: `${text} `, voice: VOICE.flite, speed: 1, format });
    const firstMs = times.startMs[0]!;
    return times.endMs.map((ms) => ms - firstMs);
  } finally {
    await voice.close();
  }
}

async function callOnce(gateway: Gateway, call: number): Promise<string> {
  const { enterprise, lineId: from, agentId } = gateway;
  const order = { to: numberOf(call), agentId, enterprise, from, name: 'Dana' };
  const untilMs = performance.now() + LONGEST_REFUSED_MS;
  let { body } = await gateway.client.place(order);
  // More at once than it dials a second, or has measured room for: asked again, as its answer says.
  while (!body.callUuid && performance.now() < untilMs) {
    await new Promise((done) => setTimeout(done, ASK_AGAIN_MS));
    ({ body } = await gateway.client.place(order));
  }
  if (!body.callUuid) throw new Error(`the placement failed: ${body.message}`);
  const { callUuid } = body;
  // Told, not asked for again and again: that would be load.
  await gateway.receiver.waitFor((webhook) => webhook.callUuid === callUuid, LONGEST_CALL_MS);
  await gateway.client.waitFor(callUuid, 'its end', ({ endedAt }) => endedAt !== null);
  return callUuid;
}

async function inBatches(gateway: Gateway, calls: number, faults: string[]): Promise<void> {
  let next = 0;
  const one = async (place: number): Promise<void> => {
    while (next++ < calls) {
      await callOnce(gateway, place).catch((error: Error) => faults.push(`call: ${error.message}`));
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, calls) }, (_, place) => one(place)));
}

async function factsOf(
  gateway: Gateway,
  callUuid: string,
  call: number,
  ends: readonly number[],
): Promise<CallFacts | null> {
  const entry = await gateway.client.waitFor(
    callUuid,
    'its recording',
    ({ recording }) => recording === null || ['ready', 'failed'].includes(recording.status),
  );
  const emulated = (await gateway.emulator.calls()).findLast(({ to }) => numberOf(call).endsWith(to.replace('+', '')));
  const { databaseUrl } = gateway.service;
  const database = openDatabase({ connectionString: databaseUrl, maxConnections: 1, onIdleError: () => {} });
  try {
    const [stream] = await database.query<{ at: Date | null }>(
      'SELECT min(stream_started_at) AS at FROM call_recordings WHERE call_uuid = $1',
      [callUuid],
    );
    const events = await database.query<{ atMs: number }>(
      `SELECT (data ->> 'atMs')::float8 AS "atMs" FROM call_events
        WHERE call_uuid = $1 AND kind = 'barge_in' AND data ->> 'phase' = 'pause' ORDER BY id`,
      [callUuid],
    );
    if (stream?.at == null || emulated === undefined) return null;
    return {
      streamAtEpochMs: stream.at.getTime(),
      turns: entry.turns as CallFacts['turns'],
      latency: entry.latency as CallFacts['latency'],
      decisionsAtMs: events.map(({ atMs }) => atMs),
      emulated,
      endsOf: (text) => (text.trim() === LONG_ANSWER ? ends : null),
    };
  } finally {
    await database.close();
  }
}

function row(name: string, given: readonly (number | null)[], goal = '', late: readonly string[] = []): void {
  const known = given.filter((value) => value !== null);
  const cells = [...percentiles(known, [0.5, 0.95, 0.99]), percentiles(known, [1])[0]!]
    .map((ms) => (Number.isNaN(ms) ? '–' : ms.toFixed(1)).padStart(9))
    .join('');
  console.log(
    `${name.padEnd(52)}${String(known.length).padStart(5)}${cells}   ${goal}${late.length === 0 ? '' : `  VOID: late ${late.join(', ')}`}`,
  );
}

function printReplies(
  replies: readonly Reply[],
  bargeIns: readonly BargeIn[],
  lateness: Readonly<Record<string, number>>,
): void {
  const late = (...emulators: string[]): string[] => emulators.filter((name) => lateness[name]! > MOST_LATENESS_MS);
  console.log(`\nms${' '.repeat(54)}n      p50      p95      p99      max`);
  row("own share: voice's first byte → ring", pick(replies, 'ringAfterByteMs'), 'goal: p50 ≤ 5, p99 ≤ 20');
  row('the same, less the way between the processes', gaps(replies, 'firstAudioMs', 'ringMs'));
  row("voice's first byte → far end's first sample", pick(replies, 'sampleAfterByteMs'), '', late('carrier'));
  row(
    'interruption: decision → last agent sample',
    pick(bargeIns, 'decisionToSilenceMs'),
    'goal: p95 ≤ 60',
    late('carrier'),
  );
  row(
    "interruption: caller's onset → silence",
    pick(bargeIns, 'onsetToSilenceMs'),
    'goal: p95 ≤ 450',
    late('carrier', 'deepgram'),
  );
  row('heard text, cut against the sound', pick(bargeIns, 'cutErrorMs'), 'goal: p95 ≤ 120', late('carrier'));
  console.log("\nsteps of a reply, from the end of the caller's last sound");
  for (const step of [
    'decidedMs',
    'finalWordsMs',
    'askedMs',
    'firstTokenMs',
    'firstClauseMs',
    'firstAudioMs',
    'ringMs',
    'firstFrameMs',
    'firstPlayedMs',
  ] as const) {
    row(step, pick(replies, step));
  }
  row('waveform less stages', pick(replies, 'differenceMs'));
  row('from whichever was last of them → first clause', untilClause(replies));
}

function pick<Row, Name extends keyof Row>(rows: readonly Row[], name: Name): Row[Name][] {
  return rows.map((one) => one[name]);
}

function gaps(replies: readonly Reply[], from: 'firstAudioMs', to: 'ringMs'): (number | null)[] {
  return replies.map((reply) => (reply[from] === null ? null : reply[to] - reply[from]));
}

/** From decision, final words and first token; the model's way from its first token to its first clause is in it. */
function untilClause(replies: readonly Reply[]): (number | null)[] {
  return replies.map(({ decidedMs, finalWordsMs, firstTokenMs, firstClauseMs }) =>
    firstTokenMs === null || firstClauseMs === null
      ? null
      : firstClauseMs - Math.max(decidedMs, finalWordsMs, firstTokenMs),
  );
}

function printMemory(idle: MediaReading, busy: MediaReading, after: MediaReading | null): void {
  const each = (what: 'residentKb' | 'heapKb'): string => ((busy[what] - idle[what]) / atOnce).toFixed(0);
  console.log(`\nkB a conversation: ${each('residentKb')} resident, ${each('heapKb')} heap and buffers   goal: ≤ 250`);
  if (after === null) return;
  console.log(`after ${total} calls more, against before them (heap and buffers of ${after.threads} threads):`);
  console.log(
    `  heap ${idle.heapKb.toFixed(0)} → ${after.heapKb.toFixed(0)} kB, resident ${idle.residentKb.toFixed(0)} → ${after.residentKb.toFixed(0)} kB`,
  );
  for (const kind of new Set([...Object.keys(idle.resources), ...Object.keys(after.resources)])) {
    console.log(`  ${kind}: ${idle.resources[kind] ?? 0} → ${after.resources[kind] ?? 0}`);
  }
}

const gauge = new MediaGauge();
const providers = await startProvidersProcess({
  vocabulary: VOCABULARY,
  scenario: SCENARIO,
  knownVoice: CALLERS_VOICE,
});
const credentials = { apiKey: providers.key };
const origin = (name: string): string => providers.origins[name]!;
const gateway = await startGateway({
  dataDir: 'data/bench/cascade',
  agent: talkingAgent(),
  personas: Array.from({ length: atOnce }, (_, call) => callerOf(call)),
  connections: [
    { name: 'ears', provider: 'deepgram', baseUrl: origin('deepgram'), credentials },
    { name: 'brain', provider: 'openai_compatible', baseUrl: `${origin('openai')}/v1`, credentials },
    { name: 'voice', provider: 'elevenlabs', baseUrl: origin('elevenlabs'), credentials },
  ],
  environment: {
    MODEL_ALLOW_CIDRS: '127.0.0.1/32',
    NODE_EXTRA_CA_CERTS: providers.caFile,
    ...gauge.environment,
  },
  concurrentCalls: atOnce + 5,
  callsPerSecond: 20,
  log: (line) => process.stderr.write(`${line}\n`),
});
try {
  const faults: string[] = [];
  const ends = await charEndsOf(LONG_ANSWER);
  process.stderr.write('one round to warm up\n');
  await inBatches(gateway, Math.min(atOnce, 4), faults);
  for (const provider of PROVIDERS) await providers.clearJournal(provider);
  process.stderr.write(`${atOnce} conversations at once\n`);
  const loads = [loadavg()[0]!];
  const running = Promise.allSettled(Array.from({ length: atOnce }, (_, call) => callOnce(gateway, call)));
  const facts: CallFacts[] = [];
  const ended = await running;
  loads.push(loadavg()[0]!);
  const lateness: Record<string, number> = {};
  for (const provider of PROVIDERS) lateness[provider] = (await providers.journal(provider)).maxLatenessMs;
  const bytes = new VoiceBytes((await providers.journal('elevenlabs')).entries);
  for (const [call, one] of ended.entries()) {
    if (one.status === 'rejected') faults.push(`call ${call}: ${(one.reason as Error).message}`);
    else {
      const known = await factsOf(gateway, one.value, call, ends);
      if (known === null) faults.push(`call ${call}: its stream is not known`);
      else facts.push(known);
    }
  }
  lateness['carrier'] = Math.max(0, ...facts.map(({ emulated }) => emulated.maxFrameLatenessMs));
  // In the order of time: calls say the same.
  const sounds = facts.map(() => new Map<string, number>());
  const voiced = facts.flatMap((call, index) => voicedBy(call).map((one) => ({ ...one, index })));
  for (const { index, turnId, text, askedAtEpochMs } of voiced.sort((a, b) => a.askedAtEpochMs - b.askedAtEpochMs)) {
    const atEpochMs = bytes.take(text, askedAtEpochMs);
    if (atEpochMs !== null) sounds[index]!.set(turnId, atEpochMs);
  }
  const replies = facts.flatMap((call, index) => repliesOf(call, sounds[index]!));
  const bargeIns = facts.flatMap(bargeInsOf);
  // A round of its own: who collects garbage delays replies.
  await new Promise((done) => setTimeout(done, QUIET_MS));
  const idle = await gauge.read();
  const more = inBatches(gateway, atOnce, faults);
  await new Promise((done) => setTimeout(done, MIDDLE_MS));
  const busy = await gauge.read();
  await more;
  let after: MediaReading | null = null;
  if (total > 0) {
    process.stderr.write(`${total} calls more\n`);
    await inBatches(gateway, total, faults);
    await new Promise((done) => setTimeout(done, SETTLE_MS));
    after = await gauge.read();
  }
  console.log(
    `${facts.length} of ${atOnce} conversations at once were held, ${replies.length} replies; load average ${loads.map((load) => load.toFixed(1)).join(' → ')}`,
  );
  for (const fault of faults) console.log(fault);
  const late = Object.entries(lateness).map(([name, ms]) => `${name} ${ms.toFixed(0)}`);
  console.log(`emulators at most late, ms: ${late.join(', ')}; void above ${MOST_LATENESS_MS}`);
  printReplies(replies, bargeIns, lateness);
  printMemory(idle, busy, after);
  mkdirSync('data/bench', { recursive: true });
  const result = {
    node: process.version,
    atOnce,
    total,
    loads,
    lateness,
    faults,
    replies,
    bargeIns,
    idle,
    busy,
    after,
  };
  writeFileSync('data/bench/cascade.json', JSON.stringify(result, null, 2));
} finally {
  await gateway.stop();
  await providers.stop();
  gauge.close();
}
process.exit(0);
