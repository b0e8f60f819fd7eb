import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../../bench/harness/seeded-random.ts';
import { knownSignal, knownSignalWav, SIGNAL_TONES } from '../../../../bench/load/far-end/known-signal.ts';
import { SignalFollower } from '../../../../bench/load/far-end/signal-follower.ts';
import { decodeMulaw, encodeMulaw } from '../../../../media/audio/g711.ts';
import { createResampler } from '../../../../media/audio/resampler.ts';
import { readWav } from '../../../../media/audio/wav-reader.ts';
import { joined, silence } from './emulated-target.ts';

const ROUND = knownSignal();

/** `[fromMs, toMs)` of the signal without end. */
function signal(fromMs: number, toMs: number): Uint8Array {
  return Uint8Array.from({ length: (toMs - fromMs) * 8 }, (_, i) => ROUND[(fromMs * 8 + i) % ROUND.length]!);
}

function follow(sound: Uint8Array, messageBytes = 160): SignalFollower['result'] {
  const follower = new SignalFollower();
  for (let at = 0; at < sound.length; at += messageBytes) follower.push(sound.subarray(at, at + messageBytes));
  return follower.result;
}

describe('the known signal', () => {
  test('is 512 pieces of which any three in a row stand nowhere else, and neighbours differ', () => {
    const triples = new Set<string>();
    for (let i = 0; i < 512; i++) {
      const [a, b, c] = [0, 1, 2].map((ahead) => SIGNAL_TONES[(i + ahead) % 512]!);
      expect(a).not.toBe(b);
      triples.add(`${a} ${b} ${c}`);
    }
    expect(SIGNAL_TONES.length).toBe(512);
    expect(triples.size).toBe(512);
  });

  test('as a file is a WAV that others read', () => {
    const { rateHz, monoSamples } = readWav(knownSignalWav(), 60);
    expect(rateHz).toBe(8_000);
    expect(monoSamples.length).toBe(81_920);
  });
});

describe('what is found of it', () => {
  test.each([160, 480, 1_000, 37])('whole, in messages of %i bytes, nothing is lost or comes twice', (bytes) => {
    expect(follow(signal(3_333, 63_333), bytes)).toEqual({ lostMs: 0, repeatedMs: 0 });
  });

  test.each([0.001, 0.01, 0.05])('frames lost at random, a share of %f, within 0.1 %', (share) => {
    const random = createRandom(11);
    const parts: Uint8Array[] = [signal(0, 400)];
    let lost = 0;
    for (let atMs = 400; atMs < 120_000; atMs += 20) {
      if (atMs < 119_600 && random() < share) lost += 20;
      else parts.push(signal(atMs, atMs + 20));
    }
    const result = follow(joined(...parts));
    expect(lost).toBeGreaterThan(0);
    expect(Math.abs(result.lostMs! - lost) / 120_000).toBeLessThan(0.001);
    expect(result.repeatedMs! / 120_000).toBeLessThan(0.001);
  });

  test('frames that come twice, within 0.1 %', () => {
    const random = createRandom(12);
    const parts: Uint8Array[] = [];
    let repeated = 0;
    for (let atMs = 0; atMs < 60_000; atMs += 20) {
      parts.push(signal(atMs, atMs + 20));
      if (atMs < 400 || atMs > 59_600 || random() > 0.02) continue;
      parts.push(signal(atMs, atMs + 20));
      repeated += 20;
    }
    const result = follow(joined(...parts));
    expect(repeated).toBeGreaterThan(0);
    expect(Math.abs(result.repeatedMs! - repeated) / 60_000).toBeLessThan(0.001);
    expect(result.lostMs! / 60_000).toBeLessThan(0.001);
  });

  test.each([
    ['5 ms', 5],
    ['three frames', 60],
    ['a second and a half', 1_500],
  ])('%s lost, or repeated', (_name, ms) => {
    expect(follow(joined(signal(0, 4_000), signal(4_000 + ms, 9_000)))).toEqual({ lostMs: ms, repeatedMs: 0 });
    expect(follow(joined(signal(0, 4_000), signal(4_000 - ms, 9_000)))).toEqual({ lostMs: 0, repeatedMs: ms });
  });

  test('silence in the place of frames is lost, silence between them is not', () => {
    expect(follow(joined(signal(0, 4_000), silence(40), signal(4_040, 9_000))).lostMs).toBe(40);
    expect(follow(joined(signal(0, 4_000), silence(40), signal(4_000, 9_000)))).toEqual({ lostMs: 0, repeatedMs: 0 });
  });

  test('through 24 kHz and back, at half the level, it is still found, and what is lost of it', async () => {
    const mulaw = joined(signal(0, 5_000), signal(5_020, 12_000), signal(11_980, 20_000));
    const samples = new Int16Array(mulaw.length);
    decodeMulaw(mulaw, 0, mulaw.length, samples, 0);
    const up = await createResampler(8_000, 24_000);
    const down = await createResampler(24_000, 8_000);
    const back = down.process(up.process(samples.map((sample) => sample >> 1)).slice()).slice();
    const again = new Uint8Array(back.length);
    encodeMulaw(back, 0, back.length, again, 0);
    const { lostMs, repeatedMs } = follow(again, 1_024);
    expect(Math.abs(lostMs! - 20)).toBeLessThanOrEqual(2.5);
    expect(Math.abs(repeatedMs! - 20)).toBeLessThanOrEqual(2.5);
  });

  test('of other sound nothing is said', () => {
    expect(follow(silence(5_000))).toEqual({ lostMs: null, repeatedMs: null });
    const random = createRandom(3);
    const noise = Uint8Array.from({ length: 80_000 }, () => Math.floor(random() * 256));
    expect(follow(noise)).toEqual({ lostMs: null, repeatedMs: null });
  });
});
