/**
 * What strangers wrote, on every page of the console: callers, receivers of webhooks, tools, who fills in a lead, a
 * colleague. It is shown as text: it makes no element, asks for nothing, leads nowhere, and no policy has to stop it.
 */
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { useConsole } from './support/console-rig.ts';

const MARK = 'pwned';
const EVIL = [
  `<img src=x onerror="document.title='${MARK}'"><svg onload=alert(1)>`,
  `<script>document.title='${MARK}'</script></textarea><iframe srcdoc="x">`,
  `<a href="javascript:document.title='${MARK}'" id=${MARK}>${MARK}</a><base href=//evil.example/><form action=//evil.example>`,
  `'"><style>*{display:none}</style>\u202e\u0000`.replace('\u0000', ''),
  'event: snapshot\ndata: {}\n\ndata: [DONE]\r\n\u2028{{constructor.constructor("alert(1)")()}}',
].join(' ');
const EVIL_URL = `https://evil.example/<img src=x onerror=alert(1)>?a="onmouseover="alert(1)&to=javascript:alert(1)`;
const SETTINGS = [
  'keys',
  'lines',
  'webhooks',
  'widget',
  'connections',
  'tools',
  'clips',
  'calling',
  'retention',
  'users',
];

describe.skipIf(!hasChromium)('what strangers wrote', () => {
  const rig = useConsole();

  async function planted(): Promise<string[]> {
    const { api } = rig;
    const { database, acme } = api;
    const evilTurn = {
      role: 'user',
      startMs: 0,
      endMs: 900,
      interrupted: true,
      text: EVIL,
      heardText: EVIL.slice(0, 90),
    };
    const callUuid = await rig.finishedCall({
      name: EVIL,
      metadata: {
        [EVIL.slice(0, 60)]: EVIL,
        link: 'javascript:alert(1)',
        data: 'data:text/html,<script>alert(1)</script>',
      },
      analysis: {
        ...{ summary: EVIL, intent: EVIL.slice(0, 50), intentConfidence: 1, sentiment: 'negative' },
        ...{ successful: false, successReason: EVIL, disposition: EVIL, data: { [EVIL]: EVIL }, language: 'en' },
        ...{ evidence: [{ turnId: 't9', quote: EVIL }], model: EVIL },
      },
    });
    await database.query('INSERT INTO call_turns VALUES ($1, $2, 9, $3)', [
      callUuid,
      't9',
      { ...evilTurn, turnId: 't9' },
    ]);
    for (const kind of ['tool', 'error', 'transcript', 'note']) {
      await database.query('INSERT INTO call_events (call_uuid, kind, data) VALUES ($1, $2, $3)', [
        ...[callUuid, kind],
        { name: EVIL, text: EVIL, error: EVIL, message: EVIL, url: 'javascript:alert(1)', result: { [EVIL]: EVIL } },
      ]);
    }
    const live = await api.insertCall(acme, { status: 'in_progress', name: EVIL, answered_at: new Date() });
    await database.query('INSERT INTO call_turns VALUES ($1, $2, 0, $3)', [live, 't1', { ...evilTurn, turnId: 't1' }]);
    const definition = { kind: 'tone', name: EVIL.slice(0, 100), direction: 'any', toneHz: 440 };
    const asKey = (method: 'POST' | 'PUT', url: string, payload: object) =>
      api.app.inject({
        method,
        url: `/api/developer${url}`,
        payload,
        headers: { authorization: `Bearer ${acme.key}` },
      });
    const agent = await asKey('POST', '/agents', { definition });
    await asKey('POST', '/leads', {
      ...{ name: EVIL.slice(0, 120), mobile: '+14155550188', notes: EVIL, externalId: EVIL.slice(0, 60) },
      ...{ agentId: acme.agentId, enterprise: 'acme', metadata: { x: EVIL, url: 'javascript:alert(1)' } },
    });
    await asKey('POST', '/suppressions', { phone: '+14155550189', reason: EVIL.slice(0, 200) });
    await asKey('POST', '/keys', { name: EVIL.slice(0, 60), scopes: ['calls:read'] });
    await asKey('POST', '/legal-holds', { reason: EVIL.slice(0, 200) });
    await asKey('PUT', '/webhooks', { url: encodeURI(EVIL_URL) });
    await database.query(
      `INSERT INTO widget_keys (public_key, workspace_id, name, allowed_origins) VALUES ($1, $2, $3, '{}')`,
      [...[`pk_${uuidv7().replaceAll('-', '')}`, acme.workspaceId], EVIL.slice(0, 100)],
    );
    const [endpoint] = await database.query<{ id: string }>('SELECT id FROM webhook_endpoints LIMIT 1');
    const eventId = `evt_${uuidv7()}`;
    await database.query(
      `INSERT INTO webhook_events (id, workspace_id, call_uuid, event, sequence, body) VALUES ($1, $2, $3, $4, 1, $5)`,
      [eventId, acme.workspaceId, callUuid, 'call.completed', JSON.stringify({ text: EVIL })],
    );
    await database.query(
      `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, state, attempts, attempt_log)
       VALUES ($1, $2, $3, 'dead', 1, $4)`,
      [
        uuidv7(),
        eventId,
        endpoint!.id,
        JSON.stringify([{ at: new Date(), attempt: 1, status: 500, error: EVIL, ms: 1 }]),
      ],
    );
    const agentId: string = agent.json().agent.id;
    const call = ['', '/replies', '/tools', '/events', '/webhooks', '/details', '/request'].map(
      (tab) => `call/${callUuid}${tab}`,
    );
    return [
      ...[
        'home',
        'live',
        'calls',
        ...call,
        `call/${live}`,
        'agents',
        `agents/${agentId}`,
        `agents/${agentId}/versions`,
      ],
      ...['leads', 'leads/suppressions', 'leads/imports', ...SETTINGS.map((place) => `settings/${place}`)],
      ...['settings/audit', 'settings/account'],
      // And in the address itself.
      ...[`calls?q=${encodeURIComponent(EVIL.slice(0, 90))}`, `agents/${encodeURIComponent(EVIL)}`],
      `settings/${encodeURIComponent(EVIL)}`,
    ];
  }

  it('is text on every page, and nothing else', async () => {
    const paths = await planted();
    const visit = await rig.visit('owner', '#/', { isOperator: true });
    const { page } = visit;
    await rig.api.database.query('UPDATE users SET name = $2 WHERE id = $1', [visit.person.id, EVIL.slice(0, 120)]);
    const dialogs: string[] = [];
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(rig.origin) && !/^(data|blob):/.test(request.url())) asked.push(request.url());
    });
    const faults: string[] = [];
    let shown = 0;
    for (const path of paths) {
      await visit.go(`#/w/acme/${path}`);
      await page.locator('h1').first().waitFor();
      await page.locator('.bone').first().waitFor({ state: 'detached' });
      const found = await page.evaluate<{ made: string[]; text: boolean; title: string }>(`({
        made: [...document.querySelectorAll('script:not([src]), base, iframe[srcdoc], svg[onload], img[onerror], form[action], #${MARK}, a[href^="javascript" i], a[href^="data" i], a[href^="http"]:not([href^="' + location.origin + '"])')].map((one) => one.outerHTML.slice(0, 120)),
        text: document.body.textContent.includes('<img src=x onerror=') || [...document.querySelectorAll('input, textarea')].some(({ value }) => value.includes('<img src=x')),
        title: document.title,
      })`);
      if (found.text) shown++;
      if (found.made.length > 0 || found.title === MARK) faults.push(`${path} ${found.title} ${found.made.join(' ')}`);
    }
    expect(faults).toEqual([]);
    expect([dialogs, asked, visit.errors]).toEqual([[], [], []]);
    // It was there to be shown.
    expect(shown).toBeGreaterThan(15);
    await visit.close();
  });

  it('of any length makes no page wider than its window, and is shown whole when it is asked for', async () => {
    const { database, acme } = rig.api;
    const endless = `${'W'.repeat(40_000)}\u202e${'\u{1F600}'.repeat(15_000)}`;
    const turn = { turnId: 't9', role: 'user', startMs: 0, endMs: 900, interrupted: false };
    const callUuid = await rig.finishedCall({ name: endless.slice(0, 20_000), metadata: { note: endless } });
    const live = await rig.api.insertCall(acme, { status: 'in_progress', name: endless, answered_at: new Date() });
    for (const call of [callUuid, live]) {
      await database.query('INSERT INTO call_turns VALUES ($1, $2, 9, $3)', [
        ...[call, 't9'],
        { ...turn, text: endless, heardText: endless },
      ]);
      await database.query(`INSERT INTO call_events (call_uuid, kind, data) VALUES ($1, 'turn', $2)`, [
        call,
        { turn: { ...turn, text: endless, heardText: endless } },
      ]);
    }
    const visit = await rig.visit('owner', '#/', { viewport: { width: 360, height: 740 } });
    const { page } = visit;
    const faults: string[] = [];
    for (const path of [
      'live',
      'calls',
      ...['', '/events', '/details'].map((tab) => `call/${callUuid}${tab}`),
      `call/${live}`,
    ]) {
      await visit.go(`#/w/acme/${path}`);
      await page.getByText('WWWWWW').first().waitFor();
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (wide > 360) faults.push(`${path} is ${wide} px wide`);
    }
    expect(faults).toEqual([]);
    await visit.go(`#/w/acme/call/${callUuid}`);
    const turns = page.locator('.transcript');
    expect((await turns.textContent())!.length).toBeLessThan(10_000);
    await turns.getByRole('button', { name: 'Show all' }).click();
    expect(await turns.textContent()).toContain(endless);
    expect(visit.errors).toEqual([]);
    await visit.close();
  });
});
