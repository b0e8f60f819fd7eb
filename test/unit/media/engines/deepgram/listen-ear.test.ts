import { afterEach, describe, expect, test } from 'vitest';
import { encodeMulaw } from '../../../../../media/audio/g711.ts';
import { KEY } from '../../../../support/providers/provider-bench.ts';
import { toySpeech } from '../../../../support/providers/toy-speech.ts';
import { type DeepgramBenchOptions, deepgramBench } from './deepgram-bench.ts';

type Bench = Awaited<ReturnType<typeof deepgramBench>>;
let bench: Bench | undefined;
afterEach(() => bench?.provider.close());

async function started(options: DeepgramBenchOptions = {}) {
  bench = await deepgramBench('deepgram', options);
  const b = await bench.newEar();
  return { ...bench, b };
}

const LOST = { kind: 'failed', reason: 'it was reset', isTimeout: false } as const;

describe('the socket', () => {
  test('is asked for what the agent wants, in the form of the leg, with the key in a header alone', async () => {
    const settings = { model: 'nova-3', language: 'en-IN', keyterms: ['Parley'], numerals: true };
    const { b, fake } = await started({ settings });
    await b.silence(200);
    const { url, headers } = fake.last;
    expect(url.href).toMatch(/^wss:\/\/provider\.test\/v1\/listen\?/);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      model: 'nova-3',
      encoding: 'mulaw',
      sample_rate: '8000',
      interim_results: 'true',
      language: 'en-IN',
      keyterm: 'Parley',
      numerals: 'true',
    });
    expect(headers).toEqual({ authorization: `Token ${KEY}` });
    expect(url.href).not.toContain(KEY);
  });

  test('is one a call, opened while the phone rings and kept alive until it is answered', async () => {
    bench = await deepgramBench('deepgram');
    bench.prepare();
    await bench.wait(9_000);
    expect(bench.fake.last.isOpen).toBe(true);
    expect(bench.fake.last.told).toEqual([{ type: 'KeepAlive' }, { type: 'KeepAlive' }]);
    const b = await bench.newEar();
    expect((await b.turn(1, 'yes')).text).toBe('yes');
    expect(bench.fake.sockets).toHaveLength(1);
  });

  test('that waited for a call that is over is closed', async () => {
    bench = await deepgramBench('deepgram');
    bench.prepare();
    await bench.wait(1_000);
    bench.provider.desk.told({ type: 'revoke', callUuid: 'call-1' });
    await bench.wait(100);
    expect(bench.fake.open).toBe(0);
  });

  test('gets each byte of a mu-law leg as it came, in messages of 120 ms, in a turn of 60', async () => {
    const { b, fake } = await started();
    const speech = toySpeech('yes please no', 8000);
    await b.push(speech);
    await b.silence(60);
    const bytes = new Uint8Array(speech.length);
    encodeMulaw(speech, 0, speech.length, bytes, 0);
    expect(fake.last.bytes.slice(0, bytes.length)).toEqual([...bytes]);
    expect(fake.last.batches.slice(0, -1).every(({ ms }) => ms === 120)).toBe(true);
    b.order((ear) => ear.turnBegan(1, b.atMs));
    const before = fake.last.batches.length;
    await b.push(toySpeech('yes please', 8000));
    expect(fake.last.batches.slice(before + 1).map(({ ms }) => ms)).toEqual(expect.arrayContaining([60]));
    expect(fake.last.batches.slice(before + 1, -1).every(({ ms }) => ms === 60)).toBe(true);
  });

  test('is told of the end of a call, and the seconds that it heard are counted', async () => {
    const { b, fake, wait, used } = await started();
    await b.silence(3_000);
    b.order((ear) => ear.close());
    await wait(100);
    expect(fake.last.told.at(-1)).toEqual({ type: 'CloseStream' });
    expect(fake.open).toBe(0);
    expect(used()).toMatchObject([{ unit: 'listen_seconds', provider: 'deepgram', model: 'nova-3', quantity: 3 }]);
  });

  test('is kept for the successor of a pipeline thread that died, and nobody else is told', async () => {
    const { b, fake, provider, lines, newEar, wait } = await started();
    await b.silence(500);
    b.order((ear) => ear.turnBegan(1, b.atMs));
    await b.say('yes');
    lines.port.close();
    lines.port = provider.newPort();
    await wait(1_000);
    const successor = await newEar();
    successor.atMs = b.atMs + 1_000;
    expect((await successor.turn(2, 'no')).text).toBe('no');
    expect(fake.sockets).toHaveLength(1);
    expect(b.finals).toEqual([]);
  });

  test('is closed when no successor comes', async () => {
    const { b, fake, lines, wait } = await started();
    await b.silence(500);
    lines.port.close();
    await wait(6_000);
    expect(fake.open).toBe(0);
  });
});

