/**
 * The control process itself, from `dist/`, on a database of its own: how it starts without one, what it does when it
 * goes away during a call, how it stops. The carrier is an HTTP server of this test, media is a client of the link.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openPatientDatabase } from '../../bench/harness/patient-database.ts';
import { keepLog } from '../../bench/harness/suite-log.ts';
import type { ToControl } from '../../media/contract/link-messages.ts';
import { importAgent } from '../../src/agents/stored-agents.ts';
import { signV3 } from '../../src/carriers/plivo/signature-v3.ts';
import { createSealer } from '../../src/sealing/sealer.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/supervisor/postgres/embedded-postgres.ts';
import { placeDatabase } from '../../src/supervisor/postgres/placement.ts';
import { createApiKey } from '../../src/workspaces/api-keys.ts';
import { addLine } from '../../src/workspaces/lines.ts';
import { createWorkspace, setApiEnabled, setWorkspaceLimits } from '../../src/workspaces/workspaces.ts';
import { eventually } from '../support/eventually.ts';
import { sampleAgent } from '../support/sample-agent.ts';
import { MediaClient } from '../unit/media-link/media-client.ts';

/** Of the 300 ms for which new calls are told 503 at the end, without what two processes' clocks may differ by. */
const TOLD_FOR_MS = 290;
const MASTER_KEY = 'cd'.repeat(32);
const AUTH_TOKEN = 'canary-of-the-carrier-token';
const PUBLIC_URL = 'http://voice.example.com';
const ENTRY = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));

const dataDir = mkdtempSync(join(tmpdir(), 'parley-control-'));
let postgres: EmbeddedPostgres;
let carrier: Server;
let dialled = 0;
let apiKey: string;
let body: Record<string, unknown>;
let controls: Control[] = [];

interface Control {
  child: ChildProcess;
  runDir: string;
  lines: string[];
  ready: Promise<void>;
  exited: Promise<number | null>;
}

function launch(environment: Record<string, string> = {}): Control {
  const runDir = mkdtempSync(join(tmpdir(), 'parley-run-'));
  const { port } = carrier.address() as AddressInfo;
  const child = fork(ENTRY, [], {
    env: {
      ...process.env,
      DATABASE_URL: postgres.connectionString,
      PUBLIC_URL,
      PARLEY_MASTER_KEY: MASTER_KEY,
      PARLEY_DATA_DIR: dataDir,
      PARLEY_RUN_DIR: runDir,
      CARRIER_API_BASE_PLIVO: `http://127.0.0.1:${port}`,
      PARLEY_LOG_LEVEL: 'debug',
      // A machine that is busy refuses no call here.
      PARLEY_ADMISSION: 'counted',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      keepLog(text);
      lines.push(...text.split('\n').filter((line) => line !== ''));
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const ready = new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', () => reject(new Error(`control ended before it was ready:\n${lines.join('\n')}`)));
  });
  ready.catch(() => {});
  const control = { child, runDir, lines, ready, exited };
  controls.push(control);
  return control;
}

function ask(
  control: Control,
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: string; socket?: string } = {},
): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { socketPath: join(control.runDir, options.socket ?? 'api.sock'), method, path, headers: options.headers ?? {} },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(options.body);
  });
}

