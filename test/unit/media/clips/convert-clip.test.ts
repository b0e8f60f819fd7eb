/** Files of every kind become one kind of clip, and files that are none are refused by a sentence. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../../../bench/harness/seeded-random.ts';
import { integratedLufs } from '../../../../media/audio/loudness.ts';
import { readWav } from '../../../../media/audio/wav-reader.ts';
import { convertClip } from '../../../../media/clips/convert-clip.ts';
import { CLIP_RATE_HZ } from '../../../../media/contract/clip.ts';
import {
  byFfmpeg,
  element,
  ffmpegLufs,
  hasFfmpeg,
  oggOpusOf,
  SPEECH_RATE_HZ,
  speechOf,
  wavOf,
  webmOpusOf,
} from '../../../support/clip-files.ts';

const TEXT = 'Please hold the line. Somebody will be with you in a moment.';
let speech: Int16Array;
let speechMs = 0;

beforeAll(async () => {
  speech = await speechOf(TEXT);
  speechMs = (speech.length * 1000) / SPEECH_RATE_HZ;
});

const quieter = (samples: Int16Array, divisor: number) => samples.map((sample) => Math.trunc(sample / divisor));

async function problemOf(file: Buffer): Promise<string> {
  return convertClip(file).then(
    () => 'it became a clip',
    (error: Error) => `${error.name}: ${error.message}`,
  );
}

/** How much of `sound` is what `speech` was: their likeness at the best shift within 60 ms, 1 is the same. */
function likeness(wav: Uint8Array): number {
  const { monoSamples } = readWav(wav, 180);
  const envelope = (samples: ArrayLike<number>, rateHz: number): number[] => {
    const hop = rateHz / 100;
    return Array.from({ length: Math.floor(samples.length / hop) }, (_, block) => {
      let sum = 0;
      for (let i = 0; i < hop; i++) sum += samples[block * hop + i]! ** 2;
      return Math.sqrt(sum / hop);
    });
  };
  const ours = envelope(monoSamples, CLIP_RATE_HZ);
  const theirs = envelope(speech, SPEECH_RATE_HZ);
  let best = 0;
  for (let shift = -6; shift <= 6; shift++) {
    let [both, a, b] = [0, 0, 0];
    for (let i = Math.max(0, -shift); i < theirs.length && i + shift < ours.length; i++) {
      both += theirs[i]! * ours[i + shift]!;
      a += theirs[i]! ** 2;
      b += ours[i + shift]! ** 2;
    }
    best = Math.max(best, both / Math.sqrt(a * b));
  }
  return best;
}

