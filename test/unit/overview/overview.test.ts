import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCallRefusals, purgeCallRefusals, readCallRefusals } from '../../../src/overview/call-refusals.ts';
import { isOurs, wayOutOf } from '../../../src/overview/way-out.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type ApiFixture, createApiFixture } from '../api/api-fixture.ts';
import { type SignedInPerson, signedIn } from '../api/console-people.ts';

let api: ApiFixture;
let analyst: SignedInPerson;
beforeAll(async () => {
  api = await createApiFixture();
  analyst = await signedIn(api, 'analyst');
});
afterAll(() => api.close());

const overview = async (query: string) => {
  const answer = await analyst.ask('GET', `/w/acme/overview?${query}`);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
};

describe('the overview of a day', () => {
  it('counts the calls of that day in that zone, their rates and replies, and what is live now', async () => {
    const at = (time: string) => `2026-03-29T${time}Z`;
    const latency = (p50: number) => ({ mouthToEarMs: { p50 } });
    const ended = { status: 'completed', ended_reason: 'user_hangup' };
    // As ids are made: of the time of the call.
    const uuid = (index: number) => `019d3a00-0000-7000-8000-00000000000${index}`;
    const rows = [
      {
        ...ended,
        answered_at: at('10:00:01'),
        ended_at: at('10:01:00'),
        created_at: at('10:00:00'),
        latency: latency(700),
      },
      {
        ...ended,
        answered_at: at('11:00:01'),
        ended_at: at('11:01:00'),
        created_at: at('11:00:00'),
        latency: latency(900),
      },
      { status: 'no_answer', ended_reason: 'busy', ended_at: at('12:00:10'), created_at: at('12:00:00') },
      { status: 'failed', ended_reason: 'carrier_auth', ended_at: at('13:00:10'), created_at: at('13:00:00') },
      // It rang: nothing kept it from being dialled.
      {
        status: 'failed',
        ended_reason: 'internal_error',
        ringing_at: at('14:00:05'),
        ended_at: at('14:00:10'),
        created_at: at('14:00:00'),
      },
      // 23:30 in Berlin on the 29th, whose day has 23 hours; and after it.
      { ...ended, answered_at: at('21:30:01'), ended_at: at('21:31:00'), created_at: at('21:30:00') },
      { status: 'failed', ended_reason: 'carrier_auth', ended_at: at('22:00:10'), created_at: at('22:00:00') },
    ];
    for (const [index, row] of rows.entries()) await api.insertCall(api.acme, { call_uuid: uuid(index), ...row });
    await api.insertCall(api.acme, { status: 'ringing' });
    await api.insertCall(api.other, { created_at: at('10:00:00') });

    const berlin = await overview('day=2026-03-29&zone=Europe/Berlin');
    expect(berlin).toMatchObject({
      ...{ from: '2026-03-28T23:00:00.000Z', until: '2026-03-29T22:00:00.000Z', live: 1 },
      ...{ placed: 6, answered: 3, completed: 3, failed: 2, noAnswer: 1, answerRate: 0.5, completionRate: 1 },
      replyMs: { p50: 700, p95: 900, count: 2 },
    });
    expect(berlin.notDialled).toMatchObject([
      { reason: 'carrier_auth', of: 'calls', count: 1, last: '2026-03-29T13:00:00.000Z' },
    ]);
    expect(await overview('day=2026-03-29')).toMatchObject({ placed: 7, failed: 3 });
    expect(await overview('day=2026-01-01')).toMatchObject({ placed: 0, answerRate: null, replyMs: null, live: 1 });
    expect((await analyst.ask('GET', '/w/acme/overview?zone=Mars/Olympus')).json().code).toBe('invalid_request');
  });

  it('says what is not set up, and the way out of each', async () => {
    const { notSetUp, webhooks, disk } = await overview('');
    expect(notSetUp.map(({ what }: { what: string }) => what)).toEqual(['webhook']);
    expect([webhooks, disk]).toEqual([null, { freeBytes: 1, totalBytes: 2 }]);
    const line = `FROM phone_lines WHERE workspace_id = $1`;
    const [{ sealed } = { sealed: null }] = await api.database.query<{ sealed: Buffer | null }>(
      `SELECT credentials_sealed AS sealed ${line}`,
      [api.acme.workspaceId],
    );
    const put = (credentials: Buffer | null) =>
      api.database.query('UPDATE phone_lines SET credentials_sealed = $2 WHERE workspace_id = $1', [
        api.acme.workspaceId,
        credentials,
      ]);
    await put(null);
    const whats = (await overview('')).notSetUp.map(({ what }: { what: string }) => what);
    expect(whats).toEqual(['line', 'webhook']);
    await put(sealed);
  });

  it('says why nothing is dialled: now, and of requests that made no call', async () => {
    api.refused.length = 0;
    api.place = async () => ({ kind: 'blocked', code: 'blocked_suppressed' });
    expect((await api.call()).statusCode).toBe(403);
    expect((await api.call({ to: 'x' })).statusCode).toBe(400);
    expect(api.refused).toEqual([
      [api.acme.workspaceId, 'blocked_suppressed'],
      [api.acme.workspaceId, 'invalid_to'],
    ]);
    const clock = new VirtualClock(Date.now());
    const refusals = createCallRefusals({ database: api.database, clock, log: pino({ level: 'silent' }) });
    for (let times = 0; times < 3; times++) refusals.note(api.acme.workspaceId, 'blocked_suppressed');
    refusals.note(api.other.workspaceId, 'daily_limit');
    await refusals.close();
    refusals.note(api.acme.workspaceId, 'blocked_suppressed');
    await refusals.close();
    api.admission = 'draining';
    const told = await overview('');
    api.admission = 'open';
    expect(told.refusals).toMatchObject([
      { code: 'blocked_suppressed', count: 4, message: 'Call blocked by compliance policy' },
    ]);
    expect(
      told.notDialled.map(({ reason, count }: { reason: string; count: number | null }) => [reason, count]),
    ).toEqual([
      ['draining', null],
      ['blocked_suppressed', 4],
    ]);
    for (const { wayOut } of told.notDialled) expect(wayOut).toMatch(/\w.*\.$/);
    await api.database.query(`UPDATE call_refusals SET quarter = quarter - interval '41 days'`);
    await purgeCallRefusals(api.database);
    const ever = { from: new Date(0), until: new Date(clock.epochMs() + 1e9) };
    expect(await readCallRefusals(api.database, { workspaceId: api.acme.workspaceId, ...ever })).toEqual([]);
  });
});

describe('a way out', () => {
  it("is there for what is ours, and what is the callee's is no reason", () => {
    for (const code of ['carrier_auth', 'llm_error', 'no_media', 'concurrency_limit', 'overloaded'])
      expect(wayOutOf(code)).toMatch(/\.$/);
    expect([isOurs('busy'), isOurs('carrier_auth'), isOurs('nonsense')]).toEqual([false, true, false]);
  });
});
