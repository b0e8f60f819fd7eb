/**
 * What operators see of a real service while calls go well and badly: the figures on the private port, readiness, the
 * published description, and logs at their most talkative in which none of the planted secrets may stand.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { PersonaInput } from '../../bench/emulators/persona.ts';
import { freePort } from '../../bench/harness/free-port.ts';
import { type Gateway, startGateway } from '../../bench/harness/gateway.ts';
import { PATIENCE_MS } from '../../bench/harness/patience.ts';
import { openPatientDatabase } from '../../bench/harness/patient-database.ts';
import type { Call } from '../../clients/typescript/src/client.ts';
import type { ScriptedAgent } from '../../media/contract/agent-definition.ts';
import { builtEntry } from '../../src/config/built-entry.ts';
import { examine } from '../../src/doctor/doctor.ts';
import { createStreamTokens } from '../../src/lifecycle/stream-token.ts';
import { createSealer } from '../../src/sealing/sealer.ts';
import type { Database } from '../../src/store/database.ts';
import { placeDatabase } from '../../src/supervisor/postgres/placement.ts';
import { setWebhook } from '../../src/webhooks/operator-webhooks.ts';
import { createApiKey } from '../../src/workspaces/api-keys.ts';
import { setLineCredentials } from '../../src/workspaces/lines.ts';
import { DOCTOR_PATIENCE } from '../support/doctor-patience.ts';
import { eventually } from '../support/eventually.ts';

const agent: ScriptedAgent = {
  kind: 'scripted',
  name: 'Fruit',
  direction: 'outbound',
  language: 'en-US',
  voice: 'kal16',
  script: 'Ask for a fruit.',
  greeting: 'Hello {{customer_name}}, greetings from zanzibar.',
  steps: [
    { id: 'ask', say: 'Which fruit?', replies: [{ intent: 'fruit', phrases: ['banana please'], goto: 'bye' }] },
    { id: 'bye', say: 'Thank you, goodbye.', end: { reason: 'agent_hangup' } },
  ],
  fallback: { say: ['Sorry?'], after: 10, goto: 'bye' },
  idle: { promptAfterMs: 20_000, say: ['Hello?'], endAfterMs: 60_000 },
};

const quick = { ringMs: 20, dialMs: 5 } as const;
const eats: PersonaInput = {
  ...quick,
  kind: 'speaking',
  name: 'Eats',
  number: '+14155550131',
  // A busy machine's recogniser is late: who is asked again, says it again.
  listens: [{ hears: ['which fruit', 'sorry'], says: 'banana please', afterMs: 400, repeats: true }],
};
const refusal = 'to parameter 14155550133 of words-of-the-carrier is invalid, see +14155550133';
const personas: PersonaInput[] = [
  eats,
  { ...quick, kind: 'silent', name: 'Busy', number: '+14155550132', outcome: 'busy' },
  {
    ...quick,
    kind: 'silent',
    name: 'Refused',
    number: '+14155550133',
    faults: { placement: { kind: 'status', httpStatus: 400, error: refusal } },
  },
  { ...quick, kind: 'silent', name: 'Reset', number: '+14155550134', faults: { placement: { kind: 'reset' } } },
  {
    ...quick,
    kind: 'tone',
    name: 'Forged',
    number: '+14155550135',
    hangsUpAfterMs: 2000,
    faults: {
      callbacks: { doubled: [], lost: [], wrongSignature: ['ring'], unsigned: [] },
      media: [{ kind: 'garbage', atMs: 500 }],
    },
  },
  { ...eats, name: 'Unstored', number: '+14155550136' },
];

const NAME = 'Quentin';
const METADATA = 'canary-of-the-metadata';
const WRONG_KEY = 'sv_live_AAAAAAAA_canaryOfTheWrongKeyBBBBBBBBBBBBBBB';
const PROVIDER_KEY = 'sk-canary-of-a-provider';
const FORGED_TOKEN = 'canary-of-a-forged-token-0123456789abcdefgh';

let gateway: Gateway;
let database: Database;
let echo: Server;
let metricsPort: number;
let output = '';
const secrets: Record<string, string> = {};
const dataDir = mkdtempSync(join(tmpdir(), 'parley-operators-'));

beforeAll(async () => {
  metricsPort = await freePort();
  gateway = await startGateway({
    dataDir,
    agent,
    personas,
    volatileDatabase: true,
    settings: { PARLEY_LOG_LEVEL: 'trace', PARLEY_METRICS_PORT: String(metricsPort) },
    // A collector that is away: its figures are there, and nobody minds.
    controlEnv: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' },
    log: (line) => {
      output += `${line}\n`;
    },
    childOutput: (text) => {
      output += text;
    },
  });
  database = openPatientDatabase(gateway.service.databaseUrl, 2);
  // A receiver that says back all that it was sent, with a failure's status.
  echo = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () =>
      response.writeHead(500).end(JSON.stringify(request.headers) + Buffer.concat(parts).toString()),
    );
  });
  await new Promise<void>((done) => echo.listen(0, '127.0.0.1', done));
});

afterAll(async () => {
  await database?.close();
  echo?.close();
  await gateway?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const place = (to: string) =>
  gateway.client.place({
    to,
    agentId: gateway.agentId,
    enterprise: gateway.enterprise,
    from: gateway.lineId,
    name: NAME,
    metadata: { note: METADATA },
  });

async function over(to: string): Promise<Call> {
  const { body } = await place(to);
  const isOver = ({ status }: Call): boolean => ['completed', 'no_answer', 'failed'].includes(status);
  return gateway.client.waitFor(body.callUuid!, 'the end', isOver);
}

/** As an operator runs it: the built command line, which finds the service by its data folder. */
async function doctor(): Promise<{ code: number; text: string }> {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('../../bin/parley.mjs', import.meta.url)), 'doctor', '--json', ...DOCTOR_PATIENCE],
    {
      env: { PATH: process.env['PATH'], PARLEY_DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)));
  const [out, code] = await Promise.all([text(child.stdout), ended]);
  return { code, text: out };
}

