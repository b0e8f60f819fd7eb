import { describe, expect, it } from 'vitest';
import { axeFaults } from './support/axe.ts';
import { hasChromium, newContext, type Visit } from './support/chromium.ts';
import { useRig } from './support/rig.ts';

/** The shadow root is closed to pages; tests open it, or neither axe nor a locator could look inside. */
const OPEN_ROOTS =
  'const attach = Element.prototype.attachShadow; Element.prototype.attachShadow = function (init) { return attach.call(this, { ...init, mode: "open" }) }';

/** Of the panel as it stands: in the middle of its fade, contrasts would be others. */
async function faultsOf(visitor: Visit): Promise<string[]> {
  await visitor.page.emulateMedia({ reducedMotion: 'reduce' });
  return axeFaults(visitor.page);
}

describe.skipIf(!hasChromium)('the panel', () => {
  const rig = useRig();

  it('is shown while a call runs with data-panel="overlay", leads the focus, and Esc ends the call', async () => {
    const visitor = await rig.open(
      `<button id="talk">Talk</button>${rig.script('data-ui="custom" data-trigger="#talk" data-panel="overlay" data-title="River Dental"')}`,
      { init: OPEN_ROOTS },
    );
    const { page } = visitor;
    await page.click('#talk');
    await visitor.waitForStatus('connected');
    const dialog = page.locator('dialog[open]');
    await dialog.waitFor();
    expect(await page.getByRole('dialog', { name: 'River Dental' }).count()).toBe(1);
    expect(await page.locator('dialog[open] :focus').textContent()).toBe('Hang up');
    await page.getByRole('button', { name: 'Captions' }).click();
    await page.getByRole('log').getByText('Utterance 1.').waitFor();
    expect(await faultsOf(visitor)).toEqual([]);
    await page.keyboard.press('Escape');
    await visitor.waitForStatus('disconnected');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.id')).toBe('talk');
    expect(visitor.errors).toEqual([]);
    await visitor.close();
  });

  it('opens by open() without a call, starts one from within, and close() ends it', async () => {
    const visitor = await rig.open(rig.script('data-ui="custom"'), { init: OPEN_ROOTS });
    const { page } = visitor;
    await page.evaluate('ServiceVoice.open()');
    await page.getByRole('button', { name: 'Start talking' }).waitFor();
    expect(await visitor.statuses()).toEqual([]);
    expect(await faultsOf(visitor)).toEqual([]);
    await page.getByRole('button', { name: 'Start talking' }).click();
    await visitor.waitForStatus('connected');
    await page.evaluate('ServiceVoice.close()');
    await visitor.waitForStatus('disconnected');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
    await visitor.close();
  });

  it('begins each call with an open microphone, and says so, whatever the one before ended with', async () => {
    const visitor = await rig.open(rig.script('data-ui="custom" data-panel="overlay"'), { init: OPEN_ROOTS });
    const { page } = visitor;
    await page.evaluate('ServiceVoice.start()');
    const mute = page.getByRole('button', { name: 'Mute the microphone' });
    await mute.click();
    expect(await mute.getAttribute('aria-pressed')).toBe('true');
    await page.evaluate('ServiceVoice.end()');
    await page.evaluate('ServiceVoice.start()');
    expect(await mute.getAttribute('aria-pressed')).toBe('false');
    expect(await mute.textContent()).toBe('Mute');
    await visitor.close();
  });

  it('says what went wrong and the way out, and offers another try', async () => {
    const visitor = await rig.open(rig.script('data-ui="custom" data-panel="overlay"'), { init: OPEN_ROOTS });
    rig.live.refusals.push({ status: 403, code: 'origin_not_allowed' });
    await visitor.page.evaluate('ServiceVoice.start()');
    await visitor.page.getByRole('alert').getByText('Talking is not possible right now').waitFor();
    expect(await faultsOf(visitor)).toEqual([]);
    await visitor.page.getByRole('button', { name: 'Try again' }).click();
    await visitor.waitForStatus('connected');
    await visitor.close();
  });

  it('is a floating button where no custom UI is asked for, and one click talks', async () => {
    const visitor = await rig.open(rig.script(''), { init: OPEN_ROOTS, waitForApi: false });
    const talk = visitor.page.getByRole('button', { name: 'Talk' });
    await talk.waitFor();
    expect(await visitor.page.evaluate('typeof window.ServiceVoice')).toBe('undefined');
    expect((await talk.boundingBox())!.height).toBeGreaterThanOrEqual(44);
    const before = rig.live.sessions.length;
    await talk.click();
    await rig.live.waitFor('the call', () => rig.live.sessions.length > before);
    const end = visitor.page.getByRole('button', { name: 'Hang up' });
    await end.waitFor();
    expect(await faultsOf(visitor)).toEqual([]);
    await end.click();
    await talk.waitFor();
    expect(rig.live.sessions.at(-1)!.received.some((one) => one.type === 'session.end')).toBe(true);
    await visitor.close();
  });

  it('and the hosted pages have no fault that axe finds, in the light and in the dark', async () => {
    const context = await newContext(rig.browser, { bypassCSP: true });
    const page = await context.newPage();
    for (const path of ['/talk/pk_1/0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11', '/embed/doctor']) {
      await page.goto(rig.live.url + path);
      await page.locator('button.main').waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await axeFaults(page), `${path} ${colorScheme}`).toEqual([]);
      }
    }
    await context.close();
  });

  it('and the doctor names what is wrong with a microphone that is denied, and nothing else', async () => {
    const context = await newContext(rig.browser);
    const page = await context.newPage();
    await page.goto(`${rig.live.url}/embed/doctor`);
    await page.getByRole('button', { name: 'Check this device' }).click();
    await page.getByRole('button', { name: 'Check again' }).waitFor();
    const names = (level: string): Promise<string[]> => page.locator(`.checks .${level} .name`).allTextContents();
    expect(await names('fail')).toEqual(['Microphone']);
    expect(await page.locator('.checks .fail .way').textContent()).toContain('allow the microphone');
    // How quick the network is depends on how busy this machine is: `doctor-page.test.ts` judges times that are given.
    expect((await names('warn')).filter((name) => name !== 'Network')).toEqual(['Your voice', 'Echo']);
    expect(await names('ok')).toContain('Voice line');
    await context.close();
  });
});