describe('a socket that is lost', () => {
  test('in mid-turn: what was not settled is heard by the next, at four times its pace, at its own time', async () => {
    const { b, fake } = await started();
    await b.silence(4_000);
    const fromMs = b.atMs;
    b.order((ear) => ear.turnBegan(1, b.atMs));
    await b.say('yes please');
    fake.last.end(LOST);
    await b.say('thank you');
    await b.silence(600);
    b.order((ear) => ear.turnOver());
    const final = await b.until('the final', () => b.finals[0]);
    expect(final.text).toBe('yes please thank you');
    const [first] = final.words!;
    expect(Math.abs(first!.startMs - fromMs)).toBeLessThanOrEqual(60);
    expect(fake.sockets).toHaveLength(2);
    // Not the four seconds of silence before the turn.
    const replayedMs = fake.last.batches.reduce((sum, { ms }) => sum + ms, 0);
    expect(replayedMs).toBeLessThan(3_000);
    const { batches } = fake.last;
    let sentMs = 0;
    for (const { atMs, ms } of batches) {
      expect(sentMs).toBeLessThanOrEqual(4 * (atMs - batches[0]!.atMs) + 2 * 60);
      sentMs += ms;
    }
  });

  test('says what is settled once, however often it is heard', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    b.order((ear) => ear.turnBegan(1, b.atMs));
    await b.say('yes');
    await b.silence(400);
    await b.say('please');
    fake.last.end(LOST);
    await b.silence(800);
    b.order((ear) => ear.turnOver());
    expect((await b.until('the final', () => b.finals[0])).text).toBe('yes please');
  });

  test('is dialled again at once, then after 250 ms, 1 s, 2 s and each 4 s', async () => {
    const { b, fake } = await started({ prepare: (fake) => fake.refusals.push(503, 503, 503, 503) });
    await b.silence(200);
    expect(fake.sockets).toHaveLength(2);
    await b.silence(300);
    expect(fake.sockets).toHaveLength(3);
    await b.silence(1_040);
    expect(fake.sockets).toHaveLength(4);
    await b.silence(2_040);
    expect(fake.sockets).toHaveLength(5);
    expect((await b.turn(1, 'yes')).text).toBe('yes');
  });

  test.each([401, 402, 400])(
    'for good (%i): it is not dialled again, and each turn fails with what was said',
    async (status) => {
      const { b, fake } = await started({ prepare: (fake) => fake.refusals.push(status) });
      await b.silence(1_000);
      b.order((ear) => ear.turnBegan(1, b.atMs));
      await b.until('the failure', () => b.failures.length > 0);
      b.order((ear) => ear.turnBegan(2, b.atMs));
      await b.until('the failure', () => b.failures.length > 1);
      expect(b.failures.map(({ turn }) => turn)).toEqual([1, 2]);
      expect(b.failures[0]!.error.message).toBe(`Deepgram answered ${status}: No.`);
      expect(fake.sockets).toHaveLength(1);
    },
  );

  test('for good is told at once, in a turn and outside, once', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    fake.last.end({ kind: 'closed', code: 1008, reason: 'The key was revoked.' });
    await b.silence(40);
    expect(b.deafened).toEqual(['Deepgram closed the connection (1008, The key was revoked.)']);
    expect(b.failures).toEqual([]);
    b.order((ear) => ear.turnBegan(1, b.atMs));
    await b.until('the failure', () => b.failures.length > 0);
    expect(b.deafened).toHaveLength(1);
  });

  test('for good while the phone rang is told when the call listens', async () => {
    bench = await deepgramBench('deepgram', { prepare: (fake) => fake.refusals.push(401) });
    bench.prepare();
    await bench.wait(1_000);
    const b = await bench.newEar();
    await b.silence(40);
    expect(b.deafened).toEqual(['Deepgram answered 401: No.']);
  });

  test('because the call may not use it any more: told at once', async () => {
    const { b, provider } = await started();
    await b.silence(400);
    provider.desk.told({ type: 'revoke', callUuid: 'call-1' });
    await b.silence(40);
    expect(b.deafened).toEqual(['the call is over']);
  });

  test('with its pipeline thread’s end of the line only: that is no deafness', async () => {
    const { b, provider } = await started();
    await b.silence(400);
    provider.close();
    await b.silence(40);
    expect(b.deafened).toEqual([]);
  });

  test('by 429 is not dialled again within a second', async () => {
    const { b, fake } = await started({ prepare: (fake) => fake.refusals.push(429) });
    await b.silence(900);
    expect(fake.sockets).toHaveLength(1);
    await b.silence(300);
    expect(fake.sockets).toHaveLength(2);
  });

  test('and cannot be had again: the turn fails before the call gives it up, and the next is heard', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    b.order((ear) => ear.turnBegan(1, b.atMs));
    fake.refusals.push('hang');
    fake.last.end(LOST);
    await b.say('yes');
    await b.silence(600);
    b.order((ear) => ear.turnOver());
    let steps = 0;
    await b.until('the failure', () => ++steps > 0 && b.failures.length > 0);
    expect(steps).toBeLessThan(1_500 / 20);
    fake.last.end(LOST);
    await b.silence(1_500);
    expect((await b.turn(2, 'no')).text).toBe('no');
  });
});

