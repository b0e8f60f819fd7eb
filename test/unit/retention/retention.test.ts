import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BY_OPERATOR } from '../../../src/audit/audit-entry.ts';
import { CALL_PARTS, type CallPart } from '../../../src/calls/call-parts.ts';
import { listHolds, placeHold, releaseHold } from '../../../src/retention/legal-holds.ts';
import { listReceipts } from '../../../src/retention/purge-receipts.ts';
import { createRetentionPurge, type RetentionPurge } from '../../../src/retention/retention-purge.ts';
import { readRetention, setRetention } from '../../../src/retention/retention-rules.ts';
import { putStored, toneFile } from '../../support/encrypted-recording.ts';
import { type ApiFixture, createApiFixture, SEALER } from '../api/api-fixture.ts';

const DAY_MS = 86_400_000;
const SOUND = toneFile(1);

let api: ApiFixture;
let purge: RetentionPurge;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.database.query('UPDATE calls SET purged_kinds = $1', [CALL_PARTS]);
  await api.database.query('DELETE FROM retention_rules');
  purge = createRetentionPurge({
    database: api.database,
    clock: api.clock,
    log: pino({ level: 'silent' }),
    eraser: api.recordings.eraser,
  });
});

const workspace = () => ({ workspaceId: api.acme.workspaceId, agentId: null });
const agent = () => ({ workspaceId: api.acme.workspaceId, agentId: api.acme.agentId });

async function ended(daysAgo: number, change: Record<string, unknown> = {}, tenant = api.acme): Promise<string> {
  const at = new Date(api.clock.epochMs() - daysAgo * DAY_MS);
  const callUuid = await api.insertCall(tenant, {
    status: 'completed',
    ended_reason: 'agent_hangup',
    answered_at: at,
    ended_at: at,
    transcript_status: 'ready',
    name: 'Asha',
    ...change,
  });
  await putStored(
    { database: api.database, sealer: SEALER, store: api.recordings.stores.current },
    { callUuid, plain: SOUND },
  );
  await api.database.query(`INSERT INTO call_turns VALUES ($1, 't1', 1, '{"heardText":"hello"}')`, [callUuid]);
  return callUuid;
}

async function stateOf(callUuid: string): Promise<unknown[]> {
  const [row] = await api.database.query<{ recording: string; transcript: string; name: string }>(
    'SELECT recording_status AS recording, transcript_status AS transcript, name FROM calls WHERE call_uuid = $1',
    [callUuid],
  );
  return [row!.recording, row!.transcript, row!.name];
}

const removed = async (): Promise<Partial<Record<CallPart, number>>> =>
  Object.fromEntries(Object.entries((await purge.run()).removed).filter(([, calls]) => calls > 0));

describe('retention', () => {
  it('is 365 days a kind, unless the workspace says otherwise, and an agent’s own word wins over it', async () => {
    expect(await readRetention(api.database, workspace())).toEqual({
      recording: 365,
      transcript: 365,
      analysis: 365,
      events: 365,
      metadata: 365,
    });
    await setRetention(api.database, workspace(), { recording: 30, transcript: 90 }, BY_OPERATOR);
    await setRetention(api.database, agent(), { recording: 7, events: 0 }, BY_OPERATOR);
    expect(await readRetention(api.database, agent())).toEqual({
      recording: 7,
      transcript: 90,
      analysis: 365,
      events: 0,
      metadata: 365,
    });
    expect(await setRetention(api.database, agent(), { recording: null }, BY_OPERATOR)).toMatchObject({
      recording: 30,
    });
    expect(await readRetention(api.database, { ...workspace(), workspaceId: api.other.workspaceId })).toMatchObject({
      recording: 365,
    });
    const audited = await api.database.query<{ action: string; target: string }>(
      `SELECT action, target FROM audit_log WHERE action = 'retention.changed' ORDER BY at`,
    );
    expect(audited.map(({ target }) => target)).toEqual([
      `workspace:${api.acme.workspaceId}`,
      `agent:${api.acme.agentId}`,
      `agent:${api.acme.agentId}`,
    ]);
  });

  it('of several nodes that purge at the same time one removes each kind, with one receipt and one line of the audit', async () => {
    const call = await ended(400);
    const others = Array.from({ length: 3 }, () =>
      createRetentionPurge({
        database: api.database,
        clock: api.clock,
        log: pino({ level: 'silent' }),
        eraser: api.recordings.eraser,
      }),
    );
    await Promise.all([purge, ...others].map((one) => one.run()));
    const [counted] = await api.database.query(
      `SELECT (SELECT count(*)::int FROM purge_receipts WHERE call_uuid = $1) AS receipts,
              (SELECT count(*)::int FROM audit_log WHERE target = 'call:' || $1::text) AS audited`,
      [call],
    );
    expect(counted).toEqual({ receipts: CALL_PARTS.length, audited: CALL_PARTS.length });
  });

  it.each([
    [{ recording: -1 }, 'recording is kept from 0 to 3650'],
    [{ recording: 3651 }, 'recording is kept from 0 to 3650'],
    [{ recording: 1.5 }, 'recording is kept from 0 to 3650'],
    [{ voice: 3 }, "There is no kind 'voice'"],
  ])('refuses %j', async (change, why) => {
    await expect(setRetention(api.database, workspace(), change as never, BY_OPERATOR)).rejects.toThrow(why);
  });

  it('refuses an agent of another workspace', async () => {
    const foreign = { workspaceId: api.acme.workspaceId, agentId: api.other.agentId };
    await expect(setRetention(api.database, foreign, { recording: 1 }, BY_OPERATOR)).rejects.toThrow('no agent');
  });
});

