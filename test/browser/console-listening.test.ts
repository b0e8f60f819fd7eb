/**
 * Listening in at the console, in Chromium, to calls of the real service: how far behind one hears, that the caller
 * gets the same samples as without a listener, and what ends it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../../bench/harness/gateway.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { makeFirstUserLink } from '../../src/users/one-time-links.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway } from '../support/test-gateway.ts';
import { axeFaults } from './support/axe.ts';
import { hasChromium, newContext, sharedBrowser } from './support/chromium.ts';

const NUMBER = '+14155550131';
const PASSWORD = 'four walls and a roof';
const BEHIND_MS = 500;
const FRAME_BYTES = 320;
const WAV_HEADER_BYTES = 44;
/** Of the agent's sound, in each call. */
const COMPARED_FRAMES = 100;

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
      personas: [{ kind: 'tone', name: 'Holds', number: NUMBER, ringMs: 20, dialMs: 5 }],
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

  async function liveCall(): Promise<string> {
    const { agentId, enterprise, lineId: from } = gateway;
    const { body } = await gateway.client.place({ to: NUMBER, agentId, enterprise, from });
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

  async function visit(callUuid: string): Promise<Page> {
    const context = await newContext(await sharedBrowser(), { reducedMotion: 'reduce' });
    const [name, value] = cookie.split(';', 1)[0]!.split('=') as [string, string];
    await context.addCookies([{ name, value, url: gateway.service.publicUrl }]);
    const page = await context.newPage();
    page.on('pageerror', (error) => browserErrors.push(error.message));
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

  it('is at most 500 ms behind, changes no sample of the caller, and ends with the call', async () => {
    const alone = await liveCall();
    const withoutListener = await heardAtTheFarEnd(0);
    await hangUp(alone);
    const callUuid = await liveCall();
    const page = await visit(callUuid);
    const behind = page.getByText(/^\d+ ms behind$/);
    await behind.waitFor();
    expect(Number.parseInt((await behind.textContent()) ?? '', 10)).toBeLessThan(BEHIND_MS);
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

  it('ends when the session does, and the page says so', async () => {
    const callUuid = await liveCall();
    const page = await visit(callUuid);
    await database.query('UPDATE user_sessions SET revoked_at = now()');
    await page.getByText('or may not listen any more').waitFor({ state: 'attached' });
    await hangUp(callUuid);
    await page.context().close();
  });
});
