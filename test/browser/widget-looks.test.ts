/** The widget as its owner has set it: name, colour, place, language, a panel that leaves the page alone, typing. */
import { afterEach, describe, expect, it } from 'vitest';
import { PLAIN_LOOK } from '../../src/embed/widget-looks.ts';
import { axeFaults } from './support/axe.ts';
import { hasChromium } from './support/chromium.ts';
import { useRig } from './support/rig.ts';

const OPEN_ROOTS =
  'const attach = Element.prototype.attachShadow; Element.prototype.attachShadow = function (init) { return attach.call(this, { ...init, mode: "open" }) }';
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe.skipIf(!hasChromium)('the widget', () => {
  const rig = useRig();
  afterEach(() => {
    rig.live.look = PLAIN_LOOK;
  });

  it('stands docked where its owner wants it, and the page stays usable: no focus is taken, nothing is inert', async () => {
    rig.live.look = { ...PLAIN_LOOK, name: 'River Dental', position: 'bottom-left', color: '#7c3aed', picture: PNG };
    const visitor = await rig.open(
      `<input id="order" aria-label="Order"><button id="talk">Talk</button>${rig.script('data-ui="custom" data-trigger="#talk" data-panel="auto"')}`,
      { init: OPEN_ROOTS },
    );
    const { page } = visitor;
    await page.click('#talk');
    await visitor.waitForStatus('connected');
    const panel = page.getByRole('dialog', { name: 'River Dental' });
    await panel.waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('talk');
    await page.getByLabel('Order').fill('42');
    expect((await panel.boundingBox())!.x).toBeLessThan(40);
    expect(await panel.locator('canvas').count()).toBe(1);
    const color = await page.evaluate(
      `getComputedStyle(document.querySelector('[data-service-voice]').shadowRoot.querySelector('.orb i:last-child')).backgroundColor`,
    );
    expect(color).toBe('rgb(124, 58, 237)');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await visitor.statuses()).not.toContain('disconnected');
    await panel.getByRole('button', { name: 'Hang up', exact: true }).click();
    await visitor.waitForStatus('disconnected');
    await panel.waitFor({ state: 'detached' });
    expect(visitor.errors).toEqual([]);
    await visitor.close();
  });

  it('takes typed words, and leaves what was said to be read and copied', async () => {
    rig.live.look = { ...PLAIN_LOOK, panel: 'overlay', typing: true, transcript: true };
    const visitor = await rig.open(rig.script('data-ui="custom" data-panel="auto"'), { init: OPEN_ROOTS });
    const { page } = visitor;
    await page.evaluate('ServiceVoice.start()');
    await visitor.waitForStatus('connected');
    await page.getByRole('log', { name: 'Transcript' }).getByText('Utterance 1.').waitFor();
    await page.getByLabel('Type a message').fill('  My order is 42 ');
    await page.keyboard.press('Enter');
    const session = rig.live.sessions.at(-1)!;
    await rig.live.waitFor('what was typed', () => session.received.some(({ type }) => type === 'user.text'));
    expect(session.received.find(({ type }) => type === 'user.text')).toMatchObject({ text: 'My order is 42' });
    expect(await page.getByLabel('Type a message').inputValue()).toBe('');
    session.end('agent_hangup');
    await visitor.waitForStatus('disconnected');
    await page.getByRole('button', { name: 'Copy' }).waitFor();
    await page.getByRole('log', { name: 'Transcript' }).getByText('Utterance 1.').waitFor();
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Close and hang up' }).click();
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
    await visitor.close();
  });

  it('tells a visitor in his language what he can do, and its owner in the console what he must', async () => {
    rig.live.look = { ...PLAIN_LOOK, language: 'de', panel: 'docked', errorText: 'Bitte rufen Sie uns an.' };
    const visitor = await rig.open(rig.script('data-panel="auto"'), { init: OPEN_ROOTS, waitForApi: false });
    const { page } = visitor;
    const warned: string[] = [];
    page.on('console', (message) => warned.push(message.text()));
    rig.live.refusals.push({ status: 403, code: 'origin_not_allowed' });
    await page.getByRole('button', { name: 'Sprechen' }).click();
    await page.getByRole('alert').getByText('Bitte rufen Sie uns an.').waitFor();
    expect(await page.getByRole('dialog').textContent()).not.toMatch(/domain|key/i);
    await rig.live.waitFor('the word for the owner', () =>
      warned.some((text) => text.includes('not on the allowed domains of this key') && text.includes('localhost')),
    );
    rig.live.refusals.push({ status: 429, code: 'concurrency_limit' });
    await page.getByRole('button', { name: 'Noch einmal versuchen' }).click();
    await page.getByRole('alert').getByText('Gerade sprechen zu viele').waitFor();
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await axeFaults(page)).toEqual([]);
    await visitor.close();
  });

  it('opens nothing where the page says nothing, whatever the owner has set', async () => {
    rig.live.look = { ...PLAIN_LOOK, panel: 'overlay' };
    const visitor = await rig.open(rig.script('data-ui="custom"'), { init: OPEN_ROOTS });
    await visitor.page.evaluate('ServiceVoice.start()');
    await visitor.waitForStatus('connected');
    expect(await visitor.page.locator('dialog').count()).toBe(0);
    await visitor.close();
  });
});
