/**
 * Processes of the real service die under calls: a media process (the carrier brings its calls back to another),
 * control, the database; and the whole service is stopped in order. What is checked is each call's one end, its
 * transcript and what the far end saw.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EmulatedCall } from '../../bench/harness/emulator-process.ts';
import { type Gateway, startGateway } from '../../bench/harness/gateway.ts';
import { PATIENCE_MS } from '../../bench/harness/patience.ts';
import { openPatientDatabase } from '../../bench/harness/patient-database.ts';
import type { Call } from '../../clients/typescript/src/client.ts';
import { importAgent } from '../../src/agents/stored-agents.ts';
import type { Database } from '../../src/store/database.ts';
import { eventually } from '../support/eventually.ts';
import { decodeRecording } from '../support/recording-audio.ts';
import { COUNTED, COUNTED_LONG, countingAgent, longCountingAgent } from './chaos/counting-agent.ts';
import { turnsBegun } from './chaos/speech-begun.ts';
import { faultsIn } from './chaos/transcript-check.ts';
import { databasePids, signal } from './nemesis/processes.ts';

/** With what stands before it, between eight and ten seconds of sound: see what is asked of a lost recording. */
const TALK_MS = 7_500;
/** Of the agent that says `COUNTED_LONG`, from its first sound on, in real time: less than it takes by a sentence. */
const TALKS_LONG_MS = 14_000;
const RINGS_LONG = '+14155518888';
let gateway: Gateway;
let database: Database;
let nextNumber = 0;
/** A call that came back to another process, for the look at its recordings later on. */
let lostAndBack = '';
/** How long the stream that it lost lasted, by the far end, and all of them from the first one on. */
let lostForMs = 0;
let streamedForMs = 0;
const dataDir = mkdtempSync(join(tmpdir(), 'parley-process-death-'));

beforeAll(async () => {
  gateway = await startGateway({
    dataDir,
    agent: countingAgent,
    personas: [
      { kind: 'silent', name: 'slow', number: RINGS_LONG, ringMs: 4_000 },
      { kind: 'silent', name: 'silent', number: '+1415551*', ringMs: 100 },
    ],
    settings: { PARLEY_MEDIA_PROCESSES: '2', PARLEY_PIPELINE_THREADS: '1' },
    concurrentCalls: 100,
    callsPerSecond: 100,
    // Not volatile: a database that is killed must have kept what it said it had.
    log: () => {},
  });
  database = openOwn();
});