describe('a socket that is open and dead', () => {
  test('that says nothing more after a pause in which it had answered is lost like any other', async () => {
    const { b, fake } = await started();
    b.order((ear) => ear.turnBegan(1, b.atMs));
    await b.say('yes');
    await b.silence(600);
    b.order((ear) => ear.mayBeOver());
    await b.until('the conclusion', () => b.words.find(({ concluded }) => concluded === true));
    b.order((ear) => ear.wentOn());
    fake.last.isStalled = true;
    for (let words = 0; words < 12; words++) await b.say('please');
    expect(fake.sockets).toHaveLength(2);
  });

  test('says nothing for 2 s while somebody speaks: another hears the turn', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    fake.last.isStalled = true;
    b.order((ear) => ear.turnBegan(1, b.atMs));
    for (let i = 0; i < 10; i++) await b.say('yes');
    await b.silence(900);
    b.order((ear) => ear.turnOver());
    expect((await b.until('the final', () => b.finals[0])).text).toBe(Array(10).fill('yes').join(' '));
    expect(fake.sockets).toHaveLength(2);
  });

  test('is not suspected while nobody speaks', async () => {
    const { b, fake } = await started();
    await b.silence(4_000);
    fake.last.isStalled = true;
    await b.silence(4_000);
    expect(fake.sockets).toHaveLength(1);
  });

  test('answers no ping for 5 s: another is dialled', async () => {
    const { b, fake } = await started();
    await b.silence(200);
    fake.last.answersPings = false;
    await b.silence(16_000);
    expect(fake.sockets).toHaveLength(2);
    expect(fake.open).toBe(1);
  });
});

