import fc from 'fast-check';
import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BY_OPERATOR } from '../../../src/audit/audit-entry.ts';
import { appendCallLog } from '../../../src/calls/append-call-log.ts';
import { deleteCallParts } from '../../../src/retention/call-log-delete.ts';
import { type ApiFixture, createApiFixture, type Tenant } from './api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());

interface Page {
  status: number;
  data: { callUuid: string; name: string; transcript: string | null; recovery: unknown[] }[];
  nextCursor: string | null;
  code?: string;
  details?: { field: string; issue: string }[];
}

async function list(query: string, tenant: Tenant = api.acme): Promise<Page> {
  const answer = await api.app.inject({
    url: `/api/developer/calls${query}`,
    headers: { authorization: `Bearer ${tenant.key}` },
  });
  return { status: answer.statusCode, ...answer.json() };
}

const namesOf = (page: Page): string[] => page.data.map((call) => call.name);

const DONE = {
  status: 'completed',
  ended_reason: 'agent_hangup',
  fault: 'none',
  answered_at: '2026-11-20T10:00:00Z',
  ended_at: '2026-11-20T10:01:00Z',
};

async function say(callUuid: string, ...heard: string[]): Promise<void> {
  for (const [index, heardText] of heard.entries()) {
    const turn = {
      turnId: `t${index + 1}`,
      role: 'user',
      startMs: 0,
      endMs: 1,
      text: 'x',
      heardText,
      interrupted: false,
    };
    await api.database.query('INSERT INTO call_turns VALUES ($1, $2, $3, $4)', [callUuid, `t${index}`, index, turn]);
  }
  await api.database.query(`UPDATE calls SET transcript_status = 'ready' WHERE call_uuid = $1`, [callUuid]);
}

describe('the call log', () => {
  it('is listed newest first in pages that miss nothing and repeat nothing, also where times are equal', async () => {
    const made: string[] = [];
    for (let count = 0; count < 23; count++) {
      const created_at = new Date(Date.UTC(2026, 0, 1, 0, 0, Math.floor(count / 4))).toISOString();
      made.push(await api.insertCall(api.acme, { created_at, idempotency_key: 'pages', call_uuid: uuidv7() }));
    }
    const expected = made
      .map((callUuid, index) => ({ callUuid, at: Math.floor(index / 4) }))
      .toSorted((a, b) => b.at - a.at || (a.callUuid < b.callUuid ? 1 : -1))
      .map(({ callUuid }) => callUuid);
    const seen: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 10; pages++) {
      const page = await list(`?idempotencyKey=pages&limit=5${cursor}`);
      seen.push(...page.data.map(({ callUuid }) => callUuid));
      if (page.nextCursor === null) break;
      cursor = `&cursor=${page.nextCursor}`;
    }
    expect(seen).toEqual(expected);
  });

  it('pages through calls that begin, end and are found no more meanwhile: none twice, none of those that stayed left out (25 histories)', async () => {
    let history = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.constantFrom('new', 'same time', 'changed', 'none'), { maxLength: 8 }),
        fc.array(fc.nat(3), { maxLength: 10 }),
        fc.boolean(),
        async (limit, meanwhile, secondsOfCalls, bySearch) => {
          const tag = `history${history++}`;
          const at = (seconds: number): string => new Date(Date.UTC(2026, 2, 1, 0, 0, seconds)).toISOString();
          const insert = (seconds: number) =>
            api.insertCall(api.acme, { name: tag, idempotency_key: tag, created_at: at(seconds) });
          const calls: string[] = [];
          for (const seconds of secondsOfCalls) calls.push(await insert(seconds));
          const changing = calls.filter((_call, index) => index % 3 === 1);
          const stable = calls.filter((_call, index) => index % 3 !== 1);
          const filter = bySearch ? `q=${tag}` : `idempotencyKey=${tag}`;
          const seen: string[] = [];
          let cursor = '';
          for (let page = 0; ; page++) {
            const { data, nextCursor } = await list(`?${filter}&limit=${limit}${cursor}`);
            seen.push(...data.map(({ callUuid }) => callUuid));
            if (nextCursor === null) break;
            cursor = `&cursor=${nextCursor}`;
            const effect = meanwhile[page] ?? 'none';
            if (effect === 'new') await insert(10);
            if (effect === 'same time') await insert(secondsOfCalls[0]!);
            const changed = effect === 'changed' ? changing.pop() : undefined;
            if (changed !== undefined) {
              const sql = `UPDATE calls SET name = 'other', idempotency_key = 'other' WHERE call_uuid = $1`;
              await api.database.query(sql, [changed]);
            }
          }
          expect(new Set(seen).size).toBe(seen.length);
          expect(stable.filter((callUuid) => !seen.includes(callUuid))).toEqual([]);
        },
      ),
      { numRuns: 25, seed: 13 },
    );
  });

  it('has each entry as it is read alone', async () => {
    const callUuid = await api.insertCall(api.acme, { ...DONE, name: 'Whole', idempotency_key: 'whole' });
    await say(callUuid, 'good morning');
    const { data } = await list('?idempotencyKey=whole');
    const alone = await api.app.inject({
      url: `/api/developer/calls/${callUuid}`,
      headers: { authorization: `Bearer ${api.acme.key}` },
    });
    expect(data).toEqual([alone.json()]);
  });

  it('never shows or finds calls of another workspace, whatever is asked for', async () => {
    const callUuid = await api.insertCall(api.other, { ...DONE, name: 'Zerlina', idempotency_key: 'foreign' });
    const queries = [
      '?q=zerlina',
      '?idempotencyKey=foreign',
      `?agentId=${api.other.agentId}`,
      `?from=${api.other.lineId}`,
    ];
    for (const query of queries) {
      expect(await list(query), query).toEqual({ status: 200, data: [], nextCursor: null });
      expect(
        (await list(query, api.other)).data.map((call) => call.callUuid),
        query,
      ).toContain(callUuid);
    }
    const all = await list('?limit=200');
    expect(all.data.map((call) => call.callUuid)).not.toContain(callUuid);
  });

  it('wants calls:read', async () => {
    expect((await api.app.inject('/api/developer/calls')).statusCode).toBe(401);
  });
});

