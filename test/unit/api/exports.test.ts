import { parse } from 'csv-parse/sync';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createExportRunner } from '../../../src/exports/export-runner.ts';
import { createApiKey } from '../../../src/workspaces/api-keys.ts';
import { type ApiFixture, createApiFixture, type Tenant } from './api-fixture.ts';
import { signedIn } from './console-people.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at by their paths
type Loose = any;

const PATH = '/api/developer/call-exports';
const OVER = { status: 'no_answer', ended_reason: 'busy', ended_at: new Date() };

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.exports.drain();
  await api.database.query('DELETE FROM call_exports');
  await api.database.query('DELETE FROM calls');
});

const ask = (
  method: NonNullable<InjectOptions['method']>,
  url: string,
  options: { payload?: object; key?: string; headers?: Record<string, string> } = {},
): Promise<LightMyRequestResponse> =>
  api.app.inject({
    method,
    url,
    headers: { authorization: `Bearer ${options.key ?? api.acme.key}`, ...options.headers },
    ...(options.payload === undefined ? {} : { payload: options.payload }),
  });

async function exported(query = '', format = 'csv'): Promise<{ made: Loose; file: string }> {
  const answer = await ask('POST', `${PATH}${query}`, { payload: { format } });
  expect(answer.statusCode, answer.body).toBe(202);
  await api.exports.drain();
  const path = String(answer.headers['location']);
  const file = await ask('GET', `${path}/file`);
  expect(file.statusCode, file.body).toBe(200);
  return { made: (await ask('GET', path)).json(), file: file.body };
}

async function manyCalls(count: number, tenant: Tenant = api.acme): Promise<void> {
  await api.database.query(
    `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, to_number, from_number, name, request_id,
                        status, ended_reason, carrier, created_at, ended_at)
     SELECT gen_random_uuid(), $1, $2, 1, $3, '+14155550123', '+14155550100', 'Caller ' || n, 'r', 'no_answer', 'busy', 'plivo',
            now() - interval '1 hour' - n * interval '1 second', now() FROM generate_series(1, $4::int) AS n`,
    [tenant.workspaceId, tenant.agentId, tenant.lineId, count],
  );
}

