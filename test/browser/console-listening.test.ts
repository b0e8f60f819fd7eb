/**
 * Listening in at the console, in Chromium, to calls of the real service: how far behind one hears, that the caller
 * gets the same samples as without a listener, and what ends it. And a person who takes a call over.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../../bench/harness/gateway.ts';
import { importAgent } from '../../src/agents/stored-agents.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { makeFirstUserLink } from '../../src/users/one-time-links.ts';
import { eventually } from '../support/eventually.ts';
import { sampleAgent } from '../support/sample-agent.ts';
import { startTestGateway } from '../support/test-gateway.ts';
import { axeFaults } from './support/axe.ts';
import { hasChromium, newContext, sharedBrowser } from './support/chromium.ts';

const NUMBER = '+14155550131';
const SILENT_NUMBER = '+14155550132';
const PASSWORD = 'four walls and a roof';
const BEHIND_MS = 500;
const FRAME_BYTES = 320;
const WAV_HEADER_BYTES = 44;
/** Of the agent's sound, in each call. */
const COMPARED_FRAMES = 100;
/** Of the person's microphone: a tone that no agent makes. */
const PERSON_HZ = 640;
const MICROPHONE = `navigator.mediaDevices.getUserMedia = async () => {
  const context = new AudioContext();
  await context.resume();
  const microphone = context.createMediaStreamDestination();
  const tone = new OscillatorNode(context, { frequency: ${PERSON_HZ} });
  tone.connect(new GainNode(context, { gain: 0.4 })).connect(microphone);
  tone.start();
  return microphone.stream;
}`;

