/**
 * What the browser's part costs, printed and not judged: milliseconds belong to the machine. The small service answers at once, so this is
 * the widget, Chromium and the loopback; what the real service adds is measured with it.
 */
import { describe, expect, it } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { useRig } from './support/rig.ts';

const CLICKS = 12;

const quantile = (values: number[], part: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]!);

describe.skipIf(!hasChromium)('figures', () => {
  const rig = useRig();

  it(`of ${CLICKS} clicks: to the first sample at the device, and from a barge-in to silence`, async () => {
    rig.live.greetingMs = 2_000;
    const visitor = await rig.open(
      `<button id="talk">T</button>${rig.script('data-ui="custom" data-trigger="#talk"')}`,
    );
    const { page } = visitor;
    await page.waitForTimeout(800);
    await page.evaluate(`window.states = []; document.addEventListener('click', (event) => { window.clickedAtMs = event.timeStamp }, true);
      ServiceVoice.on('state', (one) => states.push({ ...one, atEpochMs: performance.timeOrigin + one.atMs })); 0`);
    const firstMs: number[] = [];
    const silentMs: number[] = [];
    for (let i = 0; i < CLICKS; i++) {
      await page.click('#talk');
      await page.waitForFunction('states.some((one) => one.state === "audible")');
      firstMs.push(await page.evaluate('states.find((one) => one.state === "audible").atMs - clickedAtMs'));
      await page.waitForTimeout(300);
      const decidedAtEpochMs = rig.live.sessions.at(-1)!.clear();
      await page.waitForFunction('states.some((one) => one.state === "silenced")');
      const silentAtEpochMs: number = await page.evaluate('states.find((one) => one.state === "silenced").atEpochMs');
      silentMs.push(silentAtEpochMs - decidedAtEpochMs);
      await page.evaluate('ServiceVoice.end(); states.length = 0; 0');
    }
    const line = (what: string, values: number[]): string =>
      `${what}: p50 ${quantile(values, 0.5)} ms, p95 ${quantile(values, 0.95)} ms\n`;
    process.stdout.write(line('click to first sample', firstMs) + line('barge-in to silence', silentMs));
    expect(firstMs.length + silentMs.length).toBe(2 * CLICKS);
    await visitor.close();
  });
});
