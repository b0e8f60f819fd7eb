/** The operator's side of the console, and clips: looked at, changed, asked. */
import { describe, expect, it } from 'vitest';
import { wavOf } from '../support/clip-files.ts';
import { axeFaults } from './support/axe.ts';
import { hasChromium } from './support/chromium.ts';
import { useConsole } from './support/console-rig.ts';

describe.skipIf(!hasChromium)('the console', () => {
  const rig = useConsole();

  it('shows an operator what carries calls, and what stands in their way, the worst first', async () => {
    rig.api.examined = [
      { name: 'database', level: 'ok', detail: 'it answers', wayOut: null },
      { name: 'public URL', level: 'fail', detail: '<b>nobody</b> answers there', wayOut: 'Set PUBLIC_URL.' },
    ];
    const visit = await rig.visit(null, '#/operator/service', { isOperator: true });
    const { page } = visit;
    await page.getByRole('table', { name: 'Processes that carry calls' }).getByText('media-0').waitFor();
    await page
      .getByRole('table', { name: 'On other nodes' })
      .getByRole('row', { name: /^b media-0 Takes calls 7/ })
      .waitFor();
    await page.getByRole('link', { name: 'Doctor' }).click();
    await page.getByRole('button', { name: 'Examine the service' }).click();
    await page.getByText('1 fine, 0 to look at, 1 failed').waitFor();
    expect(await page.locator('.items strong').allTextContents()).toEqual(['public URL', 'database']);
    expect(await page.locator('.items b').count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('leads from no workspace to a new one, with a short name that follows from its name', async () => {
    const visit = await rig.visit(null, '#/operator', { isOperator: true });
    const { page } = visit;
    await page.getByRole('button', { name: 'New workspace' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Zürich & Dental ');
    expect(await dialog.getByLabel('Short name').inputValue()).toBe('zurich-dental');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Before it is set up, nothing can be').waitFor();
    expect(page.url()).toContain('#/w/zurich-dental/home');
    const access = page.getByRole('listitem').filter({ hasText: 'API access is off' });
    expect(await access.getByRole('link').getAttribute('href')).toBe('#/operator/workspaces');
    expect(await axeFaults(page)).toEqual([]);
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('lets an operator set a price and where a workspace may dial', async () => {
    const visit = await rig.visit(null, '#/operator/prices', { isOperator: true });
    const { page } = visit;
    await page.getByRole('button', { name: 'Add a price' }).click();
    await page.getByLabel('Provider').selectOption('deepgram');
    await page.getByLabel('For', { exact: true }).selectOption('listen_seconds');
    await page.getByLabel('Price', { exact: true }).fill('0.00013');
    await page.getByLabel('Currency').fill('euro');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.faulty').getByText('three capital letters').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByLabel('Currency').fill('EUR');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: '0.00013 EUR' }).waitFor();

    await visit.go('#/operator/workspaces');
    await page.getByRole('row', { name: /acme/ }).getByRole('button', { name: 'Where it may dial' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('These countries beside them').fill('de, XX');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText("'XX' is no country").waitFor();
    await dialog.getByLabel('These countries beside them').fill('de, ca');
    await dialog.getByLabel('Calls a day', { exact: true }).fill('40');
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('It holds for the next call').waitFor();
    const [policy] = await rig.api.database.query(
      'SELECT countries, calls_per_day FROM dial_policies WHERE workspace_id = $1',
      [rig.api.acme.workspaceId],
    );
    expect(policy).toEqual({ countries: ['CA', 'DE'], calls_per_day: 40 });
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('takes a clip, plays it, and says who plays it', async () => {
    const visit = await rig.visit('admin', '#/w/acme/settings/clips');
    const { page } = visit;
    await page.getByRole('button', { name: 'Add a clip' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a clip' });
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    const sound = wavOf(Int16Array.from({ length: 16_000 }, (_, i) => 9_000 * Math.sin(i / 5)));
    await dialog.getByLabel('File').setInputFiles({ name: 'Welcome 2.wav', mimeType: 'audio/wav', buffer: sound });
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Welcome-2');
    await dialog.getByLabel('What it says').fill('Welcome to River Dental.');
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('button', { name: 'Welcome-2', exact: true }).click();
    await page.getByText('No agent plays it').waitFor();
    const seconds = await page.evaluate<number>(
      `new Promise((done) => { const one = document.querySelector('audio'); if (one.duration) done(one.duration); else one.onloadedmetadata = () => done(one.duration); })`,
    );
    expect(seconds).toBeCloseTo(1, 0);
    expect(await axeFaults(page)).toEqual([]);
    expect(visit.errors).toEqual([]);
    await visit.close();
  });
});
