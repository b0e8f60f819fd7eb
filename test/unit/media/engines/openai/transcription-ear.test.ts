/** What OpenAI's transcription sessions have of their own. What every ear does is asked in `conformance.test.ts`. */
import { afterEach, expect, test } from 'vitest';
import { FakeTranscription } from '../../../../support/providers/fake-transcription.ts';
import { KEY } from '../../../../support/providers/provider-bench.ts';
import { type EarBenchOptions, earBench } from '../ear-bench.ts';

const open = (options: EarBenchOptions<FakeTranscription> = {}) =>
  earBench('openai', 'openai_compatible', (clock) => new FakeTranscription(clock), options);
let bench: Awaited<ReturnType<typeof open>> | undefined;
afterEach(() => bench?.provider.close());

async function started(options: EarBenchOptions<FakeTranscription> = {}) {
  bench = await open(options);
  const b = await bench.newEar();
  await b.silence(400);
  return { ...bench, b };
}
const LOST = { kind: 'failed', reason: 'it was reset', isTimeout: false } as const;
const COMMIT = expect.objectContaining({ type: 'input_audio_buffer.commit' });

test('the session is asked for what the agent wants before any sound, with the key in a header alone', async () => {
  const settings = { languages: ['en-US', 'de'], keyterms: ['Parley'], noiseReduction: 'far_field' };
  const { fake, b } = await started({ settings });
  const { url, headers, told } = fake.last;
  expect(`${url.pathname}${url.search}`).toBe('/realtime?intent=transcription');
  expect(headers['authorization']).toBe(`Bearer ${KEY}`);
  const input = {
    format: { type: 'audio/pcmu' },
    transcription: { model: 'gpt-live-transcribe', languages: ['en', 'de'], keywords: ['Parley'] },
    turn_detection: null,
    noise_reduction: { type: 'far_field' },
  };
  expect(told).toEqual([{ type: 'session.update', session: { type: 'transcription', audio: { input } } }]);
  // Nobody speaks: no sound is sent, and none is paid for.
  expect(fake.last.bytes).toEqual([]);
  b.order((ear) => ear.hint({ phrases: ['monday'], isOpen: true }));
  await b.silence(40);
  expect(JSON.stringify(fake.last.told.at(-1))).toContain('"keywords":["Parley","monday"]');
});

test.each([
  ['mulaw', 8000, { type: 'audio/pcmu' }],
  ['pcm_s16le', 8000, { type: 'audio/pcmu' }],
  ['pcm_s16le', 24_000, { type: 'audio/pcm', rate: 24_000 }],
] as const)('%s of %i Hz is heard', async (codec, rateHz, format) => {
  const { fake, b } = await started({ codec, rateHz });
  expect((await b.turn(1, 'yes please')).text).toBe('yes please');
  expect(fake.last.told[0]).toMatchObject({ session: { audio: { input: { format } } } });
});

test('only sound of turns is sent, and from a little before them', async () => {
  const { b, fake, used } = await started();
  await b.silence(5_000);
  await b.turn(1, 'yes please');
  await b.silence(5_000);
  const sentMs = fake.last.batches.reduce((sum, { ms }) => sum + ms, 0);
  expect(sentMs).toBeGreaterThan(1_400);
  expect(sentMs).toBeLessThan(1_800);
  b.order((ear) => ear.close());
  await b.pass(5);
  expect(used()).toMatchObject([{ unit: 'listen_seconds', model: 'gpt-live-transcribe', quantity: sentMs / 1_000 }]);
});

test('a pause is committed once: its text is the turn’s where the caller does not go on', async () => {
  const { b, fake } = await started();
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('yes please');
  await b.silence(400);
  b.order((ear) => ear.mayBeOver());
  await b.silence(300);
  expect(b.words.at(-1)).toMatchObject({ text: 'yes please', concluded: true });
  b.order((ear) => ear.turnOver());
  expect((await b.until('the final', () => b.finals[0])).text).toBe('yes please');
  expect(fake.last.told.filter(({ type }) => type === 'input_audio_buffer.commit')).toHaveLength(1);
});

test('words that come after the call has given their turn up are a turn of their own, once', async () => {
  const { b, fake } = await started();
  fake.latencyMs = 2_000;
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('no');
  await b.silence(400);
  b.order((ear) => ear.turnOver());
  expect(await b.until('the final', () => b.finals[0])).toMatchObject({ turn: 1, text: '', isLate: true });
  const onsetMs = await b.until('the late words', () => b.began[0]);
  b.order((ear) => ear.turnBegan(2, onsetMs));
  expect(await b.until('the final', () => b.finals[1])).toMatchObject({ turn: 2, text: 'no' });
  fake.latencyMs = 100;
  expect((await b.turn(3, 'yes')).text).toBe('yes');
  expect(b.began).toHaveLength(1);
});

test('a socket lost in mid-turn: what had no text is sent again, as one', async () => {
  const { b, fake } = await started();
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('yes please');
  await b.silence(100);
  fake.last.end(LOST);
  await b.silence(500);
  b.order((ear) => ear.turnOver());
  expect((await b.until('the final', () => b.finals[0])).text).toBe('yes please');
  expect(fake.sockets).toHaveLength(2);
  expect(fake.last.told).toEqual([expect.objectContaining({ type: 'session.update' }), COMMIT]);
});

