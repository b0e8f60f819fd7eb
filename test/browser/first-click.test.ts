import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, launch, type Site, startSite, toneFile, visit } from './support/chromium.ts';
import { type FakeLive, startFakeLive } from './support/fake-live.ts';

describe.skipIf(!hasChromium)('a click on a target', () => {
  let browser: Browser;
  let live: FakeLive;
  let site: Site;
  beforeAll(async () => {
    [browser, live, site] = await Promise.all([launch(toneFile()), startFakeLive(), startSite()]);
  });
  afterAll(async () => {
    await browser?.close();
    await live?.close();
    site?.close();
  });

  for (const codec of ['opus', 'pcm'] as const) {
    it(`brings the agent's voice and takes the visitor's, in ${codec}`, async () => {
      site.html = `<!doctype html><title>t</title><button id="talk">Talk</button>
        <script async src="${live.url}/embed.js" data-public-key="pk_1" data-agent-id="a1" data-ui="custom"
          data-trigger="#talk" ${codec === 'pcm' ? 'data-codec="pcm"' : ''}></script>`;
      const visitor = await visit(browser, site.url);
      await visitor.page.evaluate(
        'window.peak = 0; ServiceVoice.on("level", (one) => { if (one.who === "agent") peak = Math.max(peak, one.level) }); 0',
      );
      await visitor.page.click('#talk');
      await visitor.waitForStatus('connected');
      const session = live.sessions.at(-1)!;
      const wire = codec === 'pcm' ? 'pcm_s16le' : 'opus';
      expect(session.codec).toEqual({ input: wire, output: wire });
      expect(session.origin).toBe(site.url);
      await live.waitFor('1 s of microphone', () => session.packets.length >= 50);
      const played = await live.waitFor('the greeting to be played to its end', () =>
        session.received.findLast((one) => one.type === 'playback.position' && Number(one['playedMs']) >= 590),
      );
      expect(played['utteranceId']).toBe('u1');
      expect(Number(played['playedMs'])).toBeLessThan(640);
      expect(await visitor.page.evaluate('window.peak')).toBeGreaterThan(0.12);
      await visitor.page.evaluate('ServiceVoice.end()');
      expect((await visitor.statuses()).map((one) => one.status)).toEqual(['connecting', 'connected', 'disconnected']);
      expect(visitor.errors).toEqual([]);
      await visitor.close();
    });
  }
});