describe('calls in which the caller cut the agent off', () => {
  it('are found by hasBargeIn once they are over', async () => {
    const base = { ...DONE, idempotency_key: 'barge' };
    const cut = await api.insertCall(api.acme, { ...base, name: 'cut' });
    const heard = await api.insertCall(api.acme, { ...base, name: 'heard' });
    for (const [callUuid, interrupted] of [
      [cut, true],
      [heard, false],
    ] as const) {
      await api.database.query(
        `INSERT INTO call_turns VALUES ($1, 't1', 0, jsonb_build_object('turnId', 't1', 'role', 'agent', 'startMs', 0, 'endMs', 1,
           'text', 'We are open.', 'heardText', 'We are', 'interrupted', $2::boolean))`,
        [callUuid, interrupted],
      );
      await say(callUuid, 'yes please');
    }
    expect(namesOf(await list('?idempotencyKey=barge&hasBargeIn=true'))).toEqual(['cut']);
    expect(namesOf(await list('?idempotencyKey=barge&hasBargeIn=false'))).toEqual(['heard']);
  });
});

describe('calls in which the script was told what it did not expect', () => {
  it('are found by hasUnclear once they are over, shown with the guess, and not found when their transcript is deleted', async () => {
    const base = { ...DONE, idempotency_key: 'unclear' };
    const free = await api.insertCall(api.acme, { ...base, name: 'free' });
    const plain = await api.insertCall(api.acme, { ...base, name: 'plain' });
    await say(plain, 'yes please');
    const unclear = { guess: 'yes please', confidence: 0.4 };
    await api.database.query(
      `INSERT INTO call_turns VALUES ($1, 't1', 0, jsonb_build_object('turnId', 't1', 'role', 'user', 'startMs', 0, 'endMs', 1,
         'text', '[unclear]', 'heardText', '[unclear]', 'interrupted', false, 'kind', 'unclear', 'unclear', $2::jsonb))`,
      [free, JSON.stringify(unclear)],
    );
    await say(free);
    expect(namesOf(await list('?idempotencyKey=unclear&hasUnclear=true'))).toEqual(['free']);
    expect(namesOf(await list('?idempotencyKey=unclear&hasUnclear=false'))).toEqual(['plain']);
    const { data } = await list('?idempotencyKey=unclear&hasUnclear=true');
    expect(data[0]).toMatchObject({ turns: [{ text: '[unclear]', heardText: '[unclear]', kind: 'unclear', unclear }] });
    expect(namesOf(await list('?idempotencyKey=unclear&q=%22yes%20please%22'))).toEqual(['plain']);

    await api.database.query('DELETE FROM call_turns WHERE call_uuid = $1', [free]);
    await api.database.query(`UPDATE calls SET transcript_status = 'deleted' WHERE call_uuid = $1`, [free]);
    expect(namesOf(await list('?idempotencyKey=unclear&hasUnclear=true'))).toEqual([]);
  });
});

