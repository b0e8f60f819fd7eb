/**
 * Two whole services on one PostgreSQL, behind one address: calls that one places land in both, each operation works at
 * the node that does not carry the call, a node that is cut off from the database keeps its calls, and those of a node
 * that falls silent or is killed go on in the other.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CallClient } from '../../bench/harness/call-client.ts';
import { freePort } from '../../bench/harness/free-port.ts';
import { type Gateway, startGateway, startServiceFor } from '../../bench/harness/gateway.ts';
import { openPatientDatabase } from '../../bench/harness/patient-database.ts';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import type { Database } from '../../src/store/database.ts';
import type { Service } from '../../src/supervisor/service.ts';
import { type Cable, layCable } from '../harness/cable.ts';
import { startS3, type TestStore } from '../harness/s3-server.ts';
import { type EventuallyOptions, eventually } from '../support/eventually.ts';
import { type PathBalancer, startPathBalancer } from '../support/path-balancer.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const AGENT: AgentDefinition = {
  kind: 'scripted',
  name: 'Patient',
  direction: 'outbound',
  language: 'en-US',
  voice: 'kal16',
  script: 'Wait.',
  greeting: 'Hello.',
  steps: [
    {
      id: 'wait',
      say: 'I am listening.',
      expect: 'open',
      replies: [
        { intent: 'yes', phrases: ['yes please'], goto: 'wait' },
        { intent: 'no', phrases: ['no thanks'], goto: 'bye' },
      ],
    },
    { id: 'bye', say: 'Goodbye.', end: { reason: 'agent_hangup' } },
  ],
  fallback: { say: ['Hello?'], after: 10, goto: 'wait' },
  idle: { promptAfterMs: 60_000, say: ['Hello?'], endAfterMs: 120_000 },
};

/** Each fault is one of several here: what never comes is not waited for as long as a test may take. */
const LIMIT_MS = 90_000;
const soon = <Value>(what: string, look: () => Value | Promise<Value>, { story }: EventuallyOptions = {}) =>
  eventually(what, look, { limitMs: LIMIT_MS, ...(story && { story }) });