describe('a file becomes a clip', () => {
  test.each([
    ['wav', () => wavOf(quieter(speech, 20)), 'wav'],
    ['Ogg Opus', () => oggOpusOf(speech), 'ogg_opus'],
    ['WebM Opus', () => webmOpusOf(speech), 'webm_opus'],
  ])('%s: the same sound, as long, at -16 LUFS', async (_name, file, kind) => {
    const clip = await convertClip(file());
    expect(clip.kind).toBe(kind);
    expect(Math.abs(clip.durationMs - speechMs)).toBeLessThan(50);
    expect(likeness(clip.wav)).toBeGreaterThan(0.97);
    expect(Math.abs(clip.loudnessLufs - -16)).toBeLessThan(0.5);
    const { rateHz, monoSamples } = readWav(clip.wav, 180);
    expect(rateHz).toBe(24_000);
    expect(monoSamples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)).toBeLessThanOrEqual(0.8914);
  });

  test.runIf(hasFfmpeg).each([
    ['MP3', ['-f', 'mp3']],
    ['FLAC', ['-f', 'flac']],
    ['Ogg Vorbis', ['-c:a', 'libvorbis', '-f', 'ogg']],
    ['AAC', ['-f', 'adts']],
    ['Ogg Opus of FFmpeg, stereo', ['-c:a', 'libopus', '-ac', '2', '-f', 'ogg']],
    ['WebM Opus of FFmpeg', ['-c:a', 'libopus', '-f', 'webm']],
    ['WebM Vorbis', ['-c:a', 'libvorbis', '-f', 'webm']],
    ['WAV of 24 bits and 44.1 kHz', ['-c:a', 'pcm_s24le', '-ar', '44100', '-ac', '2', '-f', 'wav']],
    ['WAV of floats', ['-c:a', 'pcm_f32le', '-f', 'wav']],
    ['WAV of A-law', ['-c:a', 'pcm_alaw', '-ar', '8000', '-f', 'wav']],
    ['WAV of ADPCM', ['-c:a', 'adpcm_ms', '-f', 'wav']],
    ['MP4 in pieces', ['-c:a', 'aac', '-movflags', 'frag_keyframe+empty_moov', '-f', 'mp4']],
  ])('%s, by FFmpeg: as long, and as loud as its EBU R 128 meter says', async (_name, output) => {
    const clip = await convertClip(byFfmpeg(wavOf(speech), ...output));
    expect(Math.abs(clip.durationMs - speechMs)).toBeLessThan(120);
    expect(likeness(clip.wav)).toBeGreaterThan(0.93);
    expect(Math.abs(ffmpegLufs(clip.wav) - -16)).toBeLessThan(1);
    expect(Math.abs(ffmpegLufs(clip.wav) - clip.loudnessLufs)).toBeLessThan(0.2);
  });

  test.runIf(hasFfmpeg)('MP4 whose index stands at its end', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-clip-'));
    try {
      const path = join(folder, 'sound.m4a');
      byFfmpeg(wavOf(speech), '-c:a', 'aac', '-f', 'mp4', '-y', path, '-f', 'null');
      const { readFileSync } = await import('node:fs');
      const file = readFileSync(path);
      expect(file.indexOf('moov')).toBeGreaterThan(file.indexOf('mdat'));
      expect(likeness((await convertClip(file)).wav)).toBeGreaterThan(0.93);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('loudness', () => {
  test('a sine of 997 Hz at full scale reads -3.01 LUFS at any rate', () => {
    for (const rateHz of [24_000, 44_100, 48_000]) {
      const sine = Float32Array.from({ length: rateHz * 5 }, (_, i) => Math.sin((2 * Math.PI * 997 * i) / rateHz));
      expect(integratedLufs(sine, rateHz)).toBeCloseTo(-3.01, 1);
    }
  });

  test('silence around a sound counts for nothing', () => {
    const rateHz = 48_000;
    const sine = (length: number) =>
      Float32Array.from({ length }, (_, i) => 0.1 * Math.sin((2 * Math.PI * 997 * i) / rateHz));
    const padded = new Float32Array(rateHz * 20);
    padded.set(sine(rateHz * 5), rateHz * 10);
    expect(integratedLufs(padded, rateHz)).toBeCloseTo(-23.01, 0);
    expect(integratedLufs(new Float32Array(rateHz * 3), rateHz)).toBe(Number.NEGATIVE_INFINITY);
  });

  test('sound of sharp peaks comes to -16 LUFS under its ceiling', async () => {
    const clicks = new Int16Array(SPEECH_RATE_HZ * 4);
    for (let i = 0; i < clicks.length; i++) {
      clicks[i] = 200 * Math.sin(i / 3);
      if (i % 4000 < 8) clicks[i] = i % 2 === 0 ? 32_000 : -32_000;
    }
    const clip = await convertClip(wavOf(clicks));
    expect(Math.abs(clip.loudnessLufs - -16)).toBeLessThan(1);
  });
});

describe('a file that becomes no clip is refused by a sentence', () => {
  test.each<[string, () => Buffer, RegExp]>([
    ['nothing', () => Buffer.alloc(0), /empty/],
    ['silence', () => wavOf(new Int16Array(SPEECH_RATE_HZ)), /silent/],
    ['a moment', () => wavOf(speech.subarray(8_000, 8_500)), /less than a tenth/],
    ['over three minutes', () => wavOf(new Int16Array(8_000 * 181).fill(2_000), 8_000), /longer than 180 s/],
    ['a WAV that ends early', () => wavOf(speech).subarray(0, 9_000), /ends in the middle/],
    ['a WAV of 4 GHz', () => wavOf(speech, 4_000_000_000), /says 4000000000 Hz|less than a tenth/],
    ['an Ogg file cut in a page', () => oggOpusOf(speech).subarray(0, -40), /ends in the middle of a page/],
    ['an Ogg file with a flipped bit', () => flipped(oggOpusOf(speech)), /wrong checksum/],
    ['an Ogg file without sound', () => oggOpusOf(speech).subarray(0, headerEnd(oggOpusOf(speech))), /holds no sound/],
    ['a WebM file cut in a block', () => webmOpusOf(speech).subarray(0, -20), /ends in the middle/],
    ['an encrypted WebM', () => webmOpusOf(speech, encryption()), /is encrypted/],
    ['a WebM without sound', () => webmOpusOf(speech).subarray(0, 60), /WebM/],
  ])('%s', async (_name, file, sentence) => {
    const problem = await problemOf(file());
    expect(problem).toMatch(/^ClipRefused: /);
    expect(problem).toMatch(sentence);
  });

  test('random bytes after any beginning never become a clip, and never anything but a refusal', async () => {
    const beginnings = [Buffer.from('OggS'), oggOpusOf(speech).subarray(0, 60), webmOpusOf(speech).subarray(0, 80)];
    const random = createRandom(1);
    for (let round = 0; round < 60; round++) {
      const noise = Buffer.from(Array.from({ length: 2_000 }, () => Math.floor(random() * 256)));
      const head = beginnings[round % 3]!;
      const kind = hasFfmpeg && round % 3 === 0 ? Buffer.from('RIFF....WAVE') : head;
      expect(await problemOf(Buffer.concat([kind, noise]))).toMatch(/^ClipRefused: /);
    }
  });

  test.runIf(hasFfmpeg)('playlists and lists read no file and ask nobody', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-clip-'));
    let asked = 0;
    const server = createServer((_request, response) => {
      asked++;
      response.end(wavOf(speech));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sound.wav`;
    const local = join(folder, 'sound.wav');
    writeFileSync(local, wavOf(speech));
    try {
      for (const target of [address, local, `file:${local}`]) {
        const hls = `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n${target}\n#EXT-X-ENDLIST\n`;
        const dash = `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period><AdaptationSet mimeType="audio/wav"><Representation id="1" bandwidth="1"><BaseURL>${target}</BaseURL></Representation></AdaptationSet></Period></MPD>`;
        const lists = [hls, `ffconcat version 1.0\nfile '${target}'\n`, dash, `RTSPtext\nrtsp://${target}\n`];
        for (const list of lists)
          expect(await problemOf(Buffer.from(list))).toMatch(/^ClipRefused: FFmpeg cannot read it/);
      }
      expect(asked).toBe(0);
    } finally {
      server.close();
      rmSync(folder, { recursive: true });
    }
  });

  test.runIf(hasFfmpeg)('an encrypted MP4', async () => {
    const file = Buffer.concat([
      Buffer.from([0, 0, 0, 16]),
      Buffer.from('ftypisom\0\0\0\0'),
      Buffer.from('....stsd........enca....sinf'),
    ]);
    expect(await problemOf(file)).toMatch(/is encrypted/);
  });
});

function flipped(file: Buffer): Buffer {
  const at = Math.floor(file.length / 2);
  file[at] = file[at]! ^ 1;
  return file;
}

/** End of the second page, which holds the tags. */
function headerEnd(file: Buffer): number {
  return file.indexOf('OggS', file.indexOf('OpusTags'));
}

function encryption(): Buffer {
  return element('6d80', element('6240', element('5035', element('47e1', Buffer.from([5])))));
}
