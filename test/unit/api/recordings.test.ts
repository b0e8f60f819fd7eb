import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readOggOpus } from '../../../media/audio/ogg-opus-reader.ts';
import { readWavHeader } from '../../../media/audio/wav.ts';
import { rangeOf } from '../../../src/api/recordings/byte-range.ts';
import type { TestStore } from '../../harness/s3-server.ts';
import { putStored, toneFile } from '../../support/encrypted-recording.ts';
import { decodeRecording } from '../../support/recording-audio.ts';
import { STORES } from '../../support/recording-stores.ts';
import { toneDbfs } from '../media/recorder/recording-harness.ts';
import { type ApiFixture, createApiFixture, SEALER } from './api-fixture.ts';

const SECONDS = 3;
const SOUND = toneFile(SECONDS, 440, 880);

const folder = mkdtempSync(join(tmpdir(), 'parley-harm-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ['bytes=0-', { start: 0, end: 10 }],
  ['bytes=3-5', { start: 3, end: 6 }],
  ['bytes=3-99', { start: 3, end: 10 }],
  ['bytes=-4', { start: 6, end: 10 }],
  ['bytes=-99', { start: 0, end: 10 }],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-3', 'whole'],
  ['bytes=0-1,4-5', 'whole'],
  ['lines=1-2', 'whole'],
  ['bytes=-', 'whole'],
  [undefined, 'whole'],
])('reads the range %s of 10 bytes', (header, range) => {
  expect(rangeOf(header, 10)).toEqual(range);
});

