/** Passkeys at the console, with Chromium's own authenticator: added, used alone and beside a password, removed. */
import { describe, expect, it } from 'vitest';
import { setPassword } from '../../src/users/people.ts';
import { CHEAP_HASHING } from '../support/cheap-hashing.ts';
import { axeFaults } from './support/axe.ts';
import { hasChromium } from './support/chromium.ts';
import { type ConsoleVisit, useConsole } from './support/console-rig.ts';

const PASSWORD = 'a few words that nobody knows';

/** A fingerprint reader in the machine, whose owner always touches it. */
async function withAuthenticator({ page }: ConsoleVisit) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  } as const;
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', { options });
  return { forget: () => devtools.send('WebAuthn.clearCredentials', { authenticatorId }) };
}

describe.skipIf(!hasChromium)('passkeys at the console', () => {
  const rig = useConsole();

  it('are added, sign in alone, are wanted beside the password, and are removed', async () => {
    const { api } = rig;
    const visit = await rig.visit('owner', '#/w/acme/settings/account');
    const { page, person } = visit;
    await setPassword(api.database, person.id, await CHEAP_HASHING.hash(PASSWORD));
    await page.reload();
    const key = await withAuthenticator(visit);

    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a passkey' });
    await dialog.getByLabel('What to call it').fill('Laptop');
    await dialog.getByLabel('Present password').fill('not this one');
    await page.keyboard.press('Enter');
    await dialog.getByText('The password is wrong').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByLabel('Present password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByText('for localhost').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    // The same device has no second one.
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await dialog.getByLabel('What to call it').fill('Again');
    await dialog.getByLabel('Present password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await dialog.getByText('has a passkey of yours already').waitFor();
    await page.keyboard.press('Escape');

    const signOut = async (): Promise<void> => {
      api.clock.advanceMs(60_000);
      await page.getByRole('button', { name: 'Signed in as Mia Marsh' }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    };
    await signOut();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.shell').waitFor();

    await signOut();
    await page.getByLabel('Email').fill(person.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.locator('.shell').waitFor();

    await visit.go('#/w/acme/settings/account');
    await page.getByText('Laptop', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    const ask = page.getByRole('dialog', { name: 'Remove' });
    await ask.getByLabel('Present password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByText('Laptop', { exact: true }).waitFor({ state: 'detached' });

    // The device still has it; the service does not.
    await signOut();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('signs nobody in here').waitFor();
    await key.forget();
    await page.getByLabel('Email').fill(person.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.locator('.shell').waitFor();
    expect(visit.errors).toEqual([]);
    await visit.close();
  });
});
