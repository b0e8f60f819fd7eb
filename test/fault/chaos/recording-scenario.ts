/**
 * `npm run fault -- chaos recordings`: the media process of each call is killed at a random moment of it, one process
 * at a time: a call whose carrier finds nobody at all is over, and says nothing of recordings. What is checked is what
 * a client has afterwards: one playable file a call, as long as the call, with all but the last second of each stream
 * in it. The callee hums without end, so that what is missing is heard. The small form of it runs in the tests.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { EmulatedCall } from '../../../bench/harness/emulator-process.ts';
import { type Gateway, startGateway } from '../../../bench/harness/gateway.ts';
import { PATIENCE_MS } from '../../../bench/harness/patience.ts';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { percentile } from '../../../bench/harness/percentile.ts';
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import type { Call } from '../../../clients/typescript/src/client.ts';
import { readOggOpus } from '../../../media/audio/ogg-opus-reader.ts';
import { OGG_TICKS_PER_SECOND } from '../../../media/audio/ogg-opus-writer.ts';
import { loadOpusCodec } from '../../../media/audio/opus-codec.ts';
import type { ToneAgent } from '../../../media/contract/agent-definition.ts';
import type { Database } from '../../../src/store/database.ts';

export interface RecordingScenarioOptions {
  calls: number;
  seed: number;
  /** A stream that lost more is a fault. Default: a second; a test, whose machine may be slow, asks for less. */
  mostLostMs?: number;
  /** By how much a recording may be longer or shorter than its call, by the far end's streams. Default: a second. */
  mostOffMs?: number;
  /** More settings of the service. */
  settings?: Record<string, string>;
  say(line: string): void;
}

export interface RecordingReport {
  faults: string[];
  /** Calls whose media process was killed while they lasted. */
  hits: number;
  /** Of each stream whose process died: what of its caller's hum is not heard in the recording of the whole. */
  lostMs: number[];
  /** Length of the whole less that of the call by the far end's streams, ms. */
  offMs: number[];
}

const AT_ONCE = 3;
/** How long a call goes on after its stream is back. */
const AFTERWARDS_MS = 4_000;
const KILL_MS = { least: 1_000, most: 9_000 };
const READY_LIMIT_MS = 180_000;
const FOLDER_WAIT_MS = 5_000;
const MOST_LOST_MS = 1_000;
const MOST_OFF_MS = 1_000;
const TONE_HZ = 300;
const RATE_HZ = 8_000;
const STEP_MS = 20;
const LONGEST_PACKET_MS = 120;
const AUDIBLE = 1_000;
/** Opening and closing are seen by the far end, a little apart from what media sees. */
const BESIDE_MS = 200;

const agent = { kind: 'tone', name: 'Tone', direction: 'outbound', toneHz: 440 } as ToneAgent;

