import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { v4 as uuidv4 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putStored, toneFile } from '../../support/encrypted-recording.ts';
import { type ApiFixture, createApiFixture, SEALER } from './api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(async () => {
  await api.close();
});

const CANARY = 'zyzzyva';
const SOUND = toneFile(1);

async function told(): Promise<{ callUuid: string; paths: string[] }> {
  const callUuid = await api.insertCall(api.acme, {
    status: 'completed',
    ended_reason: 'agent_hangup',
    answered_at: '2026-11-21T10:00:00Z',
    ended_at: '2026-11-21T10:00:10Z',
    name: CANARY,
    metadata: { plan: CANARY },
    to_number: '+14155550987',
    checkpoint: { stepId: null, variables: { said: CANARY }, misses: 0, visits: {}, nextTurnNumber: 2, atMs: 1 },
  });
  const turn = {
    turnId: 't1',
    role: 'user',
    startMs: 61_001,
    endMs: 62_000,
    text: CANARY,
    heardText: `a <b> ${CANARY} & -->`,
    interrupted: false,
  };
  await api.database.query(`INSERT INTO call_turns VALUES ($1, 't1', 1, $2)`, [callUuid, turn]);
  for (const [kind, data] of [
    ['status', { status: 'completed' }],
    ['turn', { turn }],
    ['barge_in', { phase: 'commit', heardText: CANARY }],
  ] as const) {
    await api.database.query('INSERT INTO call_events (call_uuid, kind, data) VALUES ($1, $2, $3)', [
      callUuid,
      kind,
      data,
    ]);
  }
  const body = {
    event: 'call.completed',
    callUuid,
    to: '+14155550987',
    transcript: CANARY,
    name: CANARY,
    metadata: { plan: CANARY },
  };
  await api.database.query(
    `INSERT INTO webhook_events (id, workspace_id, call_uuid, event, sequence, body) VALUES ($1, $2, $3, 'call.completed', 1, $4)`,
    [`evt_${callUuid}`, api.acme.workspaceId, callUuid, JSON.stringify(body)],
  );
  await api.database.query(`UPDATE calls SET transcript_status = 'ready' WHERE call_uuid = $1`, [callUuid]);
  const into = { database: api.database, sealer: SEALER, store: api.recordings.stores.current };
  const paths: string[] = [];
  for (const epoch of [1, 2]) {
    const { objectKey } = await putStored(into, { callUuid, epoch, plain: SOUND });
    paths.push(join(api.dataDir, 'recordings', 'store', objectKey));
  }
  return { callUuid, paths };
}

const send = async (method: 'GET' | 'DELETE', path: string) => {
  const answer = await api.app.inject({
    method,
    url: `/api/developer/calls${path}`,
    headers: { authorization: `Bearer ${api.acme.key}`, 'x-request-id': 'r-9' },
  });
  return { status: answer.statusCode, text: answer.body, headers: answer.headers, json: () => answer.json() };
};

/** Every row that names the call, as text. */
async function trace(callUuid: string): Promise<string> {
  const texts: string[] = [];
  for (const table of ['calls', 'call_turns', 'call_events', 'webhook_events', 'call_search']) {
    const rows = await api.database.query<{ text: string }>(
      `SELECT t::text AS text FROM ${table} t WHERE call_uuid = $1`,
      [callUuid],
    );
    texts.push(...rows.map((row) => row.text));
  }
  return texts.join('\n');
}

