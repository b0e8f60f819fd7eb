import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordAudit } from '../../../src/audit/record-audit.ts';
import { setWorkspaceLimits } from '../../../src/workspaces/workspaces.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());

const get = (url: string, key = api.acme.key) =>
  api.app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${key}` } });

describe('GET /api/developer/limits', () => {
  it('shows what may be used and what is in use, of the workspace, its lines and its web sessions', async () => {
    await setWorkspaceLimits(api.database, { slug: 'acme', limits: { concurrentCalls: 12, reservedPhoneCalls: 3 } });
    await api.insertCall(api.acme, { status: 'in_progress' });
    await api.insertCall(api.acme, { status: 'ringing', channel: 'web' });
    await api.insertCall(api.other, { status: 'ringing' });
    const answer = await get('/api/developer/limits');
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      calls: { limit: 12, inUse: 2, reservedForPhone: 3, perSecond: 5 },
      webSessions: { limit: 10, inUse: 1 },
      api: { requestsPerSecond: 10_000, burst: 10_000 },
      lines: [{ id: api.acme.lineId, number: '+14155550100', limit: 10, inUse: 2, perSecond: 1 }],
    });
  });
});

describe('GET /api/developer/audit', () => {
  it('gives the rows of its own workspace in pages, newest first, each with the hash of the one before', async () => {
    for (let count = 0; count < 30; count++) {
      await recordAudit(api.database, {
        workspaceId: count % 2 === 0 ? api.acme.workspaceId : api.other.workspaceId,
        by: { actor: 'key:AbCdEfGh', ip: '192.0.2.1' },
        action: 'thing.changed',
        target: `thing:${count}`,
        after: { count },
      });
    }
    const rows = [];
    let url = '/api/developer/audit?limit=4';
    for (;;) {
      const { data, nextCursor } = (await get(url)).json();
      expect(data.length).toBeLessThanOrEqual(4);
      rows.push(...data);
      if (nextCursor === null) break;
      url = `/api/developer/audit?limit=4&cursor=${nextCursor}`;
    }
    expect(rows.map((row) => row.position)).toEqual(rows.map((_row, index) => rows.length - index));
    expect(rows.filter((row) => row.action === 'thing.changed')).toHaveLength(15);
    for (const [index, row] of rows.entries()) {
      if (index + 1 < rows.length) expect(row.prevHash).toBe(rows[index + 1].hash);
    }
    expect(rows.map((row) => row.action)).toEqual(
      expect.arrayContaining(['workspace.created', 'key.created', 'agent.created', 'line.added']),
    );
    expect(JSON.stringify(rows)).not.toContain('token-canary');
    expect(rows[0]).toMatchObject({ target: 'thing:28', before: null, after: { count: 28 }, ip: '192.0.2.1' });
  });

  it('filters, and refuses a cursor of other filters or of another workspace', async () => {
    const filtered = (await get('/api/developer/audit?action=thing.changed&limit=2')).json();
    expect(filtered.data).toHaveLength(2);
    const { nextCursor } = filtered;
    expect((await get(`/api/developer/audit?action=key.created&cursor=${nextCursor}`)).statusCode).toBe(400);
    const foreign = `/api/developer/audit?action=thing.changed&cursor=${nextCursor}`;
    expect((await get(foreign, api.other.key)).json()).toMatchObject({ code: 'invalid_cursor' });
    expect((await get('/api/developer/audit?target=thing:1')).json().data).toEqual([]);
    expect((await get('/api/developer/audit?limit=0')).statusCode).toBe(400);
  });
});