const place = (control: Control) =>
  ask(control, 'POST', '/api/outbound-call', {
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function callback(control: Control, callUuid: string, kind: string, form: Record<string, string>) {
  const params = { CallUUID: 'leg-1', ...form };
  const url = `${PUBLIC_URL}/carriers/plivo/${callUuid}/${kind}`;
  return ask(control, 'POST', `/carriers/plivo/${callUuid}/${kind}`, {
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-plivo-signature-v3-nonce': '12345',
      'x-plivo-signature-v3': signV3(AUTH_TOKEN, { method: 'POST', url, params }, '12345'),
    },
    body: new URLSearchParams(params).toString(),
  });
}

/** An answer may fail meanwhile: that is not yet it. */
const until = <Value>(what: string, read: () => Promise<Value | undefined>) =>
  eventually(what, () => read().catch(() => undefined));

const load = (calls: { callUuid: string; epoch: number }[] = []): ToControl => ({
  type: 'load',
  mediaId: 'media-0',
  activeCalls: calls.length,
  capacityCalls: 10,
  draining: false,
  calls,
});

async function joinMedia(control: Control): Promise<MediaClient> {
  const media = new MediaClient('media-run-1');
  await media.connect(join(control.runDir, 'link.sock'));
  media.link.send({
    type: 'hello',
    runId: 'run-of-test',
    mediaId: 'media-0',
    pid: 1,
    socketServer: 'ws',
    capacityCalls: 10,
    liveCalls: [],
  });
  media.link.send({ type: 'room', mediaId: 'media-0', moreCalls: 10, carriesCalls: 10, scarce: 'voice' });
  await until('media to be known', async () =>
    (await ask(control, 'GET', '/readyz')).status === 200 ? true : undefined,
  );
  return media;
}

async function onDatabase<Value>(work: (database: Database) => Promise<Value>): Promise<Value> {
  const database = openPatientDatabase(postgres.connectionString, 2);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

beforeAll(async () => {
  postgres = await startEmbeddedPostgres({ dataDir, volatile: true, log: () => {} });
  await migrate(postgres.connectionString);
  await onDatabase(async (database) => {
    const slug = 'acme';
    await createWorkspace(database, { slug, name: 'Acme' });
    await setApiEnabled(database, { slug, enabled: true });
    await setWorkspaceLimits(database, {
      slug,
      limits: { callsPerSecond: 1000, concurrentCalls: 1000, apiRequestsPerSecond: 1000, apiBurst: 1000 },
    });
    apiKey = (await createApiKey(database, { slug, name: 'test', scopes: ['calls:write', 'calls:read'] })).text;
    const agent = await importAgent(database, { slug, definition: sampleAgent() });
    const line = await addLine(database, createSealer(MASTER_KEY), {
      slug,
      number: '+14155550100',
      carrier: 'plivo',
      credentials: { authId: 'MAXXXXXXXXXXXXXXXXXX', authToken: AUTH_TOKEN },
      limits: { callsPerSecond: 1000, concurrentCalls: 1000 },
    });
    body = { to: '+14155550123', agentId: agent.id, enterprise: slug, from: line.id, name: 'Asha' };
  });
  carrier = createServer((incoming, answer) => {
    incoming.resume();
    if (incoming.method === 'POST') {
      dialled++;
      answer.writeHead(201, { 'content-type': 'application/json' });
      answer.end(JSON.stringify({ message: 'call fired', request_uuid: `request-${dialled}`, api_id: 'x' }));
    } else answer.writeHead(incoming.method === 'DELETE' ? 204 : 404).end();
  });
  await new Promise<void>((resolve) => carrier.listen(0, '127.0.0.1', resolve));
});

async function endAll(): Promise<void> {
  for (const { child, exited, runDir } of controls) {
    child.kill('SIGKILL');
    await exited;
    rmSync(runDir, { recursive: true, force: true });
  }
  controls = [];
}

afterAll(async () => {
  await new Promise<void>((resolve) => carrier.close(() => resolve()));
  await postgres.stop();
  rmSync(placeDatabase(dataDir).home, { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
});

describe('a control process, one after another', () => {
  let control: Control;
  let media: MediaClient;
  beforeAll(async () => {
    control = launch();
    await control.ready;
  });
  afterAll(async () => {
    media?.cut();
    await endAll();
  });

  test('refuses calls with 503 until a media process is there, then places them', async () => {
    expect((await ask(control, 'GET', '/livez')).status).toBe(200);
    const early = await place(control);
    expect([early.status, early.headers['x-error-code']]).toEqual([503, 'draining']);
    const before = dialled;
    media = await joinMedia(control);
    const placed = await place(control);
    expect(placed.status).toBe(200);
    expect(dialled - before).toBe(1);
    await until('the greeting to be prepared', async () =>
      media.received.find((message) => message.type === 'prepare'),
    );
  });

  test('with every media process being stopped it is not ready', async () => {
    media.link.send({ ...load(), draining: true } as ToControl);
    const told = await until('readiness to fail', async () => {
      expect((await ask(control, 'GET', '/readyz')).body).not.toContain('media');
      const answer = await ask(control, 'GET', '/readyz', { socket: 'operator.sock' });
      return answer.status === 503 ? answer.body : undefined;
    });
    expect(told).toContain('every media process is being stopped');
    media.link.send(load());
    await until('readiness to come back', async () =>
      (await ask(control, 'GET', '/readyz')).status === 200 ? true : undefined,
    );
  });

  test('the database stops during a call: control lives, refuses new calls, and loses nothing that media says', async () => {
    const placed = await place(control);
    const { callUuid } = JSON.parse(placed.body) as { callUuid: string };
    const answer = await callback(control, callUuid, 'answer', { Event: 'StartApp', CallStatus: 'in-progress' });
    const token = /\/media\/plivo\/([\w-]{43})/.exec(answer.body)?.[1] ?? '';
    expect(token).toHaveLength(43);
    const url = `/media/plivo/${token}`;
    const headers = {
      'x-plivo-signature-v3-nonce': '6789',
      'x-plivo-signature-v3': signV3(AUTH_TOKEN, { method: 'GET', url: `${PUBLIC_URL}${url}`, params: {} }, '6789'),
    };
    media.link.send({
      type: 'claim',
      requestId: 1,
      claim: { carrier: 'plivo', token, url, host: 'voice.example.com', headers },
    });
    await until('the claim', async () =>
      media.received.find((message) => message.type === 'claim.answer' && message.answer.ok),
    );

    await postgres.stop();
    const turns = Array.from({ length: 30 }, (_, index) => `t${index + 1}`);
    for (const turnId of turns) {
      const turn = {
        turnId,
        role: 'agent' as const,
        startMs: 0,
        endMs: 1,
        text: turnId,
        heardText: turnId,
        interrupted: false,
      };
      media.link.send({ type: 'live', callUuid, epoch: 1, atEpochMs: Date.now(), event: { type: 'turn', turn } });
    }
    media.link.send({ type: 'media.stopped', callUuid, epoch: 1, why: 'socket_closed', durationMs: 9, latencies: [] });
    media.link.send(load([{ callUuid, epoch: 1 }]));
    const refused = await place(control);
    expect(refused.status).toBe(500);
    expect(JSON.parse(refused.body)).toEqual({ success: false, message: 'Internal server error' });
    expect((await ask(control, 'GET', '/livez')).status).toBe(200);
    expect((await ask(control, 'GET', '/readyz')).status).toBe(503);

    postgres = await startEmbeddedPostgres({ dataDir, volatile: true, log: () => {} });
    await until('control to be ready again', async () =>
      (await ask(control, 'GET', '/readyz')).status === 200 ? true : undefined,
    );
    const hungUp = { Event: 'Hangup', CallStatus: 'completed', HangupCauseCode: '4000', HangupSource: 'Callee' };
    expect((await callback(control, callUuid, 'hangup', hungUp)).status).toBe(200);
    await onDatabase(async (database) => {
      await until('the end', async () => {
        const [row] = await database.query<{ status: string }>('SELECT status FROM calls WHERE call_uuid = $1', [
          callUuid,
        ]);
        return row?.status === 'completed' ? true : undefined;
      });
      const stored = await database.query<{ turn_id: string }>(
        'SELECT turn_id FROM call_turns WHERE call_uuid = $1 ORDER BY position',
        [callUuid],
      );
      expect(stored.map((row) => row.turn_id)).toEqual(turns);
      const events = await database.query<{ event: string }>('SELECT event FROM webhook_events WHERE call_uuid = $1', [
        callUuid,
      ]);
      // Its analysis comes when it comes.
      expect(events.map((row) => row.event).filter((event) => event !== 'analysis.completed')).toEqual([
        'call.completed',
      ]);
    });
    expect(control.child.exitCode).toBeNull();
    const log = control.lines.join('\n');
    for (const secret of [AUTH_TOKEN, apiKey, token, MASTER_KEY]) expect(log).not.toContain(secret);
  });
  test('on SIGTERM new calls get 503 at once, and the process exits 0', async () => {
    const stoppedAtMs = performance.now();
    control.child.kill('SIGTERM');
    // Whoever asks again and again is told 503 a while, and then nobody is there. Askers who stand still for that while
    // are told nothing, but nobody finds the door shut before it is over.
    let shutAfterMs = Number.POSITIVE_INFINITY;
    const ask = (): Promise<number> =>
      place(control).then(
        ({ status }) => status,
        () => {
          shutAfterMs = Math.min(shutAfterMs, performance.now() - stoppedAtMs);
          return 0;
        },
      );
    const asker = async (): Promise<number[]> => {
      const answers: number[] = [];
      while (answers.at(-1) !== 0) answers.push(await ask());
      return answers;
    };
    const told = await Promise.all([asker(), asker(), asker()]);
    expect(shutAfterMs).toBeGreaterThanOrEqual(TOLD_FOR_MS);
    for (const answers of told) {
      // A busy machine may deliver the signal after the first ones.
      const placed = answers.filter((status) => status === 200).length;
      expect(placed).toBeLessThanOrEqual(2);
      expect(answers.slice(placed, -1)).toEqual(answers.slice(placed, -1).map(() => 503));
    }
    expect(await control.exited).toBe(0);
  });
});

describe('a control process whose service is being stopped', () => {
  let control: Control;
  let media: MediaClient;
  beforeAll(async () => {
    control = launch();
    await control.ready;
    media = await joinMedia(control);
  });
  afterAll(async () => {
    media?.cut();
    await endAll();
  });

  test('is not ready, places nothing, serves live calls, and says when the last is over', async () => {
    await onDatabase((database) =>
      database.query(
        `UPDATE calls SET status = 'failed', ended_at = now(), ended_reason = 'internal_error' WHERE ended_at IS NULL`,
      ),
    );
    const { callUuid } = JSON.parse((await place(control)).body) as { callUuid: string };
    let isOver = false;
    const over = new Promise<void>((resolve) => {
      control.child.on('message', (message) => {
        isOver = (message as { type: string }).type === 'calls_over';
        if (isOver) resolve();
      });
    });
    control.child.send({ type: 'stopping', limitMs: 60_000 });
    await until('readiness to fail', async () =>
      (await ask(control, 'GET', '/readyz')).status === 503 ? true : undefined,
    );
    expect((await ask(control, 'GET', '/healthz')).body).toBe('{"status":"unavailable"}');
    // Two seconds for each check are the service's, and a busy machine's answer may come later.
    await until('nothing but the drain to be amiss', async () => {
      const { checks } = JSON.parse((await ask(control, 'GET', '/readyz', { socket: 'operator.sock' })).body);
      return (!checks.draining.ok && checks.database.ok && checks.media.ok) || undefined;
    });
    const refused = await place(control);
    expect([refused.status, refused.headers['x-error-code']]).toEqual([503, 'draining']);
    // The phone still rings: its answer opens a stream as ever.
    const answer = await callback(control, callUuid, 'answer', { Event: 'StartApp', CallStatus: 'in-progress' });
    expect(answer.body).toMatch(/\/media\/plivo\/[\w-]{43}/);
    const read = { headers: { authorization: `Bearer ${apiKey}` } };
    expect((await ask(control, 'GET', `/api/developer/calls/${callUuid}`, read)).status).toBe(200);
    expect(isOver).toBe(false);
    const hungUp = { Event: 'Hangup', CallStatus: 'completed', HangupCauseCode: '4000', HangupSource: 'Callee' };
    expect((await callback(control, callUuid, 'hangup', hungUp)).status).toBe(200);
    await over;
    expect(control.child.exitCode).toBeNull();
  });

  test('and when the supervisor is gone it drains and exits 0', async () => {
    control.child.disconnect();
    expect(await control.exited).toBe(0);
  });
});

describe('a control process that starts', () => {
  afterEach(endAll);

  test('before its database waits, says so in one line, and serves once it is there', async () => {
    await postgres.stop();
    const control = launch();
    await until('the line', async () =>
      control.lines.find((line) => line.includes('PostgreSQL (DATABASE_URL) does not answer')),
    );
    postgres = await startEmbeddedPostgres({ dataDir, volatile: true, log: () => {} });
    await control.ready;
    expect(control.lines.filter((line) => line.includes('does not answer'))).toHaveLength(1);
  });

  test('on a second node that made a key of its own for the same database is refused, and says what to do', async () => {
    const other = 'ef'.repeat(32);
    const control = launch({ PARLEY_MASTER_KEY: other });
    expect(await control.exited).toBe(1);
    const told = control.lines.join('\n');
    expect(told).toMatch(/sealed under another master key.*give this one the key of the others/);
    expect(told).not.toContain(other);
  });

  test('with a wrong database address ends at once with the setting named', async () => {
    const kept = postgres.connectionString;
    postgres = { ...postgres, connectionString: 'mysql://nowhere' };
    const control = launch();
    postgres = { ...postgres, connectionString: kept };
    expect(await control.exited).toBe(1);
    expect(control.lines.join('\n')).toContain('DATABASE_URL');
  });
});
