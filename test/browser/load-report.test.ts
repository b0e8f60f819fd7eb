/**
 * The report of a load test, opened as the file that it is: nothing is asked of anybody, nothing goes wrong, foreign
 * text stays text, and who cannot see the plots or use a pointer reads them all the same.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeReport } from '../../bench/load/report/write-report.ts';
import { judgeCondition, parseCondition } from '../../bench/load/result/fail-if.ts';
import { emptyRun, HOSTILE, richRun } from '../support/load-runs/rich-run.ts';
import { axeFaults } from './support/axe.ts';
import { hasChromium, newContext, sharedBrowser } from './support/chromium.ts';

describe.skipIf(!hasChromium)('the report of a load test', () => {
  let folder: string;
  let context: BrowserContext;
  const asked: string[] = [];
  const errors: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parley-report-'));
    const rich = richRun(folder);
    const conditions = ['reply.p95>900ms', 'errors.share>1%'].map((text) => judgeCondition(parseCondition(text), rich));
    writeReport(rich, join(folder, 'rich.html'), conditions);
    writeReport(emptyRun(), join(folder, 'empty.html'));
    context = await newContext(await sharedBrowser());
  });
  afterAll(async () => {
    await context?.close();
    rmSync(folder, { recursive: true });
  });

  async function open(name: 'rich' | 'empty', from: BrowserContext = context): Promise<Page> {
    const page = await from.newPage();
    page.on('request', (request) => asked.push(request.url()));
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => errors.push(message.text()));
    await page.goto(pathToFileURL(join(folder, `${name}.html`)).href);
    await page.locator('html[data-drawn]').waitFor();
    return page;
  }

  it('asks nobody for anything, and its policy would not let it', async () => {
    for (const name of ['rich', 'empty'] as const) {
      const page = await open(name);
      await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })");
      const refused = await page.evaluate(`fetch('https://example.com/').then(() => false, () => true)`);
      expect(refused).toBe(true);
      // What Chromium says of that one.
      expect(errors.splice(0).every((text) => /Content Security Policy|example\.com/.test(text))).toBe(true);
      await page.close();
    }
    const files = asked.filter((url) => !url.startsWith('data:'));
    expect(files.map((url) => url.split('/').at(-1)).filter((name) => name !== '')).toEqual([
      'rich.html',
      'empty.html',
    ]);
  });

  it('draws a plot for each of its charts, in the light and in the dark, without an error', async () => {
    const page = await open('rich');
    const state = () => page.evaluate('[charts.textContent, document.querySelectorAll(".plot canvas").length]');
    const [data, canvases] = (await state()) as [string, number];
    const charts: { id: string }[] = JSON.parse(data);
    expect(charts.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['plot-timeline-cpu', 'plot-knee', 'plot-reply-histogram']),
    );
    expect(canvases).toBe(charts.length);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 800 });
    await page.evaluate('new Promise(requestAnimationFrame)');
    expect(((await state()) as [string, number])[1]).toBe(charts.length);
    const across: [number, number] = await page.evaluate(
      '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
    );
    expect(across[0]).toBe(across[1]);
    expect(errors.splice(0)).toEqual([]);
    await page.close();
  });

  it('has no fault that axe finds, in the light, in the dark, and with all that it hides', async () => {
    const bare = await newContext(await sharedBrowser(), { bypassCSP: true });
    for (const name of ['rich', 'empty'] as const) {
      const page = await open(name, bare);
      await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })");
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        expect(await axeFaults(page), `${name} ${colorScheme}`).toEqual([]);
      }
      await page.close();
    }
    await bare.close();
    expect(errors.splice(0)).toEqual([]);
  });

  it('shows foreign text as text', async () => {
    const page = await open('rich');
    expect(await page.title()).toContain('load report');
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.locator('script').count()).toBe(3);
    expect(await page.locator('#calls code', { hasText: HOSTILE }).count()).toBe(1);
    expect(await page.locator('#calls code', { hasText: '"__proto__"' }).count()).toBe(1);
    await page.close();
  });

  it('says first what is most wrong', async () => {
    const [rich, empty] = [await open('rich'), await open('empty')];
    expect(await rich.locator('h1').textContent()).toBe('Failed by 1 of 2 conditions.');
    expect(await rich.locator('.verdict').textContent()).toContain('errors.share>1%: it is 5.12 % fails');
    expect(await empty.locator('h1').textContent()).toMatch(/^Incomplete: Ctrl-C after 1 s\./);
    expect(await empty.locator('.verdict').textContent()).toContain('Not judged: no call was begun.');
    await Promise.all([rich.close(), empty.close()]);
  });

  it('tells what lies under the arrow keys', async () => {
    const page = await open('rich');
    const plot = page.getByRole('img', { name: 'Calls at once over time' });
    await plot.focus();
    await page.keyboard.press('End');
    const readout = page.locator('#plot-timeline-calls-readout');
    expect(await readout.textContent()).toMatch(/^1:\d\d: calls at once \d+/);
    await page.keyboard.press('Home');
    expect(await readout.textContent()).toMatch(/^0:00: calls at once \d+, begun a second \d+/);
    await page.keyboard.press('Escape');
    expect(await readout.textContent()).toBe('');
    await page.close();
  });

  it('plays the sound of a call, and a mark leads to its place in it', async () => {
    const page = await open('rich');
    const played: number = await page.evaluate(`new Promise((resolve, reject) => {
      const sound = document.querySelector('audio');
      sound.muted = true;
      sound.onerror = () => reject(new Error(sound.error.message));
      sound.ontimeupdate = () => sound.currentTime > 0 && resolve(sound.duration);
      sound.play().catch(reject);
    })`);
    expect(played).toBeGreaterThan(5);
    const mark = page.locator('button[data-seek]').last();
    const id = (await mark.getAttribute('data-sound'))!;
    const seconds = Number(await mark.getAttribute('data-seek'));
    await page.evaluate(`document.getElementById(${JSON.stringify(id)}).muted = true`);
    await mark.click();
    await page.waitForFunction(`document.getElementById(${JSON.stringify(id)}).currentTime >= ${seconds}`);
    expect(errors.splice(0)).toEqual([]);
    await page.close();
  });

  it('turns light for paper', async () => {
    const page = await open('rich');
    await page.emulateMedia({ colorScheme: 'dark' });
    const ink = () => page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ink')");
    expect(await ink()).toBe('#edf0f2');
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    expect(await ink()).toBe('#14181b');
    await page.evaluate("dispatchEvent(new Event('afterprint'))");
    expect(await ink()).toBe('#edf0f2');
    await page.close();
  });
});
