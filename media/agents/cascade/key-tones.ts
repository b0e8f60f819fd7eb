/**
 * Keys of a telephone as sound (ITU-T Q.23, Q.24): for far ends that listen for tones in the call itself, as every menu
 * does. Pure.
 */
import { AudioFeed } from '../../contract/speech-source.ts';

const ROWS = ['123A', '456B', '789C', '*0#D'];
const LOW_HZ = [697, 770, 852, 941];
const HIGH_HZ = [1_209, 1_336, 1_477, 1_633];
const TONE_MS = 100;
const PAUSE_MS = 80;
/** Each of the two tones: together -7 dBFS. */
const AMPLITUDE = 7_000;
/** Against clicks. */
const EDGE_MS = 5;

/** `digits` of `0-9*#A-D`; words of the transcript say which. */
export function keyTones(digits: string, rateHz: number): AudioFeed {
  const feed = new AudioFeed(rateHz);
  const stepMs = TONE_MS + PAUSE_MS;
  [...digits].forEach((key, index) => {
    const samples = new Int16Array((rateHz * stepMs) / 1000);
    addTone(samples, key, rateHz);
    const startMs = index * stepMs;
    feed.push(samples, [{ text: index === 0 ? `[keys ${key}` : ` ${key}`, startMs, endMs: startMs + TONE_MS }]);
  });
  const endMs = digits.length * stepMs;
  feed.push(new Int16Array(0), [{ text: ']', startMs: endMs, endMs }]);
  feed.finish();
  return feed;
}

function addTone(samples: Int16Array, key: string, rateHz: number): void {
  const row = ROWS.findIndex((keys) => keys.includes(key));
  const low = LOW_HZ[row] ?? 0;
  const high = HIGH_HZ[ROWS[row]?.indexOf(key) ?? 0] ?? 0;
  const length = (rateHz * TONE_MS) / 1000;
  const edge = (rateHz * EDGE_MS) / 1000;
  for (let at = 0; at < length; at++) {
    const gain = AMPLITUDE * Math.min(1, at / edge, (length - at) / edge);
    const turn = (2 * Math.PI * at) / rateHz;
    samples[at] = Math.round(gain * (Math.sin(low * turn) + Math.sin(high * turn)));
  }
}
