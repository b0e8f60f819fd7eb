/**
 * Between a browser's sound and the mu-law of 8 kHz that far ends speak and judges hear: good enough to be understood
 * and to tell sound from silence, and cheap. Pure; used by the browser session.
 */
import { decodeMulaw, encodeMulaw } from '../../../../media/audio/g711.ts';

const LINE_RATE_HZ = 8_000;

/** 20 ms of mu-law into a microphone's frame, a whole multiple of 8 kHz; samples between are drawn straight. */
export function toMicrophone(mulaw: Uint8Array, frame: Int16Array): void {
  const line = new Int16Array(mulaw.length);
  decodeMulaw(mulaw, 0, mulaw.length, line, 0);
  const times = Math.round(frame.length / line.length);
  for (let i = 0; i < line.length; i++) {
    const from = line[i]!;
    const to = line[i + 1] ?? from;
    for (let part = 0; part < times; part++) frame[i * times + part] = from + ((to - from) * part) / times;
  }
}

/** Means of the samples that fall on one of the line. */
export function toLine(samples: Int16Array, rateHz: number): Uint8Array {
  const times = rateHz / LINE_RATE_HZ;
  const count = Math.floor(samples.length / times);
  const line = new Int16Array(count);
  for (let i = 0; i < count; i++) {
    let sum = 0;
    for (let part = 0; part < times; part++) sum += samples[i * times + part]!;
    line[i] = sum / times;
  }
  const mulaw = new Uint8Array(count);
  encodeMulaw(line, 0, count, mulaw, 0);
  return mulaw;
}