describe('the purge', () => {
  it('removes each kind after its own days and no day before, once, with a receipt and an audit row', async () => {
    await setRetention(api.database, workspace(), { recording: 30, transcript: 90 }, BY_OPERATOR);
    const young = await ended(29.99);
    const old = await ended(30.01);
    const older = await ended(91);
    expect(await removed()).toEqual({ recording: 2, transcript: 1 });
    expect(await removed()).toEqual({});
    expect(await stateOf(young)).toEqual(['ready', 'ready', 'Asha']);
    expect(await stateOf(old)).toEqual(['deleted', 'ready', 'Asha']);
    expect(await stateOf(older)).toEqual(['deleted', 'deleted', 'Asha']);
    const receipts = await listReceipts(api.database, {
      workspaceId: api.acme.workspaceId,
      callUuid: [older],
      limit: 9,
    });
    expect(receipts.map(({ kinds, cause, actor }) => [kinds, cause, actor])).toEqual([
      [['transcript'], 'retention', 'system:retention'],
      [['recording'], 'retention', 'system:retention'],
    ]);
    expect(receipts[1]!.removed.recordings).toEqual([{ epoch: 1, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    const [audited] = await api.database.query<{ actor: string }>(
      `SELECT actor FROM audit_log WHERE target = $1 LIMIT 1`,
      [`call:${old}`],
    );
    expect(audited!.actor).toBe('system:retention');
    expect((await api.recordings.stores.current.list('')).filter((key) => key.includes(older))).toEqual([]);
  });

  it('keeps an agent’s calls by the agent’s days, and another workspace’s by its own', async () => {
    await setRetention(api.database, workspace(), { recording: 10 }, BY_OPERATOR);
    await setRetention(api.database, agent(), { recording: 40 }, BY_OPERATOR);
    const own = await ended(20);
    const foreign = await ended(20, {}, api.other);
    expect(await removed()).toEqual({});
    await setRetention(api.database, agent(), { recording: null }, BY_OPERATOR);
    expect(await removed()).toEqual({ recording: 1 });
    expect((await stateOf(own))[0]).toBe('deleted');
    expect((await stateOf(foreign))[0]).toBe('ready');
  });

  it('with 0 days removes at the next hour after the call’s end, and of a call that lives nothing', async () => {
    await setRetention(api.database, workspace(), { metadata: 0 }, BY_OPERATOR);
    const done = await ended(0);
    const live = await api.insertCall(api.acme, { status: 'in_progress', answered_at: new Date(), name: 'Live' });
    expect(await removed()).toEqual({ metadata: 1 });
    expect((await stateOf(done))[2]).toBe('');
    expect((await stateOf(live))[2]).toBe('Live');
  });

  it('and everybody else is stopped by a legal hold, of one call or of all, until it is released', async () => {
    await setRetention(api.database, workspace(), { recording: 1 }, BY_OPERATOR);
    const held = await ended(5);
    const free = await ended(5);
    const at = new Date(api.clock.epochMs());
    const { workspaceId } = api.acme;
    const hold = await placeHold(api.database, { workspaceId, callUuid: held, reason: 'case 7', by: BY_OPERATOR, at });
    expect(await removed()).toEqual({ recording: 1 });
    expect([(await stateOf(held))[0], (await stateOf(free))[0]]).toEqual(['ready', 'deleted']);
    const asked = await api.app.inject({
      method: 'DELETE',
      url: `/api/developer/calls/${held}?kind=all`,
      headers: { authorization: `Bearer ${api.acme.key}` },
    });
    expect([asked.statusCode, asked.json().code]).toEqual([409, 'legal_hold']);
    expect(await listHolds(api.database, workspaceId)).toMatchObject([{ callUuid: held, reason: 'case 7' }]);
    await expect(
      releaseHold(api.database, { workspaceId: api.other.workspaceId, id: hold.id, by: BY_OPERATOR, at }),
    ).rejects.toThrow('No hold');
    const [ann, bo, key] = [{ actor: 'user:ann' }, { actor: 'user:bo' }, { actor: 'key:k' }] as const;
    const persons = await placeHold(api.database, { workspaceId, callUuid: null, reason: 'hers', by: ann, at });
    await expect(releaseHold(api.database, { workspaceId, id: persons.id, by: key, at })).rejects.toThrow('A person');
    await releaseHold(api.database, { workspaceId, id: persons.id, by: bo, at });
    for (const by of [bo, key]) {
      await expect(releaseHold(api.database, { workspaceId, id: hold.id, by, at })).rejects.toThrow('The operator');
    }
    const all = await placeHold(api.database, { workspaceId, callUuid: null, reason: 'audit', by: BY_OPERATOR, at });
    await releaseHold(api.database, { workspaceId, id: hold.id, by: BY_OPERATOR, at });
    expect(await removed()).toEqual({});
    await releaseHold(api.database, { workspaceId, id: all.id, by: BY_OPERATOR, at });
    expect(await removed()).toEqual({ recording: 1 });
    await expect(
      placeHold(api.database, { workspaceId: api.other.workspaceId, callUuid: held, reason: 'x', by: BY_OPERATOR, at }),
    ).rejects.toThrow('no call');
  });

  it('comes each hour by itself, puts off one after the wall clock was set, and ends when it is closed', async () => {
    await setRetention(api.database, workspace(), { recording: 1 }, BY_OPERATOR);
    const due = await ended(1.02);
    purge.start();
    api.clock.advanceMs(61_000);
    while ((await stateOf(due))[0] !== 'deleted') await new Promise((resolve) => setImmediate(resolve));
    const later = await ended(0.5);
    // Somebody sets the clock a year on: nothing goes for it.
    api.clock.setEpochMs(api.clock.epochMs() + 365 * DAY_MS);
    const asked = { workspaceId: api.acme.workspaceId };
    expect(await purge.run(asked)).toMatchObject({ putOff: true });
    expect(await purge.run()).toMatchObject({ putOff: true });
    expect(await purge.run(asked)).toMatchObject({ putOff: true });
    expect(purge.figures.putOff).toBe(3);
    expect((await stateOf(later))[0]).toBe('ready');
    api.clock.setEpochMs(api.clock.epochMs() - 365 * DAY_MS);
    expect(await purge.run()).toMatchObject({ putOff: true });
    expect(await purge.run()).toMatchObject({ putOff: false });
    expect((await stateOf(later))[0]).toBe('ready');
    await purge.close();
    api.clock.advanceMs(3 * 3_600_000);
    expect((await stateOf(later))[0]).toBe('ready');
  });

  it('goes on with the next call when one cannot be removed, and counts it', async () => {
    await setRetention(api.database, workspace(), { events: 1 }, BY_OPERATOR);
    const [first, second] = [await ended(2), await ended(2)];
    const broken = { ...api.database, transaction: api.database.transaction };
    let fail = true;
    broken.transaction = async (work) => {
      if (fail) {
        fail = false;
        throw new Error('the database hiccups');
      }
      return api.database.transaction(work);
    };
    const shaky = createRetentionPurge({
      database: broken,
      clock: api.clock,
      log: pino({ level: 'silent' }),
      eraser: api.recordings.eraser,
    });
    expect((await shaky.run()).removed.events).toBe(1);
    expect(shaky.figures.failed).toBe(1);
    expect((await shaky.run()).removed.events).toBe(1);
    expect(first).not.toBe(second);
  });
});
