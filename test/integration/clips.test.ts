/**
 * The clip process, built: a file that brings it down, or keeps it, harms nobody else; and the
 * command line, which uses it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../../bench/harness/patience.ts';
import { oggChecksum } from '../../media/audio/ogg-page.ts';
import { createClipSound } from '../../media/clips/clip-sound.ts';
import { importAgent } from '../../src/agents/stored-agents.ts';
import { ClipsBusy, convertInProcess } from '../../src/clips/convert-file.ts';
import { builtEntry } from '../../src/config/built-entry.ts';
import { oggOpusOf, SPEECH_RATE_HZ, wavOf } from '../support/clip-files.ts';
import { runParley } from '../support/command-line.ts';
import { sampleAgent } from '../support/sample-agent.ts';
import { type ApiFixture, createApiFixture } from '../unit/api/api-fixture.ts';

const TONE = Int16Array.from({ length: SPEECH_RATE_HZ }, (_, i) => 9_000 * Math.sin(i / 5));
const entry = () => builtEntry('media/clips/main.js');
const PATH = process.env['PATH'] ?? '';

let api: ApiFixture;
const folder = mkdtempSync(join(tmpdir(), 'parley-clip-'));
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true });
});

/** A whole Ogg file of 9 MB whose packets have one byte each, and say that they are 120 ms of sound. */
function manySmallPackets(): Buffer {
  const whole = oggOpusOf(TONE.subarray(0, 320));
  const head = whole.subarray(0, whole.indexOf('OggS', whole.indexOf('OpusTags')));
  const page = Buffer.alloc(27 + 255 + 255);
  page.write('OggS', 'latin1');
  page.writeUInt32LE(7, 14);
  page[26] = 255;
  page.fill(1, 27, 27 + 255);
  page.fill(0x18, 27 + 255);
  page.writeUInt32LE(oggChecksum(page, 0, page.length), 22);
  return Buffer.concat([head, ...Array.from({ length: 16_000 }, () => page)]);
}

describe('the clip process', () => {
  test('makes a clip of a file', async () => {
    const verdict = await convertInProcess(entry, PATH, PATIENCE_MS)(oggOpusOf(TONE), 'one');
    expect(verdict).toMatchObject({ ok: true, kind: 'ogg_opus' });
  });

  test('ends, with all that it holds, when its time is over; the file is refused', async () => {
    const verdict = await convertInProcess(entry, PATH, 1)(oggOpusOf(TONE), 'one');
    expect(verdict).toEqual({ ok: false, problem: 'it could not be read within 0.001 s' });
  });

  test('that dies is a refusal too', async () => {
    const dying = join(folder, 'dies.mjs');
    writeFileSync(dying, "process.on('message', () => process.kill(process.pid, 'SIGSEGV'));");
    const verdict = await convertInProcess(() => dying, PATH, PATIENCE_MS)(oggOpusOf(TONE), 'one');
    expect(verdict).toEqual({ ok: false, problem: expect.stringContaining('brought its reader down') });
  });

  test('does not swell with millions of packets that claim hours of sound', async () => {
    const verdict = await convertInProcess(entry, PATH, PATIENCE_MS)(manySmallPackets(), 'one');
    expect(verdict).toEqual({ ok: false, problem: expect.not.stringContaining('within') });
  });

  test('works on two files at once, of a workspace on one; two wait, others are told to come again', async () => {
    const waiting = join(folder, 'waits.mjs');
    writeFileSync(waiting, "process.on('message', () => setTimeout(() => process.exit(0), 300));");
    const convert = convertInProcess(() => waiting, PATH, PATIENCE_MS);
    const outcomes = await Promise.all(
      // One workspace that asks for nine holds up none that asks for one.
      [...Array.from({ length: 9 }, () => 'one'), 'other'].map((workspaceId) =>
        convert(new Uint8Array(1), workspaceId).then(
          () => `done for ${workspaceId}`,
          (error: Error) => error.constructor,
        ),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'done for one')).toHaveLength(3);
    expect(outcomes.at(-1)).toBe('done for other');
    expect(outcomes.filter((outcome) => outcome === ClipsBusy)).toHaveLength(6);
  });
});

describe('parley clip', () => {
  const parley = (...words: string[]) =>
    runParley(words, {
      DATABASE_URL: api.connectionString,
      PARLEY_MASTER_KEY: 'ab'.repeat(32),
      PARLEY_DATA_DIR: api.dataDir,
      PATH,
    });

  test('adds a file, lists it, and removes it when no agent plays it any more; media plays what it stored', async () => {
    const path = join(folder, 'welcome.wav');
    writeFileSync(path, wavOf(TONE));
    const added = await parley('clip', 'add', 'acme', 'welcome', path, '--text', 'Welcome.');
    expect(added.out + added.err).toMatch(/^Stored 'welcome' as clip [0-9a-f-]{36}, 1\.0 s at -1[56]\.\d LUFS\.\n$/);
    expect((await parley('clip', 'list', 'acme')).out).toMatch(/welcome +1\.0 s +wav +[0-9a-f-]{36} +Welcome\./);

    const definition = sampleAgent({ greeting: { clip: 'welcome' } });
    const agent = await importAgent(api.database, { slug: 'acme', definition });
    const files = await api.clips.forCall(agent.id, definition);
    const { sound, kept, keep } = createClipSound();
    let samples = 0;
    for await (const piece of sound(files!['welcome']!)) samples += piece.length;
    // Whole packets of Opus: less than one longer.
    expect(samples).toBeGreaterThanOrEqual(24_000);
    expect(samples).toBeLessThan(24_000 + 480);
    const frames = new Uint8Array(200_000).map((_, i) => i);
    const format = { codec: 'mulaw', rateHz: 8000 } as const;
    expect(await kept(files!['welcome']!, format)).toBeNull();
    await keep(files!['welcome']!, format, frames);
    expect(Buffer.from((await kept(files!['welcome']!, format))!).equals(frames)).toBe(true);

    const refused = await parley('clip', 'remove', 'acme', 'welcome');
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(`'Dental reminder' (${agent.id})`)]);
    await importAgent(api.database, { slug: 'acme', definition: sampleAgent(), id: agent.id });
    expect((await parley('clip', 'remove', 'acme', 'welcome')).out).toBe("The clip 'welcome' is gone.\n");
    expect(await kept(files!['welcome']!, format)).toBeNull();
  });

  test('says what is wrong with a file, a name and a workspace', async () => {
    const path = join(folder, 'noise.ogg');
    writeFileSync(path, 'OggS and nothing more');
    for (const [words, why] of [
      [['add', 'acme', 'noise', path], 'The file is no clip: '],
      [['add', 'acme', 'no way', path], "'no way' cannot be a clip's name"],
      [['add', 'acme', 'gone', join(folder, 'gone.ogg')], 'cannot be read (ENOENT)'],
      [['remove', 'acme', 'gone'], "'acme' has no clip 'gone'"],
    ] as const) {
      const told = await parley('clip', ...words);
      expect([told.code, told.err]).toEqual([1, expect.stringContaining(why)]);
    }
  });
});