describe('deleting a call', () => {
  it('of kind all leaves times and outcome, and not a word, a file or a number of the person anywhere', async () => {
    const { callUuid, paths } = await told();
    expect((await send('GET', `?q=${CANARY}`)).json().data).toHaveLength(1);
    const answer = await send('DELETE', `/${callUuid}?kind=all`);
    expect([answer.status, answer.json()]).toEqual([
      200,
      { success: true, callUuid, deleted: ['recording', 'transcript', 'analysis', 'events', 'metadata'] },
    ]);
    expect(paths.filter((path) => existsSync(path))).toEqual([]);
    const left = await trace(callUuid);
    expect(left).not.toContain(CANARY);
    expect(left).not.toContain('5550987');
    const entry = (await send('GET', `/${callUuid}`)).json();
    expect(entry).toMatchObject({
      status: 'completed',
      durationSeconds: 10,
      name: '',
      to: '',
      metadata: {},
      recording: { status: 'deleted', url: null, parts: [] },
      transcriptStatus: 'deleted',
      transcript: null,
      turns: [],
      analysisStatus: 'none',
    });
    expect((await send('GET', `?q=${CANARY}`)).json().data).toEqual([]);
    expect((await send('GET', `/${callUuid}/recording`)).json().code).toBe('recording_not_ready');
    expect((await send('GET', `/${callUuid}/transcript`)).json().code).toBe('transcript_not_ready');
  });

  it('removes one kind and no other, twice with the same answer, and audits who asked', async () => {
    const { callUuid, paths } = await told();
    for (let times = 0; times < 2; times++) {
      const answer = await send('DELETE', `/${callUuid}?kind=recording`);
      expect([answer.status, answer.json().deleted]).toEqual([200, ['recording']]);
    }
    expect(paths.filter((path) => existsSync(path))).toEqual([]);
    expect((await send('GET', `/${callUuid}`)).json()).toMatchObject({
      name: CANARY,
      transcriptStatus: 'ready',
      recording: { status: 'deleted' },
    });
    await send('DELETE', `/${callUuid}?kind=transcript`);
    const events = (await send('GET', `/${callUuid}/events`)).json().data;
    expect(events.map((event: { kind: string; data: object }) => [event.kind, event.data])).toEqual([
      ['status', { status: 'completed' }],
      ['barge_in', { phase: 'commit' }],
    ]);
    await send('DELETE', `/${callUuid}?kind=events,metadata`);
    expect((await send('GET', `/${callUuid}/events`)).json().data).toEqual([]);
    expect(await trace(callUuid)).not.toContain(CANARY);
    const audited = await api.database.query<{ actor: string; action: string; requestId: string; after: string }>(
      `SELECT actor, action, request_id AS "requestId", after FROM audit_log WHERE target = $1 ORDER BY at`,
      [`call:${callUuid}`],
    );
    expect(audited).toHaveLength(4);
    expect(audited[0]).toMatchObject({ actor: `key:${api.acme.keyId}`, action: 'call.deleted', requestId: 'r-9' });
    expect(JSON.parse(audited[0]!.after)).toMatchObject({ parts: ['recording'], recordingStatus: 'deleted' });
  });

  it('that lives is 409 call_live, and nothing is removed', async () => {
    for (const status of ['queued', 'dialing', 'ringing', 'in_progress']) {
      const callUuid = await api.insertCall(api.acme, { status, name: CANARY });
      const answer = await send('DELETE', `/${callUuid}?kind=all`);
      expect([answer.status, answer.json().code], status).toEqual([409, 'call_live']);
      expect(await trace(callUuid)).toContain(CANARY);
    }
  });

  it('wants to be told what: no kind, an unknown kind and an empty one are 400', async () => {
    const { callUuid } = await told();
    for (const query of ['', '?kind=', '?kind=everything', '?kind=recording,x']) {
      expect((await send('DELETE', `/${callUuid}${query}`)).json().code, query).toBe('invalid_request');
    }
    expect((await send('DELETE', `/${uuidv4()}?kind=all`)).json().code).toBe('call_not_found');
  });
});

describe('the transcript of a call', () => {
  it('comes as JSON, as text with a line a turn, and as WebVTT whose text cannot break out of its cue', async () => {
    const { callUuid } = await told();
    const whole = await send('GET', `/${callUuid}/transcript`);
    expect(whole.json()).toMatchObject({ callUuid, transcriptStatus: 'ready', turns: [{ turnId: 't1', words: null }] });
    const text = await send('GET', `/${callUuid}/transcript?format=txt`);
    expect([text.headers['content-type'], text.text]).toEqual([
      'text/plain; charset=utf-8',
      `Customer: a <b> ${CANARY} & -->\n`,
    ]);
    const vtt = await send('GET', `/${callUuid}/transcript?format=vtt`);
    expect([vtt.headers['content-type'], vtt.text]).toEqual([
      'text/vtt; charset=utf-8',
      `WEBVTT\n\nt1\n00:01:01.001 --> 00:01:02.000\n<v Customer>a &lt;b&gt; ${CANARY} &amp; --&gt;\n`,
    ]);
    expect((await send('GET', `/${callUuid}/transcript?format=pdf`)).json().code).toBe('invalid_request');
  });

  it('is 404 transcript_not_ready when nothing was said', async () => {
    const callUuid = await api.insertCall(api.acme);
    expect((await send('GET', `/${callUuid}/transcript`)).json().code).toBe('transcript_not_ready');
  });
});
