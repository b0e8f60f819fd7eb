import fc from 'fast-check';
import type { LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import { ImportRefused } from '../../../src/leads/import-reader.ts';
import { type ImportReading, READING_HERE } from '../../../src/leads/import-reading.ts';
import { createImportRunner, type ImportRunner } from '../../../src/leads/import-runner.ts';
import type { Database } from '../../../src/store/database.ts';
import { suppress } from '../../../src/suppressions/suppression-list.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type ApiFixture, createApiFixture, type Tenant } from './api-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at by their paths
type Loose = any;

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.database.query('DELETE FROM leads');
});

const PATH = '/api/developer/leads/import';
const runner = (
  database: Database = api.database,
  reading: Pick<ImportReading, 'groups'> = READING_HERE,
): ImportRunner => createImportRunner({ database, clock: api.clock, log: pino({ level: 'silent' }), reading });

function upload(
  payload: string | Buffer,
  options: { type?: string; query?: string; tenant?: Tenant; key?: string } = {},
): Promise<LightMyRequestResponse> {
  const { type = 'text/csv', query = '', tenant = api.acme, key } = options;
  return api.app.inject({
    method: 'POST',
    url: `${PATH}${query}`,
    headers: {
      authorization: `Bearer ${tenant.key}`,
      'content-type': type,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    payload,
  });
}

function get(path: string, tenant: Tenant = api.acme): Promise<LightMyRequestResponse> {
  return api.app.inject({ url: path, headers: { authorization: `Bearer ${tenant.key}` } });
}

async function imported(payload: string | Buffer, options: Parameters<typeof upload>[1] = {}): Promise<Loose> {
  const answer = await upload(payload, options);
  expect(answer.statusCode, answer.body).toBe(202);
  await runner().drain();
  const path = String(answer.headers['location']);
  const errors = (await get(`${path}/errors?limit=1000`)).json();
  return { import: (await get(path)).json(), errors: errors.data, nextCursor: errors.nextCursor };
}

const leads = (workspaceId = api.acme.workspaceId): Promise<Loose[]> =>
  api.database.query(
    `SELECT phone, name, notes, source, agent_id, metadata, external_id, timezone, consent, status FROM leads
     WHERE workspace_id = $1 ORDER BY id`,
    [workspaceId],
  );

describe('a number on the do-not-call list', () => {
  it('is marked so at its import, and when an import gives its number to a lead that was there', async () => {
    await suppress(api.database, api.acme.workspaceId, ['+14155550177'], {
      reason: null,
      source: 'api',
      callUuid: null,
    });
    await imported('phone,externalId\n+14155550176,moved-1\n+14155550177,listed-1\n');
    await imported('phone,externalId\n+14155550177,moved-1\n');
    const rows = (await leads()).filter((lead) => ['moved-1', 'listed-1'].includes(lead.external_id));
    expect(rows.map((lead) => [lead.external_id, lead.status]).sort()).toEqual([
      ['listed-1', 'do_not_contact'],
      ['moved-1', 'do_not_contact'],
    ]);
    const [elsewhere] = await api.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM leads WHERE status = 'do_not_contact' AND phone <> '+14155550177'`,
    );
    expect(elsewhere!.count).toBe(0);
  });
});

describe('POST /api/developer/leads/import', () => {
  it('takes a file in with 202 and its address, stores it, and says what was wrong in which row', async () => {
    const answer = await upload('phone,name,agentId\n+14155550123,Asha,\n4155550124,Bo,\n+14155550125,Cy,x\n', {
      type: 'text/csv; charset=utf-8',
    });
    const { import: started } = answer.json();
    expect(started).toMatchObject({ state: 'queued', format: 'csv', totalRows: 3, processedRows: 0, startedAt: null });
    expect(answer.headers['location']).toBe(`${PATH}/${started.id}`);
    await runner().drain();
    const path = `${PATH}/${started.id.toUpperCase()}`;
    expect((await get(path)).json()).toMatchObject({
      state: 'completed',
      processedRows: 3,
      createdCount: 1,
      updatedCount: 0,
      failedCount: 2,
    });
    expect((await get(`${path}/errors`)).json().data).toEqual([
      { row: 2, line: 3, field: 'phone', code: 'invalid_phone', message: "Invalid 'phone' format" },
      { row: 3, line: 4, field: 'agentId', code: 'invalid_agentId', message: "Invalid 'agentId' format" },
    ]);
    const [row] = await api.database.query<Loose>('SELECT content FROM lead_imports WHERE id = $1', [started.id]);
    expect(row.content).toBeNull();
  });

  it('takes a file once for one Idempotency-Key, of ten at the same time too, and answers a repeat with the same import', async () => {
    const file = 'phone\n+14155550123\n';
    const before = (await api.database.query('SELECT 1 AS one FROM lead_imports')).length;
    const answers = await Promise.all(Array.from({ length: 10 }, () => upload(file, { key: 'file-1' })));
    const taken = answers.filter(({ statusCode }) => statusCode === 202);
    expect(taken.length).toBeGreaterThan(0);
    for (const answer of answers.filter(({ statusCode }) => statusCode !== 202)) {
      expect([answer.statusCode, answer.json().code]).toEqual([409, 'request_in_progress']);
    }
    const again = await upload(file, { key: 'file-1' });
    expect([again.statusCode, again.body]).toEqual([202, taken[0]!.body]);
    expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true', location: taken[0]!.headers['location'] });
    expect(await api.database.query('SELECT 1 AS one FROM lead_imports')).toHaveLength(before + 1);
    for (const other of [
      await upload('phone\n+14155550124\n', { key: 'file-1' }),
      await upload(file, { key: 'file-1', query: '?source=fair' }),
      await upload(file, { key: 'file-1', type: 'application/x-ndjson' }),
    ]) {
      expect([other.statusCode, other.json().code]).toEqual([422, 'idempotency_key_reused']);
    }
    // Another workspace's key of the same text is another one.
    expect((await upload(file, { key: 'file-1', tenant: api.other })).headers).not.toHaveProperty(
      'idempotent-replayed',
    );
    await runner().drain();
  });

  it('leaves the Idempotency-Key of a file that it did not take free for the mended one', async () => {
    for (const [n, wrong] of ['phone\n', 'name\nAsha\n', ''].entries()) {
      expect((await upload(wrong, { key: `mended-${n}` })).statusCode).toBe(400);
      const mended = await upload('phone\n+14155550123\n', { key: `mended-${n}` });
      expect([mended.statusCode, mended.headers['idempotent-replayed']]).toEqual([202, undefined]);
    }
    expect((await upload('phone\n+14155550123\n', { key: 'a b' })).json().code).toBe('invalid_idempotency_key');
    await runner().drain();
  });

  it('stores 10,000 rows of which every tenth is broken in one of ten ways: 9,000 leads, 1,000 errors at their rows', async () => {
    const broken = [
      '4155550123,no country',
      ',nobody',
      '+1415,short',
      '"+14155550123,never closed',
      '+14155550123',
      '+14155550123,a,b,c,d,e,f,g',
      `+14155550123,${'x'.repeat(121)}`,
      '+14155550123,\ufffd',
      '+14155550123,a\u0000b',
      '"""",quotes',
    ];
    const lines = Array.from({ length: 10_000 }, (_, index) =>
      index % 10 === 9 ? broken[Math.floor(index / 10) % 10]! : `+1415${5_550_000 + index},Lead ${index},e${index}`,
    );
    const { import: done, errors, nextCursor } = await imported(`phone,name,externalId\n${lines.join('\n')}\n`);
    expect(done).toMatchObject({ state: 'completed', totalRows: 10_000, createdCount: 9_000, failedCount: 1_000 });
    expect(errors.map(({ row }: Loose) => row)).toEqual(Array.from({ length: 1_000 }, (_, index) => 10 * index + 10));
    expect(nextCursor).toBeNull();
    expect(await leads()).toHaveLength(9_000);
    const again = await imported(`phone,name,externalId\n${lines.join('\r\n')}\r\n`);
    expect(again.import).toMatchObject({ createdCount: 0, updatedCount: 9_000, failedCount: 1_000 });
    expect(await leads()).toHaveLength(9_000);
  });

  it('pages through its errors', async () => {
    const { import: done } = await imported(`phone\n${'x\n'.repeat(5)}`);
    const first = (await get(`${PATH}/${done.id}/errors?limit=3`)).json();
    const rest = (await get(`${PATH}/${done.id}/errors?limit=3&cursor=${first.nextCursor}`)).json();
    expect([...first.data, ...rest.data].map(({ row }: Loose) => row)).toEqual([1, 2, 3, 4, 5]);
    expect(rest.nextCursor).toBeNull();
    expect((await get(`${PATH}/${done.id}/errors?cursor=AAAA`)).json().code).toBe('invalid_cursor');
  });

  it('changes the lead of a repeated externalId, within a file too: the last row counts', async () => {
    const { import: done } = await imported(
      'phone,externalId,name\n+14155550123,a,One\n+14155550124,b,Two\n+14155550125,a,Three\n',
    );
    expect(done).toMatchObject({ createdCount: 2, updatedCount: 1 });
    expect(await leads()).toMatchObject([
      { external_id: 'a', name: 'Three', phone: '+14155550125' },
      { external_id: 'b', name: 'Two' },
    ]);
  });

  it('fills agent and source of rows that name none; a foreign agent or workspace is the row’s error', async () => {
    const rows = [
      { phone: '+14155550123' },
      { phone: '+14155550124', source: 'own' },
      { phone: '+14155550125', agentId: api.other.agentId },
      { phone: '+14155550126', enterprise: 'other' },
      { phone: '+14155550127', enterprise: 'acme', externalId: 7 },
    ];
    const { errors } = await imported(rows.map((row) => JSON.stringify(row)).join('\n'), {
      type: 'application/x-ndjson',
      query: `?source=fair&agentId=${api.acme.agentId}`,
    });
    expect(await leads()).toMatchObject([
      { source: 'fair', agent_id: api.acme.agentId },
      { source: 'own', agent_id: api.acme.agentId },
    ]);
    expect(errors.map(({ code }: Loose) => code)).toEqual(['agent_not_found', 'other_workspace', 'invalid_externalId']);
    const foreign = await upload('phone\n+1', { query: `?agentId=${api.other.agentId}` });
    expect([foreign.statusCode, foreign.json().code]).toEqual([404, 'agent_not_found']);
  });

  it.each<[string, string | Buffer, string, number, string]>([
    ['nothing', '', 'text/csv', 400, 'import_empty'],
    ['a header alone', 'phone,name\n', 'text/csv', 400, 'import_empty'],
    ['no header', '+14155550123,Asha\n', 'text/csv', 400, 'import_no_phone_column'],
    ['10,001 rows', `phone\n${'+14155550123\n'.repeat(10_001)}`, 'text/csv', 400, 'import_too_many_rows'],
    ['JSON', '[]', 'application/json', 415, 'unsupported_import_type'],
    ['a form', 'x', 'multipart/form-data; boundary=x', 415, 'unsupported_import_type'],
    ['11 MB', Buffer.alloc(11 * 1024 * 1024, 0x61), 'text/csv', 413, 'body_too_large'],
  ])('refuses %s', async (_what, payload, type, status, code) => {
    const answer = await upload(payload, { type });
    expect([answer.statusCode, answer.json().code]).toEqual([status, code]);
  });

  it('is seen by its workspace alone', async () => {
    const { import: done } = await imported('phone\n+14155550123\n');
    const foreign = await get(`${PATH}/${done.id}`, api.other);
    expect([foreign.statusCode, foreign.json().code]).toEqual([404, 'import_not_found']);
    expect((await get(`${PATH}/${uuidv7()}`)).json().code).toBe('import_not_found');
    expect((await get(`${PATH}/7`)).json().code).toBe('invalid_import_id');
    expect(await leads(api.other.workspaceId)).toEqual([]);
  });

  it('stores each row once when process after process dies in it (runners whose database goes away at random)', async () => {
    const rows = Array.from({ length: 2_000 }, (_, index) => (index % 7 === 0 ? 'x' : `+1415${5_550_000 + index}`));
    const answer = await upload(`phone\n${rows.join('\n')}\n`);
    let died = 0;
    const random = createRandom(7);
    for (;;) {
      const dying: Database = {
        ...api.database,
        transaction: (work) =>
          api.database.transaction(async (tx) => {
            const result = await work(tx);
            if (random() < 2 / 3) throw Object.assign(new Error('terminated'), { code: '57P01' });
            return result;
          }),
      };
      const failed = await runner(dying)
        .drain()
        .then(
          () => false,
          () => true,
        );
      if (!failed) break;
      died++;
      await api.database.query('UPDATE lead_imports SET lease_until = NULL');
    }
    expect(died).toBeGreaterThan(2);
    const done = (await get(String(answer.headers['location']))).json();
    expect(done).toMatchObject({ state: 'completed', processedRows: 2_000, createdCount: 1_714, failedCount: 286 });
    expect(await leads()).toHaveLength(1_714);
  });

  it('is not taken by two runners, and a runner that lost its lease stops', async () => {
    await upload(`phone\n${'+14155550123\n'.repeat(1_500)}`);
    const first = runner();
    const firstDone = first.drain();
    await Promise.all([runner().drain(), runner().drain(), firstDone]);
    expect(await leads()).toHaveLength(1_500);
    await upload(`phone\n${'+14155550124\n'.repeat(1_000)}`);
    const slow = runner({
      ...api.database,
      async transaction(work) {
        // Another process thinks that this one is gone.
        await api.database.query(`UPDATE lead_imports SET lease_epoch = lease_epoch + 1 WHERE state = 'running'`);
        return api.database.transaction(work);
      },
    });
    await slow.drain();
    expect(await leads()).toHaveLength(1_500);
    await api.database.query('UPDATE lead_imports SET lease_until = NULL');
    await runner().drain();
    expect(await leads()).toHaveLength(2_500);
  });

  it('stays with the runner whose thread reads a group for longer than the lease lasts', async () => {
    const { import: started } = (await upload('phone\n+14155550123\n')).json();
    const clock = new VirtualClock();
    let isAsked = (): void => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const reading: Pick<ImportReading, 'groups'> = {
      async *groups(order) {
        isAsked();
        await held;
        yield* READING_HERE.groups(order);
      },
    };
    const queries: Promise<unknown>[] = [];
    const database: Database = {
      ...api.database,
      query<Row extends object>(sql: string, parameters?: readonly unknown[]): Promise<Row[]> {
        const answer = api.database.query<Row>(sql, parameters);
        queries.push(answer);
        return answer;
      },
    };
    const slow = createImportRunner({ database, clock, log: pino({ level: 'silent' }), reading });
    const done = slow.drain();
    await asked;
    for (let passedMs = 0; passedMs < 30_000; passedMs += 5_000) {
      // The lease runs by the database's clock, the runner by its own: five seconds pass on both.
      await api.database.query(
        `UPDATE lead_imports SET lease_until = lease_until - interval '5 seconds' WHERE id = $1`,
        [started.id],
      );
      clock.advanceMs(5_000);
      await Promise.all(queries);
    }
    await runner().drain();
    expect(await leads()).toEqual([]);
    goOn();
    await done;
    expect(await leads()).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
    const [row] = await api.database.query<Loose>('SELECT state, lease_epoch FROM lead_imports WHERE id = $1', [
      started.id,
    ]);
    expect(row).toEqual({ state: 'completed', lease_epoch: 1 });
  });

  it('that takes too much to read its rows has failed, and says so', async () => {
    const answer = await upload('phone\n+14155550123\n');
    const costly: Pick<ImportReading, 'groups'> = {
      // biome-ignore lint/correctness/useYield: it is refused before its first group
      async *groups() {
        throw new ImportRefused('import_too_costly', 'too much');
      },
    };
    await runner(api.database, costly).drain();
    expect((await get(String(answer.headers['location']))).json()).toMatchObject({
      state: 'failed',
      error: 'import_too_costly',
      processedRows: 0,
    });
  });

  it('gives the rest back when its process closes, and the next one goes on', async () => {
    await upload(`phone\n${'+14155550123\n'.repeat(2_000)}`);
    const first = runner();
    let groups = 0;
    const watched = runner({
      ...api.database,
      async transaction(work) {
        const result = await api.database.transaction(work);
        if (++groups === 2) void watched.close();
        return result;
      },
    });
    await watched.drain();
    expect(await leads()).toHaveLength(500);
    await first.drain();
    expect(await leads()).toHaveLength(2_000);
  });
});

describe('a file', () => {
  const phone = fc.constantFrom('+14155550101', '+1 415 555-0102', '4155550103', '', 'soon', '+14155550104');
  const row = fc.record(
    {
      phone,
      mobile: fc.constantFrom('', '+14155550101', '+14155550109'),
      name: fc.constantFrom('', 'Asha', ' ', '"Bo"', 'x,y', 'C\nD', 'x'.repeat(121)),
      externalId: fc.constantFrom('', 'a', 'b', 'c'),
      timezone: fc.constantFrom('', 'Europe/Berlin', 'Mars'),
      notes: fc.constantFrom('', 'n'),
    },
    { requiredKeys: ['phone'] },
  );

  it('imports to what its rows give when they are posted one after the other (60 files, CSV and JSON lines)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), fc.boolean(), async (rows, asCsv) => {
        await api.database.query('DELETE FROM leads');
        const filled = rows.filter((one) => Object.values(one).some((value) => (value ?? '').trim() !== ''));
        fc.pre(filled.length > 0);
        const columns = ['phone', 'mobile', 'name', 'externalId', 'timezone', 'notes'] as const;
        const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
        const csvText = [
          columns.join(','),
          ...filled.map((one) => columns.map((name) => cell(one[name] ?? '')).join(',')),
        ].join('\n');
        const text = asCsv ? csvText : filled.map((one) => JSON.stringify(one)).join('\n');
        const { import: done, errors } = await imported(text, { type: asCsv ? 'text/csv' : 'application/x-ndjson' });
        const byFile = await leads();

        await api.database.query('DELETE FROM leads');
        const statuses: number[] = [];
        for (const one of filled) {
          const answer = await api.app.inject({
            method: 'POST',
            url: '/api/developer/leads',
            headers: { authorization: `Bearer ${api.acme.key}` },
            payload: { ...one, enterprise: 'acme' },
          });
          statuses.push(answer.statusCode);
        }
        expect(byFile).toEqual(await leads());
        const count = (status: number): number => statuses.filter((one) => one === status).length;
        expect([done.createdCount, done.updatedCount, done.failedCount]).toEqual([count(201), count(200), count(400)]);
        expect(done.processedRows).toBe(filled.length);
        expect(errors.map((error: Loose) => error.row)).toEqual(
          statuses.flatMap((status, index) => (status === 400 ? [index + 1] : [])),
        );
      }),
      { numRuns: 60, seed: 11 },
    );
  });
});