describe('an export of the call log', () => {
  it('holds what the filters leave, newest first, says how far it is, and is in the audit without what was looked for', async () => {
    await manyCalls(3);
    await api.insertCall(api.acme, { ...OVER, name: '=cmd()', to_number: '+14155550199' });
    await api.insertCall(api.other, { name: 'Foreign' });
    const whole = await exported();
    expect(whole.made).toMatchObject({
      state: 'completed',
      format: 'csv',
      totalRows: 4,
      writtenRows: 4,
      isCut: false,
      sizeBytes: Buffer.byteLength(whole.file),
    });
    expect(Date.parse(whole.made.expiresAt) - Date.parse(whole.made.finishedAt)).toBe(86_400_000);
    expect(parse(whole.file, { columns: true }).map((row: Loose) => row.name)).toEqual([
      "'=cmd()",
      'Caller 1',
      'Caller 2',
      'Caller 3',
    ]);

    const some = await exported('?to=%2B14155550199&q=cmd', 'ndjson');
    const lines = some.file
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ name }) => name)).toEqual(['=cmd()']);
    expect(lines[0].agentName).toBe('Tone');
    expect(lines[0].recording).not.toHaveProperty('url');
    expect(lines[0].recording).not.toHaveProperty('parts');

    const audit = await api.database.query<Loose>(
      `SELECT action, after FROM audit_log WHERE action LIKE 'call_export.%' ORDER BY id DESC LIMIT 2`,
    );
    expect(audit.map(({ action }) => action)).toEqual(['call_export.fetched', 'call_export.created']);
    expect(JSON.parse(audit[1].after)).toEqual({
      filters: ['q', 'to'],
      format: 'ndjson',
      masked: false,
    });
  });

  it('of no call is a header, and of what is placed later nothing', async () => {
    const answer = await ask('POST', PATH, { payload: { format: 'csv' } });
    await api.insertCall(api.acme, { created_at: new Date(Date.now() + 60_000) });
    await api.exports.drain();
    const { file, made } = await exported();
    expect(file.split('\r\n')).toHaveLength(2);
    expect(made).toMatchObject({ totalRows: 0, writtenRows: 0 });
    expect((await ask('GET', `${String(answer.headers['location'])}/file`)).body).toBe(file);
  });

  it('goes on where a process left it, once each call, and another one begins meanwhile', async () => {
    await manyCalls(450);
    const made = (await ask('POST', PATH, { payload: { format: 'ndjson' } })).json().export;
    await api.exports.drain();
    await api.database.query(`DELETE FROM call_exports`);
    // As though it died after its second page.
    let pages = 0;
    const dying = createExportRunner({
      database: api.database,
      clock: api.clock,
      log: pino({ level: 'silent' }),
      async shown(_workspaceId, callUuids) {
        if (++pages === 3) throw Object.assign(new Error('gone'), { code: '57P01' });
        return callUuids.map((callUuid) => ({ callUuid }));
      },
    });
    await api.database.query(
      `INSERT INTO call_exports (id, workspace_id, made_by, format, filters) VALUES ($1, $2, $3, 'ndjson', '{}')`,
      [made.id, api.acme.workspaceId, `key:${api.acme.keyId}`],
    );
    await expect(dying.drain()).rejects.toThrow('gone');
    expect((await ask('GET', `${PATH}/${made.id}`)).json()).toMatchObject({ state: 'running', writtenRows: 400 });
    expect((await ask('GET', `${PATH}/${made.id}/file`)).json().code).toBe('export_not_ready');
    // Its lease holds others off until it is over.
    await api.exports.drain();
    expect((await ask('GET', `${PATH}/${made.id}`)).json()).toMatchObject({ state: 'running' });
    await api.database.query('UPDATE call_exports SET lease_until = now()');
    await api.exports.drain();
    const file = (await ask('GET', `${PATH}/${made.id}/file`)).body.trimEnd().split('\n');
    expect(new Set(file.map((line) => JSON.parse(line).callUuid)).size).toBe(450);
    expect(file).toHaveLength(450);
    expect((await ask('GET', `${PATH}/${made.id}`)).json()).toMatchObject({ state: 'completed', writtenRows: 450 });
  });

  it('is its maker’s alone, is deleted when he says so, and after its day', async () => {
    const mine = (await exported()).made;
    const colleague = await createApiKey(api.database, { slug: 'acme', name: 'two', scopes: ['calls:read'] });
    const owner = await signedIn(api, 'owner');
    expect((await ask('GET', PATH)).json().data.map(({ id }: Loose) => id)).toEqual([mine.id]);
    for (const path of ['', '/file']) {
      const url = `${PATH}/${mine.id}${path}`;
      expect((await ask('GET', url, { key: colleague.text })).json().code).toBe('export_not_found');
      expect((await ask('GET', url, { key: api.other.key })).json().code).toBe('export_not_found');
      expect((await owner.ask('GET', `/w/acme/call-exports/${mine.id}${path}`)).json().code).toBe('export_not_found');
    }
    expect((await ask('GET', PATH, { key: colleague.text })).json().data).toEqual([]);
    expect((await ask('DELETE', `${PATH}/${mine.id}`, { key: colleague.text })).statusCode).toBe(404);
    expect((await ask('DELETE', `${PATH}/${mine.id}`)).json()).toEqual({ success: true, exportId: mine.id });
    expect(await api.database.query('SELECT 1 AS one FROM call_export_parts')).toEqual([]);

    const old = (await exported()).made;
    await api.database.query(`UPDATE call_exports SET expires_at = now() - interval '1 s'`);
    expect((await ask('GET', `${PATH}/${old.id}/file`)).statusCode).toBe(404);
    await api.exports.drain();
    expect(await api.database.query('SELECT 1 AS one FROM call_exports')).toEqual([]);
  });

  it('of an analyst has no numbers, and one that he made as an admin is no longer his', async () => {
    await api.insertCall(api.acme, { ...OVER, name: 'Call +1 415 555 0123' });
    const analyst = await signedIn(api, 'analyst');
    const find = await analyst.ask('POST', '/w/acme/call-exports?to=%2B14155550123', { payload: { format: 'csv' } });
    expect(find.json().code).toBe('masked_filter');
    const answer = await analyst.ask('POST', '/w/acme/call-exports', { payload: { format: 'csv' } });
    await api.exports.drain();
    const path = String(answer.headers['location']).replace('/api/console', '');
    const file = await analyst.ask('GET', `${path}/file`);
    expect(file.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(file.body).toContain('0123');
    expect(file.body).not.toMatch(/4155550123|415 555 0123/);

    const admin = await signedIn(api, 'admin');
    const more = await admin.ask('POST', '/w/acme/call-exports', { payload: { format: 'csv' } });
    await api.exports.drain();
    const whole = String(more.headers['location']).replace('/api/console', '');
    expect((await admin.ask('GET', `${whole}/file`)).body).toContain('+14155550123');
    await api.database.query(`UPDATE memberships SET role = 'analyst' WHERE user_id = $1`, [admin.person.id]);
    expect((await admin.ask('GET', `${whole}/file`)).json().code).toBe('export_not_found');
  });

  it('is refused with a filter that there is not, and when there are too many', async () => {
    expect((await ask('POST', `${PATH}?stat=failed`, { payload: { format: 'csv' } })).json()).toMatchObject({
      code: 'invalid_request',
      details: [{ field: 'stat' }],
    });
    expect((await ask('POST', PATH, { payload: { format: 'xlsx' } })).statusCode).toBe(400);
    expect((await ask('POST', `${PATH}?limit=10`, { payload: { format: 'csv' } })).statusCode).toBe(400);
    await api.database.query(
      `INSERT INTO call_exports (id, workspace_id, made_by, format, filters, state, lease_until)
       SELECT gen_random_uuid(), $1, 'key:other', 'csv', '{}', 'running', now() + interval '1 h' FROM generate_series(1, 5)`,
      [api.acme.workspaceId],
    );
    const refused = await ask('POST', PATH, { payload: { format: 'csv' } });
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'setting_refused']);
  });

  it('is made once of a repeated request', async () => {
    const once = { payload: { format: 'csv' }, headers: { 'idempotency-key': 'export-1' } };
    const [first, again] = [await ask('POST', PATH, once), await ask('POST', PATH, once)];
    expect(again.json()).toEqual(first.json());
    expect(again.headers['idempotent-replayed']).toBe('true');
    await api.exports.drain();
    expect((await ask('GET', PATH)).json().data).toHaveLength(1);
  });
});