let folder: string;
let stored: TestDatabase;
let database: Database;
let objects: TestStore;
let gateway: Gateway;
let second: Service;
let balancer: PathBalancer;
/** Between b and the database. */
let cable: Cable;
let logOfA = '';
let ports: Map<string, number>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-two-nodes-'));
  stored = await createTestDatabase();
  const s3 = await startS3();
  objects = s3;
  const { endpoint, bucket, accessKeyId, secretAccessKey } = s3.settings.s3;
  ports = new Map([
    ['a', await freePort()],
    ['b', await freePort()],
  ]);
  balancer = await startPathBalancer(ports, await freePort());
  const direct = new URL(stored.connectionString);
  cable = await layCable({ host: direct.hostname, port: Number(direct.port) });
  const byCable = new URL(stored.connectionString);
  byCable.host = `127.0.0.1:${cable.port}`;
  const optionsOf = (name: string) => {
    const own = {
      PARLEY_NODE: name,
      PARLEY_NODE_ADDRESS: `http://127.0.0.1:${ports.get(name)}`,
      STREAM_URL: `ws://127.0.0.1:${balancer.port}/n/{node}`,
      RECORDING_STORE: 's3',
      RECORDING_S3_ENDPOINT: endpoint,
      RECORDING_S3_BUCKET: bucket,
      RECORDING_S3_ACCESS_KEY_ID: accessKeyId,
      RECORDING_S3_SECRET_ACCESS_KEY: secretAccessKey,
    };
    return {
      dataDir: join(folder, name),
      port: ports.get(name)!,
      agent: AGENT,
      callsPerSecond: 50,
      concurrentCalls: 50,
      settings: {
        ...own,
        DATABASE_URL: name === 'b' ? byCable.href : stored.connectionString,
        PUBLIC_URL: `http://127.0.0.1:${balancer.port}`,
        PARLEY_MASTER_KEY: 'ab'.repeat(32),
        PARLEY_PIPELINE_THREADS: '1',
        PARLEY_LISTEN_THREADS: '1',
      },
      controlEnv: own,
      log: () => {},
    };
  };
  const personas = [{ kind: 'silent' as const, name: 'silent', number: '+1415551*', ringMs: 100 }];
  const childOutput = (text: string): void => {
    logOfA += text;
  };
  gateway = await startGateway({ ...optionsOf('a'), personas, childOutput });
  second = await startServiceFor(optionsOf('b'), gateway.emulator);
  database = openPatientDatabase(stored.connectionString, 2);
  await soon('both to know each other', async () => {
    const rows = await database.query('SELECT 1 AS one FROM media_runs WHERE lease_ms = 8000 AND dead_at IS NULL');
    return rows.length === 2;
  });
});
afterAll(async () => {
  await second?.kill();
  await gateway?.stop();
  await balancer?.close();
  await cable?.close();
  await database?.close();
  await stored?.close();
  await objects?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A call costs as long as it talks. */
const talks: string[] = [];
afterEach(async () => {
  for (const callUuid of talks.splice(0)) await ask('a', { method: 'POST', path: `${callUuid}/hangup`, body: {} });
});

let dialled = 0;
const MOST_CALLS = 20;
/** In all tests here. */
const MOST_DIALLED = 60;
/** Calls that talk, and which node carries each: so many in each of both. */
async function talkingInBoth(count: number): Promise<Map<string, string>> {
  for (const calls = await talking(2 * count); ; ) {
    if (Math.min(carriedBy(calls, 'a').length, carriedBy(calls, 'b').length) >= count) return calls;
    if (calls.size > MOST_CALLS) throw new Error(`all land in one: ${[...calls.values()].join(' ')}`);
    for (const [callUuid, node] of await talking(1)) calls.set(callUuid, node);
  }
}

async function talking(count: number): Promise<Map<string, string>> {
  const { agentId, enterprise, lineId: from } = gateway;
  const placed: string[] = [];
  const place = async (): Promise<void> => {
    if (dialled > MOST_DIALLED) throw new Error(`${dialled} calls were placed: they end before they talk`);
    const to = `+1415551${String(1_000 + dialled++)}`;
    const { body } = await at('a').place({ to, agentId, enterprise, from, name: 'Dana' });
    placed.push(body.callUuid!);
    talks.push(body.callUuid!);
  };
  for (let call = 0; call < count; call++) await place();
  return soon('the calls to talk', async () => {
    const rows = await database.query<{ callUuid: string; node: string | null; isOver: boolean }>(
      `SELECT c.call_uuid AS "callUuid", r.node, c.ended_at IS NOT NULL AS "isOver"
         FROM calls c LEFT JOIN media_runs r ON r.run_id = c.owner_run
        WHERE c.call_uuid = ANY ($1::uuid[]) AND (c.ended_at IS NOT NULL OR c.recording_status = 'pending')`,
      [placed],
    );
    // Its stream was refused thrice by a control process that this machine gave too little time: another in its place.
    for (const { callUuid } of rows.filter(({ isOver }) => isOver)) {
      placed.splice(placed.indexOf(callUuid), 1);
      await place();
    }
    const inCall = rows.flatMap(({ callUuid, node, isOver }) =>
      isOver || node === null ? [] : [[callUuid, node] as const],
    );
    return inCall.length === count ? new Map(inCall) : null;
  });
}

const at = (node: string): CallClient => new CallClient(`http://127.0.0.1:${ports.get(node)}`, gateway.apiKey);

interface Asked {
  method?: string;
  path: string;
  body?: object;
}

type Told = [status: number, code: string | null];

/** Asks again where media had not done it within the seconds that control waits: each may be done twice. */
const ask = (node: string, asked: Asked): Promise<Told> =>
  soon(`an answer to ${asked.path}`, async () => {
    const told = await askOnce(node, asked);
    return told[1] === 'control_unanswered' ? null : told;
  });

async function askOnce(node: string, { method = 'GET', path, body }: Asked): Promise<Told> {
  const answer = await fetch(`http://127.0.0.1:${ports.get(node)}/api/developer/calls/${path}`, {
    method,
    headers: { authorization: `Bearer ${gateway.apiKey}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const said = (await answer.json().catch(() => null)) as { code?: string } | null;
  return [answer.status, said?.code ?? null];
}

const steer = (body: object) => ({ method: 'POST', path: '/control', body });

/** Each operation on a call that talks, in the order in which they are asked; the last ends it. */
const OPERATIONS: Record<string, Asked> = {
  'read it': { path: '' },
  'what it was placed with': { path: '/request' },
  'its transcript': { path: '/transcript' },
  'its recording, which is not there yet': { path: '/recording' },
  mute: steer({ action: 'mute_agent' }),
  'say, while it is muted': steer({ action: 'say', text: 'Nobody hears this.' }),
  unmute: steer({ action: 'unmute_agent' }),
  say: steer({ action: 'say', text: 'One moment please.' }),
  'say, and cut what is said': steer({ action: 'say', text: 'Here I am again.', interrupt: true }),
  inject: steer({ action: 'inject', text: 'yes please' }),
  'whisper a step': steer({ action: 'whisper', text: 'wait' }),
  'whisper what no step is called': steer({ action: 'whisper', text: 'be kind' }),
  'press keys': steer({ action: 'dtmf', digits: '12#' }),
  'hand back what nobody has taken': steer({ action: 'handback' }),
  'take it over without a microphone': steer({ action: 'takeover' }),
  'a transfer, which is not served': steer({ action: 'transfer' }),
  'an action that there is not': steer({ action: 'dance' }),
  'delete it while it runs': { method: 'DELETE', path: '' },
  'hang up': { method: 'POST', path: '/hangup', body: {} },
};

/** What each operation answers, and what the call's log says of them. */
async function allOperations(node: string, callUuid: string): Promise<{ answers: object; steered: unknown[] }> {
  const answers: Record<string, unknown> = {};
  for (const [name, { path, ...request }] of Object.entries(OPERATIONS)) {
    answers[name] = await ask(node, { ...request, path: `${callUuid}${path}` });
  }
  await at(node).waitFor(callUuid, 'its end', ({ endedReason }) => endedReason === 'api_hangup');
  answers['mute what is over'] = await ask(node, { ...OPERATIONS['mute']!, path: `${callUuid}/control` });
  answers['its recording'] = await soon('its recording', async () => {
    const answer = await ask(node, { path: `${callUuid}/recording` });
    return answer[0] === 200 ? answer : null;
  });
  const rows = await database.query<{ data: unknown }>(
    `SELECT data FROM call_events
      WHERE call_uuid = $1 AND kind = 'control' AND data ->> 'result' <> 'unanswered' ORDER BY id`,
    [callUuid],
  );
  return { answers, steered: rows.map(({ data }) => data) };
}

/** As the API's own description has them, what is tried above and what the next test follows. */
const TRIED = new Set([
  'get /api/developer/calls/{callUuid}/events',
  ...Object.values(OPERATIONS).map(
    ({ method = 'GET', path }) => `${method.toLowerCase()} /api/developer/calls/{callUuid}${path}`,
  ),
]);

const carriedBy = (calls: Map<string, string>, node: string): string[] =>
  [...calls].flatMap(([callUuid, on]) => (on === node ? [callUuid] : []));

test('calls that one node places land in both, and each operation does and answers the same at the one that does not carry the call', async () => {
  const calls = await talkingInBoth(2);
  const [onA, onB] = [carriedBy(calls, 'a'), carriedBy(calls, 'b')];
  const [askedAtB, askedAtA, atOwnA, atOwnB] = await Promise.all([
    allOperations('b', onA[0]!),
    allOperations('a', onB[0]!),
    allOperations('a', onA[1]!),
    allOperations('b', onB[1]!),
  ]);
  expect(askedAtB).toEqual(atOwnA);
  expect(askedAtA).toEqual(atOwnB);
  expect(atOwnA).toEqual(atOwnB);
  const { answers, steered } = atOwnA;
  expect(answers).toMatchObject({
    'read it': [200, null],
    mute: [200, null],
    say: [200, null],
    'hang up': [202, null],
  });
  expect(answers).toMatchObject({ 'say, while it is muted': [409, 'action_not_possible'] });
  expect(answers).toMatchObject({ 'mute what is over': [409, 'call_not_in_progress'] });
  expect(steered.length).toBeGreaterThanOrEqual(5);
  expect(answers).toMatchObject({ 'its recording': [200, null] });
});

test('there is no operation on a call in the API’s description that is not tried at the other node', async () => {
  const answer = await fetch(`http://127.0.0.1:${ports.get('b')}/openapi.json`);
  const { paths } = (await answer.json()) as { paths: Record<string, object> };
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    path.startsWith('/api/developer/calls/{callUuid}')
      ? Object.keys(operations).map((method) => `${method} ${path}`)
      : [],
  );
  expect(new Set(described)).toEqual(TRIED);
});

test('who follows a call at the node that does not carry it hears of it as it happens', async () => {
  const calls = await talkingInBoth(1);
  for (const [asked, [callUuid]] of [
    ['a', carriedBy(calls, 'b')],
    ['b', carriedBy(calls, 'a')],
  ] as const) {
    const heard: string[] = [];
    const stop = new AbortController();
    let isOver = false;
    const following = (async () => {
      for await (const { kind } of at(asked).follow(callUuid!, stop.signal)) heard.push(kind);
      isOver = true;
    })().catch(() => {});
    await soon('the stream', () => heard.includes('media.claimed'));
    expect(await ask(asked, { ...steer({ action: 'say', text: 'One moment.' }), path: `${callUuid}/control` })).toEqual(
      [200, null],
    );
    await soon('what was said', () => heard.includes('turn'));
    await ask(asked, { method: 'POST', path: `${callUuid}/hangup`, body: {} });
    await soon('the end of the stream', () => isOver, { story: () => heard.join(' ') });
    expect(heard).toContain('carrier.ended');
    stop.abort();
    await following;
  }
});

async function bBeats(): Promise<boolean> {
  const rows = await database.query(
    `SELECT 1 AS one FROM media_runs
      WHERE node = 'b' AND dead_at IS NULL AND beat_at > clock_timestamp() - interval '3 seconds'`,
  );
  return rows.length === 1;
}

/** By call: a busy machine's carrier may have to try more than once, so only more of both tells of a fault. */
type Carried = Map<string, { epoch: number; streams: number }>;

/** Of calls whose far end has its stream to this node. */
const carriedIn = (node: string, calls: readonly string[], since?: Carried): Promise<Carried> =>
  soon(`the calls to talk in ${node}`, async () => {
    const rows = await database.query<{ callUuid: string; epoch: number; carrierCallId: string }>(
      `SELECT c.call_uuid AS "callUuid", c.epoch, c.carrier_call_id AS "carrierCallId"
         FROM calls c JOIN media_runs r ON r.run_id = c.owner_run
        WHERE c.call_uuid = ANY ($1::uuid[]) AND c.status = 'in_progress' AND r.node = $2`,
      [calls, node],
    );
    const far = new Map((await gateway.emulator.calls()).map(({ callUuid, streams }) => [callUuid, streams]));
    const carried: Carried = new Map();
    for (const { callUuid, epoch, carrierCallId } of rows) {
      const streams = far.get(carrierCallId) ?? [];
      const before = since?.get(callUuid) ?? { epoch: 0, streams: 0 };
      const isNew = epoch > before.epoch && streams.length > before.streams;
      if (isNew && streams.at(-1)?.closedAtEpochMs === null) carried.set(callUuid, { epoch, streams: streams.length });
    }
    return carried.size === calls.length ? carried : null;
  });

test('a node that is cut off from the database alone keeps its calls, gets no new ones, and is back with them', async () => {
  const onB = carriedBy(await talkingInBoth(2), 'b');
  const before = await carriedIn('b', onB);
  cable.cut();
  await soon('b to be suspect', () => logOfA.includes('is silent, and its machine answers'));
  const later = await talking(3);
  expect(new Set(later.values())).toEqual(new Set(['a']));
  cable.mend();
  await soon('b to beat again', bBeats);
  const kept = await database.query(
    `SELECT 1 AS one FROM calls c JOIN media_runs r ON r.run_id = c.owner_run
      WHERE c.call_uuid = ANY ($1::uuid[]) AND c.status = 'in_progress' AND c.lease_until IS NULL
        AND r.node = 'b' AND r.dead_at IS NULL`,
    [onB],
  );
  expect(kept).toHaveLength(onB.length);
  expect(await carriedIn('b', onB)).toEqual(before);
  await soon('b to be commanded again', async () => {
    const [status] = await ask('a', { ...steer({ action: 'mute_agent' }), path: `${onB[0]}/control` });
    return status === 200;
  });
});

test('the calls of a machine that falls silent are taken from it by their carrier and go on in the other; it comes back as another run', async () => {
  const onB = carriedBy(await talkingInBoth(2), 'b');
  const before = await carriedIn('b', onB);
  const all = [second.control, ...second.media].map((child) => child.pid()!);
  for (const pid of all) process.kill(pid, 'SIGSTOP');
  let goneOn: Carried;
  try {
    goneOn = await carriedIn('a', onB, before);
  } finally {
    for (const pid of all) process.kill(pid, 'SIGCONT');
  }
  await soon('b to be back', bBeats);
  expect(await carriedIn('a', onB)).toEqual(goneOn);
});

test('the calls of a node that is killed go on in the other, none is hung up; its runs are given up', async () => {
  const onB = carriedBy(await talkingInBoth(2), 'b');
  const before = await carriedIn('b', onB);
  await second.kill();
  await carriedIn('a', onB, before);
  await soon('its end', async () => {
    const [row] = await database.query<{ alive: number }>(
      `SELECT count(*)::int AS alive FROM media_runs WHERE node = 'b' AND dead_at IS NULL`,
    );
    return row?.alive === 0;
  });
  const over = await database.query(
    `SELECT 1 AS one FROM calls WHERE call_uuid = ANY ($1::uuid[]) AND ended_at IS NOT NULL`,
    [onB],
  );
  expect(over).toEqual([]);
});
