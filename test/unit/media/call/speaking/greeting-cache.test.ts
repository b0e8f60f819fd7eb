import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { GreetingCache } from '../../../../../media/call/speaking/greeting-cache.ts';
import type { RenderedSpeech } from '../../../../../media/call/speaking/rendered-speech.ts';
import { MULAW_8K } from '../../../../../media/contract/audio-format.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeTextToSpeech } from '../../../../support/fakes/scripted-engines.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const REQUEST = { text: 'Hello Asha. How are you?', voice: 'fake', format: MULAW_8K };

let directory: string;
let clock: VirtualClock;
let voice: FakeTextToSpeech;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-greetings-'));
  clock = new VirtualClock();
  voice = new FakeTextToSpeech(clock);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function cacheIn(folder = directory): GreetingCache {
  return new GreetingCache({ directory: folder, clock, logger: pino({ level: 'silent' }), textToSpeech: voice });
}

async function finished(speech: RenderedSpeech): Promise<RenderedSpeech> {
  await eventually('the greeting', () => speech.complete, {
    between() {
      clock.advanceMs(20);
      return new Promise((resolve) => setImmediate(resolve));
    },
  });
  return speech;
}

describe('the greeting cache', () => {
  test('renders all sentences at once, and once, for however many callers', async () => {
    const cache = cacheIn();
    const first = cache.obtain(REQUEST);
    expect(cache.obtain(REQUEST)).toBe(first);
    await finished(first);
    expect(cache.obtain(REQUEST)).toBe(first);
    expect(voice.requests.map((request) => request.text)).toEqual(['Hello Asha.', 'How are you?']);
    expect(first.frames).toBe((5 * 200 + 300) / 20);
    await cache.settled();
  });

  test('another thread finds it on disk: same frames, same words, no request to the voice', async () => {
    const cache = cacheIn();
    const made = await finished(cache.obtain(REQUEST));
    await cache.settled();
    voice.requests.length = 0;
    const found = await finished(cacheIn().obtain(REQUEST));
    expect(voice.requests).toEqual([]);
    expect(found.frames).toBe(made.frames);
    expect(found.words).toEqual(made.words);
    expect(Buffer.compare(found.bytes.subarray(0, 8_000), made.bytes.subarray(0, 8_000))).toBe(0);
  });

  test('its file can be read by its owner only, holds neither a name nor sound, and no temporary file is left', async () => {
    const cache = cacheIn();
    const speech = await finished(cache.obtain(REQUEST));
    await cache.settled();
    const names = await readdir(directory);
    expect(names).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.speech$/)]);
    const path = join(directory, names[0]!);
    expect((await stat(path)).mode & 0o077).toBe(0);
    const file = await readFile(path);
    expect(file.includes('Asha')).toBe(false);
    // Nor anything to listen to, or to read about it.
    for (const plain of ['frames', Buffer.from(speech.bytes.subarray(1600, 1632))])
      expect(file.includes(plain)).toBe(false);
  });

  test.each([
    ['another text', { text: 'Hello Bob. How are you?' }],
    ['another voice', { voice: 'other' }],
    ['another codec', { format: { codec: 'pcm_s16le' as const, rateHz: 16000 as const } }],
  ])('%s is another greeting', async (_what, change) => {
    const cache = cacheIn();
    const first = cache.obtain(REQUEST);
    const second = cache.obtain({ ...REQUEST, ...change });
    await finished(first);
    await finished(second);
    await cache.settled();
    expect(second).not.toBe(first);
    expect(await readdir(directory)).toHaveLength(2);
  });

  test.each([
    ['cut short', (file: Buffer) => file.subarray(0, file.length - 1)],
    ['empty', () => Buffer.alloc(0)],
    ['not ours', () => Buffer.from('{"version":1}\nnonsense')],
    ['changed in one bit', (file: Buffer) => Buffer.from(file.map((byte, at) => (at === 500 ? byte ^ 1 : byte)))],
  ])('a file that is %s is rendered anew and replaced', async (_what, spoil) => {
    const cache = cacheIn();
    await finished(cache.obtain(REQUEST));
    await cache.settled();
    const path = join(directory, (await readdir(directory))[0]!);
    const whole = await readFile(path);
    await writeFile(path, spoil(whole));
    voice.requests.length = 0;

    const other = cacheIn();
    const speech = await finished(other.obtain(REQUEST));
    await other.settled();
    expect(speech.error).toBeNull();
    expect(voice.requests).toHaveLength(2);
    expect(Buffer.compare(await readFile(path), whole)).toBe(0);
  });

  test('a folder that cannot be written costs the disk copy only', async () => {
    await writeFile(join(directory, 'file'), '');
    const cache = cacheIn(join(directory, 'file', 'greetings'));
    const speech = await finished(cache.obtain(REQUEST));
    await cache.settled();
    expect(speech.error).toBeNull();
    expect(cache.obtain(REQUEST)).toBe(speech);
  });

  test('a voice that fails is asked again by the next caller', async () => {
    voice.failures = [new Error('hoarse')];
    const cache = cacheIn();
    const failed = await finished(cache.obtain(REQUEST));
    await cache.settled();
    expect(failed.error?.message).toBe('hoarse');
    const next = await finished(cache.obtain(REQUEST));
    expect(next.error).toBeNull();
    await cache.settled();
  });

  test('is bounded in bytes, in memory and on disk: the longest unused go', async () => {
    const options = { directory, clock, logger: pino({ level: 'silent' }), textToSpeech: voice };
    // 32 KiB is the room of a short greeting.
    const cache = new GreetingCache({ ...options, mostMemoryBytes: 3 * 32 * 1024 });
    const text = (at: number) => ({ ...REQUEST, text: `Greeting ${'abcdefgh'[at]}.` });
    const made: RenderedSpeech[] = [];
    for (let at = 0; at < 4; at++) made.push(await finished(cache.obtain(text(at))));
    await cache.settled();
    expect(cache.obtain(text(3))).toBe(made[3]);
    expect(cache.obtain(text(0))).not.toBe(made[0]);
    await cache.settled();
    const oneBytes = (await stat(join(directory, (await readdir(directory))[0]!))).size;
    const small = new GreetingCache({ ...options, mostDiskBytes: 2 * oneBytes + 10 });
    await finished(small.obtain(text(5)));
    await small.settled();
    expect((await readdir(directory)).length).toBe(2);
  });

  test('in a hurry it asks the disk only for what it knows to be there', async () => {
    const cache = cacheIn();
    await finished(cache.obtain({ ...REQUEST, text: 'One.' }));
    await cache.settled();
    const other = cacheIn();
    await finished(other.obtain({ ...REQUEST, text: 'Two.' }));
    await other.settled();
    voice.requests.length = 0;
    // Written by another since, and nobody is kept waiting to find out.
    await finished(cache.obtain({ ...REQUEST, text: 'Two.' }, true));
    expect(voice.requests.map(({ text }) => text)).toEqual(['Two.']);
    await cache.settled();
    voice.requests.length = 0;
    const later = cacheIn();
    await finished(later.obtain({ ...REQUEST, text: 'Three.' }));
    await later.settled();
    voice.requests.length = 0;
    await finished(later.obtain({ ...REQUEST, text: 'Two.' }, true));
    expect(voice.requests).toEqual([]);
  });

  test('what it knows to be on disk is what is there when it prunes, whoever wrote or removed it', async () => {
    const cache = cacheIn();
    await cache.settled();
    const other = cacheIn();
    await finished(other.obtain({ ...REQUEST, text: 'Two.' }));
    await other.settled();
    // The first that is written prunes.
    await finished(cache.obtain({ ...REQUEST, text: 'One.' }));
    await cache.settled();
    voice.requests.length = 0;
    await finished(cache.obtain({ ...REQUEST, text: 'Two.' }, true));
    expect(voice.requests).toEqual([]);
  });

  test('keeps 128 greetings in memory, the last used of them', async () => {
    const cache = cacheIn();
    const kept = cache.obtain({ ...REQUEST, text: 'Zero.' });
    const gone = cache.obtain({ ...REQUEST, text: 'One.' });
    for (let i = 0; i < 127; i++) {
      cache.obtain({ ...REQUEST, text: `Number ${i}.` });
      cache.obtain({ ...REQUEST, text: 'Zero.' });
    }
    expect(cache.obtain({ ...REQUEST, text: 'Zero.' })).toBe(kept);
    expect(cache.obtain({ ...REQUEST, text: 'One.' })).not.toBe(gone);
    let settled = false;
    const all = cache.settled().then(() => {
      settled = true;
    });
    while (!settled) {
      clock.advanceMs(20);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await all;
  });
});
