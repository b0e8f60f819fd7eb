/**
 * The conversation as a visitor has it: real Chromium, the real service, an agent that really listens. The microphone plays a file in which
 * our local voice speaks, again and again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../../bench/harness/gateway.ts';
import { makeWebAccess } from '../../bench/live-client/web-access.ts';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { FLITE_RATE_HZ, loadFliteVoice } from '../../media/engines/local/flite-voice.ts';
import {
  hasChromium,
  launch,
  type Site,
  startSite,
  type Visit,
  visit,
  writeMicrophoneFile,
} from './support/chromium.ts';
import { type Line, startLine } from './support/tcp-proxy.ts';

const EVERY_MS = 7_000;
/** A busy machine hears a word at its second or third saying. */
const LIMIT_MS = 90_000;
const TEST_MS = 120_000;

const agent = {
  kind: 'scripted',
  name: 'Rita',
  direction: 'web',
  language: 'en-US',
  voice: 'rms',
  script: 'You are Rita.',
  greeting: 'Hello, this is Rita.',
  steps: [
    {
      id: 'ask',
      say: 'Can you hear me?',
      expect: 'yesno',
      replies: [
        { intent: 'heard', phrases: ['yes please', 'yes i can'], goto: 'again' },
        { intent: 'not_heard', phrases: ['no', 'no i can not'], goto: 'again' },
      ],
    },
    {
      id: 'again',
      say: 'Very good. Shall I go on?',
      expect: 'yesno',
      replies: [
        { intent: 'go_on', phrases: ['yes please', 'yes i can'], goto: 'bye' },
        { intent: 'stop', phrases: ['no', 'no i can not'], goto: 'bye' },
      ],
    },
    { id: 'bye', say: 'I am glad that we talked. Goodbye.', end: { reason: 'agent_hangup', disposition: 'done' } },
  ],
  fallback: { say: ['Please say that again.'], after: 8, goto: 'bye' },
  idle: { promptAfterMs: 12_000, say: ['Are you there?'], endAfterMs: 60_000 },
} as unknown as AgentDefinition;

/** `yes please` after 1.5 s of each seven. */
async function speechFile(): Promise<string> {
  const voice = await loadFliteVoice();
  const spoken = voice.speak({ text: 'yes please', voice: 'slt', isFirst: true, end: 'text' });
  const samples = new Int16Array((EVERY_MS * FLITE_RATE_HZ) / 1000);
  samples.set(spoken, 1.5 * FLITE_RATE_HZ);
  return writeMicrophoneFile('yes-please', samples, FLITE_RATE_HZ);
}

describe.skipIf(!hasChromium)('a visitor and an agent that listens', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-browser-'));
  let gateway: Gateway;
  let browser: Browser;
  let site: Site;
  let line: Line;
  let access: { publicKey: string; agentId: string };

  beforeAll(async () => {
    site = await startSite();
    [browser, gateway] = await Promise.all([
      launch(await speechFile()),
      startGateway({
        dataDir,
        agent: { ...agent, direction: 'any' },
        personas: [],
        volatileDatabase: true,
        log: () => {},
      }),
    ]);
    const { service, enterprise } = gateway;
    access = await makeWebAccess(
      { baseUrl: service.publicUrl, databaseUrl: service.databaseUrl, enterprise },
      agent,
      site.url,
    );
    line = await startLine(service.publicUrl);
  });
  afterAll(async () => {
    await browser?.close();
    line?.close();
    site?.close();
    await gateway?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function call(attributes: string, base = gateway.service.publicUrl): Promise<Visit> {
    site.html = `<!doctype html><title>t</title><button id="talk">Talk</button><script async src="${base}/embed.js"
      data-public-key="${access.publicKey}" data-agent-id="${access.agentId}" data-ui="custom" data-trigger="#talk" ${attributes}></script>`;
    const visitor = await visit(browser, site.url);
    await visitor.page.evaluate(
      'window.words = []; window.clicked = 0; ServiceVoice.on("transcript", (one) => words.push(one)); 0',
    );
    await visitor.page.click('#talk');
    return visitor;
  }

  type Words = { role: string; turnId: string; text?: string; final: boolean }[];
  const finals = async ({ page }: Visit): Promise<Words> =>
    ((await page.evaluate('words')) as Words).filter((one) => one.final);

  const until = (visitor: Visit, what: string): Promise<unknown> =>
    visitor.page.waitForFunction(what, undefined, { timeout: LIMIT_MS });

  it.each(['', 'data-codec="pcm"'])(
    'are through with each other in Opus or PCM (%s)',
    {
      timeout: TEST_MS,
    },
    async (attributes) => {
      const visitor = await call(attributes);
      await until(visitor, 'told.at(-1).status === "disconnected"');
      expect((await visitor.statuses()).at(-1)).toMatchObject({ reason: 'agent_hangup', callUuid: expect.any(String) });
      const said = await finals(visitor);
      const agentSaid = said
        .filter(({ role }) => role === 'agent')
        .map(({ text }) => text)
        .join(' ');
      expect(agentSaid).toContain('Very good. Shall I go on?');
      expect(agentSaid).toContain('I am glad that we talked. Goodbye.');
      expect(said.filter(({ role }) => role === 'user').map(({ text }) => text)).toContain('yes please');
      expect(visitor.errors).toEqual([]);
      await visitor.close();
    },
  );

  it('go on as the same call after 5 s without a line, with one transcript', { timeout: TEST_MS }, async () => {
    const visitor = await call('', line.url);
    await until(visitor, 'words.some((one) => one.role === "agent")');
    line.mode = 'refuse';
    line.reset();
    await visitor.page.waitForTimeout(5_000);
    line.mode = 'through';
    await until(visitor, 'told.at(-1).status === "disconnected"');
    const told = await visitor.statuses();
    expect(told.map(({ status }) => status)).toEqual([
      'connecting',
      'connected',
      'connecting',
      'connected',
      'disconnected',
    ]);
    expect(new Set(told.slice(1).map(({ callUuid }) => callUuid)).size).toBe(1);
    const said = await finals(visitor);
    expect(new Set(said.map(({ turnId, role }) => `${role} ${turnId}`)).size).toBe(said.length);
    const entry = await gateway.client.waitFor(
      told[1]!.callUuid!,
      'the end',
      ({ status }) => status === 'completed',
      LIMIT_MS,
    );
    for (const { text, role } of said) if (role === 'user' && text) expect(entry.transcript).toContain(text);
    await visitor.close();
  });
});
