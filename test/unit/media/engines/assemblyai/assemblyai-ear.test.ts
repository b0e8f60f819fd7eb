/** What AssemblyAI's protocol has of its own. What every ear does is asked in `conformance.test.ts`. */
import { afterEach, expect, test } from 'vitest';
import { FakeAssemblyAi } from '../../../../support/providers/fake-assemblyai.ts';
import { KEY } from '../../../../support/providers/provider-bench.ts';
import { type EarBenchOptions, earBench } from '../ear-bench.ts';

const open = (options: EarBenchOptions<FakeAssemblyAi> = {}) =>
  earBench('assemblyai', 'assemblyai', (clock) => new FakeAssemblyAi(clock), options);
let bench: Awaited<ReturnType<typeof open>> | undefined;
afterEach(() => bench?.provider.close());

async function started(options: EarBenchOptions<FakeAssemblyAi> = {}) {
  bench = await open(options);
  const b = await bench.newEar();
  await b.silence(400);
  return { ...bench, b };
}
const LOST = { kind: 'failed', reason: 'it was reset', isTimeout: false } as const;
const CLOSED = (code: number, reason = '') => ({ kind: 'closed', code, reason }) as const;

test('the socket is asked for what the agent wants, with the key in a header alone', async () => {
  const settings = { languages: ['en-US', 'de'], keyterms: ['Parley'], mode: 'min_latency', maxTurnSilenceMs: 900 };
  const { fake } = await started({ settings });
  const { url, headers } = fake.last;
  expect(url.pathname).toBe('/v3/ws');
  expect(Object.fromEntries(url.searchParams)).toEqual({
    speech_model: 'universal-3-5-pro',
    encoding: 'pcm_mulaw',
    sample_rate: '8000',
    session_heartbeat: 'true',
    interruption_delay: '0',
    language_codes: '["en","de"]',
    mode: 'min_latency',
    max_turn_silence: '900',
    keyterms_prompt: '["Parley"]',
  });
  expect(headers['authorization']).toBe(KEY);
  expect(url.href).not.toContain(KEY);
});

test('a model of words is asked for what it knows, and nothing that it does not', async () => {
  const settings = {
    model: 'universal-streaming-english',
    languages: ['en'],
    mode: 'balanced',
    endOfTurnThreshold: 0.7,
  };
  const { fake } = await started({ settings, codec: 'pcm_s16le', rateHz: 16_000 });
  expect(Object.fromEntries(fake.last.url.searchParams)).toEqual({
    speech_model: 'universal-streaming-english',
    encoding: 'pcm_s16le',
    sample_rate: '16000',
    session_heartbeat: 'true',
    end_of_turn_confidence_threshold: '0.7',
  });
});

