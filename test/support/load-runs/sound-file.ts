/**
 * A recording as far ends write them: two voices in turn, drawn from a seed; the target's has a hole where one is asked
 * for.
 */
import { writeFileSync } from 'node:fs';
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import { encodeMulaw } from '../../../media/audio/g711.ts';
import { WAV_HEADER_BYTES, writeWavHeader } from '../../../media/audio/wav.ts';

const RATE_HZ = 8_000;

export function writeTalk(
  path: string,
  options: { seconds: number; seed: number; holeAtMs?: number; holeMs?: number },
): void {
  const random = createRandom(options.seed);
  const samples = options.seconds * RATE_HZ;
  const sides = [new Int16Array(samples), new Int16Array(samples)];
  let at = 0;
  for (let turn = 0; at < samples; turn++) {
    const length = Math.floor((1 + 2 * random()) * RATE_HZ);
    speak(sides[turn % 2]!.subarray(at, at + length), turn % 2 === 0 ? 140 : 210, random);
    at += length + Math.floor((0.4 + 0.6 * random()) * RATE_HZ);
  }
  const hole = Math.round(((options.holeAtMs ?? 0) * RATE_HZ) / 1_000);
  sides[1]!.fill(0, hole, hole + Math.round(((options.holeMs ?? 0) * RATE_HZ) / 1_000));
  writeStereo(path, sides[0]!, sides[1]!);
}

/** Syllables: a hum with overtones that swells and ebbs. */
function speak(samples: Int16Array, pitchHz: number, random: () => number): void {
  let level = 0;
  let wanted = 0;
  for (let i = 0; i < samples.length; i++) {
    if (i % 800 === 0) wanted = random() < 0.2 ? 0.02 : 0.3 + 0.7 * random();
    level += (wanted - level) * 0.004;
    const phase = (2 * Math.PI * pitchHz * i) / RATE_HZ;
    samples[i] = 9_000 * level * (Math.sin(phase) + 0.6 * Math.sin(3 * phase) + 0.3 * Math.sin(7 * phase));
  }
}

export function writeStereo(path: string, left: Int16Array, right: Int16Array): void {
  const codes = [left, right].map((side) => {
    const bytes = new Uint8Array(side.length);
    encodeMulaw(side, 0, side.length, bytes, 0);
    return bytes;
  });
  const wav = new Uint8Array(WAV_HEADER_BYTES + 2 * left.length);
  writeWavHeader(wav, { codec: 'mulaw', rateHz: RATE_HZ, channels: 2, dataBytes: 2 * left.length });
  for (let i = 0; i < left.length; i++) {
    wav[WAV_HEADER_BYTES + 2 * i] = codes[0]![i]!;
    wav[WAV_HEADER_BYTES + 2 * i + 1] = codes[1]![i]!;
  }
  writeFileSync(path, wav);
}
