/** Clips over HTTP: made of files, kept apart by workspace, used by agents, and gone when nobody uses them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLIPS_PATH } from '../../../src/api/clips/clip-routes.ts';
import { createApiKey } from '../../../src/workspaces/api-keys.ts';
import { oggOpusOf, SPEECH_RATE_HZ, wavOf } from '../../support/clip-files.ts';
import { formOf } from '../../support/form-data.ts';
import { sampleAgent } from '../../support/sample-agent.ts';
import { type ApiFixture, createApiFixture, type Tenant } from './api-fixture.ts';

const TONE = Int16Array.from({ length: SPEECH_RATE_HZ }, (_, i) => 9_000 * Math.sin(i / 5));
let api: ApiFixture;
let wav: Buffer;

beforeAll(async () => {
  api = await createApiFixture();
  wav = wavOf(TONE);
});
afterAll(async () => {
  await api.close();
});

function send(
  fields: Record<string, string | Buffer>,
  { tenant = api.acme, ...headers }: { tenant?: Tenant } & Record<string, unknown> = {},
) {
  const { payload, contentType } = formOf(fields);
  return api.app.inject({
    method: 'POST',
    url: CLIPS_PATH,
    payload,
    headers: { authorization: `Bearer ${tenant.key}`, 'content-type': contentType, ...headers },
  });
}

function ask(method: 'GET' | 'DELETE' | 'POST', url: string, tenant: Tenant = api.acme, payload?: object) {
  return api.app.inject({
    method,
    url,
    headers: { authorization: `Bearer ${tenant.key}` },
    ...(payload && { payload }),
  });
}

async function made(name: string, text = 'Welcome to Acme.'): Promise<string> {
  const answer = await send({ name, text, file: wav });
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json().clip.id;
}

const storedAgent = (change: object) =>
  ask('POST', '/api/developer/agents', api.acme, { definition: sampleAgent(change) });
const issuesOf = (answer: { json(): { details: { field: string; issue: string }[] } }) => answer.json().details;

describe('a clip', () => {
  test('is made of a file, listed, read, heard and deleted, and each change is in the audit log', async () => {
    const answer = await send({ name: 'welcome', text: 'Welcome to Acme.', file: oggOpusOf(TONE) });
    expect(answer.statusCode, answer.body).toBe(201);
    const { clip } = answer.json();
    expect(clip).toMatchObject({ name: 'welcome', text: 'Welcome to Acme.', kind: 'ogg_opus' });
    expect(Math.abs(clip.loudnessLufs + 16)).toBeLessThan(1);
    expect((await ask('GET', CLIPS_PATH)).json().data).toContainEqual(clip);
    expect((await ask('GET', `${CLIPS_PATH}/${clip.id}`)).json()).toEqual({ ...clip, usedBy: [] });

    const sound = await ask('GET', `${CLIPS_PATH}/${clip.id}/sound`);
    expect(sound.statusCode).toBe(200);
    expect(sound.headers['content-type']).toBe('audio/wav');
    expect(sound.rawPayload.length).toBe(clip.sizeBytes);
    expect(sound.rawPayload.toString('latin1', 0, 4)).toBe('RIFF');

    expect((await ask('DELETE', `${CLIPS_PATH}/${clip.id}`)).json()).toEqual({ success: true, clipId: clip.id });
    for (const path of ['', '/sound']) {
      expect((await ask('GET', `${CLIPS_PATH}/${clip.id}${path}`)).headers['x-error-code']).toBe('clip_not_found');
    }
    const audit = await ask('GET', '/api/developer/audit?limit=10');
    const actions = audit.json().data.map((row: { action: string; target: string }) => `${row.action} ${row.target}`);
    expect(actions).toContain(`clip.created clip:${clip.id}`);
    expect(actions).toContain(`clip.deleted clip:${clip.id}`);
  });

  test('lies sealed, on this disk and in the store; deleted it leaves neither bytes nor key', async () => {
    const id = await made('sealed');
    const files = () =>
      ['clips', join('recordings', 'store')].flatMap((folder) =>
        readdirSync(join(api.dataDir, folder), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile() && entry.name.includes(id))
          .map((entry) => readFileSync(join(entry.parentPath, entry.name))),
      );
    expect(files()).toHaveLength(2);
    for (const file of files()) {
      expect(file.toString('latin1', 0, 8)).toBe('PARLEYS1');
      expect(file.includes('WAVE')).toBe(false);
    }
    await ask('DELETE', `${CLIPS_PATH}/${id}`);
    expect(files()).toHaveLength(0);
    const [row] = await api.database.query<{ key: Buffer | null; due: Date | null }>(
      'SELECT key_sealed AS key, remove_at AS due FROM clips WHERE id = $1',
      [id],
    );
    expect(row).toEqual({ key: null, due: null });
  });

  test('comes once for an Idempotency-Key; another file under it is refused', async () => {
    const first = await send({ name: 'once', file: wav }, { 'idempotency-key': 'clip-1' });
    const again = await send({ name: 'once', file: wav }, { 'idempotency-key': 'clip-1' });
    expect(again.json()).toEqual(first.json());
    expect(again.headers['idempotent-replayed']).toBe('true');
    const other = await send({ name: 'once', file: wav.subarray(0, -2) }, { 'idempotency-key': 'clip-1' });
    expect(other.headers['x-error-code']).toBe('idempotency_key_reused');
  });

  test.each<[string, () => Record<string, string | Buffer>, number, string, RegExp]>([
    ['noise for a file', () => ({ name: 'a', file: Buffer.from('OggS nothing') }), 400, 'invalid_clip', /file: /],
    [
      'silence',
      () => ({ name: 'a', file: wavOf(new Int16Array(SPEECH_RATE_HZ)) }),
      400,
      'invalid_clip',
      /file: It is silent\./,
    ],
    ['10 MB and a byte', () => ({ name: 'a', file: Buffer.alloc(10 * 1024 * 1024 + 1) }), 413, 'clip_too_large', /^$/],
    ['no file', () => ({ name: 'a' }), 400, 'invalid_request', /file: 'file' must be a file/],
    ['text for a file', () => ({ name: 'a', file: 'sound' }), 400, 'invalid_request', /file: 'file' must be a file/],
    ['a name with a slash', () => ({ name: 'a/b', file: wav }), 400, 'invalid_request', /name: 'name' must be 1 to 64/],
    [
      'a name that is an id',
      () => ({ name: '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11', file: wav }),
      400,
      'invalid_request',
      /no UUID/,
    ],
    ['a field too many', () => ({ name: 'a', file: wav, loudness: '3' }), 400, 'invalid_request', /loudness/],
  ])('is not made of %s', async (_name, fields, status, code, sentence) => {
    const answer = await send(fields());
    expect(`${answer.statusCode} ${answer.headers['x-error-code']}`).toBe(`${status} ${code}`);
    expect(
      issuesOf(answer)
        .map(({ field, issue }) => `${field}: ${issue}`)
        .join('; '),
    ).toMatch(sentence);
  });

  test('is not made of JSON, of a form that breaks off, or twice under one name', async () => {
    const headers = { authorization: `Bearer ${api.acme.key}` };
    const asJson = await api.app.inject({ method: 'POST', url: CLIPS_PATH, headers, payload: { name: 'a' } });
    expect(asJson.headers['x-error-code']).toBe('unsupported_clip_type');
    const { payload, contentType } = formOf({ name: 'a', file: wav });
    const cut = await api.app.inject({
      method: 'POST',
      url: CLIPS_PATH,
      headers: { ...headers, 'content-type': contentType },
      payload: payload.subarray(0, 500),
    });
    expect(cut.headers['x-error-code']).toBe('invalid_request');
    await made('twice');
    expect((await send({ name: 'twice', file: wav })).headers['x-error-code']).toBe('already_exists');
  });

  test('of another workspace is not there, and wants the scope', async () => {
    const id = await made('private');
    expect((await ask('GET', CLIPS_PATH, api.other)).json().data).toEqual([]);
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/sound'],
      ['DELETE', ''],
    ] as const) {
      const answer = await ask(method, `${CLIPS_PATH}/${id}${path}`, api.other);
      expect(answer.headers['x-error-code']).toBe('clip_not_found');
    }
    const theirs = await ask('POST', '/api/developer/agents', api.other, {
      definition: sampleAgent({ greeting: { clip: 'private', text: 'Hello.' } }),
    });
    expect(issuesOf(theirs)).toEqual([
      { field: 'greeting.clip', issue: "There is no clip 'private'; the workspace has none yet." },
    ]);
    const { text: key } = await createApiKey(api.database, { slug: 'acme', name: 'reader', scopes: ['settings:read'] });
    const tenant = { ...api.acme, key };
    expect((await send({ name: 'b', file: wav }, { tenant })).headers['x-error-code']).toBe('insufficient_scope');
    expect((await ask('DELETE', `${CLIPS_PATH}/${id}`, tenant)).headers['x-error-code']).toBe('insufficient_scope');
  });
});

describe('an agent', () => {
  test('names a clip by name or id, and gets its text where it brings none', async () => {
    const id = await made('hello');
    const answer = await storedAgent({
      greeting: { clip: 'hello' },
      idle: { promptAfterMs: 5_000, say: [{ clip: id, text: 'Still there?' }], endAfterMs: 20_000 },
    });
    expect(answer.statusCode, answer.body).toBe(201);
    const { definition } = (await ask('GET', `/api/developer/agents/${answer.json().agent.id}`)).json();
    expect(definition.greeting).toEqual({ clip: 'hello', text: 'Welcome to Acme.' });
    expect(definition.idle.say).toEqual([{ clip: id, text: 'Still there?' }]);
  });

  test('is told of each clip that is not there, of missing texts and of placeholders, by their paths, with all its other faults', async () => {
    await made('mute', '');
    const { steps } = sampleAgent({});
    const answer = await storedAgent({
      greeting: { clip: 'nope', text: 'Hello {{customer_name}}.' },
      steps: [{ ...steps[0], say: ['Hi.', { clip: 'mute' }] }, ...steps.slice(1)],
      voice: 'nobody',
    });
    expect(answer.headers['x-error-code']).toBe('invalid_agent');
    const told = issuesOf(answer)
      .map(({ field, issue }) => `${field}: ${issue}`)
      .join('\n');
    expect(told).toMatch(/^voice: 'nobody' is no known voice/m);
    expect(told).toMatch(/^greeting\.text: 'greeting\.text' holds a placeholder, but a clip always sounds the same/m);
    expect(told).toMatch(/^greeting\.clip: There is no clip 'nope'; the clips are .*mute/m);
    expect(told).toMatch(
      /^steps\[0\]\.say\[1\]\.text: 'steps\[0\]\.say\[1\]\.text' is missing, and the clip 'mute' has no text of its own/m,
    );
  });

  test('keeps its clip from being deleted until its current version plays another; an old version cannot come back without it', async () => {
    const id = await made('kept');
    const agent = (await storedAgent({ name: 'Keeper', greeting: { clip: 'kept' } })).json().agent;
    const refused = await ask('DELETE', `${CLIPS_PATH}/${id}`);
    expect(refused.headers['x-error-code']).toBe('clip_in_use');
    expect(issuesOf(refused)[0]!.issue).toContain(`'Keeper' (${agent.id})`);
    expect((await ask('GET', `${CLIPS_PATH}/${id}`)).json().usedBy).toEqual([{ agentId: agent.id, name: 'Keeper' }]);
    const versions = `/api/developer/agents/${agent.id}/versions`;
    expect((await ask('POST', versions, api.acme, { definition: sampleAgent({}) })).statusCode).toBe(201);
    expect((await ask('DELETE', `${CLIPS_PATH}/${id}`)).statusCode).toBe(200);
    const back = await ask('POST', `${versions}/1/activate`);
    expect(back.headers['x-error-code']).toBe('invalid_agent');
    expect(issuesOf(back)[0]!.field).toBe('greeting.clip');
  });

  test('gets its clips for a call: the path of the sealed file and its key, fetched again where it is gone', async () => {
    const id = await made('called');
    const agent = (await storedAgent({ greeting: { clip: 'called' } })).json().agent;
    const { definition } = (await ask('GET', `/api/developer/agents/${agent.id}`)).json();
    const { rmSync } = await import('node:fs');
    rmSync(join(api.dataDir, 'clips', `${id}.sealed`));
    const found = await api.clips.forCall(agent.id, definition);
    expect(Object.keys(found!)).toEqual(['called']);
    expect(found!['called']).toMatchObject({ clipId: id, path: join(api.dataDir, 'clips', `${id}.sealed`) });
    expect(readFileSync(found!['called']!.path).toString('latin1', 0, 8)).toBe('PARLEYS1');
    expect(await api.clips.forCall(api.other.agentId, definition)).toEqual({});
    expect(await api.clips.forCall(agent.id, sampleAgent({}))).toBeUndefined();
  });
});