describe('words that come late', () => {
  test('after their turn was over are a turn of their own, settled at once', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    fake.latencyMs = 1_500;
    b.order((ear) => ear.turnBegan(1, b.atMs));
    const fromMs = b.atMs;
    await b.say('no');
    await b.silence(400);
    b.order((ear) => ear.turnOver());
    expect(await b.until('the final', () => b.finals[0])).toMatchObject({ turn: 1, text: '', isLate: true });
    const onsetMs = await b.until('the late words', () => b.began[0]);
    expect(Math.abs(onsetMs - fromMs)).toBeLessThanOrEqual(60);
    b.order((ear) => ear.turnBegan(2, onsetMs));
    expect(await b.until('their final', () => b.finals[1])).toMatchObject({ turn: 2, text: 'no' });
    await b.silence(2_000);
    expect([b.finals.length, b.began.length]).toEqual([2, 1]);
  });

  test('behind words that were told are told alone', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    b.order((ear) => ear.turnBegan(1, b.atMs));
    await b.say('yes please');
    await b.silence(200);
    fake.latencyMs = 1_500;
    await b.say('thank you');
    await b.silence(400);
    b.order((ear) => ear.turnOver());
    const first = await b.until('the final', () => b.finals[0]);
    expect(first.isLate).toBe(true);
    const onsetMs = await b.until('the late words', () => b.began[0]);
    b.order((ear) => ear.turnBegan(2, onsetMs));
    const second = await b.until('their final', () => b.finals[1]);
    expect(`${first.text} ${second.text}`).toBe('yes please thank you');
    expect(second.text).not.toBe('');
  });

  test('are none that were told before they were settled, at other times', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    b.order((ear) => ear.turnBegan(1, b.atMs));
    await b.say('yes please');
    await b.silence(200);
    fake.last.isStalled = true;
    b.order((ear) => ear.turnOver());
    const final = await b.until('the final', () => b.finals[0]);
    expect(final).toMatchObject({ isLate: true });
    const told = final.text.split(' ').length;
    // What was a guess is settled as the same words, half a second later.
    const at = final.words!.at(-1)!.endMs / 1_000;
    const words = ['yes', 'please'].slice(0, told).map((word, n) => ({
      ...{ word, start: at + 0.2 + n * 0.2, end: at + 0.4 + n * 0.2, confidence: 0.9 },
    }));
    const metadata = { request_id: fake.last.id };
    const channel = { alternatives: [{ words }] };
    fake.last.raw(JSON.stringify({ type: 'Results', start: 0, duration: at + 2, is_final: true, metadata, channel }));
    await b.silence(400);
    expect(b.began).toEqual([]);
  });

  test('belong to the turn that the caller has begun meanwhile', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    fake.latencyMs = 1_500;
    b.order((ear) => ear.turnBegan(1, b.atMs));
    await b.say('no');
    await b.silence(400);
    b.order((ear) => ear.turnOver());
    await b.until('the final', () => b.finals[0]);
    fake.latencyMs = 100;
    expect((await b.turn(2, 'thank you')).text).toBe('no thank you');
    expect(b.began).toEqual([]);
  });

  test('later than 6 s after it are nobody’s, and no other turn’s either', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    fake.latencyMs = 9_000;
    b.order((ear) => ear.turnBegan(1, b.atMs));
    await b.say('no');
    await b.silence(400);
    b.order((ear) => ear.turnOver());
    await b.until('the final', () => b.finals[0]);
    await b.silence(7_200);
    fake.latencyMs = 100;
    // They come while it is said.
    expect((await b.turn(2, 'yes please thank you')).text).toBe('yes please thank you');
    await b.silence(2_000);
    expect(b.began).toEqual([]);
  });

  test('of a noise are none: nothing is told of it', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    fake.latencyMs = 1_500;
    b.order((ear) => ear.turnBegan(1, b.atMs));
    await b.silence(800);
    b.order((ear) => ear.turnOver());
    await b.until('the final', () => b.finals[0]);
    await b.silence(8_000);
    expect(b.began).toEqual([]);
  });

  test('because the socket is slow are waited for, and no other is dialled', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    fake.latencyMs = 3_000;
    b.order((ear) => ear.turnBegan(1, b.atMs));
    await b.say('no');
    await b.silence(1_400);
    b.order((ear) => ear.turnOver());
    expect(await b.until('the final', () => b.finals[0])).toMatchObject({ turn: 1, text: '', isLate: true });
    await b.until('the late words', () => b.began[0]);
    expect(fake.sockets).toHaveLength(1);
  });

  test('never, for the socket is dead: of the second turn in a row another is sent all', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    fake.last.isStalled = true;
    b.order((ear) => ear.turnBegan(1, b.atMs));
    await b.say('no');
    await b.silence(1_400);
    b.order((ear) => ear.turnOver());
    expect(await b.until('the final', () => b.finals[0])).toMatchObject({ turn: 1, text: '', isLate: true });
    expect(fake.sockets).toHaveLength(1);
    b.order((ear) => ear.turnBegan(2, b.atMs));
    await b.say('thank you');
    await b.silence(1_000);
    b.order((ear) => ear.turnOver());
    // The first of it in time, and the rest, which is still being sent, as words that come late.
    expect(await b.until('the final', () => b.finals[1])).toMatchObject({ turn: 2, text: 'no', isLate: true });
    const onsetMs = await b.until('the rest', () => b.began[0]);
    b.order((ear) => ear.turnBegan(3, onsetMs));
    expect(await b.until('its final', () => b.finals[2])).toMatchObject({ turn: 3, text: 'thank you' });
    expect(fake.sockets).toHaveLength(2);
  });
});

