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

  it('lose in an open page what their role loses, and are told; what they typed stays', async () => {
    const { api } = rig;
    const { agentId, workspaceId } = api.acme;
    const visit = await rig.visit('admin', `#/w/acme/agents/${agentId}`);
    const { page } = visit;
    const json = page.getByLabel('As JSON');
    await json.waitFor();
    const typed = (await json.inputValue()).replace('"Tone"', '"Tone of an admin"');
    await json.fill(typed);
    const become = (role: string): Promise<object[]> =>
      api.database.query('UPDATE memberships SET role = $1, version = version + 1 WHERE user_id = $2', [
        role,
        visit.person.id,
      ]);
    await become('analyst');
    await page.getByRole('button', { name: 'Save as the next version' }).click();
    await page.getByText('Your role here is “analyst” now').waitFor();
    await page.getByText('needs the right').waitFor();
    expect(await json.inputValue()).toBe(typed);
    expect(await page.getByRole('button', { name: 'Save as the next version' }).isDisabled()).toBe(true);
    expect(await axeFaults(page)).toEqual([]);
    await visit.go('#/w/acme/settings');
    expect(await page.locator('.settings nav a').allTextContents()).toEqual(['Your account']);

    await become('admin');
    await page.reload();
    await visit.go('#/w/acme/home');
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    await api.database.query('DELETE FROM memberships WHERE user_id = $1 AND workspace_id = $2', [
      visit.person.id,
      workspaceId,
    ]);
    await page.getByLabel('Day', { exact: true }).fill('2026-01-02');
    await page.getByText('You are no longer in').waitFor();
    await page.getByRole('heading', { name: 'You belong to no workspace yet' }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(visit.errors).toEqual([]);
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
    // Nor does it go over what somebody else has stored meanwhile: the draft is of the version that it was begun with.
    const { agentId, key } = api.acme;
    const theirs = await api.app.inject({
      method: 'POST',
      url: `/api/developer/agents/${agentId}/versions`,
      headers: { authorization: `Bearer ${key}` },
      payload: { definition: { kind: 'tone', name: 'Theirs', direction: 'outbound', toneHz: 500 } },
    });
    expect(theirs.statusCode).toBe(201);
    await page.reload();
    await page.getByText('since you began').waitFor();
    expect(await page.getByLabel('As JSON').inputValue()).toBe(typed);
    await page.getByRole('button', { name: 'Save as the next version' }).click();
    const dialog = page.getByRole('dialog', { name: 'Somebody else stored a version meanwhile' });
    await dialog.locator('.gone', { hasText: '"Theirs"' }).waitFor();
    await dialog.getByRole('button', { name: 'Go on with theirs' }).click();
    await page.getByRole('button', { name: 'Save as the next version' }).waitFor({ state: 'detached' });
    expect(await page.getByLabel('As JSON').inputValue()).toContain('"Theirs"');
    await page.getByLabel('As JSON').fill(typed);
    // But not for somebody else at the same window.
    await come((await signedIn(api, 'owner')).person.id);
    expect(await page.getByLabel('As JSON').inputValue()).not.toBe(typed);
    await visit.close();
  });
});
