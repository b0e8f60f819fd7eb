/**
 * The agent that converses, as a visitor has it: real Chromium, the real service, and emulated ears, model and voice of
 * providers. What is said is spoken into the page's microphone once the agent has said what it answers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPageServer } from '../../bench/demo/page-server.ts';
import type { Play } from '../../bench/demo/play.ts';
import { startRestaurantPlay } from '../../bench/demo/restaurant/restaurant-play.ts';
import { freePort } from '../../bench/harness/free-port.ts';
import type { Gateway } from '../../bench/harness/gateway.ts';
import { loadVisitorVoice, type VisitorVoice } from '../../bench/live-client/visitor-voice.ts';
import { makeWebAccess, type WebAccess } from '../../bench/live-client/web-access.ts';
import type { Call } from '../../clients/typescript/src/client.ts';
import type { CascadeAgent } from '../../media/contract/agent-definition.ts';
import { createCaptions, type TranscriptMessage } from '../../widget/panel/captions.ts';
import { startTestGateway } from '../support/test-gateway.ts';
import { hasChromium, type Site, sharedBrowser, startSite, type Visit, visit } from './support/chromium.ts';
import { SPEAKING_MICROPHONE, speak } from './support/speaking-microphone.ts';

const HOURS =
  'We are open every day from noon to eleven in the evening. The kitchen takes its last orders at half past nine, and on Sundays there is brunch from ten. Shall I reserve a table for you?';
const LISTEN = 'window.words = []; ServiceVoice.on("transcript", (one) => words.push(one)); 0';
const MOST_SAYINGS = 4;
const isOver = 'window.told.at(-1).status === "disconnected"';

describe.skipIf(!hasChromium)('a visitor and an agent that converses', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-browser-'));
  let play: Play;
  let gateway: Gateway;
  let browser: Browser;
  let site: Site;
  let voice: VisitorVoice;
  let pagePort: number;

  beforeAll(async () => {
    [browser, site, play, voice, pagePort] = await Promise.all([
      sharedBrowser(),
      startSite(),
      startRestaurantPlay(),
      loadVisitorVoice('rms'),
      freePort(),
    ]);
    gateway = await startTestGateway({
      dataDir,
      agent: play.agent,
      personas: play.personas,
      connections: play.connections,
      environment: play.environment,
      webOrigins: [`http://localhost:${pagePort}`],
      log: () => {},
    });
    play.endpoint.setSecret(gateway.webhookSecret);
  });
  afterAll(async () => {
    site?.close();
    await gateway?.stop();
    await play?.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const accessTo = (agent: CascadeAgent): Promise<WebAccess> =>
    makeWebAccess(
      { baseUrl: gateway.service.publicUrl, databaseUrl: gateway.service.databaseUrl, enterprise: gateway.enterprise },
      agent,
      site.url,
    );

  /** Of what the agent has said since: this is in a line that was played, or is being played. */
  const told = (words: string): string =>
    `since.some((one) => one.role === 'agent' && one.final && one.text.includes(${JSON.stringify(words)}))`;
  const begins = (words: string): string =>
    `since.some((one) => one.role === 'agent' && !one.final && one.delta.includes(${JSON.stringify(words)}))`;
  const asksElse = `since.some((one) => one.role === 'agent' && one.final && !one.interrupted && one.text.endsWith('?'))`;
  const from = (index: number, expression: string): string => `((since) => ${expression})(words.slice(${index}))`;
  const heard = (visitor: Visit, words: string): Promise<void> => visitor.until(from(0, told(words)));

  /** Says it until that follows: a busy machine hears words at their second saying, and the agent asks for them. */
  async function say(visitor: Visit, text: string, follows: string): Promise<void> {
    for (let tries = 0; tries < MOST_SAYINGS; tries++) {
      const before = Number(await visitor.page.evaluate('words.length'));
      await speak(visitor, voice, text);
      await visitor.until(from(before, `${follows} || ${asksElse}`));
      if (await visitor.page.evaluate(from(before, follows))) return;
    }
    throw new Error(`the agent did not understand “${text}”`);
  }

  const linesOn = async ({ page }: Visit): Promise<{ turnId: string; role: string; text: string }[]> => {
    const captions = createCaptions();
    for (const message of (await page.evaluate('words')) as TranscriptMessage[]) captions.take(message);
    return captions.lines.filter(({ text }) => text !== '').map(({ turnId, role, text }) => ({ turnId, role, text }));
  };

  async function entryOf(visitor: Visit): Promise<Call> {
    const { callUuid } = (await visitor.statuses()).find(({ status }) => status === 'connected')!;
    return gateway.client.waitFor(callUuid!, 'the end', ({ status }) => status === 'completed');
  }

  /** The page shows what the call log has: all that was heard, and nothing else. */
  async function expectOneTranscript(visitor: Visit): Promise<Call> {
    const entry = await entryOf(visitor);
    expect(await linesOn(visitor)).toEqual(
      entry.turns
        .filter(({ heardText }) => heardText !== '')
        .map(({ turnId, role, heardText }) => ({ turnId, role, text: heardText })),
    );
    return entry;
  }

  const usedBy = (callUuid: string): [string, Record<string, string>][] =>
    play.endpoint.received
      .filter(({ body }) => body.call.callUuid === callUuid)
      .map(({ body }) => [body.tool, body.arguments]);

  describe.each([
    ['Opus, and a voice of 16 kHz', '', 'elevenlabs'],
    ['PCM, and a voice of 24 kHz', 'data-codec="pcm"', 'openai'],
  ])('in %s', (_what, attributes, speaks) => {
    it('asks, interrupts and is understood, and the page shows what was heard', async () => {
      const agent = structuredClone(play.agent) as CascadeAgent;
      if (speaks === 'openai')
        agent.speak = [{ connection: 'brain', engine: 'openai', voice: 'alloy', model: 'tts-1' }];
      const { publicKey, agentId } = await accessTo({ ...agent, name: `Mia by ${speaks}` });
      const path = `/${speaks}`;
      site.pages.set(
        path,
        `<!doctype html><title>t</title><button id="talk">Talk</button><script async src="${gateway.service.publicUrl}/embed.js"
        data-public-key="${publicKey}" data-agent-id="${agentId}" data-ui="custom" data-trigger="#talk" ${attributes}></script>`,
      );
      const visitor = await visit(browser, site.url + path, { init: SPEAKING_MICROPHONE });
      await visitor.page.evaluate(LISTEN);
      await visitor.page.click('#talk');
      await heard(visitor, 'How can I help you?');
      await say(visitor, 'On friday, for two people please.', told('What name'));
      await say(visitor, 'When do you close?', begins('noon'));
      await say(visitor, 'Okay, my name is dana.', told('Anything else?'));
      await say(visitor, 'No thank you, goodbye.', isOver);

      expect((await visitor.statuses()).at(-1)).toMatchObject({ status: 'disconnected', reason: 'agent_hangup' });
      expect(visitor.errors).toEqual([]);
      const entry = await expectOneTranscript(visitor);
      expect(usedBy(entry.callUuid)).toEqual([
        ['check_table', { day: 'friday', people: 'two' }],
        ['book_table', { day: 'friday', people: 'two', name: 'dana' }],
      ]);
      const cut = entry.turns.filter(({ role, interrupted }) => role === 'agent' && interrupted);
      expect(cut).toHaveLength(1);
      expect(cut[0]!.heardText).toContain('noon');
      expect(HOURS.startsWith(cut[0]!.heardText) && cut[0]!.heardText !== HOURS).toBe(true);
      await visitor.close();
    });
  });

  it('answers words that are typed on /talk, and words that are spoken between them', async () => {
    const { service, publicKey, agentId } = gateway;
    const visitor = await visit(browser, `${service.publicUrl}/talk/${publicKey}/${agentId}`, {
      init: SPEAKING_MICROPHONE,
      isOurs: true,
    });
    await visitor.page.evaluate(LISTEN);
    const type = async (text: string): Promise<void> => {
      await visitor.page.fill('input[type=text]', text);
      await visitor.page.press('input[type=text]', 'Enter');
    };
    await visitor.page.click('button.main');
    // Into the agent's first sentence: it stops and answers.
    await visitor.until(`words.some((one) => one.role === 'agent')`);
    await type('A table for three, please');
    await heard(visitor, 'For which day?');
    await say(visitor, 'On friday, for two people please.', told('What name'));
    await type('That is all, goodbye');
    await visitor.until(isOver);
    expect(visitor.errors).toEqual([]);
    const entry = await expectOneTranscript(visitor);
    expect(usedBy(entry.callUuid)).toEqual([['check_table', { day: 'friday', people: 'two' }]]);
    const shown: string[] = await visitor.page.evaluate(
      `[...document.querySelectorAll('.log .line')].map((line) => line.textContent)`,
    );
    expect(shown.join('\n')).toContain('For which day?');
    await visitor.close();
  });

  it('answers at the button of the demo’s page', async () => {
    const page = await startPageServer(gateway, { port: pagePort, publicKey: gateway.publicKey, play });
    const visitor = await visit(browser, page.url, { init: SPEAKING_MICROPHONE });
    await visitor.page.evaluate(LISTEN);
    await visitor.page.click('[data-service-talk]');
    await heard(visitor, 'How can I help you?');
    await say(visitor, 'No thank you, goodbye.', isOver);
    expect((await visitor.statuses()).at(-1)).toMatchObject({ status: 'disconnected', reason: 'agent_hangup' });
    expect(await visitor.page.textContent('h1')).toBe(play.page.title);
    await expectOneTranscript(visitor);
    await visitor.close();
    page.close();
  });
});
