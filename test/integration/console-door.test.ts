/**
 * The console's door at the real service, through its public port: from the first user's link to a call that a person
 * places, watches, hangs up and looks at; and what ends when the session does.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Gateway } from '../../bench/harness/gateway.ts';
import { openPatientDatabase } from '../../bench/harness/patient-database.ts';
import type { Database } from '../../src/store/database.ts';
import { makeFirstUserLink } from '../../src/users/one-time-links.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway } from '../support/test-gateway.ts';

const NUMBER = '+14155550131';
/** Of 20 ms. */
const HALF_A_SECOND_OF_FRAMES = 25;
const PASSWORD = 'four walls and a roof';

let gateway: Gateway;
let database: Database;
let output = '';
const dataDir = mkdtempSync(join(tmpdir(), 'parley-door-'));

beforeAll(async () => {
  gateway = await startTestGateway({
    dataDir,
    agent: { kind: 'tone', name: 'Tone', direction: 'outbound', toneHz: 440 },
    personas: [{ kind: 'tone', name: 'Holds', number: NUMBER, ringMs: 20, dialMs: 5 }],
    settings: { PARLEY_LOG_LEVEL: 'trace' },
    log: (line) => {
      output += `${line}\n`;
    },
    childOutput: (text) => {
      output += text;
    },
  });
  database = openPatientDatabase(gateway.service.databaseUrl, 2);
});

afterAll(async () => {
  await database?.close();
  await gateway?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

let cookie = '';
const base = () => `${gateway.service.publicUrl}/api/console`;

function ask(method: string, path: string, payload?: object): Promise<Response> {
  return fetch(`${base()}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      origin: gateway.service.publicUrl,
      ...(cookie === '' ? {} : { cookie }),
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(payload === undefined ? {} : { body: JSON.stringify(payload) }),
  });
}

async function statusOf(answer: Promise<Response>): Promise<number> {
  const { status, body } = await answer;
  await body?.cancel();
  return status;
}

/** What a stream of events tells, as it comes. */
async function follow(path: string) {
  const response = await fetch(`${base()}${path}`, { headers: { cookie, accept: 'text/event-stream' } });
  expect(response.status).toBe(200);
  const told = { text: '', hasEnded: false };
  void (async () => {
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) told.text += piece;
    told.hasEnded = true;
  })().catch(() => {
    told.hasEnded = true;
  });
  return told;
}

test('from the first link to a call that was looked at, with a session that then ends', async () => {
  const { token } = (await makeFirstUserLink(database))!;
  const taken = await ask('POST', '/link/take', { token, password: PASSWORD, email: 'ann@example.com', name: 'Ann' });
  expect(taken.status, await taken.text()).toBe(204);
  expect(await statusOf(ask('POST', '/session', { email: 'ann@example.com', password: 'wrong' }))).toBe(401);
  const signedIn = await ask('POST', '/session', { email: 'ann@example.com', password: PASSWORD });
  expect(signedIn.status).toBe(204);
  expect(signedIn.headers.get('x-parley-vouched')).toBeNull();
  cookie = signedIn.headers.get('set-cookie')!.split(';', 1)[0]!;
  const { workspaces } = (await (await ask('GET', '/session')).json()) as { workspaces: { enterprise: string }[] };
  const workspace = `/w/${workspaces[0]!.enterprise}`;
  // A body with a method that seldom has one comes through the port as well.
  expect(await statusOf(ask('DELETE', '/me/totp', { password: PASSWORD }))).toBe(204);

  const board = await follow(`${workspace}/live`);
  await eventually('a snapshot', () => board.text.includes('event: snapshot'));
  const asked = { to: NUMBER, agentId: gateway.agentId, enterprise: gateway.enterprise, from: gateway.lineId };
  const placed = await ask('POST', `${workspace}/outbound-call`, asked);
  const { callUuid } = (await placed.json()) as { callUuid: string };
  expect(placed.status).toBe(200);
  await eventually('the call on the board, answered', () =>
    new RegExp(`event: changes\\ndata: .*${callUuid}.*"in_progress"`).test(board.text),
  );
  await eventually('sound both ways', async () => {
    const far = (await gateway.emulator.calls()).at(-1);
    return far !== undefined && far.firstAgentSoundAtEpochMs !== null && far.framesSent >= HALF_A_SECOND_OF_FRAMES;
  });
  expect(await statusOf(ask('POST', `${workspace}/calls/${callUuid}/hangup`))).toBe(202);
  await eventually('its end on the board', () => board.text.includes(`"gone":["${callUuid}"]`));
  const [ended] = await database.query('SELECT ended_reason, hangup_by FROM calls WHERE call_uuid = $1', [callUuid]);
  expect(ended).toEqual({ ended_reason: 'operator_hangup', hangup_by: 'operator' });

  const peaks = (await eventually('the peaks of its recording', async () => {
    const answer = await ask('GET', `${workspace}/calls/${callUuid}/peaks`);
    if (answer.status === 200) return answer.json();
    await answer.body?.cancel();
    return null;
  })) as { durationSeconds: number; binMs: number; caller: number[]; agent: number[] };
  expect(peaks.binMs).toBe(20);
  expect(peaks.caller).toHaveLength(Math.ceil((peaks.durationSeconds * 1000) / peaks.binMs));
  for (const side of [peaks.caller, peaks.agent]) expect(Math.max(...side)).toBeGreaterThan(20);
  const sound = await ask('GET', `${workspace}/calls/${callUuid}/recording`);
  expect(sound.status).toBe(302);
  expect(await statusOf(fetch(new URL(sound.headers.get('location')!, gateway.service.publicUrl)))).toBe(200);

  const events = await follow(`${workspace}/live`);
  await eventually('another snapshot', () => events.text.includes('event: snapshot'));
  expect(await statusOf(ask('DELETE', '/session'))).toBe(204);
  await eventually('the end of both boards', () => board.hasEnded && events.hasEnded);
  expect(await statusOf(ask('GET', '/session'))).toBe(401);
  const secret = cookie.split('=')[1]!;
  for (const canary of [token, secret, PASSWORD]) expect(output.includes(canary)).toBe(false);
});
