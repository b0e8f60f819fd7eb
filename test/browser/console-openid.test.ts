/** Signing in at the console by an OpenID provider: there, back with the session, refused in words, and out of both. */
import { afterAll, describe, expect, it } from 'vitest';
import { type OpenIdEmulator, providerAt, startOpenIdEmulator } from '../support/openid-emulator.ts';
import { axeFaults } from './support/axe.ts';
import { hasChromium } from './support/chromium.ts';
import { useConsole } from './support/console-rig.ts';

describe.skipIf(!hasChromium)('an OpenID provider at the console', () => {
  let provider: OpenIdEmulator;
  const rig = useConsole({
    openId: async () => {
      provider = await startOpenIdEmulator();
      return providerAt(provider, { roles: [{ value: 'voice', enterprise: 'acme', role: 'supervisor' }] });
    },
  });
  afterAll(() => provider?.close());

  it('signs in who is known there and may come in, and says why it does not', async () => {
    const visit = await rig.visit(null);
    const { page } = visit;
    const button = page.getByRole('button', { name: 'Sign in with Example' });
    provider.person = { sub: 's1', email: 'eve@example.com', email_verified: true, name: 'Eve' };
    await button.click();
    await page.getByText('Nobody here has your email').waitFor();
    expect(page.url()).not.toContain('refused');
    expect(await axeFaults(page)).toEqual([]);

    provider.person = {
      sub: 's2',
      email: 'mia@example.com',
      email_verified: true,
      name: 'Mia Marsh',
      groups: ['voice'],
    };
    await button.click();
    await page.locator('.shell').waitFor();
    await page.getByRole('button', { name: 'Signed in as Mia Marsh' }).waitFor();
    await visit.go('#/w/acme/settings/account');
    await page.getByText('Your accounts at Example').waitFor();
    await page.getByText('mia@example.com').first().waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(visit.errors).toEqual([]);

    await page.getByRole('button', { name: 'Signed in as Mia Marsh' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${provider.issuer}/logout?**`);
    await page.goto(`${rig.origin}/console/`);
    await button.waitFor();
    await visit.close();
  });
});