describe.skipIf(!hasChromium)('listening in', () => {
  let gateway: Gateway;
  let database: Database;
  let cookie: string;
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-listening-'));
  const browserErrors: string[] = [];

  beforeAll(async () => {
    gateway = await startTestGateway({
      dataDir,
      agent: { kind: 'tone', name: 'Tone', direction: 'outbound', toneHz: 440 },
      personas: [
        { kind: 'tone', name: 'Holds', number: NUMBER, ringMs: 20, dialMs: 5 },
        { kind: 'silent', name: 'Listens', number: SILENT_NUMBER, ringMs: 20 },
      ],
      log() {},
    });
    database = openDatabase({
      connectionString: gateway.service.databaseUrl,
      maxConnections: 2,
      onIdleError: () => {},
    });
    const { token } = (await makeFirstUserLink(database))!;
    await ask('link/take', { token, password: PASSWORD, email: 'ann@example.com', name: 'Ann' });
    cookie = (await ask('session', { email: 'ann@example.com', password: PASSWORD })).headers.get('set-cookie')!;
  });
  afterAll(async () => {
    await database?.close();
    await gateway?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const ask = (path: string, body: object): Promise<Response> =>
    fetch(`${gateway.service.publicUrl}/api/console/${path}`, {
      method: 'POST',
      headers: { origin: gateway.service.publicUrl, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  async function liveCall(agentId = gateway.agentId, to = NUMBER): Promise<string> {
    const { enterprise, lineId: from } = gateway;
    const { body } = await gateway.client.place({ to, agentId, enterprise, from });
    const callUuid = body.callUuid ?? '';
    await eventually('the call to be answered and heard', async () => {
      const [row] = await database.query<{ status: string }>('SELECT status FROM calls WHERE call_uuid = $1', [
        callUuid,
      ]);
      return row?.status === 'in_progress';
    });
    return callUuid;
  }

  async function hangUp(callUuid: string): Promise<void> {
    const answer = await fetch(`${gateway.service.publicUrl}/api/developer/calls/${callUuid}/hangup`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.apiKey}` },
    });
    expect(answer.status).toBe(202);
  }

  async function signedIn(): Promise<Page> {
    const context = await newContext(await sharedBrowser(), { reducedMotion: 'reduce' });
    const [name, value] = cookie.split(';', 1)[0]!.split('=') as [string, string];
    await context.addCookies([{ name, value, url: gateway.service.publicUrl }]);
    const page = await context.newPage();
    await page.addInitScript(MICROPHONE);
    page.on('pageerror', (error) => browserErrors.push(error.message));
    return page;
  }

  async function visit(callUuid: string): Promise<Page> {
    const page = await signedIn();
    await page.goto(`${gateway.service.publicUrl}/console/#/w/${gateway.enterprise}/call/${callUuid}`);
    await page.getByRole('button', { name: 'Listen in' }).click();
    await page.getByText('You are listening').waitFor();
    return page;
  }

  /** What the callee heard of the agent, as the emulated carrier has it: frames with sound in them. */
  async function heardAtTheFarEnd(at: number): Promise<Buffer[]> {
    const frames = async (): Promise<Buffer[] | null> => {
      const wav = await gateway.emulator.recording((await gateway.emulator.calls())[at]!.callUuid);
      const found: Buffer[] = [];
      // Callee left, agent right.
      for (let from = WAV_HEADER_BYTES; from + 2 * FRAME_BYTES <= wav.length; from += 2 * FRAME_BYTES) {
        const agent = Buffer.alloc(FRAME_BYTES);
        for (let i = 0; i < FRAME_BYTES / 2; i++) wav.copy(agent, i * 2, from + i * 4 + 2, from + i * 4 + 4);
        if (agent.some((byte) => byte !== 0)) found.push(agent);
      }
      return found.length < COMPARED_FRAMES ? null : found.slice(0, COMPARED_FRAMES);
    };
    return eventually('two seconds of the agent at the far end', frames);
  }

  it('comes to be at most 500 ms behind, changes no sample of the caller, and ends with the call', async () => {
    const alone = await liveCall();
    const withoutListener = await heardAtTheFarEnd(0);
    await hangUp(alone);
    const callUuid = await liveCall();
    const page = await visit(callUuid);
    const behind = page.getByText(/^\d+ ms behind$/);
    await eventually(
      `less than ${BEHIND_MS} ms`,
      async () => Number.parseInt((await behind.textContent()) ?? '', 10) < BEHIND_MS,
    );
    expect(await axeFaults(page)).toEqual([]);
    expect(await heardAtTheFarEnd(1)).toEqual(withoutListener);
    await hangUp(callUuid);
    await page.getByText('The call is over.').waitFor();
    await page.context().close();
    const rows = await eventually('both audit rows', async () => {
      const found = await database.query<{ action: string }>(
        `SELECT action FROM audit_log WHERE target = $1 AND action LIKE 'call.monitor_%' AND actor LIKE 'user:%' ORDER BY at`,
        [`call:${callUuid}`],
      );
      return found.length === 2 ? found : null;
    });
    expect(rows.map(({ action }) => action)).toEqual(['call.monitor_began', 'call.monitor_ended']);
    expect(browserErrors).toEqual([]);
  });

  /** Frames of the agent's side at the far end that hold the person's tone. */
  async function personFramesAt(at: number): Promise<number> {
    const wav = await gateway.emulator.recording((await gateway.emulator.calls())[at]!.callUuid);
    const half = (8_000 / PERSON_HZ / 2) * 4;
    let frames = 0;
    for (let from = WAV_HEADER_BYTES; from + 2 * FRAME_BYTES <= wav.length; from += 2 * FRAME_BYTES) {
      const crossings: number[] = [];
      for (let at = from + 6; at < from + 2 * FRAME_BYTES; at += 4) {
        if (wav.readInt16LE(at) >= 0 !== wav.readInt16LE(at - 4) >= 0) crossings.push(at);
      }
      const spans = crossings.slice(1).map((crossing, index) => crossing - crossings[index]!);
      if (spans.length > 20 && spans.every((span) => Math.abs(span - half) <= 8)) frames++;
    }
    return frames;
  }

  it('lets a person speak with the caller, and gives the call back to an agent that goes on', async () => {
    const agent = await importAgent(database, {
      slug: gateway.enterprise,
      definition: sampleAgent({ greeting: 'Hello.', idle: { promptAfterMs: 60_000, say: [], endAfterMs: 120_000 } }),
    });
    const at = (await gateway.emulator.calls()).length;
    const callUuid = await liveCall(agent.id, SILENT_NUMBER);
    const question = 'Can you come on tuesday at three?';
    await gateway.client.waitFor(callUuid, 'the question', ({ turns }) => turns.some(({ text }) => text === question));
    const page = await visit(callUuid);
    await page.getByRole('button', { name: 'Take over' }).click();
    await page.getByText('You speak with the caller').waitFor();
    await eventually('the person at the far end', async () => (await personFramesAt(at)) > 50);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFaults(page)).toEqual([]);
    }
    await page.getByLabel('Jump to a step: the agent says it now').selectOption('name');
    expect(await page.getByRole('button', { name: 'Whisper' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Jump there' }).click();
    await page.getByText('The agent goes to the step “name”').waitFor();
    await page.getByRole('button', { name: 'Hand back to the agent' }).click();
    await page.getByText('The agent goes on').waitFor();
    await page.getByRole('button', { name: 'Take over' }).waitFor();
    const { turns } = await gateway.client.waitFor(callUuid, 'the step of the whisper', (call) =>
      call.turns.some(({ text }) => text === 'And your name?'),
    );
    expect(turns.map(({ role, by }) => by ?? role)).toEqual(['agent', 'agent', 'person', 'agent']);
    await hangUp(callUuid);
    await page.context().close();
    const rows = await database.query<{ action: string; actor: string }>(
      `SELECT action, actor FROM audit_log WHERE target = $1 AND action LIKE 'call.control_%' ORDER BY at`,
      [`call:${callUuid}`],
    );
    expect(rows.map(({ action }) => action)).toEqual([
      'call.control_takeover',
      'call.control_whisper',
      'call.control_handback',
    ]);
    expect(rows.every(({ actor }) => actor.startsWith('user:'))).toBe(true);
    expect(browserErrors).toEqual([]);
  });

  it('is not the only way to a call: an agent that was tried by voice in its page leads to it', async () => {
    const agent = await importAgent(database, {
      slug: gateway.enterprise,
      definition: sampleAgent({ direction: 'any' }),
    });
    const page = await signedIn();
    await page.goto(`${gateway.service.publicUrl}/console/#/w/${gateway.enterprise}/agents/${agent.id}/try`);
    await page.getByRole('button', { name: 'Make a key for this console' }).click();
    await page.getByRole('button', { name: 'Talk' }).click();
    const frame = page.frameLocator('iframe');
    await frame.getByRole('button', { name: 'Start talking' }).click();
    const link = page.getByRole('link', { name: 'Look at the call' });
    await link.waitFor();
    const callUuid = (await link.getAttribute('href'))!.split('/').at(-1)!;
    const [call] = await database.query<{ channel: string }>('SELECT channel FROM calls WHERE call_uuid = $1', [
      callUuid,
    ]);
    expect(call).toEqual({ channel: 'web' });
    await page.setViewportSize({ width: 1280, height: 720 });
    // Whatever is said, what one presses stays in sight.
    await frame.locator('.log').evaluate((log) => log.append('said '.repeat(800)));
    const [bottom, needed, room] = await frame.getByLabel('Type instead of speaking').evaluate((input) => {
      const { defaultView, documentElement } = input.ownerDocument;
      return [input.getBoundingClientRect().bottom, documentElement.scrollHeight, Number(defaultView?.innerHeight)];
    });
    expect(bottom).toBeLessThanOrEqual(room!);
    expect(needed).toBeLessThanOrEqual(room!);
    await frame.getByRole('button', { name: 'Hang up' }).click();
    await frame.getByText('The call has ended').waitFor();
    await page.context().close();
    expect(browserErrors).toEqual([]);
  });

  it('ends when the session does, and the page says so', async () => {
    const callUuid = await liveCall();
    const page = await visit(callUuid);
    await database.query('UPDATE user_sessions SET revoked_at = now()');
    await page.getByText('or may not listen any more').waitFor({ state: 'attached' });
    await hangUp(callUuid);
    await page.context().close();
  });
});