afterAll(async () => {
  await database?.close();
  await gateway?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const openOwn = (): Database => openPatientDatabase(gateway.service.databaseUrl, 2);

const place = (number: string, agentId = gateway.agentId) =>
  gateway.client.place({ to: number, agentId, enterprise: gateway.enterprise, from: gateway.lineId });

/** Resolves with the calls' ids by number once each has its stream. */
async function talking(count: number, agentId = gateway.agentId): Promise<Map<string, string>> {
  const calls = new Map<string, string>();
  await Promise.all(
    Array.from({ length: count }, async () => {
      const number = `+1415551${String(++nextNumber).padStart(4, '0')}`;
      const placed = await place(number, agentId);
      expect(placed.httpStatus).toBe(200);
      calls.set(number, placed.body.callUuid!);
    }),
  );
  for (const callUuid of calls.values()) {
    await gateway.client.waitFor(callUuid, 'its first turn', ({ turns }) => turns.length > 0);
  }
  return calls;
}

/** Their far ends as they are now, by id. */
async function farEnds(calls: Map<string, string>): Promise<Map<string, EmulatedCall>> {
  const emulated = await gateway.emulator.calls();
  return new Map(
    [...calls].map(([number, callUuid]) => [callUuid, emulated.find((call) => number.endsWith(call.to))!]),
  );
}

/** A busy machine's carrier may have had to try twice: only one more than before a fault tells of it. */
const streamsOf = (far: ReadonlyMap<string, EmulatedCall>): Map<string, number> =>
  new Map([...far].map(([callUuid, { streams }]) => [callUuid, streams.length]));

async function ended(calls: Map<string, string>): Promise<{ entry: Call; far: EmulatedCall }[]> {
  const entries = await Promise.all(
    [...calls.values()].map((callUuid) =>
      gateway.client.waitFor(callUuid, 'its end', ({ endedAt }) => endedAt !== null),
    ),
  );
  const far = await farEnds(calls);
  return entries.map((entry) => ({ entry, far: far.get(entry.callUuid)! }));
}

const withRecording = (callUuid: string): Promise<Call> =>
  gateway.client.waitFor(callUuid, 'its recording', ({ recording }) => recording?.status === 'ready');

const terminal = ({ entry }: { entry: Call }): string => `${entry.status}/${entry.endedReason}`;

/**
 * What the agent began to say is a turn, in order and once; each thing that it has to say was heard, in order. Of a
 * call that came `back` from a killed process, the sentence that it was in may be no turn: it went with the process,
 * and is said again.
 */
async function holesIn(
  all: readonly { entry: Call }[],
  { back = [], counted = COUNTED }: { back?: readonly { entry: Call }[]; counted?: readonly string[] } = {},
): Promise<string[]> {
  const begun = await turnsBegun(
    database,
    all.map(({ entry }) => entry.callUuid),
  );
  const cameBack = new Set(back.map(({ entry }) => entry.callUuid));
  return all.flatMap(({ entry: { callUuid, turns } }) => {
    const agentBegan = begun.get(callUuid) ?? [];
    const unsaid = agentBegan.filter((id) => turns.every(({ turnId }) => turnId !== id));
    const wentWithIt = cameBack.has(callUuid) ? unsaid.slice(0, 1) : [];
    const holes = faultsIn(turns, {
      intents: [],
      agentBegan: agentBegan.filter((id) => !wentWithIt.includes(id)),
      spoken: 0,
      deaths: 0,
    });
    let from = 0;
    for (const sentence of counted) {
      const at = turns.findIndex((turn, index) => index >= from && turn.heardText.includes(sentence));
      if (at < 0) holes.push(`has not "${sentence}"`);
      else from = at;
    }
    return holes.map(
      (hole) =>
        `${callUuid} ${hole}: ${JSON.stringify(turns.map(({ turnId, heardText }) => `${turnId} ${heardText}`))}`,
    );
  });
}

async function expectOneEndEach(calls: Map<string, string>): Promise<void> {
  const callUuids = [...calls.values()];
  const events = await database.query<{ call_uuid: string; event: string; status: string }>(
    `SELECT e.call_uuid, e.event, c.status FROM webhook_events e JOIN calls c ON c.call_uuid = e.call_uuid
      WHERE e.event IN ('call.completed', 'call.no_answer', 'call.failed') AND c.call_uuid = ANY ($1::uuid[])`,
    [callUuids],
  );
  expect(events.map((row) => row.call_uuid).sort()).toEqual([...callUuids].sort());
  for (const { event, status } of events) expect(event).toBe(`call.${status}`);
  for (const callUuid of callUuids) {
    await gateway.receiver.waitFor(
      (webhook) => webhook.callUuid === callUuid && webhook.event.startsWith('call.') && webhook.verified,
    );
  }
  const told = gateway.receiver
    .received()
    .filter(({ callUuid, event }) => callUuids.includes(callUuid) && event.startsWith('call.'));
  expect(new Set(told.map(({ body }) => body['id'])).size).toBe(callUuids.length);
}

describe('under calls that talk', () => {
  test('a media process is killed: its calls come back to another, say all they had to say, and end once', async () => {
    const { id } = await importAgent(database, { slug: gateway.enterprise, definition: longCountingAgent });
    const calls = await talking(12, id);
    await wait(TALK_MS);
    const carried = await database.query<{ call_uuid: string }>(
      `SELECT call_uuid FROM calls WHERE owner_media_id = 'media-0' AND call_uuid = ANY ($1::uuid[])`,
      [[...calls.values()]],
    );
    const before = await farEnds(calls);
    signal(gateway.service.media[0]!.pid(), 'SIGKILL');
    const killedAtEpochMs = Date.now();
    const lost = carried.map((row) => row.call_uuid);
    // Of others in the process, which a busy machine let begin much earlier, the agent may just have hung up.
    const victims = lost.filter((id) => killedAtEpochMs - before.get(id)!.firstAgentSoundAtEpochMs! < TALKS_LONG_MS);
    expect(victims.length).toBeGreaterThan(0);
    const all = await ended(calls);
    const back = all.filter(({ entry }) => lost.includes(entry.callUuid));
    const struck = back.filter(({ entry }) => victims.includes(entry.callUuid));
    const first = struck.find(({ far }) => far.streams.length === 2) ?? struck[0]!;
    lostAndBack = first.entry.callUuid;
    expect(all.map(terminal)).toEqual(all.map(() => 'completed/agent_hangup'));
    expect(await holesIn(all, { back, counted: COUNTED_LONG })).toEqual([]);
    const had = streamsOf(before);
    for (const { entry, far } of all) {
      const { callUuid } = entry;
      if (victims.includes(callUuid)) expect(far.streams.length).toBeGreaterThan(had.get(callUuid)!);
      else if (!lost.includes(callUuid)) expect(far.streams).toHaveLength(had.get(callUuid)!);
    }
    await expectOneEndEach(calls);
    const lostStream = first.far.streams[had.get(lostAndBack)! - 1]!;
    lostForMs = lostStream.closedAtEpochMs! - lostStream.openedAtEpochMs;
    streamedForMs = first.far.streams.at(-1)!.closedAtEpochMs! - first.far.streams[0]!.openedAtEpochMs;
  });

  test('the recording of a call that came back is ready', async () => {
    // Before control is killed: what it was joining then would be taken up only minutes later.
    await withRecording(lostAndBack);
  });

  test('control is killed: the streams stay, nothing that was said is lost, each call ends once', async () => {
    const calls = await talking(6);
    const before = streamsOf(await farEnds(calls));
    signal(gateway.service.control.pid(), 'SIGKILL');
    await untilReady();
    const all = await ended(calls);
    expect(all.map(terminal)).toEqual(all.map(() => 'completed/agent_hangup'));
    expect(await holesIn(all)).toEqual([]);
    expect(streamsOf(await farEnds(calls))).toEqual(before);
    await expectOneEndEach(calls);
  });

  test('the database is killed: the same', async () => {
    const calls = await talking(6);
    const before = streamsOf(await farEnds(calls));
    signal(databasePids(gateway.service)[0], 'SIGKILL');
    await untilReady();
    const all = await ended(calls);
    expect(all.map(terminal)).toEqual(all.map(() => 'completed/agent_hangup'));
    expect(await holesIn(all)).toEqual([]);
    expect(streamsOf(await farEnds(calls))).toEqual(before);
    await expectOneEndEach(calls);
  });

  test('the database is told to end, and waits for its sessions to leave: they do, it comes back, and the same', async () => {
    const calls = await talking(6);
    const streams = streamsOf(await farEnds(calls));
    // Ours would be waited for as well, until they had been idle for two minutes.
    await database.close();
    const [before] = databasePids(gateway.service);
    signal(before, 'SIGTERM');
    // As many at once as need sessions that are not there: the refusal is how a client learns of it.
    const [oneOfThem] = calls.values();
    const looks = Array.from({ length: 30 }, () => gateway.client.entry(oneOfThem!));
    await Promise.allSettled(looks);
    await eventually('another database', () => {
      const pid = gateway.service.postgres?.pid();
      return pid !== undefined && pid !== before;
    });
    database = openOwn();
    await untilReady();
    const all = await ended(calls);
    expect(all.map(terminal)).toEqual(all.map(() => 'completed/agent_hangup'));
    expect(await holesIn(all)).toEqual([]);
    expect(streamsOf(await farEnds(calls))).toEqual(streams);
    await expectOneEndEach(calls);
  });

  test('a call that came back has one recording, as long as the call, and both parts of it: the first was finished by the process that followed', async () => {
    const whole = await withRecording(lostAndBack);
    const parts = whole.recording!.parts.length;
    expect(parts).toBeGreaterThanOrEqual(2);
    const all = await decodeRecording((await gateway.recording(lostAndBack))!);
    // A busy machine is slow to open the first stream after the answer, and to log the end.
    expect(Math.abs(all.durationMs - streamedForMs)).toBeLessThan(4_000);
    expect(whole.recording?.durationSeconds).toBeCloseTo(all.durationMs / 1000, 2);
    const lost = await decodeRecording((await gateway.recording(lostAndBack, 'part=1'))!);
    // Generous, for a recorder that stands still for seconds: of a file that is written every ten, more is missing.
    expect(lostForMs - lost.durationMs).toBeLessThan(8_000);
    expect(lost.durationMs).toBeGreaterThanOrEqual(1_000);
    // The agent has been counting from the first second on.
    expect(lost.right.some((sample) => Math.abs(sample) > 1_000)).toBe(true);
    expect((await gateway.recording(lostAndBack, `part=${parts}`))!.subarray(0, 4).toString()).toBe('OggS');
  });

  test('nothing audible of these calls lies on the disk, and nothing at all of one that is erased', async () => {
    const found = contents();
    expect(found.length).toBeGreaterThan(20);
    for (const mark of ['OggS', 'OpusHead', 'RIFF']) {
      expect(
        found.filter(({ bytes }) => bytes.includes(mark)).map(({ path }) => path),
        mark,
      ).toEqual([]);
    }
    expect(filesOf(lostAndBack).length).toBeGreaterThanOrEqual(2);
    const answer = await fetch(`${gateway.service.publicUrl}/api/developer/calls/${lostAndBack}?kind=recording`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${gateway.apiKey}` },
    });
    expect(answer.status).toBe(200);
    expect(filesOf(lostAndBack)).toEqual([]);
    const keys = await database.query('SELECT 1 FROM call_recordings WHERE call_uuid = $1 AND key_sealed IS NOT NULL', [
      lostAndBack,
    ]);
    expect(keys).toEqual([]);
  });

  test('the service is told to stop: readiness fails and new calls get 503 at once; live and ringing calls finish, each ends once', async () => {
    const calls = await talking(4);
    const ringing = await place(RINGS_LONG);
    expect(ringing.httpStatus).toBe(200);
    const last = ringing.body.callUuid!;
    const stopped = gateway.service.stop(60_000);
    const told: string[] = [];
    const following = (async () => {
      const [, callUuid] = [...calls][0]!;
      for await (const event of gateway.client.follow(callUuid, AbortSignal.timeout(PATIENCE_MS)))
        told.push(event.kind);
    })();
    const probes = probeUntil(stopped);
    const answers: number[] = [];
    while (answers.at(-1) !== 503 && answers.length < 5) answers.push((await place('+14155519999')).httpStatus);
    // Requests, not milliseconds: a busy machine may tell control after the first ones.
    expect(answers.indexOf(503)).toBeGreaterThanOrEqual(0);
    expect(answers.indexOf(503)).toBeLessThanOrEqual(2);
    const toldAtEpochMs = Date.now();
    const all = await ended(calls);
    expect(all.map(terminal)).toEqual(all.map(() => 'completed/agent_hangup'));
    expect(await holesIn(all)).toEqual([]);
    await following;
    expect(told.filter((kind) => kind === 'turn').length).toBeGreaterThanOrEqual(COUNTED.length);
    await expectOneEndEach(calls);
    // The last to end: the database may be gone with it, what its receiver was told is not.
    await stopped;
    const ends = gateway.receiver.received().filter((one) => one.callUuid === last && one.event.startsWith('call.'));
    expect(new Set(ends.map(({ body }) => body['id'])).size).toBe(1);
    expect(ends[0]).toMatchObject({ verified: true, event: 'call.completed', body: { endedReason: 'agent_hangup' } });
    for (const sentence of COUNTED) expect(ends[0]!.body['transcript']).toContain(sentence);
    const answered = await probes;
    const statuses = answered.map(({ status }) => status);
    const firstFailure = statuses.indexOf(503);
    expect(firstFailure).toBeGreaterThanOrEqual(0);
    // Whoever asks after a caller was refused is told no.
    const asked = answered.filter(({ askedAtEpochMs }) => askedAtEpochMs > toldAtEpochMs);
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([503]));
    expect(new Set(statuses.slice(firstFailure))).toEqual(new Set([503]));
    // And so it goes on: some of the calls are over then, and one still talks.
    const overAtEpochMs = Math.min(...all.map(({ far }) => far.hungUpAtEpochMs!));
    expect(answered.at(-1)!.askedAtEpochMs).toBeGreaterThan(overAtEpochMs);
  });
});

/** What `/readyz` answered until the port was shut, one after the other. */
async function probeUntil(stopped: Promise<void>): Promise<{ askedAtEpochMs: number; status: number }[]> {
  const answered: { askedAtEpochMs: number; status: number }[] = [];
  let isOver = false;
  void stopped.then(() => {
    isOver = true;
  });
  for (; !isOver; await wait(50)) {
    const askedAtEpochMs = Date.now();
    const answer = await fetch(`${gateway.service.publicUrl}/readyz`).catch(() => null);
    if (answer !== null) answered.push({ askedAtEpochMs, status: answer.status });
  }
  return answered;
}

/** Of all of them at one moment: parts that are joined meanwhile go, and what they became is read in their place. */
function contents(): { path: string; bytes: Buffer }[] {
  for (;;) {
    try {
      return filesOf('').map((path) => ({ path, bytes: readFileSync(path) }));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** Files of recordings whose path has `part` in it. */
function filesOf(part: string): string[] {
  return readdirSync(join(dataDir, 'recordings'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => path.includes(part));
}

async function untilReady(): Promise<void> {
  await eventually('the service to be ready again', async () => {
    const answer = await fetch(`${gateway.service.publicUrl}/readyz`).catch(() => null);
    return answer?.status === 200;
  });
}
