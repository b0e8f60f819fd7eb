import { v4 as uuidv4 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());

const IN_PROGRESS = { status: 'in_progress', owner_run: 'run-1', answered_at: '2026-11-21T10:00:00Z' };

async function send(callUuid: string, payload: unknown) {
  const answer = await api.app.inject({
    method: 'POST',
    url: `/api/developer/calls/${callUuid}/control`,
    headers: { authorization: `Bearer ${api.acme.key}` },
    payload: payload as object,
  });
  return { status: answer.statusCode, ...answer.json() };
}

const trailOf = (callUuid: string) =>
  api.database.query<{ action: string; after: string }>(
    'SELECT action, after FROM audit_log WHERE target = $1 ORDER BY at',
    [`call:${callUuid}`],
  );

describe('steering a call', () => {
  it('hands each action to the media process, answers when it is done, and leaves no words and no digits behind', async () => {
    const callUuid = await api.insertCall(api.acme, IN_PROGRESS);
    const actions = [
      { action: 'say', text: ' canary one ' },
      { action: 'say', text: 'canary two', interrupt: true },
      { action: 'inject', text: 'canary three' },
      { action: 'whisper', text: 'canary four' },
      { action: 'handback', note: 'canary five' },
      { action: 'handback' },
      { action: 'mute_agent' },
      { action: 'unmute_agent' },
      { action: 'dtmf', digits: '4111#' },
    ];
    api.controlled = [];
    for (const action of actions) {
      expect(await send(callUuid, action)).toEqual({ status: 200, success: true, callUuid, action: action.action });
    }
    expect(api.controlled).toEqual([
      { type: 'say', text: 'canary one', interrupt: false },
      { type: 'say', text: 'canary two', interrupt: true },
      { type: 'inject', text: 'canary three' },
      { type: 'whisper', text: 'canary four' },
      { type: 'handback', note: 'canary five' },
      { type: 'handback', note: null },
      { type: 'mute_agent' },
      { type: 'unmute_agent' },
      { type: 'dtmf', digits: '4111#' },
    ]);
    const trail = await trailOf(callUuid);
    expect(trail.map((row) => row.action)).toEqual(actions.map(({ action }) => `call.control_${action}`));
    const events = await api.database.query<{ kind: string; data: object }>(
      'SELECT kind, data FROM call_events WHERE call_uuid = $1 ORDER BY id',
      [callUuid],
    );
    expect(events[0]).toEqual({ kind: 'control', data: { action: 'say', result: 'done' } });
    expect(events).toHaveLength(9);
    expect(JSON.stringify([trail, events, api.logLines])).not.toMatch(/canary|4111/);
  });

  it('is 409 call_not_in_progress before the answer, at the end, without media, and when media says that it has gone', async () => {
    const ended = { status: 'failed', ended_reason: 'no_media', ended_at: '2026-11-21T10:00:00Z' };
    const away = [
      { status: 'dialing' },
      { status: 'ringing' },
      ended,
      { ...IN_PROGRESS, owner_run: null },
      { ...IN_PROGRESS, media_stopped_at: '2026-11-21T10:00:00Z' },
      { ...IN_PROGRESS, ending: { reason: 'api_hangup' } },
    ];
    api.controlled = [];
    for (const row of away) {
      const callUuid = await api.insertCall(api.acme, row);
      expect((await send(callUuid, { action: 'mute_agent' })).code, JSON.stringify(row)).toBe('call_not_in_progress');
    }
    expect(api.controlled).toEqual([]);
    api.controlOutcome = { done: false, why: 'not_here' };
    const callUuid = await api.insertCall(api.acme, IN_PROGRESS);
    expect(await send(callUuid, { action: 'mute_agent' })).toMatchObject({ status: 409, code: 'call_not_in_progress' });
    expect(await trailOf(callUuid)).toEqual([]);
  });

  it('says what stands in its way: 409 with the reason, 422 for what the call never can, 409 control_unanswered', async () => {
    const callUuid = await api.insertCall(api.acme, IN_PROGRESS);
    const cases = [
      [{ done: false, why: 'muted' }, 409, 'action_not_possible', /unmute_agent/],
      [{ done: false, why: 'queue_full' }, 409, 'action_not_possible', /^Five texts wait/],
      [{ done: false, why: 'taken' }, 409, 'action_not_possible', /handback/],
      [{ done: false, why: 'not_taken' }, 409, 'action_not_possible', /^Nobody/],
      [{ done: false, why: 'not_followed' }, 409, 'action_not_possible', /id of a step/],
      [{ done: false, why: 'ending' }, 409, 'action_not_possible', /last word/],
      [{ done: false, why: 'unsupported' }, 422, 'action_not_supported', /carrier/],
      ['unanswered', 409, 'control_unanswered', /^$/],
    ] as const;
    for (const [outcome, status, code, why] of cases) {
      api.controlOutcome = outcome;
      const answer = await send(callUuid, { action: 'say', text: 'hello' });
      expect(answer).toMatchObject({ status, code });
      expect(answer.details.map((one: { issue: string }) => one.issue).join()).toMatch(why);
    }
    // It may have happened, so it is in the trail.
    expect((await trailOf(callUuid)).map((row) => JSON.parse(row.after))).toEqual([{ result: 'unanswered' }]);
    api.controlOutcome = { done: true };
  });

  it('answers 422 to the actions of the contract that come later, and 400 to what is no action at all', async () => {
    const callUuid = await api.insertCall(api.acme, IN_PROGRESS);
    for (const action of ['transfer', 'takeover']) {
      expect(await send(callUuid, { action }), action).toMatchObject({ status: 422, code: 'action_not_supported' });
      expect((await send(uuidv4(), { action })).code).toBe('call_not_found');
    }
    const wrong = [
      {},
      { action: 'sing' },
      { action: 'say' },
      { action: 'say', text: ' ' },
      { action: 'say', text: 'x'.repeat(1_001) },
      { action: 'say', text: 'nul \u0000' },
      { action: 'inject' },
      { action: 'whisper' },
      { action: 'dtmf', digits: '' },
      { action: 'dtmf', digits: '12w' },
      { action: 'dtmf', digits: '1'.repeat(33) },
      [],
    ];
    for (const body of wrong) {
      expect((await send(callUuid, body)).code, JSON.stringify(body)).toBe('invalid_request');
    }
  });
});