describe('a filter of the call log', () => {
  const tag = 'filters';
  beforeAll(async () => {
    const base = { ...DONE, idempotency_key: tag };
    const insert = (name: string, change: object) => api.insertCall(api.acme, { ...base, name, ...change });
    await insert('plain', {
      created_at: '2026-11-01T00:00:00Z',
      metadata: { plan: 'gold', 'secret.pin': '1234', n: 7 },
    });
    await insert('busy', {
      created_at: '2026-11-02T00:00:00Z',
      status: 'no_answer',
      ended_reason: 'busy',
      fault: 'callee',
      answered_at: null,
      to_number: '+14155550777',
    });
    await insert('long', {
      created_at: '2026-11-03T00:00:00Z',
      answered_at: '2026-11-20T10:00:00Z',
      ended_at: '2026-11-20T11:00:00Z',
      answered_by: 'human',
      latency: { mouthToEarMs: { p95: 1100 } },
      metadata: { plan: "o'hara \\ 'x'", note: 'y'.repeat(1_500) },
    });
    await insert('live', {
      created_at: '2026-11-04T00:00:00Z',
      status: 'in_progress',
      ended_reason: null,
      fault: null,
      ended_at: null,
      channel: 'web',
      direction: 'inbound',
      from_number: '+442071838750',
      epoch: 2,
    });
  });
  const found = async (query: string): Promise<string[]> => namesOf(await list(`?idempotencyKey=${tag}&${query}`));

  it('with hasRecovery finds the calls whose `recovery` says how they went on, and no other, also when their events are gone', async () => {
    const over = {
      idempotency_key: 'recovered',
      status: 'completed',
      ended_reason: 'user_hangup',
      ended_at: new Date(),
    };
    const thread = await api.insertCall(api.acme, over);
    const stream = await api.insertCall(api.acme, over);
    const whole = await api.insertCall(api.acme, over);
    const line = (kind: string, data: object) => [{ kind, data, atEpochMs: api.clock.epochMs() }];
    await appendCallLog(api.database, thread, line('recovery', { what: 'pipeline_thread', gapMs: 420, atMs: 7_000 }));
    await appendCallLog(api.database, stream, line('media.claimed', { mediaId: 'media-1', epoch: 1 }));
    await appendCallLog(api.database, stream, line('media.claimed', { mediaId: 'media-2', epoch: 2 }));
    await appendCallLog(api.database, whole, line('media.claimed', { mediaId: 'media-1', epoch: 1 }));
    await api.database.query('UPDATE calls SET epoch = 2 WHERE call_uuid = $1', [stream]);
    const rewrite = `SELECT call_search_write(c) FROM calls c WHERE c.idempotency_key = 'recovered'`;
    await api.database.query(rewrite);
    const recoveries = async (query: string): Promise<Record<string, unknown>> => {
      const { data } = await list(`?idempotencyKey=recovered${query}`);
      return Object.fromEntries(data.map((call) => [call.callUuid, call.recovery]));
    };
    const all = {
      [thread]: [{ what: 'pipeline_thread', at: expect.any(String), atMs: 7_000, gapMs: 420, message: null }],
      [stream]: [{ what: 'media_stream', at: expect.any(String), atMs: null, gapMs: null, message: null }],
      [whole]: [],
    };
    expect(await recoveries('')).toEqual(all);
    expect(await recoveries('&hasRecovery=true')).toEqual({ [thread]: all[thread], [stream]: all[stream] });
    expect(await recoveries('&hasRecovery=false')).toEqual({ [whole]: [] });

    const eraser = api.recordings.eraser;
    for (const callUuid of [thread, stream]) {
      const request = { workspaceId: api.acme.workspaceId, callUuid, parts: ['events' as const], by: BY_OPERATOR };
      await deleteCallParts({ ...api, eraser }, { ...request, cause: 'erase' });
    }
    const left = [{ what: 'media_stream', at: null, atMs: null, gapMs: null, message: null }];
    expect(await recoveries('&hasRecovery=true')).toEqual({ [stream]: left });
    expect(await recoveries('&hasRecovery=false')).toEqual({ [whole]: [], [thread]: [] });
    await api.database.query(`DELETE FROM call_events WHERE call_uuid = ANY ($1)`, [[thread, stream, whole]]);
    await api.database.query(`DELETE FROM calls WHERE idempotency_key = 'recovered'`);
  });

  const cases: [string, string[]][] = [
    ['status=completed', ['long', 'plain']],
    ['status=no_answer,in_progress', ['live', 'busy']],
    ['endedReason=busy', ['busy']],
    ['fault=callee', ['busy']],
    ['channel=web', ['live']],
    ['direction=inbound', ['live']],
    ['to=%2B14155550777', ['busy']],
    ['from=%2B442071838750', ['live']],
    ['answeredBy=human', ['long']],
    ['createdAfter=2026-11-03T00:00:00Z', ['live', 'long']],
    ['createdBefore=2026-11-03T00:00:00Z', ['busy', 'plain']],
    ['createdAfter=2026-11-02T01:00:00%2B01:00&createdBefore=2026-11-04T00:00:00Z', ['long', 'busy']],
    ['minDuration=60', ['long', 'plain']],
    ['minDuration=60.1', ['long']],
    ['maxDuration=60', ['plain']],
    ['mouthToEarP95Gte=1100', ['long']],
    ['mouthToEarP95Gte=1101', []],
    ['hasRecovery=true', ['live']],
    ['hasRecovery=false', ['long', 'busy', 'plain']],
    ['hasUnclear=true', []],
    ['hasBargeIn=true', []],
    ['toolErrored=true', []],
    ['metadata.plan=gold', ['plain']],
    ['metadata.n=7', ['plain']],
    ['metadata.plan=silver', []],
    [`metadata.plan=${encodeURIComponent("o'hara \\ 'x'")}`, ['long']],
    [`metadata.note=${'y'.repeat(1_500)}`, ['long']],
    ['intent=book_appointment', []],
    ['sentiment=positive', []],
    ['successful=true', []],
    [`leadId=${uuidv4()}`, []],
    [`campaignId=${uuidv4()}`, []],
    [`agentId=${uuidv4()}`, []],
    ['status=completed&maxDuration=100&metadata.plan=gold', ['plain']],
    ['status=completed&direction=inbound', []],
  ];
  it.each(cases)('%s', async (query, names) => {
    expect(await found(query)).toEqual(names);
  });

  it('takes ids of agents and phone number records', async () => {
    const all = ['live', 'long', 'busy', 'plain'];
    expect(await found(`agentId=${api.acme.agentId.toUpperCase()}`)).toEqual(all);
    expect(await found(`from=${api.acme.lineId}`)).toEqual(all);
  });

  it('follows a call as it changes, at once', async () => {
    const callUuid = await api.insertCall(api.acme, { idempotency_key: 'changes', name: 'Moves' });
    const at = async (query: string): Promise<number> => (await list(`?idempotencyKey=changes&${query}`)).data.length;
    expect([await at('status=dialing'), await at('status=completed')]).toEqual([1, 0]);
    await api.database.query(
      `UPDATE calls SET status = 'completed', ended_reason = 'user_hangup', ended_at = now(), answered_at = now() - interval '9 s' WHERE call_uuid = $1`,
      [callUuid],
    );
    expect([await at('status=dialing'), await at('status=completed'), await at('minDuration=9')]).toEqual([0, 1, 1]);
  });

  it('that cannot be meant is refused with its name: unknown, misspelt, empty, out of range, secret', async () => {
    const wrong: [string, string][] = [
      ['stauts=failed', 'stauts'],
      ['status=done', 'status.0'],
      ['status=', 'status.0'],
      ['agentId=x', 'agentId.0'],
      ['successful=yes', 'successful'],
      ['createdAfter=yesterday', 'createdAfter'],
      ['createdAfter=0000-01-01T00:00:00Z', 'createdAfter'],
      ['createdBefore=2026-11-21T00:00:00%2B20:00', 'createdBefore'],
      ['minDuration=-1', 'minDuration'],
      ['limit=0', 'limit'],
      ['limit=201', 'limit'],
      ['q=%20-%22', 'q'],
      ['q=a%00b', 'q'],
      ['metadata.secret.pin=1234', 'metadata.secret.pin'],
      ['metadata.=1', 'metadata.'],
      ['metadata.a%20b=1', 'metadata.a b'],
      ['metadata.plan=a&metadata.plan=b', 'metadata.plan'],
      ['status=failed&status=completed', 'status'],
    ];
    for (const [query, field] of wrong) {
      const { status, code, details } = await list(`?${query}`);
      expect([status, code, details?.map((one) => one.field)], query).toEqual([400, 'invalid_request', [field]]);
    }
  });
});

