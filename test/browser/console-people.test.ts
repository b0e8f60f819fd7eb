/** Coming in and going out of the console: the first link, signing in, a session that ends while somebody types. */
import { describe, expect, it } from 'vitest';
import { makeFirstUserLink } from '../../src/users/one-time-links.ts';
import { createSession } from '../../src/users/sessions.ts';
import { signedIn } from '../unit/api/console-people.ts';
import { axeFaults } from './support/axe.ts';
import { hasChromium } from './support/chromium.ts';
import { useConsole } from './support/console-rig.ts';

const PASSWORD = 'a few words that nobody knows';

describe.skipIf(!hasChromium)('people of the console', () => {
  const rig = useConsole();

  it('begin with a one-time link, sign out, are told when they mistype, and sign in, by keyboard alone', async () => {
    const { database } = rig.api;
    await database.query('DELETE FROM users');
    const link = await makeFirstUserLink(database);
    const visit = await rig.visit(null);
    const { page } = visit;
    await database.query('DELETE FROM users');
    await page.reload();
    await page.getByText('npx parley user link').waitFor();
    expect(await axeFaults(page)).toEqual([]);

    await page.goto(`${rig.origin}/console/#/link/${link!.token}`);
    await page.getByRole('heading', { name: 'Welcome to Parley' }).waitFor();
    expect(page.url()).not.toContain(link!.token);
    expect(await axeFaults(page)).toEqual([]);
    for (const word of ['Mia Marsh', 'mia@example.com', 'short']) {
      await page.keyboard.type(word);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.locator('.field.faulty .fault').waitFor();
    // The focus stayed where it was: at the button, behind the password.
    expect(await page.evaluate('document.activeElement.type')).toBe('submit');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.locator('.shell').waitFor();

    await page.getByRole('button', { name: 'Signed in as Mia Marsh' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.type('mia@example.com');
    await page.keyboard.press('Tab');
    await page.keyboard.type('something else entirely');
    await page.keyboard.press('Enter');
    await page.getByText('do not belong together').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.locator('.shell').waitFor();
    expect(visit.errors).toEqual([]);

    await page.goto(`${rig.origin}/console/#/link/${link!.token}`);
    await page.getByText('This link cannot be used').waitFor();
    await visit.close();
  });

  it('lose nothing that they typed when their session ends', async () => {
    const { api } = rig;
    const visit = await rig.visit('owner', `#/w/acme/agents/${api.acme.agentId}`);
    const { page } = visit;
    const json = page.getByLabel('As JSON');
    await json.waitFor();
    const typed = (await json.inputValue()).replace('"Tone"', '"Tone of mine"');
    await json.fill(typed);
    await api.database.query('DELETE FROM user_sessions WHERE user_id = $1', [visit.person.id]);
    await page.getByRole('button', { name: 'Save as the next version' }).click();
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(await json.inputValue()).toBe(typed);
    // Also over a reload of the window.
    const come = async (userId: string): Promise<void> => {
      const { token } = await createSession(api.database, { userId, address: '127.0.0.1', agent: 'test' });
      await page.context().addCookies([{ name: visit.cookie.split('=', 1)[0]!, value: token, url: rig.origin }]);
      await page.reload();
    };
    await come(visit.person.id);
    expect(await page.getByLabel('As JSON').inputValue()).toBe(typed);
    // But not for somebody else at the same window.
    await come((await signedIn(api, 'owner')).person.id);
    expect(await page.getByLabel('As JSON').inputValue()).not.toBe(typed);
    await visit.close();
  });
});
