/** What shows only where real calls were: long answers, failures and their reasons, attempts, a held call. */
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { importAgent } from '../../src/agents/stored-agents.ts';
import { setEndpoint } from '../../src/webhooks/endpoint.ts';
import { setLineLimits } from '../../src/workspaces/lines.ts';
import { sampleAgent } from '../support/sample-agent.ts';
import { SEALER } from '../unit/api/api-fixture.ts';
import { hasChromium } from './support/chromium.ts';
import { useConsole } from './support/console-rig.ts';

const LONG =
  'Yes, there is a table for two on Saturday at eight in the evening, beside the window. Whose name is it for?';

describe.skipIf(!hasChromium)('a console that has seen calls', () => {
  const rig = useConsole();

  it('shows the time of each reply, and all of an event, however long what was said is', async () => {
    const { database } = rig.api;
    const callUuid = await rig.finishedCall();
    await database.query(`UPDATE call_turns SET turn = turn || $2 WHERE call_uuid = $1 AND turn_id = 't3'`, [
      callUuid,
      { text: LONG, heardText: LONG, interrupted: false },
    ]);
    await database.query(`INSERT INTO call_events (call_uuid, kind, data) VALUES ($1, 'carrier.answered', $2)`, [
      callUuid,
      { id: '91e29c8f-c663-4dd0-9d8f-dced066a50f7', other: '70e30d29-023c-4237-8ec6-670e5ed35fa9' },
    ]);
    const visit = await rig.visit('owner', '#/', { viewport: { width: 1_280, height: 800 } });
    for (const [tab, item] of [
      ['replies', '.waterfall > li'],
      ['events', '.events > li'],
    ] as const) {
      await visit.go(`#/w/acme/call/${callUuid}/${tab}`);
      await visit.page.locator(item).first().waitFor();
      const beyond = await visit.page.evaluate<number>(
        `Math.max(...[...document.querySelectorAll('${item}')].map((one) => one.getBoundingClientRect().right)) - document.querySelector('.call-side').getBoundingClientRect().right`,
      );
      expect(beyond, tab).toBeLessThan(1);
    }
    await visit.close();
  });

  it('says of what failed why, in words: of calls, of tools, of a line that may not call', async () => {
    const { acme, database } = rig.api;
    const callUuid = await rig.finishedCall({ name: 'Vera', status: 'failed', ended_reason: 'llm_error' });
    await database.query(
      `INSERT INTO tool_calls (call_uuid, tool_call_id, workspace_id, agent_id, name, started_at, outcome, ms, status, code)
       VALUES ($1, 'tc_1', $2, $3, 'send_receipt', now(), 'failed', 80, 503, 'http_error')`,
      [callUuid, acme.workspaceId, acme.agentId],
    );
    const visit = await rig.visit('owner', '#/w/acme/calls?q=Vera');
    const { page } = visit;
    // Not what it was about: it came to nothing.
    const row = page.getByRole('row').filter({ hasText: 'Vera' });
    await row.getByText('Model failed').waitFor();
    await visit.go(`#/w/acme/call/${callUuid}/tools`);
    await page.getByText('Answered an error · 503').waitFor();
    await setLineLimits(database, { slug: 'acme', lineId: acme.lineId, limits: { concurrentCalls: 0 } });
    await visit.go('#/w/acme/settings/lines');
    await page.getByText('Switched off: no calls').waitFor();
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('proposes no agent for a website where there are several, and says where the snippet works', async () => {
    for (const name of ['Ada', 'Ben']) {
      await importAgent(rig.api.database, { slug: 'acme', definition: sampleAgent({ name, direction: 'web' }) });
    }
    const visit = await rig.visit('owner', '#/w/acme/settings/widget');
    const { page } = visit;
    await page.getByRole('button', { name: 'Create a key' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('Shop');
    await page.getByRole('button', { name: 'Save' }).last().click();
    await page.getByRole('button', { name: 'Snippet' }).click();
    const dialog = page.getByRole('dialog', { name: 'Snippet' });
    const agent = dialog.getByLabel('Agent');
    await agent.waitFor();
    expect(await agent.inputValue()).toBe('');
    expect(await dialog.getByText('data-agent-id').count()).toBe(0);
    await agent.selectOption('Ben');
    await dialog.getByText('data-agent-id').waitFor();
    await dialog.getByText('It works on this machine alone').waitFor();
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('never cuts a time, nor that somebody must not be called', async () => {
    const { acme, database } = rig.api;
    const callUuid = await rig.finishedCall({ name: 'Long ago' });
    await database.query(`UPDATE calls SET created_at = '2024-11-25T15:30:00Z' WHERE call_uuid = $1`, [callUuid]);
    await database.query(
      `INSERT INTO leads (id, workspace_id, phone, name, status) VALUES (gen_random_uuid(), $1, '+14155550199', 'Kim', 'new')`,
      [acme.workspaceId],
    );
    await database.query(
      `INSERT INTO suppressions (workspace_id, id, phone, source) VALUES ($1, gen_random_uuid(), '+14155550199', 'api')`,
      [acme.workspaceId],
    );
    const visit = await rig.visit('owner', '#/w/acme/calls', { viewport: { width: 1_280, height: 800 } });
    const { page } = visit;
    for (const [hash, text] of [
      ['calls', 'Nov 25, 2024'],
      ['leads', 'Must not be called'],
    ] as const) {
      await visit.go(`#/w/acme/${hash}`);
      const cell = page.locator('.rows [role=cell]').filter({ hasText: text }).first();
      await cell.waitFor();
      const cut = await page.evaluate<number>(
        `Math.max(...[...document.querySelectorAll('.rows [role=cell]')]
          .filter((cell) => cell.textContent.includes(${JSON.stringify(text)}))
          .map((cell) => Math.max(cell.scrollWidth - cell.clientWidth, cell.scrollHeight - cell.clientHeight)))`,
      );
      expect(cut, hash).toBeLessThanOrEqual(0);
    }
    await visit.close();
  });

  it('says of what is sent again while a receiver fails that it waits, and by itself when sending goes on', async () => {
    const { acme, database } = rig.api;
    await setEndpoint(database, SEALER, acme.workspaceId, 'https://example.com/hooks');
    await database.query(
      `UPDATE webhook_endpoints SET failures_since_success = 23, failing_since = now(), last_failure_at = now(), last_failure = 'answered 500'`,
    );
    const visit = await rig.visit('owner', '#/w/acme/settings/webhooks');
    const { page } = visit;
    await page.getByText('Paused: many tries failed').waitFor();
    await page.getByRole('button', { name: 'Send what failed again' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send what failed again' });
    await dialog.getByText('Sending is paused now').waitFor();
    await dialog.getByRole('button', { name: 'Send what failed again' }).click();
    await page.getByText('wait until the receiver answers').first().waitFor();
    await database.query('UPDATE webhook_endpoints SET failures_since_success = 0, failing_since = NULL');
    await page.getByText('Open for deliveries').waitFor();
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('leads from a call to a legal hold on it, and says of a call that is not there what is wrong', async () => {
    const { acme, database } = rig.api;
    const callUuid = await rig.finishedCall();
    const visit = await rig.visit('owner', `#/w/acme/call/${callUuid}`);
    const { page } = visit;
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('link', { name: 'Place a legal hold on it' }).click();
    const dialog = page.getByRole('dialog', { name: 'Place a hold' });
    expect(await dialog.getByLabel('Call', { exact: true }).inputValue()).toBe(callUuid);
    await dialog.getByLabel('Why').fill('Case 7');
    await dialog.getByRole('button', { name: 'Place a hold' }).click();
    await page.getByRole('cell', { name: 'Case 7' }).waitFor();
    expect(
      await database.query('SELECT call_uuid FROM legal_holds WHERE workspace_id = $1', [acme.workspaceId]),
    ).toEqual([{ call_uuid: callUuid }]);
    // Not asked for again by going back and forth.
    expect(page.url().endsWith('#/w/acme/settings/retention')).toBe(true);
    // An empty id holds nothing: every call is a choice of its own.
    await page.getByRole('button', { name: 'Place a hold' }).click();
    expect(await dialog.getByLabel('Call', { exact: true }).getAttribute('required')).not.toBeNull();
    await dialog.getByLabel('What it covers').selectOption('Every call of the workspace');
    expect(await dialog.getByLabel('Call', { exact: true }).count()).toBe(0);
    await database.query(`UPDATE calls SET recording_status = 'deleted' WHERE call_uuid = $1`, [callUuid]);
    await visit.go(`#/w/acme/call/${callUuid}`);
    await page.getByText('Legal hold since').waitFor();
    await page.getByText('The recording was deleted').waitFor();
    await page.goto(`${rig.origin}/console/#/w/acme/call/0199f0a2-0000-7000-8000-000000000000`);
    await page.getByRole('heading', { level: 1, name: 'Call', exact: true }).waitFor();
    await page.getByText('There is nothing at this address').waitFor();
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('shows each attempt of a webhook, the newest too, and tells a failure as one', async () => {
    const { acme, app, database } = rig.api;
    const callUuid = await rig.finishedCall();
    const headers = { authorization: `Bearer ${acme.key}` };
    const payload = { url: 'https://hooks.example.com/parley' };
    expect((await app.inject({ method: 'PUT', url: '/api/developer/webhooks', headers, payload })).statusCode).toBe(
      200,
    );
    const id = uuidv7();
    const attempt = (number: number) => ({
      ...{ at: new Date().toISOString(), attempt: number, status: 500, error: 'answered 500', ms: 7 },
    });
    const failed = (numbers: readonly number[]) =>
      database.query(
        `UPDATE webhook_deliveries SET attempts = 1, last_status = 500, last_error = 'answered 500', attempt_log = $2 WHERE id = $1`,
        [id, JSON.stringify(numbers.map(attempt))],
      );
    await database.query(
      `INSERT INTO webhook_events (id, workspace_id, call_uuid, event, sequence, body) VALUES ('evt_1', $1, $2, 'call.completed', 1, '{}')`,
      [acme.workspaceId, callUuid],
    );
    await database.query(
      `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, state) SELECT $1, 'evt_1', id, 'pending' FROM webhook_endpoints WHERE workspace_id = $2`,
      [id, acme.workspaceId],
    );
    await failed([1]);
    const visit = await rig.visit('owner', `#/w/acme/call/${callUuid}/webhooks`);
    const { page } = visit;
    await page.getByRole('button', { name: '1 attempt' }).click();
    await page.locator('.attempts > li').first().waitFor();
    const asked = page.waitForResponse((answer) => answer.url().endsWith('/redeliver'));
    await page.getByRole('button', { name: 'Send again' }).click();
    await asked;
    await failed([1, 2]);
    await page.locator('.toast.error').getByText('Not delivered: answered 500').waitFor();
    await page.getByRole('button', { name: '2 attempts' }).waitFor();
    await page.locator('.attempts > li').nth(1).waitFor();
    expect(visit.errors).toEqual([]);
    await visit.close();
  });
});
