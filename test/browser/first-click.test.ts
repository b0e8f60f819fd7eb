import { describe, expect, it } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { useRig } from './support/rig.ts';

describe.skipIf(!hasChromium)('a click on a target', () => {
  const rig = useRig();

  for (const codec of ['opus', 'pcm'] as const) {
    it(`brings the agent's voice and takes the visitor's, in ${codec}`, async () => {
      const attributes = `data-ui="custom" data-trigger="#talk" ${codec === 'pcm' ? 'data-codec="pcm"' : ''}`;
      const visitor = await rig.open(`<button id="talk">Talk</button>${rig.script(attributes)}`);
      await visitor.page.evaluate(
        'window.peak = 0; ServiceVoice.on("level", (one) => { if (one.who === "agent") peak = Math.max(peak, one.level) }); 0',
      );
      await visitor.page.click('#talk');
      await visitor.waitForStatus('connected');
      const session = rig.live.sessions.at(-1)!;
      const wire = codec === 'pcm' ? 'pcm_s16le' : 'opus';
      expect(session.codec).toEqual({ input: wire, output: wire });
      expect(session.origin).toBe(rig.site.url);
      await rig.live.waitFor('1 s of microphone', () => session.packets.length >= 50);
      const played = await rig.live.waitFor('the greeting to be played to its end', () =>
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