test('a turn that is over before a socket stands is committed once, and heard', async () => {
  const { b, fake } = await started({ prepare: (one) => Object.assign(one, { connectMs: 2_300 }) });
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('yes');
  await b.silence(400);
  b.order((ear) => ear.mayBeOver());
  b.order((ear) => ear.wentOn());
  await b.say('please');
  await b.silence(400);
  expect(fake.open).toBe(0);
  b.order((ear) => ear.turnOver());
  expect((await b.until('the final', () => b.finals[0])).text).toBe('yes please');
  expect(fake.last.told).toEqual([expect.objectContaining({ type: 'session.update' }), COMMIT]);
});

test('a commit that waited for its sound when the socket was lost is not said over the next one', async () => {
  const { b, fake } = await started({ prepare: (one) => Object.assign(one, { connectMs: 1_500 }) });
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('yes please');
  await b.until('a socket', () => fake.open === 1);
  b.order((ear) => ear.turnOver());
  fake.connectMs = 40;
  fake.last.end(LOST);
  expect((await b.until('the final', () => b.finals[0])).text).toBe('yes please');
  expect(fake.last.told).toEqual([expect.objectContaining({ type: 'session.update' }), COMMIT]);
});

test('a commit that waits for its sound takes nothing of the next turn’s with it', async () => {
  const { b, fake } = await started({ prepare: (one) => Object.assign(one, { connectMs: 3_900 }) });
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('good morning thank you monday tuesday good morning thank you');
  await b.until('a socket', () => fake.open === 1);
  b.order((ear) => ear.turnDropped());
  await b.silence(100);
  expect((await b.turn(2, 'yes please')).text).toBe('yes please');
});

test('of a model that says nothing until it is asked, a socket that owes two answers is given up', async () => {
  const { b, fake } = await started({ settings: { model: 'gpt-4o-transcribe' } });
  fake.last.isStalled = true;
  for (const turn of [1, 2]) {
    b.order((ear) => ear.turnBegan(turn, b.atMs));
    await b.say('yes please');
    await b.silence(1_500);
    b.order((ear) => ear.turnOver());
    await b.silence(2_000);
  }
  expect(fake.sockets).toHaveLength(2);
  expect((await b.turn(3, 'no')).text).toBe('no');
});

test('a commit that the network did not take is said when it does', async () => {
  const { b, fake } = await started({ settings: { model: 'gpt-4o-transcribe' } });
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('yes please');
  const socket = fake.last;
  let refused = 0;
  const send = socket.send.bind(socket);
  socket.send = (data) => !(String(data).includes('.commit') && ++refused <= 3) && send(data);
  b.order((ear) => ear.turnOver());
  expect((await b.until('the final', () => b.finals[0])).text).toBe('yes please');
});

test('what could not be transcribed fails the turn with its reason, and the next is heard', async () => {
  const { b, fake } = await started({ settings: { model: 'gpt-4o-transcribe' } });
  fake.last.commits.push('fail');
  await expect(b.turn(1, 'yes')).rejects.toThrow('OpenAI could not transcribe: It could not.');
  expect((await b.turn(2, 'no')).text).toBe('no');
});

test('a commit that is refused makes no item: the next one is not taken for it', async () => {
  const { b, fake } = await started();
  fake.last.commits.push('refuse');
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('yes');
  b.order((ear) => ear.turnDropped());
  await b.silence(400);
  expect((await b.turn(2, 'yes please')).text).toMatch(/please$/);
});

test.each([
  ['invalid_api_key', 'invalid_request_error', 1],
  ['insufficient_quota', 'insufficient_quota', 1],
  ['rate_limit_exceeded', 'rate_limit_error', 2],
  ['session_expired', 'invalid_request_error', 2],
  ['invalid_value', 'invalid_request_error', 1],
])('before the session is taken, the error %s means %3$i sockets', async (code, type, sockets) => {
  const { b, fake } = await started({ prepare: (one) => Object.assign(one, { latencyMs: 100_000 }) });
  fake.last.say({ type: 'error', error: { type, code, message: 'Why.' } });
  await b.silence(1_500);
  expect(fake.sockets).toHaveLength(sockets);
  expect(b.deafened).toEqual(sockets === 1 ? [`OpenAI said ${code}: Why.`] : []);
});

test('an error of a session that was taken is no reason to leave it', async () => {
  const { b, fake } = await started();
  fake.last.say({ type: 'error', error: { type: 'invalid_request_error', code: 'unknown_parameter', message: 'x' } });
  expect((await b.turn(1, 'yes')).text).toBe('yes');
  expect(fake.sockets).toHaveLength(1);
});

test('what is said again of an item that was told is not the next turn’s', async () => {
  const { b, fake } = await started();
  expect((await b.turn(1, 'yes please')).text).toBe('yes please');
  b.order((ear) => ear.turnBegan(2, b.atMs));
  // Its sound has begun to go out, and nothing was said of it.
  await b.silence(200);
  const told = { item_id: 'item-1-0', content_index: 0 };
  fake.last.say({ type: 'conversation.item.input_audio_transcription.segment', ...told, text: 'yes please' });
  fake.last.say({ type: 'conversation.item.input_audio_transcription.delta', ...told, delta: ' please' });
  fake.last.say({ type: 'conversation.item.input_audio_transcription.completed', ...told, transcript: 'Yes please.' });
  await b.say('no');
  await b.silence(400);
  b.order((ear) => ear.turnOver());
  expect(await b.until('the final', () => b.finals[1])).toMatchObject({ turn: 2, text: 'no' });
});
