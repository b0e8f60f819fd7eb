/** Finding calls and looking at one: filters in the address, very many rows, strangers' words, sound in step. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { axeFaults } from './support/axe.ts';
import { hasChromium } from './support/chromium.ts';
import { CUT, useConsole } from './support/console-rig.ts';

const MANY = 3_000;
const AT_ONCE = 500;

describe.skipIf(!hasChromium)('calls in the console', () => {
  const rig = useConsole();

  it('are found by filters that the address holds, and exported as they are shown', async () => {
    await rig.finishedCall({ name: '=HYPERLINK("http://evil")' });
    await rig.api.insertCall(rig.api.acme, {
      name: 'Bo',
      status: 'no_answer',
      ended_reason: 'busy',
      ended_at: new Date(),
    });
    const visit = await rig.visit('owner', '#/w/acme/calls');
    const { page } = visit;
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByLabel('No answer', { exact: true }).check();
    await page.getByRole('button', { name: 'Apply' }).click();
    await eventually('the address to hold it', () => page.url().includes('#/w/acme/calls?status=no_answer'));
    await page.getByText('1 call', { exact: true }).waitFor();
    expect(await page.locator('.rows a').allTextContents()).toEqual(['Bo']);
    await page.goBack();
    await page.getByText('2 calls', { exact: true }).waitFor();

    // A small one is ready before the page has read the list for the first time, and is told all the same.
    await page.route('**/call-exports*', async (route) => {
      const ready = `SELECT id FROM call_exports WHERE state = 'completed'`;
      const isList = route.request().method() === 'GET';
      if (isList) await eventually('it to be ready', async () => (await rig.api.database.query(ready)).length === 1);
      await route.continue();
    });
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('button', { name: 'As CSV' }).click();
    await page.getByRole('status').getByRole('button', { name: 'Your exports' }).click();
    // It outlives the page that asked for it.
    await page.reload();
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('button', { name: 'All exports' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your exports' });
    await dialog.getByText('2 calls').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('link', { name: 'Download' }).click(),
    ]);
    const csv = await readFile(await file.path(), 'utf8');
    expect(csv.split('\r\n').length).toBe(4);
    // A formula is text, also in a spreadsheet.
    expect(csv).toContain(`"'=HYPERLINK(""http://evil"")"`);
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('are rows of which only those that are seen exist, and which arrow keys walk through', async () => {
    const { acme, database } = rig.api;
    // On a busy machine all of them take longer than a statement may.
    for (let made = 0; made < MANY; made += AT_ONCE) {
      await database.query(
        `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, to_number, from_number, name, request_id,
                            status, ended_reason, carrier, created_at, ended_at)
         SELECT gen_random_uuid(), $1, $2, 1, $3, '+14155550123', '+14155550100', 'Caller ' || n, 'r', 'no_answer', 'busy', 'plivo',
                now() - interval '1 day' - n * interval '1 second', now() FROM generate_series($4::int + 1, $4::int + ${AT_ONCE}) AS n`,
        [acme.workspaceId, acme.agentId, acme.lineId, made],
      );
    }
    const visit = await rig.visit('owner', '#/w/acme/calls');
    const { page } = visit;
    await page.locator('.rows a').first().focus();
    for (let presses = 0; presses < 8; presses++) {
      await page.keyboard.press('End');
      await page.waitForTimeout(100);
    }
    await eventually('hundreds of rows to be read', async () => {
      await page.keyboard.press('End');
      return Number(/^\d+/.exec((await page.locator('.rows-end').textContent()) ?? '')?.[0]) > 500;
    });
    expect(await page.evaluate<number>('document.querySelectorAll("*").length')).toBeLessThan(1_500);
    await page.keyboard.press('Home');
    await eventually('the first row to have the focus', () =>
      page.evaluate<boolean>('document.activeElement.closest("[data-row]")?.dataset.row === "0"'),
    );
    await page.keyboard.press('ArrowDown');
    await eventually('the next', () =>
      page.evaluate<boolean>('document.activeElement.closest("[data-row]")?.dataset.row === "1"'),
    );
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Calls' }).first().waitFor();
    await eventually('a call to be shown', () => page.url().includes('#/w/acme/call/'));
    await visit.close();
  });

  it('show what was cut off as cut off, words of strangers as words, and keep step with the sound', async () => {
    const callUuid = await rig.finishedCall({ name: '<b>Bo</b>\u202E' });
    const visit = await rig.visit('supervisor', `#/w/acme/call/${callUuid}`);
    const { page } = visit;
    await page.getByText('They asked when the practice is open.').waitFor();
    expect(await page.locator('h1').textContent()).toBe('<b>Bo</b>\u202E');
    expect(await page.locator('.transcript img').count()).toBe(0);
    const cut = await page.locator('.transcript del bdi').textContent();
    expect(CUT.endsWith(cut!)).toBe(true);

    // A quote leads to where it was said: the turn is marked, and the sound stands there.
    await page.getByRole('button', { name: '“When are you open?”' }).click();
    expect(await page.locator('.turn.marked').textContent()).toContain('When are you open?');
    const place = page.getByLabel('Position in the recording');
    await eventually(
      'the sound to stand there',
      async () => (await place.getAttribute('aria-valuetext'))?.startsWith('0:01') === true,
    );
    await page.locator('.wave path').first().waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await eventually('the next turn to be lit', async () =>
      (await page.locator('.turn.now').allTextContents()).some((text) => text.includes('We are open')),
    );
    // Words play from where they were said, and the time beside them can be hit with a finger.
    const again = page.locator('.turn.now', { hasText: 'Hello, this is' }).waitFor();
    await page.getByText('Hello, this is River Dental.').click();
    await again;
    await page.setViewportSize({ width: 390, height: 844 });
    const time = await page.getByRole('button', { name: 'Play from 0:00' }).boundingBox();
    expect(time!.height).toBeGreaterThanOrEqual(24);
    await page.setViewportSize({ width: 1280, height: 720 });
    // An address that was cut off before the id leads to the list.
    await page.goto(`${rig.origin}/console/#/w/acme/call/`);
    await page.getByRole('heading', { name: 'Calls', exact: true }).waitFor();
    await page.goto(`${rig.origin}/console/#/w/acme/call/${callUuid}/replies`);
    await page.getByText('400 ms').first().waitFor();
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('are stopped while they run, after a question', async () => {
    const callUuid = await rig.api.insertCall(rig.api.acme, {
      status: 'in_progress',
      owner_run: 'run-1',
      answered_at: new Date(),
      name: 'Live one',
    });
    const visit = await rig.visit('supervisor', `#/w/acme/call/${callUuid}`);
    const { page } = visit;
    const muted = (action: string): Promise<object[]> =>
      rig.api.database.query(`INSERT INTO call_events (call_uuid, kind, data) VALUES ($1, 'control', $2)`, [
        callUuid,
        { action, result: 'done', by: 'somebody else' },
      ]);
    await page.getByRole('button', { name: 'Mute the agent' }).waitFor();
    await muted('mute_agent');
    await page.getByRole('button', { name: 'Let the agent speak', pressed: true }).waitFor();
    await muted('unmute_agent');
    await page.getByRole('button', { name: 'Mute the agent', pressed: false }).waitFor();
    await page.getByLabel('What should the agent say?').fill('One moment.');
    await page.getByRole('button', { name: 'Say', exact: true }).click();
    await page.getByText('It is being said').waitFor();
    expect(rig.api.controlled).toEqual([{ type: 'say', text: 'One moment.', interrupt: false }]);
    await page.getByRole('button', { name: 'Hang up' }).click();
    const question = page.getByRole('dialog', { name: 'Hang up: Live one +14155550123' });
    await question.getByRole('button', { name: 'Hang up' }).click();
    await page.getByText('The call is being ended').waitFor();
    expect(rig.api.hungUp).toEqual([callUuid]);
    await visit.close();
  });

  it('are 500 at once on the board in a bounded page, and after a hole it is said that everything is here again', async () => {
    const { api } = rig;
    await api.database.query(
      `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, to_number, from_number, name, request_id, status, carrier, answered_at)
       SELECT gen_random_uuid(), $1, $2, 1, $3, '+14155550123', '+14155550100', 'One of many', 'r' || n, 'in_progress', 'plivo', now()
       FROM generate_series(1, 500) AS n`,
      [api.acme.workspaceId, api.acme.agentId, api.acme.lineId],
    );
    const visit = await rig.visit('supervisor', '#/w/acme/live');
    const { page } = visit;
    const board = page.getByRole('table', { name: 'Calls in progress' });
    const rowCount = async () => Number(await board.getAttribute('aria-rowcount').catch(() => null));
    const ticked = (what: string, isSo: () => Promise<boolean>) =>
      eventually(what, async () => {
        api.clock.advanceMs(250);
        return isSo();
      });
    await ticked('all of them', async () => (await board.count()) === 1 && (await rowCount()) > 500);
    expect(await page.evaluate<number>('document.querySelectorAll("*").length')).toBeLessThan(1_500);
    await board.getByRole('link').first().press('End');
    await board.locator(`[aria-rowindex="${await rowCount()}"]`).waitFor();
    expect(await page.evaluate<number>('document.querySelectorAll("*").length')).toBeLessThan(1_500);
    expect(await axeFaults(page)).toEqual([]);
    api.app.server.closeAllConnections();
    await page.getByText('The line to the service is lost').waitFor();
    await api.database.query(
      `UPDATE calls SET status = 'completed', ended_reason = 'user_hangup', ended_at = now() WHERE name = 'One of many'`,
    );
    await ticked('what changed meanwhile', async () => (await rowCount()) < 100);
    await page.getByText('All that changed meanwhile is here again').waitFor();
    await visit.close();
  });

  it('are followed as long as somebody sees the board, and are all there when it is seen again', async () => {
    const { api } = rig;
    const before = await api.insertCall(api.acme, { status: 'in_progress', answered_at: new Date(), name: 'Before' });
    const visit = await rig.visit('supervisor', '#/');
    const { page } = visit;
    await page.clock.install();
    await visit.go('#/w/acme/live');
    const ticked = (what: string, isSo: () => boolean | Promise<boolean>) =>
      eventually(what, async () => {
        api.clock.advanceMs(250);
        await page.clock.runFor(100);
        return isSo();
      });
    const rows = page.locator('.rows.live');
    const turn = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
    await ticked('the board', async () => (await rows.getByText('Before').count()) === 1);
    expect(api.bus.isFollowed(before)).toBe(true);
    await turn(true);
    await page.clock.fastForward(20_000);
    await api.insertCall(api.acme, { status: 'in_progress', answered_at: new Date(), name: 'Unseen' });
    await ticked('what comes unseen', async () => (await rows.getByText('Unseen').count()) === 1);
    expect(api.bus.isFollowed(before)).toBe(true);
    const names = await rows.locator('a.over').allTextContents();
    expect(names.slice(names.indexOf('Before'))).toEqual(['Before', 'Unseen']);
    await page.clock.fastForward(11_000);
    await ticked('nobody to follow it', () => !api.bus.isFollowed(before));
    await api.insertCall(api.acme, { status: 'in_progress', answered_at: new Date(), name: 'Meanwhile' });
    await turn(false);
    await ticked('what came meanwhile', async () => (await rows.getByText('Meanwhile').count()) === 1);
    expect(api.bus.isFollowed(before)).toBe(true);
    expect(await page.getByText('The line').count()).toBe(0);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await rows.getByRole('button', { name: 'Hang up' }).first().isVisible()).toBe(true);
    await visit.close();
  });

  it('are told live: who, what was said last, and that the line to the service is lost', async () => {
    const { api } = rig;
    const callUuid = await api.insertCall(api.acme, {
      status: 'in_progress',
      answered_at: new Date(),
      name: 'Told live',
    });
    const visit = await rig.visit('supervisor', '#/w/acme/live');
    const { page } = visit;
    const shown = page.locator('.rows.live').getByText('Told live');
    await eventually('the call on the board', async () => {
      api.clock.advanceMs(250);
      return (await shown.count()) === 1;
    });
    await api.database.query(`INSERT INTO call_events (call_uuid, kind, data) VALUES ($1, 'turn', $2)`, [
      callUuid,
      {
        turn: {
          turnId: 't1',
          role: 'user',
          startMs: 0,
          endMs: 900,
          text: 'Is anybody there?',
          heardText: 'Is anybody there?',
        },
      },
    ]);
    await eventually('the words on the board', async () => {
      api.clock.advanceMs(250);
      return (await page.getByText('Is anybody there?').count()) === 1;
    });
    await page.context().setOffline(true);
    await api.database.query('DELETE FROM user_sessions WHERE user_id = $1', [visit.person.id]);
    await eventually('the board to say that it is old', async () => {
      api.clock.advanceMs(1_000);
      return (await page.getByText('The line to the service is lost').count()) === 1;
    });
    await visit.close();
  });
});