describe.each(STORES)('recordings over HTTP, stored %s', (_name, start) => {
  let api: ApiFixture;
  let where: TestStore;
  beforeAll(async () => {
    where = await start();
    api = await createApiFixture(where.settings);
  });
  afterAll(async () => {
    await api.close();
    await where.close();
  });

  const get = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    api.app.inject({ method, url, headers });

  const keyed = (callUuid: string, query = '', key = api.acme.key) =>
    get(`/api/developer/calls/${callUuid}/recording${query}`, { authorization: `Bearer ${key}` });

  /** The signed address as a path, as the API gives it. */
  async function addressOf(callUuid: string, query = ''): Promise<string> {
    const answer = await keyed(callUuid, query);
    expect(answer.statusCode, answer.body).toBe(302);
    const url = new URL(String(answer.headers.location));
    expect(url.origin).toBe('http://127.0.0.1:8080');
    return url.pathname + url.search;
  }

  async function recordedCall(sounds: readonly Buffer[] = [SOUND]): Promise<string> {
    const callUuid = await api.insertCall(api.acme, {
      status: 'completed',
      ended_reason: 'agent_hangup',
      ended_at: '2026-11-21T10:00:10Z',
    });
    const into = { database: api.database, sealer: SEALER, store: api.recordings.stores.current };
    for (const [at, plain] of sounds.entries()) await putStored(into, { callUuid, epoch: at + 1, plain });
    return callUuid;
  }

  async function keyOf(callUuid: string): Promise<string> {
    const [row] = await api.database.query<{ key: string }>(
      'SELECT object_key AS key FROM call_recordings WHERE call_uuid = $1',
      [callUuid],
    );
    return row!.key;
  }

  const outcome = (answer: LightMyRequestResponse): unknown[] => [answer.statusCode, answer.json().code];

  describe('a recording', () => {
    it('is had by who has the key: a redirect to an address that gives the whole file without one', async () => {
      const callUuid = await recordedCall();
      const answer = await get(await addressOf(callUuid));
      expect(answer.statusCode).toBe(200);
      expect(answer.rawPayload.equals(SOUND)).toBe(true);
      expect(answer.headers).toMatchObject({
        'content-type': 'audio/ogg; codecs=opus',
        'content-length': String(SOUND.length),
        'accept-ranges': 'bytes',
        etag: `"${createHash('sha256').update(SOUND).digest('hex')}"`,
        'content-disposition': `inline; filename="${callUuid}.ogg"`,
        'cache-control': 'private, no-store',
        'referrer-policy': 'no-referrer',
      });
      expect((await keyed(callUuid, '', 'sv_live_nobody')).statusCode).toBe(401);
      expect(outcome(await keyed(callUuid, '', api.other.key))).toEqual([404, 'call_not_found']);
    });

    it('that is not there, pending or of a part that the call does not have is 404 recording_not_ready', async () => {
      const none = await api.insertCall(api.acme);
      const pending = await api.insertCall(api.acme, { recording_status: 'pending' });
      for (const callUuid of [none, pending]) {
        expect(outcome(await keyed(callUuid))).toEqual([404, 'recording_not_ready']);
      }
      expect(outcome(await keyed(await recordedCall(), '?part=2'))).toEqual([404, 'recording_not_ready']);
      for (const query of ['?variant=left', '?format=mp3', '?part=0']) {
        expect(outcome(await keyed(none, query))).toEqual([400, 'invalid_request']);
      }
    });

    it('answers ranges, HEAD and If-Range as a player expects', async () => {
      const address = await addressOf(await recordedCall());
      const part = await get(address, { range: 'bytes=100-299' });
      expect([part.statusCode, part.headers['content-range']]).toEqual([206, `bytes 100-299/${SOUND.length}`]);
      expect(part.rawPayload.equals(SOUND.subarray(100, 300))).toBe(true);
      const tail = await get(address, { range: 'bytes=-50' });
      expect(tail.rawPayload.equals(SOUND.subarray(-50))).toBe(true);
      const past = await get(address, { range: `bytes=${SOUND.length}-` });
      expect([...outcome(past), past.headers['content-range']]).toEqual([
        416,
        'range_not_satisfiable',
        `bytes */${SOUND.length}`,
      ]);
      const head = await get(address, {}, 'HEAD');
      expect([head.statusCode, head.headers['content-length'], head.body]).toEqual([200, String(SOUND.length), '']);
      const other = await get(address, { range: 'bytes=0-9', 'if-range': '"another"' });
      expect([other.statusCode, other.rawPayload.length]).toEqual([200, SOUND.length]);
    });

    it('is lost by who changes a letter of its address, asks for another form or another call, or comes after five minutes', async () => {
      const callUuid = await recordedCall();
      const other = await recordedCall();
      const address = await addressOf(callUuid);
      const tampered = [
        address.replace('variant=stereo', 'variant=caller'),
        address.replace('format=ogg', 'format=wav'),
        `${address}&part=2`,
        address.replace(callUuid, other),
        address.replace(/expires=\d/, 'expires=9'),
        address.replace(/signature=./, (match) => (match.endsWith('A') ? 'signature=B' : 'signature=A')),
        address.replace(/signature=.*/, 'signature='),
      ];
      for (const one of tampered) expect(outcome(await get(one)), one).toEqual([403, 'link_invalid']);
      expect(outcome(await get(address.replace(/&signature=.*/, '')))).toEqual([400, 'invalid_request']);
      api.clock.advanceMs(299_000);
      expect((await get(address)).statusCode).toBe(200);
      api.clock.advanceMs(2_000);
      expect(outcome(await get(address))).toEqual([410, 'link_expired']);
    });

    it('comes as WAV, mixed, or as one voice alone, each from the file that is stored, and as often as asked', async () => {
      const callUuid = await recordedCall();
      const levels = async (variant: string): Promise<number[]> => {
        const answer = await get(await addressOf(callUuid, `?variant=${variant}&format=wav`));
        expect(answer.headers['content-type']).toBe('audio/wav');
        const channels = variant === 'stereo' ? 2 : 1;
        expect(readWavHeader(answer.rawPayload)).toEqual({
          codec: 'pcm_s16le',
          rateHz: 8000,
          channels,
          dataBytes: SECONDS * 8000 * 2 * channels,
        });
        expect(answer.rawPayload.length).toBe(44 + SECONDS * 8000 * 2 * channels);
        const samples = new Int16Array(new Uint8Array(answer.rawPayload.subarray(44)).buffer);
        const left = channels === 1 ? samples : samples.filter((_value, index) => index % 2 === 0);
        const middle = left.subarray(8000, 16_000);
        return [toneDbfs(middle, 8000, 440), toneDbfs(middle, 8000, 880)];
      };
      const [callerCaller, agentInCaller] = await levels('caller');
      expect(callerCaller).toBeGreaterThan(-17);
      expect(agentInCaller).toBeLessThan(-35);
      const [callerInAgent, agentAgent] = await levels('agent');
      expect(agentAgent).toBeGreaterThan(-17);
      expect(callerInAgent).toBeLessThan(-35);
      for (const level of await levels('mono')) expect(level).toBeGreaterThan(-17);
      expect((await levels('stereo'))[0]).toBeGreaterThan(-17);
      const again = await get(await addressOf(callUuid, '?variant=mono&format=wav'), { range: 'bytes=0-43' });
      expect([again.statusCode, again.rawPayload.length]).toEqual([206, 44]);
    });

    it('as one voice in Ogg/Opus is as long as the whole to the sample, and what is kept of it is sealed', async () => {
      const callUuid = await recordedCall();
      const answer = await get(await addressOf(callUuid, '?variant=agent'));
      const facts = readOggOpus(answer.rawPayload);
      expect(facts).toMatchObject({ channels: 1, inputRateHz: 8000, soundTicks: SECONDS * 48_000 });
      const forms = join(api.dataDir, 'recordings', 'forms');
      const names = readdirSync(forms).filter((name) => name.startsWith(callUuid));
      const sha256 = createHash('sha256').update(SOUND).digest('hex');
      expect(names).toEqual([`${callUuid}.1.${sha256}.agent.ogg.sealed`]);
      expect(readFileSync(join(forms, names[0]!)).includes('OggS')).toBe(false);
    });

    it('of a call that came back is had part by part', async () => {
      const second = toneFile(1, 300, 600);
      const callUuid = await recordedCall([SOUND, second]);
      expect((await get(await addressOf(callUuid, '?part=2'))).rawPayload.equals(second)).toBe(true);
      const { right } = await decodeRecording((await get(await addressOf(callUuid, '?part=1'))).rawPayload);
      expect(right.length).toBe(SECONDS * 16_000);
    });

    it('whose address stands in the call log is had by that address for a day', async () => {
      const callUuid = await recordedCall([SOUND, SOUND]);
      const entry = (await get(`/api/developer/calls/${callUuid}`, { authorization: `Bearer ${api.acme.key}` })).json();
      expect(entry.recording).toMatchObject({ status: 'ready', channels: 2, sizeBytes: SOUND.length });
      expect(entry.recording.parts).toHaveLength(2);
      const { url, variants } = entry.recording.parts[1];
      for (const one of [entry.recording.url, url, variants.mono]) {
        expect((await get(one.replace('http://127.0.0.1:8080', ''))).statusCode).toBe(200);
      }
      const listed = (await get('/api/developer/calls?limit=1', { authorization: `Bearer ${api.acme.key}` })).json();
      expect(listed.data[0].recording.parts).toHaveLength(2);
    });
  });

  describe('a recording in trouble', () => {
    it('that was damaged where it lies is never handed out as if it were whole', async () => {
      const callUuid = await recordedCall();
      const [key, store] = [await keyOf(callUuid), api.recordings.stores.current];
      const bytes = Buffer.from(await store.read(key, 0, (await store.size(key))!));
      bytes[2000] = bytes[2000]! ^ 1;
      writeFileSync(join(folder, 'damaged'), bytes);
      await store.put(key, join(folder, 'damaged'));
      for (const query of ['', '?variant=mono']) {
        expect(outcome(await get(await addressOf(callUuid, query)))).toEqual([500, 'internal_error']);
      }
    });

    it('whose store does not answer is 503 recording_store_unavailable with Retry-After', async () => {
      const callUuid = await recordedCall();
      await api.recordings.stores.current.remove(await keyOf(callUuid));
      const answer = await get(await addressOf(callUuid));
      expect([...outcome(answer), answer.headers['retry-after']]).toEqual([503, 'recording_store_unavailable', '5']);
    });

    it('whose client left while it was being made is closed all the same', async () => {
      const address = await addressOf(await recordedCall(), '?variant=mono');
      const gone = new Promise<void>((resolve) => {
        api.app.server.once('connection', (socket) => void socket.once('close', resolve));
      });
      const { sounds } = api.recordings;
      const { open } = sounds;
      const closed = new Promise<void>((resolve) => {
        sounds.open = async (target) => {
          const sound = (await open(target))!;
          client.destroy();
          await gone;
          return { ...sound, close: () => sound.close().then(resolve) };
        };
      });
      const base = await api.app.listen({ port: 0, host: '127.0.0.1' });
      const client = request(base + address)
        .on('error', () => {})
        .end();
      await closed;
      sounds.open = open;
    });

    it('made under another master key is 500 recording_unreadable, and the code says what to do', async () => {
      const callUuid = await recordedCall();
      const address = await addressOf(callUuid);
      await api.database.query(
        'UPDATE call_recordings SET key_sealed = set_byte(key_sealed, 0, (get_byte(key_sealed, 0) + 1) % 256) WHERE call_uuid = $1',
        [callUuid],
      );
      expect(outcome(await get(address))).toEqual([500, 'recording_unreadable']);
    });
  });
});