export async function runRecordingScenario(options: RecordingScenarioOptions): Promise<RecordingReport> {
  const { calls, seed, say, mostLostMs = MOST_LOST_MS, mostOffMs = MOST_OFF_MS, settings = {} } = options;
  const random = createRandom(seed);
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-chaos-recordings-'));
  const hums = { kind: 'tone', name: 'hums', number: '+1415551*', ringMs: 100, toneHz: TONE_HZ } as const;
  const gateway = await startGateway({
    dataDir,
    agent,
    personas: [hums],
    settings: { PARLEY_MEDIA_PROCESSES: '2', PARLEY_PIPELINE_THREADS: '1', ...settings },
    concurrentCalls: 100,
    callsPerSecond: 100,
    keepAudio: false,
    log: () => {},
    childOutput: () => {},
  });
  const database = openPatientDatabase(gateway.service.databaseUrl, 2);
  const report: RecordingReport = { faults: [], hits: 0, lostMs: [], offMs: [] };
  try {
    const placed: KilledCall[] = [];
    const killer = createKiller(gateway, database, join(dataDir, 'recordings'));
    for (let from = 0; from < calls; from += AT_ONCE) {
      const round = Array.from({ length: Math.min(AT_ONCE, calls - from) }, async (_, at) => {
        const killAfterMs = KILL_MS.least + random() * (KILL_MS.most - KILL_MS.least);
        return callAndKill(gateway, killer, `+1415551${String(from + at).padStart(4, '0')}`, killAfterMs);
      });
      placed.push(...(await Promise.all(round)));
    }
    report.hits = placed.filter(({ wasHit }) => wasHit).length;
    for (const one of placed) await judge(gateway, one, report, { mostLostMs, mostOffMs, say });
  } finally {
    await database.close();
    await gateway.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  return report;
}

interface KilledCall {
  callUuid: string;
  to: string;
  /** It was not over yet when its media process was killed. */
  wasHit: boolean;
}

/** Kills the media process of a call; true when the call was not over yet. */
type Killer = (callUuid: string) => Promise<boolean>;

/** One after the other, each when every media process serves again. */
function createKiller(gateway: Gateway, database: Database, recordingsDir: string): Killer {
  const { media } = gateway.service;
  let last: Promise<unknown> = Promise.resolve();

  async function kill(callUuid: string): Promise<boolean> {
    const untilMs = performance.now() + PATIENCE_MS;
    while (!media.every((child) => child.isServing())) {
      if (performance.now() > untilMs) throw new Error('a media process did not come back');
      await wait(20);
    }
    const [row] = await database.query<{ mediaId: string | null; isOver: boolean }>(
      `SELECT owner_media_id AS "mediaId", status <> 'in_progress' OR ended_at IS NOT NULL AS "isOver"
         FROM calls WHERE call_uuid = $1`,
      [callUuid],
    );
    if (row === undefined || row.isOver) return false;
    const child = media[Number(/\d+$/.exec(row.mediaId ?? '')?.[0] ?? 0)];
    await allOnDisk(row.mediaId);
    process.kill(child!.pid()!, 'SIGKILL');
    while (child!.isServing()) await wait(5);
    return true;
  }

  /**
   * Each stream of the process has its folder. One that dies before is silence in the whole, which is told ten minutes
   * after the call and not within a run's patience. A stream that was claimed and never begins has none: no more than
   * a few seconds.
   */
  async function allOnDisk(mediaId: string | null): Promise<void> {
    for (const untilMs = performance.now() + FOLDER_WAIT_MS; performance.now() < untilMs; await wait(5)) {
      const streams = await database.query<{ callUuid: string; epoch: number }>(
        `SELECT call_uuid AS "callUuid", part.epoch FROM call_recordings part JOIN calls USING (call_uuid)
          WHERE owner_media_id = $1 AND part.state = 'recording' AND ended_at IS NULL AND part.epoch > 0`,
        [mediaId],
      );
      const days = readdirSync(recordingsDir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
      const names = new Set(days.flatMap(({ name }) => readdirSync(join(recordingsDir, name))));
      if (streams.every(({ callUuid, epoch }) => names.has(epoch === 1 ? callUuid : `${callUuid}.${epoch}`))) return;
    }
  }

  return (callUuid) => {
    const mine = last.then(() => kill(callUuid));
    last = mine.catch(() => {});
    return mine;
  };
}

/** Resolves when the call is over. */
async function callAndKill(gateway: Gateway, kill: Killer, to: string, killAfterMs: number): Promise<KilledCall> {
  const { agentId, enterprise, lineId, client } = gateway;
  const { body, httpStatus } = await client.place({ to, agentId, enterprise, from: lineId });
  const { callUuid } = body;
  if (callUuid === undefined) throw new Error(`${to} was answered ${httpStatus}`);
  // A busy machine may open the stream long after the answer.
  await untilFar(gateway, to, 'was not heard', ({ firstAgentSoundAtEpochMs }) => firstAgentSoundAtEpochMs !== null);
  await wait(killAfterMs);
  const before = (await farEndOf(gateway, to))!.streams.length;
  const wasHit = await kill(callUuid);
  const far = await untilFar(gateway, to, 'did not come back', ({ streams }) => streams.length > before);
  await wait(AFTERWARDS_MS);
  await gateway.emulator.hangUp(far.callUuid);
  await client.waitFor(callUuid, 'its end', ({ endedAt }) => endedAt !== null);
  return { callUuid, to, wasHit };
}

async function farEndOf(gateway: Gateway, to: string): Promise<EmulatedCall | undefined> {
  return (await gateway.emulator.calls()).find((call) => to.endsWith(call.to));
}

/** The far end of the call, once it is over or `wanted`. */
async function untilFar(
  gateway: Gateway,
  to: string,
  otherwise: string,
  wanted: (far: EmulatedCall) => boolean,
): Promise<EmulatedCall> {
  for (const untilMs = performance.now() + PATIENCE_MS; ; await wait(100)) {
    const far = await farEndOf(gateway, to);
    if (far !== undefined && (far.hungUpAtEpochMs !== null || wanted(far))) return far;
    if (performance.now() > untilMs) throw new Error(`the stream to ${to} ${otherwise}`);
  }
}

async function judge(
  gateway: Gateway,
  { callUuid, to, wasHit }: KilledCall,
  report: RecordingReport,
  { mostLostMs, mostOffMs, say }: { mostLostMs: number; mostOffMs: number; say: (line: string) => void },
): Promise<void> {
  const isReady = ({ recording }: Call): boolean => recording?.status === 'ready';
  const entry = await gateway.client.waitFor(callUuid, 'its recording', isReady, READY_LIMIT_MS);
  const far = await farEndOf(gateway, to);
  const file = await gateway.recording(callUuid);
  if (far === undefined || file === null) throw new Error(`there is nothing to compare of ${callUuid}`);
  const { durationMs, hums } = listen(file);
  const originMs = far.streams[0]!.openedAtEpochMs;
  // A busy machine is slow to open the first stream after the answer, and to log the end.
  const offMs = Math.round(durationMs - ((far.streams.at(-1)!.closedAtEpochMs ?? Number.NaN) - originMs));
  // The last one ended with its call.
  const killed = far.streams.slice(0, -1);
  const lostMs = killed.map((stream) => {
    const [fromMs, untilMs] = [stream.openedAtEpochMs - originMs, (stream.closedAtEpochMs ?? Number.NaN) - originMs];
    return Math.round(untilMs - fromMs - hummedMs(hums, fromMs - BESIDE_MS, untilMs + BESIDE_MS));
  });
  report.lostMs.push(...lostMs);
  report.offMs.push(offMs);
  const told = (entry.recording?.durationSeconds ?? 0) * 1000;
  const deadMs = far.streams.slice(1).map((stream, at) => [far.streams[at]!.closedAtEpochMs!, stream.openedAtEpochMs]);
  const faults = [
    ...(wasHit && killed.length === 0 ? ['its process was killed, and it did not come back'] : []),
    ...(Math.abs(offMs) <= mostOffMs ? [] : [`it is ${offMs} ms longer than the call`]),
    ...(Math.abs(told - durationMs) < 1 ? [] : [`the log tells ${told} ms of a file of ${durationMs}`]),
    ...lostMs.filter((ms) => !(ms <= mostLostMs)).map((ms) => `a stream lost ${ms} ms`),
    ...deadMs
      .filter(([from, until]) => hummedMs(hums, from! - originMs + BESIDE_MS, until! - originMs - BESIDE_MS) > 0)
      .map(([from]) => `there is sound where the line was dead, from ${Math.round(from! - originMs)} ms on`),
  ];
  report.faults.push(...faults.map((fault) => `${callUuid}: ${fault}`));
  const seconds = (durationMs / 1000).toFixed(1);
  say(`  ${far.streams.length} streams, ${seconds} s (${offMs} ms off the call), lost ${lostMs.join(', ')} ms`);
  for (const fault of faults) say(`    ${fault}`);
}

/** Every packet decoded; whether the caller hums in each 20 ms. */
function listen(file: Buffer): { durationMs: number; hums: boolean[] } {
  const decoder = loadOpusCodec().createDecoder({ rateHz: RATE_HZ, channels: 2 });
  const samples = new Int16Array((RATE_HZ * LONGEST_PACKET_MS * 2) / 1000);
  const left: number[] = [];
  const facts = readOggOpus(file, (bytes, start, lengthBytes) => {
    const count = decoder.decode(bytes, start, lengthBytes, samples);
    if (count < 0) throw new Error('a packet of the recording does not decode');
    for (let i = 0; i < count; i++) left.push(samples[2 * i]!);
  });
  decoder.close();
  const skip = (facts.preSkipTicks * RATE_HZ) / OGG_TICKS_PER_SECOND;
  const total = (facts.soundTicks * RATE_HZ) / OGG_TICKS_PER_SECOND;
  const step = (RATE_HZ * STEP_MS) / 1000;
  const hums = Array.from({ length: Math.floor(total / step) }, (_, at) => {
    const piece = left.slice(skip + at * step, skip + (at + 1) * step);
    return Math.max(...piece.map(Math.abs)) > AUDIBLE;
  });
  return { durationMs: facts.soundTicks / (OGG_TICKS_PER_SECOND / 1000), hums };
}

function hummedMs(hums: readonly boolean[], fromMs: number, untilMs: number): number {
  const from = Math.max(0, Math.ceil(fromMs / STEP_MS));
  return hums.slice(from, Math.max(from, Math.floor(untilMs / STEP_MS))).filter(Boolean).length * STEP_MS;
}

/** What a person wants to know of a run, in a few lines. */
export function describeRecordings({ hits, lostMs, offMs, faults }: RecordingReport): string[] {
  const lost = [...lostMs].sort((a, b) => a - b);
  const off = offMs.map(Math.abs).sort((a, b) => a - b);
  return [
    `${offMs.length} calls, ${hits} hit, ${lost.length} deaths of streams: lost p50 ${percentile(lost, 0.5)} ms, most ${percentile(lost, 1)} ms`,
    `lengths off the calls' by p50 ${percentile(off, 0.5)} ms, most ${percentile(off, 1)} ms; ${faults.length} faults`,
  ];
}
