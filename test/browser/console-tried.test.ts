/** What is tried and kept in the console: tools, credentials of a line, the audit, views, who uses an agent. */
import { describe, expect, it } from 'vitest';
import { importAgent } from '../../src/agents/stored-agents.ts';
import { recordAudit } from '../../src/audit/record-audit.ts';
import { setSecret } from '../../src/tools/secrets.ts';
import { orderAgent } from '../support/order-agent.ts';
import { SEALER } from '../unit/api/api-fixture.ts';
import { axeFaults } from './support/axe.ts';
import { hasChromium } from './support/chromium.ts';
import { useConsole } from './support/console-rig.ts';

describe.skipIf(!hasChromium)('in the console', () => {
  const rig = useConsole();

  it('a tool is tried with arguments that begin as its schema says, and what was sent and said is shown', async () => {
    const { api } = rig;
    const { id } = await importAgent(api.database, { slug: 'acme', definition: orderAgent() });
    await setSecret(api.database, SEALER, { slug: 'acme', name: 'SHOP_KEY', value: 'canary-4711' });
    const visit = await rig.visit('admin', '#/w/acme/settings/tools');
    const { page } = visit;
    await page.getByRole('button', { name: 'Try it' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Try lookup_order' });
    const given = dialog.getByLabel('Arguments');
    expect(JSON.parse(await given.inputValue())).toEqual({ order: '' });
    await given.fill('{"order": "42"');
    await dialog.getByRole('button', { name: 'Send it' }).click();
    await dialog.getByText('This is no JSON object.').waitFor();
    await given.fill('{"order": "42"}');
    api.toolAnswer = {
      kind: 'answered',
      status: 200,
      retryAfter: null,
      body: '{"order":{"day":"<b>Friday</b>"}}',
      responseMs: 7,
    };
    await dialog.getByRole('button', { name: 'Send it' }).click();
    await dialog.getByText('Answered 200').waitFor();
    await dialog.getByText('{{day}}').waitFor();
    expect(await dialog.locator('dd b').count()).toBe(0);
    expect(JSON.parse(String(api.toolRequests.at(-1)!.body))).toMatchObject({ arguments: { order: '42' } });
    expect(await axeFaults(page)).toEqual([]);
    await visit.go(`#/w/acme/agents/${id}/uses`);
    await page.getByText('Calls of the last 30 days').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('credentials of a line are tried when they are stored, and whenever somebody wants to know', async () => {
    const { api } = rig;
    const visit = await rig.visit('owner', '#/w/acme/settings/lines');
    const { page } = visit;
    const open = async (what: string): Promise<void> => {
      await page.getByRole('button', { name: /^Actions: \+14155550100/ }).click();
      await page.getByRole('button', { name: what }).click();
    };
    api.accessCheck = { outcome: 'refused', detail: '401', serverEpochMs: null };
    await open('Set credentials');
    await page.getByLabel('Auth ID').fill('MA1');
    await page.getByLabel('Auth token').fill('wrong');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('plivo refuses them (401)').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    api.accessCheck = { outcome: 'ok', detail: '', serverEpochMs: null };
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('plivo takes the credentials').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await open('Test the credentials');
    await page.getByText('plivo takes the credentials').waitFor();
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('the audit is verified whole', async () => {
    const visit = await rig.visit('owner', '#/w/acme/settings/audit');
    const { page } = visit;
    await page.getByRole('button', { name: 'Verify all of it' }).click();
    await page.getByText('rows are as they were written').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await rig.api.database.transaction(async (tx) => {
      await tx.query('SET LOCAL session_replication_role = replica');
      await tx.query(`UPDATE audit_log SET after = '{}' WHERE chain = $1 AND position = 3`, [rig.api.acme.workspaceId]);
    });
    await page.getByRole('button', { name: 'Verify all of it' }).click();
    await page.getByText('Row 3 was changed').waitFor();
    await visit.close();
  });

  it('a view is kept for oneself, shared, and seen by a colleague', async () => {
    const visit = await rig.visit('supervisor', '#/w/acme/calls?status=failed');
    const { page } = visit;
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('button', { name: 'Keep this view' }).click();
    await page.getByLabel('Name of the view').fill('Went wrong');
    await page.getByLabel('Everybody in the workspace sees it').check();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Views' }).getByText('Went wrong').waitFor();
    const other = await rig.visit('analyst', '#/w/acme/calls');
    await other.page.getByRole('button', { name: 'Views' }).click();
    await other.page.getByRole('link', { name: 'Went wrong (Mia Marsh)' }).click();
    await other.page.waitForURL('**/#/w/acme/calls?status=failed');
    await other.close();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('button', { name: 'Remove “Went wrong”' }).click();
    await page.getByText('“Went wrong” is removed').waitFor();
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('a call that a person of the console has ended names him, and who was called is no caller', async () => {
    const { api } = rig;
    const ended = { ended_reason: 'operator_hangup', hangup_by: 'operator' };
    const callUuid = await rig.finishedCall(ended);
    const visit = await rig.visit('owner', `#/w/acme/call/${callUuid}/details`);
    const { page } = visit;
    await page.getByText('somebody at the console', { exact: true }).waitFor();
    await api.database.transaction((tx) =>
      recordAudit(tx, {
        workspaceId: api.acme.workspaceId,
        by: { actor: `user:${visit.person.id}` },
        action: 'call.end_asked',
        target: `call:${callUuid}`,
      }),
    );
    await page.reload();
    await page.getByText('somebody at the console: Mia Marsh').waitFor();
    expect(await page.locator('.transcript').getByText('Person called').count()).toBe(2);
    expect(await page.locator('.transcript').getByText('Caller').count()).toBe(0);
    await visit.go('#/w/acme/settings/audit');
    const done = page.getByLabel('What', { exact: true });
    await done.selectOption({ label: 'Placed a legal hold' });
    await page.getByText('Nothing matches').waitFor();
    await done.selectOption({ label: 'Ended a call (hung up)' });
    await page.getByRole('button', { name: 'Ended a call (hung up)' }).waitFor();
    expect(await page.getByRole('link', { name: `Call …${callUuid.slice(-8)}` }).getAttribute('href')).toBe(
      `#/w/acme/call/${callUuid}`,
    );
    expect(await axeFaults(page)).toEqual([]);
    await visit.go(`#/w/acme/call/${await rig.finishedCall()}/details`);
    await page.getByText('The person called hung up').first().waitFor();
    await page.getByText('the person called', { exact: true }).waitFor();
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('a call says which request made it', async () => {
    const callUuid = await rig.finishedCall();
    const visit = await rig.visit('owner', `#/w/acme/call/${callUuid}/details`);
    await visit.page.getByRole('heading', { name: 'The request that made it' }).waitFor();
    await visit.page.getByText('What places the same call again').waitFor();
    expect(visit.errors).toEqual([]);
    await visit.close();
  });
});