test('no piece of sound is shorter than 50 ms, whatever the call orders between them', async () => {
  const { b, fake } = await started();
  for (let turn = 1; turn <= 4; turn++) {
    b.order((ear) => ear.turnBegan(turn, b.atMs));
    await b.silence(20 * turn);
    b.order((ear) => ear.turnDropped());
  }
  await b.silence(400);
  const ms = fake.last.batches.map((batch) => batch.ms);
  expect(Math.min(...ms)).toBeGreaterThanOrEqual(50);
  expect(ms.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(b.atMs - 200);
});

test('its turns lead: a pause that may be the end is told, taken back, and the end is told', async () => {
  const { b } = await started();
  const fromMs = b.atMs;
  await b.say('yes');
  await b.silence(200);
  expect(Math.abs(b.began[0]! - fromMs)).toBeLessThanOrEqual(60);
  b.order((ear) => ear.turnBegan(1, b.began[0]!));
  await b.silence(200);
  expect(b.words.at(-1)).toMatchObject({ turn: 1, text: 'yes', concluded: true });
  const told = b.words.length;
  await b.say('please');
  await b.silence(140);
  expect(b.words.slice(told)).toMatchObject([{ text: 'yes please', final: false }]);
  expect(b.words.at(-1)!.concluded).toBeUndefined();
  await b.silence(1_000);
  expect(b.finals).toMatchObject([{ turn: 1, text: 'yes please' }]);
  expect(b.words.at(-2)).toMatchObject({ text: 'yes please', concluded: true });
});

test('asked before it knows of any words, it answers with the first that come', async () => {
  const { b, fake } = await started();
  fake.latencyMs = 400;
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('yes');
  b.order((ear) => ear.mayBeOver());
  expect(b.words).toEqual([]);
  await b.silence(300);
  expect(b.words[0]).toMatchObject({ turn: 1, text: 'yes', final: false, concluded: true });
});

test('a turn that is told once more, formatted, is not heard twice', async () => {
  const { b, fake } = await started();
  await b.turn(1, 'yes please');
  const words = [{ text: 'Yes,', start: 400, end: 600, confidence: 0.9 }];
  fake.last.say({ type: 'Turn', turn_order: 0, turn_is_formatted: true, end_of_turn: true, words });
  await b.silence(200);
  expect(b.finals).toHaveLength(1);
  expect(b.began).toEqual([]);
});

test('where the call ends a turn in which nothing was said, an end without words answers', async () => {
  const { b, fake, clock } = await started();
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.silence(600);
  b.order((ear) => ear.turnOver());
  await b.silence(100);
  expect(fake.last.told.at(-1)).toEqual({ type: 'ForceEndpoint' });
  const atMs = clock.nowMs();
  fake.last.say({ type: 'Turn', turn_order: 0, end_of_turn: true, transcript: '', words: [] });
  const final = await b.until('the final', () => b.finals[0]);
  expect(final).toMatchObject({ turn: 1, text: '', rejected: false });
  expect(final.isLate).toBeUndefined();
  expect(clock.nowMs() - atMs).toBeLessThanOrEqual(60);
});

test('silence says nothing: two such turns are no dead socket where its heart beats', async () => {
  const { b, fake } = await started();
  for (const turn of [1, 2, 3]) {
    b.order((ear) => ear.turnBegan(turn, b.atMs));
    await b.silence(2_000);
    fake.last.say({ type: 'Heartbeat', total_audio_received_ms: 1, total_duration_ms: 1, realtime_factor: 0.1 });
    b.order((ear) => ear.turnOver());
    await b.silence(1_000);
  }
  expect(b.finals).toMatchObject([{ text: '' }, { text: '' }, { text: '' }]);
  expect(fake.sockets).toHaveLength(1);
});

test('times of words that run backwards are put in order', async () => {
  const { b, fake } = await started();
  fake.last.wordTimes = (words) =>
    words.map((word, i) => ({ ...word, start: i % 2 === 0 ? word.start + 300 : word.start, end: word.end + 300 }));
  const { words } = await b.turn(1, 'yes please no');
  const times = words!.flatMap(({ startMs, endMs }) => [startMs, endMs]);
  expect(times.toSorted((a, c) => a - c)).toEqual(times);
});

/** What nobody speaks in comes in pieces of this length, and the first may be told at once. */
const QUIET_PIECE_MS = 120;

test('a socket lost in mid-turn: the turn is heard by the next, not faster than 1.25 times as it was spoken', async () => {
  const { b, fake } = await started();
  await b.silence(6_000);
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('yes please');
  fake.last.end(LOST);
  await b.silence(3_000);
  expect(b.finals).toMatchObject([{ turn: 1, text: 'yes please' }]);
  expect(fake.sockets).toHaveLength(2);
  const { batches } = fake.last;
  const sentMs = batches.reduce((sum, { ms }) => sum + ms, 0);
  const tookMs = batches.at(-1)!.atMs - batches[0]!.atMs;
  expect(sentMs - batches.at(-1)!.ms).toBeLessThanOrEqual(tookMs * 1.25 + 2 * QUIET_PIECE_MS);
  // The silence before it is not sent again.
  expect(sentMs).toBeLessThan(5_000);
});

const TWELVE = 'good morning yes please thank you monday tuesday no good morning please';

test('the end of a turn that failed while no socket stood is no order for the next one', async () => {
  const { b, fake } = await started();
  fake.refusals = [503, 503, 503];
  fake.last.end(LOST);
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say('yes');
  await b.silence(600);
  b.order((ear) => ear.turnOver());
  await b.silence(1_000);
  expect(b.failures).toHaveLength(1);
  b.order((ear) => ear.turnBegan(2, b.atMs));
  await b.until('a socket', () => fake.open === 1);
  await b.say('good morning please');
  expect(fake.last.told.map(({ type }) => type)).not.toContain('ForceEndpoint');
});

test('the first of what is sent again is not taken for the whole turn', async () => {
  const { b, fake } = await started();
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say(TWELVE);
  fake.last.end(LOST);
  await b.silence(600);
  b.order((ear) => ear.mayBeOver());
  await b.silence(1_400);
  expect(b.words.filter(({ concluded }) => concluded === true).map(({ text }) => text)).toEqual([]);
  b.order((ear) => ear.turnOver());
  await b.silence(2_000);
  const said = b.finals.concat(b.words.filter(({ final }) => !final)).some(({ text }) => text.includes('monday'));
  expect(said).toBe(true);
});

test('of two sentences with a pause between them that are sent again, no word is lost', async () => {
  const { b, fake } = await started();
  b.order((ear) => ear.turnBegan(1, b.atMs));
  fake.last.isStalled = true;
  await b.say('good morning yes please');
  await b.silence(800);
  await b.say('thank you monday tuesday');
  fake.last.end(LOST);
  await b.silence(6_000);
  const heard = b.words.filter(({ turn }) => turn === 1).map(({ text }) => text);
  const onset = b.began.at(-1);
  if (onset !== undefined) {
    b.order((ear) => ear.turnBegan(2, onset));
    await b.silence(1_000);
  }
  const all = [...heard, ...b.words.filter(({ turn }) => turn === 2).map(({ text }) => text)].join(' ');
  expect(all).toContain('good morning yes please');
  expect(all).toContain('thank you monday tuesday');
});

test('what waits to be sent again of a turn that is over holds up no other', async () => {
  const { b, fake } = await started();
  b.order((ear) => ear.turnBegan(1, b.atMs));
  await b.say(TWELVE);
  await b.say(TWELVE);
  fake.last.end(LOST);
  await b.silence(400);
  b.order((ear) => ear.turnDropped());
  await b.silence(600);
  b.order((ear) => ear.turnBegan(2, b.atMs));
  await b.say('yes');
  await b.silence(600);
  b.order((ear) => ear.turnOver());
  expect(await b.until('the final', () => b.finals[0])).toMatchObject({ turn: 2, text: 'yes' });
  expect(b.finals[0]!.isLate).not.toBe(true);
});

test.each([
  [1008, 'Unauthorized Connection: Invalid API key', 1],
  [1008, 'Unauthorized Connection: Too many concurrent sessions', 2],
  [3009, 'Unauthorized Connection: Too many concurrent sessions', 2],
  [3006, 'Invalid Message', 1],
  [3008, 'Session Expired: Maximum session duration exceeded', 2],
])('before the session begins, error %i (%s) means %i sockets', async (error_code, error, sockets) => {
  const { fake, b } = await started({ prepare: (one) => Object.assign(one, { latencyMs: 100_000 }) });
  fake.last.say({ type: 'Error', error_code, error });
  fake.last.end(CLOSED(error_code, 'See Error message for details'));
  await b.silence(1_500);
  expect(fake.sockets).toHaveLength(sockets);
  expect(b.deafened).toEqual(sockets === 1 ? [`AssemblyAI ended the session (${error_code}, ${error})`] : []);
});

test('what it could not read of a session that has begun costs that session', async () => {
  const { fake, b } = await started();
  fake.last.end(CLOSED(3006, 'Invalid Message'));
  await b.silence(500);
  expect([fake.sockets.length, b.deafened]).toEqual([2, []]);
});

test('what is expected is told at once, and its end is told: an open session is paid for', async () => {
  const { b, fake, used } = await started({ settings: { keyterms: ['Parley'] } });
  b.order((ear) => ear.hint({ phrases: ['monday', '<digits>', 'x'.repeat(51)], isOpen: true }));
  await b.silence(100);
  expect(fake.last.told).toEqual([{ type: 'UpdateConfiguration', keyterms_prompt: ['Parley', 'monday'] }]);
  b.order((ear) => ear.close());
  await b.pass(5);
  expect(fake.last.told.at(-1)).toEqual({ type: 'Terminate' });
  expect(used()).toMatchObject([{ unit: 'listen_seconds', provider: 'assemblyai', model: 'universal-3-5-pro' }]);
});

test('words that are told to have sounded before the stream began with it', async () => {
  const { b, fake } = await started();
  const beganMs = b.atMs - 400;
  fake.last.wordTimes = (words) => words.map((word) => ({ ...word, start: -60_000 }));
  await b.say('yes');
  expect(await b.until('the turn', () => b.began[0])).toBeGreaterThanOrEqual(beganMs);
});
