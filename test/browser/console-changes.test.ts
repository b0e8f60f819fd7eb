/** Changing things in the console: faults at their fields, two people at one agent, leads from a file, colleagues. */
import { readFile } from 'node:fs/promises';
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { axeFaults } from './support/axe.ts';
import { hasChromium } from './support/chromium.ts';
import { useConsole } from './support/console-rig.ts';

const FACE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe.skipIf(!hasChromium)('a change in the console', () => {
  const rig = useConsole();

  it('that is faulty says where, in the form and in the JSON', async () => {
    const visit = await rig.visit('owner', '#/w/acme/agents/new');
    const { page } = visit;
    await page.getByLabel('Language').fill('Klingon');
    const json = page.getByLabel('As JSON');
    await json.fill((await json.inputValue()).replace('"goto": "done"', '"goto": "nowhere"'));
    await page.getByRole('button', { name: 'Create the agent' }).click();
    const faults = page.locator('.faults');
    await faults.waitFor();
    await faults.getByRole('button').filter({ hasText: 'goto' }).first().click();
    expect(
      await page.evaluate<string>(
        'document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)',
      ),
    ).toBe('"nowhere"');
    expect(await axeFaults(page)).toEqual([]);
    const mended = (await json.inputValue()).replace('nowhere', 'done').replace('Klingon', 'en-US');
    await json.fill('{\n  "name": "Bo",\n}');
    await page.getByText('line 3, column 1').waitFor();
    await json.fill(mended);
    await page.getByRole('button', { name: 'Create the agent' }).click();
    await page.getByText('The agent is there').waitFor();
    await page.getByRole('heading', { name: 'Appointments' }).waitFor();
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('begins at what is asked for, and gives the focus back where it was', async () => {
    const visit = await rig.visit('owner', '#/w/acme/settings/keys');
    const { page } = visit;
    const focused = () => page.evaluate<string>('document.activeElement.outerHTML');
    for (const how of ['Escape', 'Enter on Cancel']) {
      await page.getByRole('button', { name: 'Create a key' }).press('Enter');
      const dialog = page.getByRole('dialog');
      await eventually('its first field to have the focus', async () => (await focused()).startsWith('<input'));
      if (how === 'Escape') await page.keyboard.press('Escape');
      else await dialog.getByRole('button', { name: 'Cancel' }).press('Enter');
      await eventually(`the focus to be back after ${how}`, async () => (await focused()).includes('Create a key'));
    }
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('that was not told to a receiver is sent again from a time that is chosen', async () => {
    const { api } = rig;
    const { database, acme } = api;
    const callUuid = await api.insertCall(acme, { status: 'no_answer', ended_reason: 'busy', ended_at: new Date() });
    const set = await api.app.inject({
      method: 'PUT',
      url: '/api/developer/webhooks',
      headers: { authorization: `Bearer ${acme.key}` },
      payload: { url: 'https://hooks.example.com/parley' },
    });
    expect(set.statusCode).toBe(200);
    const [endpoint] = await database.query<{ id: string }>('SELECT id FROM webhook_endpoints LIMIT 1');
    const eventId = `evt_${uuidv7()}`;
    await database.query(
      `INSERT INTO webhook_events (id, workspace_id, call_uuid, event, sequence, body) VALUES ($1, $2, $3, 'call.completed', 1, '{}')`,
      [eventId, acme.workspaceId, callUuid],
    );
    await database.query(
      `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, state, attempts) VALUES ($1, $2, $3, 'dead', 8)`,
      [uuidv7(), eventId, endpoint!.id],
    );
    const visit = await rig.visit('owner', '#/w/acme/settings/webhooks');
    const { page } = visit;
    await page.getByText('Given up').last().waitFor();
    await page.getByRole('button', { name: 'Send what failed again' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send what failed again' });
    await dialog.getByLabel('Those of').selectOption('the last hour');
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Send what failed again' }).click();
    await page.getByText('1 event is being sent again').waitFor();
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it("that comes after somebody else's shows the difference, and is stored on top of it", async () => {
    const { agentId, key } = rig.api.acme;
    const visit = await rig.visit('admin', `#/w/acme/agents/${agentId}`);
    const { page } = visit;
    await page.getByLabel('Name').fill('Mine');
    const theirs = await rig.api.app.inject({
      method: 'POST',
      url: `/api/developer/agents/${agentId}/versions`,
      headers: { authorization: `Bearer ${key}` },
      payload: { definition: { kind: 'tone', name: 'Theirs', direction: 'outbound', toneHz: 500 } },
    });
    expect(theirs.statusCode).toBe(201);
    await page.getByRole('button', { name: 'Save as the next version' }).click();
    const dialog = page.getByRole('dialog', { name: 'Somebody else stored a version meanwhile' });
    await dialog.waitFor();
    expect(await dialog.locator('.gone').allTextContents()).toContain('−  "name": "Theirs",');
    expect(await dialog.locator('.added').allTextContents()).toContain('+  "name": "Mine",');
    await dialog.getByRole('button', { name: 'Store mine as the next version' }).click();
    await page.getByText('Version 3 is stored').waitFor();
    await visit.close();
  });

  it('of leads by a file is shown before it is made: columns get their meaning, rows their number', async () => {
    const visit = await rig.visit('owner', '#/w/acme/leads/imports?new=1');
    const { page } = visit;
    const text = 'Full name;Mobile;Favourite colour\r\n"Asha; of Acme";+1 415 555 0123;teal\r\nBo;+14155550124;red\r\n';
    await page.getByLabel('File').setInputFiles({ name: 'leads.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    await page.getByText('Asha; of Acme').waitFor();
    expect(await page.getByLabel('Column Mobile').inputValue()).toBe('phone');
    expect(await axeFaults(page)).toEqual([]);
    await page.getByLabel('Column Mobile').selectOption('ignore');
    expect(await page.getByRole('button', { name: 'Import 2 rows' }).isDisabled()).toBe(true);
    await page.getByLabel('Column Mobile').selectOption('phone');
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByText('0 / 2').waitFor();
    const [made] = await rig.api.database.query<{ id: string }>(
      `UPDATE lead_imports SET state = 'completed', processed_rows = 2, failed_count = 1 RETURNING id`,
    );
    await rig.api.database.query(
      `INSERT INTO lead_import_errors (import_id, row, line, field, code, message) VALUES ($1, 2, 3, 'phone', 'invalid_phone', 'No')`,
      [made!.id],
    );
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'What was wrong, as CSV' }).click();
    expect(await readFile((await (await saved).path())!, 'utf8')).toBe(
      'line,field,code,message,text\r\n3,"phone",invalid_phone,"No","Bo;+14155550124;red"\r\n',
    );
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const again = `${text}Asha;+1 (415) 555-0123;blue\r\n`;
    await page.getByLabel('File').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(again) });
    await page.getByText('2 rows have a number that another row of the file has too').waitFor();
    await visit.close();
  });

  it('of leads is looked for by the agent that calls them', async () => {
    const { acme, app } = rig.api;
    for (const [phone, agentId] of [
      ['+14155550181', acme.agentId],
      ['+14155550182', null],
    ]) {
      const answer = await app.inject({
        method: 'POST',
        url: '/api/developer/leads',
        headers: { authorization: `Bearer ${acme.key}` },
        payload: { enterprise: 'acme', phone, ...(agentId === null ? {} : { agentId }) },
      });
      expect(answer.statusCode).toBe(201);
    }
    const suppressed = await app.inject({
      method: 'POST',
      url: '/api/developer/suppressions',
      headers: { authorization: `Bearer ${acme.key}` },
      payload: { phone: '+14155550182' },
    });
    expect(suppressed.statusCode).toBe(201);
    const visit = await rig.visit('supervisor', '#/w/acme/leads');
    const { page } = visit;
    await page.getByText('+14155550182').first().waitFor();
    await page.getByRole('cell', { name: 'Must not be called' }).waitFor();
    expect(await page.getByRole('button', { name: 'Call now' }).count()).toBe(1);
    await page.getByLabel('Agent').selectOption(acme.agentId);
    await page.getByText('+14155550182').first().waitFor({ state: 'detached' });
    await page.getByText('+14155550181').first().waitFor();
    expect(page.url()).toContain(`agentId=${acme.agentId}`);
    expect(await axeFaults(page)).toEqual([]);
    await visit.close();
  });

  it('of the people gives a link once, and of a role holds at once', async () => {
    const visit = await rig.visit('owner', '#/w/acme/settings/users');
    const { page } = visit;
    await page.getByRole('button', { name: 'Invite somebody' }).click();
    await page.getByLabel('Email').fill('new@example.com');
    await page.getByLabel('Name').fill('New Person');
    await page.getByLabel('Role').selectOption('analyst');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByText('/console/#/link/').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('new@example.com').waitFor();
    await rig.api.database.query(`UPDATE memberships SET role = 'analyst' WHERE user_id = $1`, [visit.person.id]);
    await page.getByRole('button', { name: 'Invite somebody' }).click();
    await page.getByLabel('Email').fill('other@example.com');
    await page.getByLabel('Name').fill('Other');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByText('Your role here is “analyst” now').waitFor();
    await page.getByRole('button', { name: 'Invite somebody' }).waitFor({ state: 'detached' });
    await visit.close();
  });

  it("of a setting that comes after somebody else's shows the difference, and loses nothing that was typed", async () => {
    const { key } = rig.api.acme;
    const visit = await rig.visit('admin', '#/w/acme/settings/retention');
    const { page } = visit;
    await page.getByLabel('Recordings (days)').fill('45');
    const change = (days: object) =>
      rig.api.app.inject({
        method: 'PATCH',
        url: '/api/developer/retention',
        headers: { authorization: `Bearer ${key}` },
        payload: days,
      });
    expect((await change({ transcript: 60 })).statusCode).toBe(200);
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Somebody else changed this meanwhile' });
    await dialog.locator('.gone', { hasText: '"transcript": 60' }).waitFor();
    await dialog.locator('.added', { hasText: '"recording": 45' }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByText('yours is not stored').waitFor();
    expect(await page.getByLabel('Recordings (days)').inputValue()).toBe('45');
    await page.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('button', { name: 'Store mine' }).click();
    await page.getByText('Stored').waitFor();
    expect(await page.getByLabel('Recordings (days)').inputValue()).toBe('45');
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('of how the widget looks is seen in the widget itself before it is stored', async () => {
    const visit = await rig.visit('owner', '#/w/acme/settings/widget');
    const { page } = visit;
    await page.getByRole('button', { name: 'Create a key' }).first().click();
    const made = page.getByRole('dialog', { name: 'Create a key' });
    await made.getByLabel('Name', { exact: true }).fill('Shop');
    await made.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Actions: Shop' }).click();
    await page.getByRole('button', { name: 'How it looks' }).click();
    const dialog = page.getByRole('dialog', { name: 'How it looks: Shop' });
    const widget = page.frameLocator('iframe[title="Preview"]');
    await dialog.getByLabel('Name', { exact: true }).fill('River Dental');
    await dialog.getByLabel('Language of its words').selectOption('de');
    await dialog.getByLabel('Visitors may type, too').check();
    await widget.getByRole('dialog', { name: 'River Dental' }).waitFor();
    await widget.getByRole('button', { name: 'Auflegen', exact: true }).first().waitFor();
    await widget.getByPlaceholder('Nachricht schreiben').waitFor();
    await dialog.getByLabel('A colour of your own').check();
    await dialog.getByLabel('Colour', { exact: true }).fill('#7c3aed');
    await dialog.getByLabel('Picture').setInputFiles({ name: 'face.png', mimeType: 'image/png', buffer: FACE });
    await widget.locator('canvas').first().waitFor();
    await dialog.getByRole('button', { name: 'When it fails' }).click();
    await widget.getByText('Das Gespräch ist gerade nicht möglich').first().waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The look is stored').waitFor();
    const [stored] = await rig.api.database.query<{ look: object; picture: Buffer }>(
      'SELECT look, picture FROM widget_looks',
    );
    expect(stored!.look).toMatchObject({ name: 'River Dental', color: '#7c3aed', language: 'de', typing: true });
    expect(stored!.picture.subarray(1, 4).toString()).toBe('PNG');
    expect(visit.errors).toEqual([]);
    await visit.close();
  });
});