describe('answers that are none', () => {
  test('of another request are never this caller’s words', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    fake.last.isForeign = true;
    const final = await b.turn(1, 'stranger');
    expect(fake.sockets).toHaveLength(2);
    expect(final.text).toBe('stranger');
    // They are those of the second socket: the first said them as another's.
    fake.last.isForeign = true;
    b.order((ear) => ear.turnBegan(2, b.atMs));
    await b.say('yes');
    expect(b.words.filter(({ turn }) => turn === 2)).toEqual([]);
  });

  test('garbage is passed over, and three in a row end the socket', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    const [first] = fake.sockets;
    for (const text of ['{"type":"Resul', '[]', '{"type":"Results"}', '{"type":"Results","start":"x"}', 'null'])
      first!.raw(text);
    expect((await b.turn(1, 'yes')).text).toBe('yes');
    expect(fake.sockets).toHaveLength(1);
    for (let i = 0; i < 3; i++) first!.raw('\u0000');
    await b.silence(200);
    expect(fake.sockets).toHaveLength(2);
  });

  test('garbage in mid-turn may have been its words: another socket hears them', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    b.order((ear) => ear.turnBegan(1, b.atMs));
    await b.say('yes please');
    await b.silence(200);
    fake.last.isStalled = true;
    fake.last.raw('{"type":"Resul');
    await b.silence(400);
    b.order((ear) => ear.turnOver());
    expect((await b.until('the final', () => b.finals[0])).text).toBe('yes please');
  });

  test('a final that never comes is not waited for: what was heard is what counts', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    b.order((ear) => ear.turnBegan(1, b.atMs));
    await b.say('yes please no');
    fake.last.isStalled = true;
    await b.silence(100);
    b.order((ear) => ear.turnOver());
    const final = await b.until('the final', () => b.finals[0]);
    expect(final.text.startsWith('yes')).toBe(true);
  });

  test('words that were asked for in the pause, in vain, are waited for that much less at its end', async () => {
    const { b, fake } = await started();
    await b.silence(400);
    b.order((ear) => ear.turnBegan(1, b.atMs));
    await b.say('yes please no');
    fake.last.isStalled = true;
    await b.silence(600);
    b.order((ear) => ear.mayBeOver());
    await b.silence(500);
    b.order((ear) => ear.turnOver());
    // 800 ms from the first asking, 300 of them from now.
    await b.silence(240);
    expect(b.finals).toEqual([]);
    await b.silence(120);
    expect(b.finals).toHaveLength(1);
  });
});

test('a line that is dead for a minute leaves no more than ten seconds to be sent', async () => {
  const { b, fake } = await started({ prepare: (fake) => fake.refusals.push(...Array(20).fill(503)) });
  b.order((ear) => ear.turnBegan(1, 0));
  await b.silence(60_000);
  fake.refusals = [];
  await b.silence(5_000);
  expect(fake.open).toBe(1);
  expect(fake.last.bytes.length).toBeLessThanOrEqual(16_000 * 8);
});
