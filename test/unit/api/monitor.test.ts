/** Who may listen in: tokens, their one use, workspaces, rights that end, and what the audit log says of it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { revokeSession } from '../../../src/users/sessions.ts';
import { eventually } from '../../support/eventually.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';
import { type SignedInPerson, signedIn } from './console-people.ts';

const MEDIA = { runId: 'run-1', run: {} };

let api: ApiFixture;
let owner: SignedInPerson;
let callUuid: string;
beforeAll(async () => {
  api = await createApiFixture();
  owner = await signedIn(api, 'owner');
});
afterAll(async () => {
  await api.monitors.close();
  await api.close();
});
beforeEach(async () => {
  callUuid = await liveCall();
  api.clock.advanceMs(2_000);
  api.toMedia.length = 0;
});

const liveCall = (change = {}): Promise<string> =>
  api.insertCall(api.acme, { status: 'in_progress', answered_at: new Date(), owner_run: 'run-1', ...change });

const asks = (who: SignedInPerson, call = callUuid, enterprise = 'acme') =>
  who.ask('post', `/w/${enterprise}/calls/${call}/monitor`, { payload: {} });

async function tokenOf(who: SignedInPerson): Promise<string> {
  const answer = await asks(who);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json().token;
}

async function listens(who: SignedInPerson): Promise<string> {
  const answer = await api.monitors.claim(MEDIA, await tokenOf(who));
  if (!answer.ok) throw new Error(answer.code);
  return answer.monitorId;
}

const audited = (of = callUuid) =>
  api.database.query<{ actor: string; action: string; after: Record<string, unknown> }>(
    `SELECT actor, action, after::jsonb AS after FROM audit_log WHERE target = $1 ORDER BY at, id`,
    [`call:${of}`],
  );

describe('a token to listen', () => {
  test('is good once, for a minute, and what was said so far comes with it', async () => {
    const turn = { turnId: 't1', role: 'agent', startMs: 0, endMs: 9, text: 'Hi', heardText: 'Hi', interrupted: false };
    await api.database.query('INSERT INTO call_turns VALUES ($1, $2, 0, $3)', [callUuid, 't1', turn]);
    const token = await tokenOf(owner);
    expect(token).toMatch(/^[\w-]{43}$/);
    const both = await Promise.all([api.monitors.claim(MEDIA, token), api.monitors.claim(MEDIA, token)]);
    expect(both).toEqual([
      { ok: true, monitorId: expect.any(String), callUuid, turns: [turn] },
      { ok: false, code: 'token_invalid' },
    ]);
    const late = await tokenOf(owner);
    api.clock.advanceMs(60_000);
    expect(await api.monitors.claim(MEDIA, late)).toEqual({ ok: false, code: 'token_invalid' });
    expect(api.logLines.join('')).not.toContain(token);
  });

  test('is for a call that is answered, of the own workspace, by who may listen', async () => {
    const other = await signedIn(api, 'owner', { tenant: api.other });
    expect((await asks(other, callUuid, 'other')).json().code).toBe('call_not_found');
    expect((await asks(other)).json().code).toBe('workspace_not_found');
    const ringing = await api.insertCall(api.acme, { status: 'ringing' });
    expect((await asks(owner, ringing)).json().code).toBe('call_not_in_progress');
    const analyst = await signedIn(api, 'analyst', { hears: true });
    expect((await asks(analyst)).json().code).toBe('role_insufficient');
    expect((await asks(await signedIn(api, 'supervisor'))).statusCode).toBe(200);
  });

  test('that came to a process without the call is good for the next try', async () => {
    const token = await tokenOf(owner);
    expect(await api.monitors.claim({ runId: 'run-2', run: {} }, token)).toEqual({ ok: false, code: 'elsewhere' });
    expect(await api.monitors.claim(MEDIA, token)).toMatchObject({ ok: true });
  });

  test('is worth nothing once the session or the call is over', async () => {
    const gone = await signedIn(api, 'admin');
    const token = await tokenOf(gone);
    await revokeSession(api.database, { userId: gone.person.id, sessionId: gone.sessionId });
    expect(await api.monitors.claim(MEDIA, token)).toEqual({ ok: false, code: 'session_over' });
    const ofOver = await tokenOf(owner);
    await api.database.query(`UPDATE calls SET media_stopped_at = now() WHERE call_uuid = $1`, [callUuid]);
    expect(await api.monitors.claim(MEDIA, ofOver)).toEqual({ ok: false, code: 'call_not_live' });
  });

  test('is the fifth of a call for nobody, until one has left', async () => {
    const people = [owner, ...(await Promise.all([1, 2, 3].map(() => signedIn(api, 'supervisor'))))];
    const [first] = await Promise.all(people.map(listens));
    const fifth = await signedIn(api, 'owner');
    expect(await api.monitors.claim(MEDIA, await tokenOf(fifth))).toEqual({ ok: false, code: 'too_many_listeners' });
    api.monitors.closed({ monitorId: first!, why: 'left', soundMs: 0, droppedFrames: 0 });
    expect(await listens(fifth)).toMatch(/-/);
  });
});

describe('somebody who listens', () => {
  test('is in the audit log by name, from when to when; the call says that somebody listened, not who', async () => {
    const monitorId = await listens(owner);
    api.clock.advanceMs(61_000);
    api.monitors.closed({ monitorId, why: 'call_over', soundMs: 59_600, droppedFrames: 3 });
    api.monitors.closed({ monitorId, why: 'left', soundMs: 0, droppedFrames: 0 });
    const rows = await eventually('both rows', async () => {
      const found = await audited();
      return found.length >= 2 ? found : null;
    });
    const actor = `user:${owner.person.id}`;
    expect(rows).toEqual([
      { actor, action: 'call.monitor_began', after: { monitorId } },
      {
        actor,
        action: 'call.monitor_ended',
        after: { monitorId, why: 'call_over', seconds: 61, soundSeconds: 60, droppedFrames: 3 },
      },
    ]);
    const events = await api.database.query(`SELECT kind, data FROM call_events WHERE call_uuid = $1 ORDER BY id`, [
      callUuid,
    ]);
    expect(events).toEqual([
      { kind: 'monitor', data: { phase: 'began', monitorId } },
      { kind: 'monitor', data: { phase: 'ended', monitorId } },
    ]);
  });

  test.each([
    ['is revoked', 'UPDATE user_sessions SET revoked_at = now() WHERE user_id = $1'],
    ['loses the role', `UPDATE memberships SET role = 'analyst', version = version + 1 WHERE user_id = $1`],
  ])('is shut out within a second when the session %s', async (_what, statement) => {
    const person = await signedIn(api, 'supervisor');
    const monitorId = await listens(person);
    const stays = await listens(owner);
    await api.database.query(statement, [person.person.id]);
    api.clock.advanceMs(1_000);
    await eventually('the word to media', () => api.toMedia.length > 0);
    expect(api.toMedia).toEqual([['run-1', { type: 'monitor.end', monitorId, why: 'session_over' }]]);
    api.monitors.closed({ monitorId, why: 'session_over', soundMs: 0, droppedFrames: 0 });
    api.monitors.closed({ monitorId: stays, why: 'left', soundMs: 0, droppedFrames: 0 });
  });

  test('is gone with the process that carried the call', async () => {
    const run = {};
    const answer = await api.monitors.claim({ runId: 'run-1', run }, await tokenOf(owner));
    expect(answer.ok).toBe(true);
    api.monitors.runLost(run);
    const rows = await eventually('the end', async () => {
      const found = await audited();
      return found.length === 2 ? found : null;
    });
    expect(rows[1]).toMatchObject({ action: 'call.monitor_ended', after: { why: 'media_lost' } });
  });
});

describe('what somebody who listens asks of the call', () => {
  const actions = async () => (await audited()).map(({ actor, action, after }) => [actor, action, after]);

  test('is done with the person’s name in the audit log, and without words', async () => {
    const monitorId = await listens(owner);
    api.controlled.length = 0;
    expect(await api.monitors.ask(monitorId, { type: 'whisper', text: 'canary' })).toBe('done');
    expect(await api.monitors.ask(monitorId, { type: 'takeover' })).toBe('done');
    api.controlOutcome = { done: false, why: 'not_taken' };
    expect(await api.monitors.ask(monitorId, { type: 'handback', note: null })).toBe('not_taken');
    api.controlOutcome = { done: true };
    expect(api.controlled).toEqual([
      { type: 'whisper', text: 'canary' },
      { type: 'takeover' },
      { type: 'handback', note: null },
    ]);
    const actor = `user:${owner.person.id}`;
    expect((await actions()).slice(1)).toEqual([
      [actor, 'call.control_whisper', { result: 'done' }],
      [actor, 'call.control_takeover', { result: 'done' }],
    ]);
    api.monitors.closed({ monitorId, why: 'left', soundMs: 0, droppedFrames: 0, hadCall: true });
    const rows = await eventually('the end', async () => {
      const found = await actions();
      return found.length === 5 ? found : null;
    });
    expect(rows.slice(3)).toEqual([
      [actor, 'call.monitor_ended', expect.objectContaining({ monitorId, why: 'left', hadCall: true })],
      [actor, 'call.control_handback', { monitorId, result: 'done', why: 'listener_gone' }],
    ]);
    expect(JSON.stringify(rows) + api.logLines.join('')).not.toContain('canary');
  });

  test('is refused at once when the right is gone, and who asks is shut out', async () => {
    const person = await signedIn(api, 'supervisor');
    const monitorId = await listens(person);
    await api.database.query(`UPDATE memberships SET role = 'analyst', version = version + 1 WHERE user_id = $1`, [
      person.person.id,
    ]);
    api.controlled.length = 0;
    expect(await api.monitors.ask(monitorId, { type: 'takeover' })).toBe('not_allowed');
    expect(await api.monitors.ask('nobody', { type: 'takeover' })).toBe('not_allowed');
    expect(api.controlled).toEqual([]);
    expect(api.toMedia).toEqual([['run-1', { type: 'monitor.end', monitorId, why: 'session_over' }]]);
    api.monitors.closed({ monitorId, why: 'session_over', soundMs: 0, droppedFrames: 0 });
  });
});