async function metrics(): Promise<string> {
  return (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
}

/** With those of the database too, which has two seconds for its answer. */
async function metricsWith(pattern: RegExp): Promise<string> {
  let text = '';
  const look = async (): Promise<boolean> => {
    text = await metrics();
    return pattern.test(text) && /^parley_database_up\{.*\} 1$/m.test(text);
  };
  await eventually(String(pattern), look, { story: () => text });
  return text;
}

describe('a service with good and bad calls', () => {
  let talked: Call;

  beforeAll(async () => {
    talked = await over(eats.number);
    expect(talked).toMatchObject({ status: 'completed' });
    expect(talked.transcript).toMatch(/zanzibar/);
    expect(talked.transcript).toMatch(/banana/);
    expect(await over('+14155550132')).toMatchObject({ status: 'no_answer', endedReason: 'busy' });
    expect((await place('+14155550133')).httpStatus).toBe(502);
    expect((await place('+14155550134')).httpStatus).toBe(500);
    await fetch(`${gateway.service.publicUrl}/api/outbound-call`, {
      method: 'POST',
      headers: { authorization: `Bearer ${WRONG_KEY}`, 'content-type': 'application/json' },
      body: `{"to":"+14155550131", "name":"${NAME}"`,
    });
    const sealer = createSealer(gateway.service.masterKeyHex);
    const { port } = echo.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/canary-of-the-webhook-path`;
    secrets['webhook secret'] =
      (await setWebhook(database, sealer, { slug: gateway.enterprise, url, newSecret: true })).secret ?? '';
    await over('+14155550135');
    await forgeStream();
    await tryConnection();
    // PostgreSQL then refuses every turn, and quotes the row in the error's detail.
    await database.query('ALTER TABLE call_turns ADD CONSTRAINT refuse_all CHECK (false) NOT VALID');
    await over('+14155550136');
    await database.query('ALTER TABLE call_turns DROP CONSTRAINT refuse_all');
    process.kill(gateway.service.media[0]!.pid()!, 'SIGKILL');
    await metricsWith(/parley_media_processes_connected\{process="control"\} 1/);
    await collectSecrets();
  });

  async function tryConnection(): Promise<void> {
    const { text: key } = await createApiKey(database, {
      slug: gateway.enterprise,
      name: 'settings',
      scopes: ['settings:write'],
    });
    secrets['key of settings'] = key.slice(17);
    const post = async (path: string, body: object): Promise<string> => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const url = `${gateway.service.publicUrl}/api/developer/connections${path}`;
      return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).text();
    };
    const baseUrl = `http://127.0.0.1:${(echo.address() as AddressInfo).port}/v1`;
    const credentials = { apiKey: PROVIDER_KEY };
    const made = await post('', { name: 'brain', provider: 'openai_compatible', baseUrl, credentials });
    expect(made).toContain('"hasCredentials":true');
    const tried = await post('/brain/test', {});
    expect(tried).toContain('"fault":"provider_error"');
    expect(made + tried).not.toContain(PROVIDER_KEY);
    await post('', {
      name: 'Brain',
      provider: 'openai_compatible',
      credentials: { apiKey: `${PROVIDER_KEY} with a blank` },
    });
  }

  async function forgeStream(): Promise<void> {
    const address = `${gateway.service.publicUrl.replace('http', 'ws')}/media/plivo/${FORGED_TOKEN}?to=%2B14155550131`;
    const socket = new WebSocket(address, { headers: { authorization: 'Bearer canary-of-an-authorization' } });
    const status = await new Promise((done) => {
      socket.on('unexpected-response', (_request, response) => done(response.statusCode));
      socket.on('error', () => {});
    });
    expect([401, 403, 404]).toContain(status);
  }

  async function collectSecrets(): Promise<void> {
    const tokens = createStreamTokens(gateway.service.masterKeyHex);
    const calls = await database.query<{ call_uuid: string; epoch: number }>('SELECT call_uuid, epoch FROM calls');
    for (const { call_uuid: callUuid, epoch } of calls) {
      for (let claim = 0; claim <= epoch; claim++) {
        secrets[`stream token ${callUuid} ${claim}`] = tokens.tokensOf({ callUuid, epoch: claim })[0]!;
      }
    }
    const { authId, authToken } = gateway.emulator.credentials;
    Object.assign(secrets, {
      'API key': gateway.apiKey.slice(17),
      'wrong API key': WRONG_KEY.slice(17),
      'master key': gateway.service.masterKeyHex,
      'carrier token': authToken,
      'carrier authorization': Buffer.from(`${authId}:${authToken}`).toString('base64'),
      'forged token': FORGED_TOKEN,
      'key of a provider': PROVIDER_KEY,
      authorization: 'canary-of-an-authorization',
      'database password': new URL(gateway.service.databaseUrl).password,
      'agent says': 'zanzibar',
      'caller says': 'banana',
      'name of the callee': NAME,
      metadata: METADATA,
      'line number': '4155550100',
    });
    for (const { number } of personas) secrets[`number ${number}`] = number.slice(2);
  }

  test('the logs of all of it hold none of the planted secrets', () => {
    const home = join(placeDatabase(dataDir).home, 'log');
    const logs: Record<string, string> = { 'control and media': output };
    for (const file of readdirSync(home)) logs[file] = readFileSync(join(home, file), 'utf8');
    expect(Object.keys(secrets).length).toBeGreaterThan(20);
    for (const [what, secret] of Object.entries(secrets)) {
      expect(secret.length, what).toBeGreaterThanOrEqual(6);
      for (const [log, text] of Object.entries(logs)) {
        const hits = text.split('\n').filter((line) => line.includes(secret));
        expect(hits, `${what} in the log of ${log}`).toEqual([]);
      }
    }
  });

  test('the logs are lines of JSON that tell each failure under its call', () => {
    const lines = output.split('\n').filter((line) => line.startsWith('{'));
    const parsed = lines.map((line) => JSON.parse(line) as { msg?: string; callUuid?: string; name?: string });
    expect(lines.length).toBeGreaterThan(30);
    const messages = parsed.map(({ msg }) => msg);
    for (const told of [
      'the carrier may or may not have taken the call',
      "a callback without the carrier's signature was refused",
      'webhook failed; it will be retried',
      'media stream refused',
      'a media message cannot be stored',
      'stream over',
      'answered',
    ]) {
      expect(messages).toContain(told);
    }
    expect(parsed.some(({ callUuid }) => callUuid === talked.callUuid)).toBe(true);
    const unstored = lines.find((line) => line.includes('a media message cannot be stored')) ?? '';
    expect(unstored).toContain('refuse_all');
    expect(unstored).not.toContain('Failing row');
  });

  test('the figures count each call, placement, webhook attempt and refused stream, and the media process anew', async () => {
    const text = await metricsWith(/parley_socket_server_info\{.*process="media-0"\} 1/);
    const value = (pattern: string): number => {
      const found = new RegExp(`^${pattern} (\\S+)$`, 'm').exec(text);
      if (found === null) throw new Error(`no ${pattern} in:\n${text}`);
      return Number(found[1]);
    };
    expect(
      value('parley_calls_ended_total\\{status="completed",reason="agent_hangup",process="control"\\}'),
    ).toBeGreaterThanOrEqual(1);
    expect(value('parley_calls_ended_total\\{status="no_answer",reason="busy",process="control"\\}')).toBe(1);
    expect(value('parley_placements_total\\{outcome="placed",process="control"\\}')).toBe(4);
    expect(value('parley_placements_total\\{outcome="rejected_invalid_number",process="control"\\}')).toBe(1);
    expect(value('parley_placements_total\\{outcome="unknown",process="control"\\}')).toBe(1);
    expect(value('parley_webhook_attempts_total\\{outcome="delivered",process="control"\\}')).toBeGreaterThanOrEqual(2);
    expect(value('parley_webhook_attempts_total\\{outcome="retry",process="control"\\}')).toBeGreaterThanOrEqual(1);
    expect(value('parley_webhook_pending_deliveries\\{process="control"\\}')).toBeGreaterThanOrEqual(1);
    expect(value('parley_database_up\\{process="control"\\}')).toBe(1);
    expect(value('parley_process_resident_memory_bytes\\{process="media-0"\\}')).toBeGreaterThan(5e7);
    expect(value('parley_media_frame_clock_lateness_seconds_count\\{process="media-0"\\}')).toBeGreaterThanOrEqual(0);
  });

  test('the frames of a call, its lateness and a refused stream are counted by the process that carries it', async () => {
    const before = await metricsWith(/parley_media_received_frames_total\{process="media-0"\} 0\n/);
    expect(before).toMatch(/parley_media_upgrades_refused_total/);
    await over(eats.number);
    await forgeStream();
    const text = await metricsWith(/parley_media_upgrades_refused_total\{status="\d+",process="media-0"\} 1\n/);
    expect(Number(/^parley_media_received_frames_total\{process="media-0"\} (\d+)/m.exec(text)?.[1])).toBeGreaterThan(
      100,
    );
    expect(Number(/^parley_media_played_frames_total\{process="media-0"\} (\d+)/m.exec(text)?.[1])).toBeGreaterThan(50);
    expect(Number(/^parley_media_frame_clock_lateness_seconds_count\{.*\} (\d+)/m.exec(text)?.[1])).toBeGreaterThan(0);
  });

  test('every family on the private port stands in docs/operations.md, and nothing else does', async () => {
    const text = await metricsWith(/process="media-0"/);
    const served = [...text.matchAll(/^# TYPE (\S+) /gm)].map((match) => match[1]!);
    const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    const written = [...page.matchAll(/`(parley_[a-z_]+)`/g)].map((match) => match[1]!);
    expect([...new Set(written)].toSorted()).toEqual(served.toSorted());
  });

  test('parley doctor finds nothing wrong with it, and says so by exit code 0', async () => {
    const line = `line …0100 of ${gateway.enterprise}`;
    const timed = ['readiness', 'database', 'clock against the database', 'clock against plivo', line];
    // What has its limit in seconds is asked again: how fast the machine is, is not what this is about.
    const { code, text, checks } = await eventually(`a doctor with an answer of ${timed.join(', ')}`, async () => {
      const found = await doctor();
      const { checks } = JSON.parse(found.text) as { checks: { name: string; level: string; detail: string }[] };
      const well = checks.filter(({ level }) => level === 'ok').map(({ name }) => name);
      return timed.every((name) => well.includes(name)) ? { ...found, checks } : null;
    });
    expect(checks.filter(({ level }) => level === 'fail')).toEqual([]);
    expect(code).toBe(0);
    const levels = Object.fromEntries(checks.map(({ name, level }) => [name, level]));
    expect(levels).toMatchObject({
      service: 'ok',
      readiness: 'ok',
      'key of the database': 'ok',
      port: 'ok',
      'metrics port': 'ok',
      'public URL': 'warn',
      'media path': 'ok',
      database: 'ok',
      migrations: 'ok',
      'clock against the database': 'ok',
      'clock against plivo': 'ok',
      [line]: 'ok',
    });
    for (const name of ['socket server', 'Opus', 'disk', 'master key', 'open files'])
      expect(levels).toHaveProperty([name]);
    expect(text).not.toContain(gateway.service.masterKeyHex);
    expect(text).not.toContain('4155550100');
  });

  // That its command ends with 1 for any check that fails is `test/unit/doctor`'s.
  test('parley doctor finds credentials that the carrier refuses', async () => {
    const sealer = createSealer(gateway.service.masterKeyHex);
    const { authId, authToken } = gateway.emulator.credentials;
    const store = (token: string) =>
      setLineCredentials(database, sealer, {
        slug: gateway.enterprise,
        lineId: gateway.lineId,
        credentials: { authId, authToken: token },
      });
    // What the engines cost has been measured above; here it would be two seconds of work beside the point.
    const instantSpeed = join(dataDir, 'speed.mjs');
    writeFileSync(instantSpeed, 'console.log(JSON.stringify({ voiceMsPerSecond: 1, recogniserMsPerSecond: 1 }))');
    await store('another-token');
    const failures = await eventually("the carrier's answer", async () => {
      const checks = await examine({
        environment: { PATH: process.env['PATH'], PARLEY_DATA_DIR: dataDir },
        selfCheckEntry: () => builtEntry('media/self-check.js'),
        engineSpeedEntry: () => instantSpeed,
        limitMs: PATIENCE_MS,
      });
      const failed = checks.filter(({ level }) => level === 'fail');
      // Limits in seconds, which a busy machine does not keep: the carrier's answer, and the service's own checks.
      const isLate = failed.some(({ name, detail }) => name === 'readiness' || detail.includes('could not be asked'));
      return isLate ? null : failed;
    });
    await store(authToken);
    expect(failures).toMatchObject([
      { name: `line …0100 of ${gateway.enterprise}`, wayOut: expect.stringContaining('parley line credentials') },
    ]);
  });

  test('/readyz tells strangers yes and the private port why, and the private port is not behind the public one', async () => {
    // A busy machine's checks may take longer than they have.
    const told = (url: string) =>
      eventually(`yes from ${url}`, async () => {
        const answer = await fetch(url);
        const found = (await answer.json()) as { status: string; checks?: Record<string, { detail: string }> };
        return answer.status === 200 ? found : null;
      });
    expect(await told(`${gateway.service.publicUrl}/readyz`)).toEqual({ status: 'ok' });
    const { checks } = await told(`http://127.0.0.1:${metricsPort}/readyz`);
    expect(checks!['media']!.detail).toMatch(/^1 connected \((uws|ws)\), \d+ of \d+ calls$/);
    expect((await fetch(`${gateway.service.publicUrl}/metrics`)).status).toBe(404);
    expect((await fetch(`${gateway.service.publicUrl}/openapi.json`)).status).toBe(200);
    expect(await (await fetch(`${gateway.service.publicUrl}/docs`)).text()).toContain('<h1>Parley API</h1>');
  });
});