describe('a search of the call log', () => {
  const found = async (words: string): Promise<string[]> =>
    namesOf(await list(`?idempotencyKey=search&q=${encodeURIComponent(words)}`)).toSorted();

  beforeAll(async () => {
    const one = await api.insertCall(api.acme, {
      ...DONE,
      name: 'Asha Rao',
      idempotency_key: 'search',
      to_number: '+14155550199',
    });
    await say(one, 'I would like to book the early appointment', 'thank you very much');
    const two = await api.insertCall(api.acme, {
      ...DONE,
      name: 'Bela',
      idempotency_key: 'search',
      to_number: '+442071838750',
    });
    await say(two, 'please cancel the appointment', 'the book of early music');
  });

  it('finds words as heard, names in any case, phrases, one of several, and leaves out what is not wanted', async () => {
    expect(await found('appointment')).toEqual(['Asha Rao', 'Bela']);
    expect(await found('ASHA')).toEqual(['Asha Rao']);
    expect(await found('cancel appointment')).toEqual(['Bela']);
    expect(await found('"early appointment"')).toEqual(['Asha Rao']);
    expect(await found('"much please"')).toEqual([]);
    expect(await found('appointment -"early music"')).toEqual(['Asha Rao']);
    expect(await found('book -"music early"')).toEqual(['Asha Rao', 'Bela']);
    expect(await found('"early appointment" or "early music"')).toEqual(['Asha Rao', 'Bela']);
    expect(await found('cancel or thank')).toEqual(['Asha Rao', 'Bela']);
    expect(await found('appointment -cancel')).toEqual(['Asha Rao']);
    expect(await found('-cancel')).toEqual(['Asha Rao']);
    expect(await found("'; drop table calls; --")).toEqual([]);
  });

  it('finds a number whole, with spaces and signs, without its plus, and by its last 10, 7 or 4 digits', async () => {
    for (const words of ['+14155550199', '14155550199', '(415) 555-0199', '555-0199', '0199']) {
      expect(await found(words), words).toEqual(['Asha Rao']);
    }
    expect(await found('2071838750')).toEqual(['Bela']);
  });

  it('finds neither words that were not heard nor values of metadata nor our own marks', async () => {
    const callUuid = await api.insertCall(api.acme, {
      ...DONE,
      idempotency_key: 'search',
      name: 'Cleo',
      metadata: { plan: 'platinum' },
    });
    await api.database.query(`INSERT INTO call_turns VALUES ($1, 't1', 1, '{"text":"unplayed","heardText":""}')`, [
      callUuid,
    ]);
    await api.database.query(`UPDATE calls SET transcript_status = 'ready' WHERE call_uuid = $1`, [callUuid]);
    for (const words of ['unplayed', 'platinum', 'status=completed', api.acme.workspaceId]) {
      expect(await found(words), words).toEqual([]);
    }
  });

  it('finds beyond the newest 1,000 calls, and pages on there', async () => {
    await api.database.query(
      `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, to_number, from_number, name, request_id, status, carrier, created_at)
       SELECT ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, $2, 1, $3, '+14155550123', '+14155550100',
              CASE WHEN n % 500 = 7 THEN 'Quirinius' ELSE 'Crowd' END, 'r', 'dialing', 'plivo', timestamptz '2026-06-01' + n * interval '1 s'
         FROM generate_series(1, 3000) AS n`,
      [api.other.workspaceId, api.other.agentId, api.other.lineId],
    );
    const first = await list('?q=quirinius&limit=4', api.other);
    const second = await list(`?q=quirinius&limit=4&cursor=${first.nextCursor}`, api.other);
    expect([...first.data, ...second.data].map((call) => Number(call.callUuid.slice(-12)))).toEqual([
      2507, 2007, 1507, 1007, 507, 7,
    ]);
    expect(second.nextCursor).toBeNull();
    // Just as many as a page wants stand among the newest: there are more all the same.
    expect((await list('?q=quirinius&limit=2', api.other)).nextCursor).not.toBeNull();
    expect((await list('?q=crowd&limit=200', api.other)).data).toHaveLength(200);
  });
});

describe('a cursor of the call log', () => {
  it('that was changed, or comes from other filters or another workspace, is 400 invalid_cursor', async () => {
    for (let count = 0; count < 3; count++) await api.insertCall(api.acme, { idempotency_key: 'cursor' });
    const { nextCursor } = await list('?idempotencyKey=cursor&limit=1');
    expect((await list(`?idempotencyKey=cursor&limit=2&cursor=${nextCursor}`)).data).toHaveLength(2);
    const foreign: [string, Tenant][] = [
      [`?limit=1&cursor=${nextCursor}`, api.acme],
      [`?idempotencyKey=other&cursor=${nextCursor}`, api.acme],
      [`?idempotencyKey=cursor&cursor=${nextCursor}`, api.other],
      [`?idempotencyKey=cursor&cursor=${nextCursor}A`, api.acme],
      [`?idempotencyKey=cursor&cursor=`, api.acme],
    ];
    for (const [query, tenant] of foreign) {
      const { status, code } = await list(query, tenant);
      expect([status, code], query).toEqual([400, 'invalid_cursor']);
    }
  });
});
