/**
 * Turns a callee's lines into mu-law 8 kHz before they are needed, and keeps them: a load of calls to one persona
 * renders each line once. Called while phones ring, so that the voice engine's work falls into no conversation. `<700>`
 * in a line is a pause of 700 ms, from the last sound before it to the first after it.
 */
import { encodeMulaw } from '../../../media/audio/g711.ts';
import { createResampler } from '../../../media/audio/resampler.ts';
import type { TextToSpeech } from '../../../media/contract/engines.ts';

const LINE_RATE_HZ = 8_000;
const PAUSE = /\s*<(\d+)>\s*/;
/** About -50 dBFS: what is quieter at the edge of a pause belongs to it. */
const QUIET_SAMPLE = 100;

export interface LineRenderer {
  /** Mu-law bytes of a line; rejects with the engine's error. */
  render(voice: string, text: string): Promise<Uint8Array>;
}

export function createLineRenderer(textToSpeech: TextToSpeech): LineRenderer {
  const rendered = new Map<string, Promise<Uint8Array>>();

  async function renderAnew(voice: string, text: string): Promise<Uint8Array> {
    // Words, ms, words, …
    const parts = text.split(PAUSE);
    const pieces: Int16Array[] = [];
    for (const [at, part] of parts.entries()) {
      if (at % 2 === 1) pieces.push(new Int16Array((Number(part) * LINE_RATE_HZ) / 1000));
      else if (part !== '')
        pieces.push(parts.length === 1 ? await spoken(voice, part) : loud(await spoken(voice, part)));
    }
    const whole = joined(pieces);
    const mulaw = new Uint8Array(whole.length);
    encodeMulaw(whole, 0, whole.length, mulaw, 0);
    return mulaw;
  }

  async function spoken(voice: string, text: string): Promise<Int16Array> {
    const chunks: Int16Array[] = [];
    const signal = new AbortController().signal;
    await textToSpeech.synthesize({ text, voice, signal }, ({ samples }) => chunks.push(samples.slice()));
    const { outputRateHz } = textToSpeech;
    return outputRateHz === LINE_RATE_HZ ? joined(chunks) : resampled(chunks, outputRateHz);
  }

  return {
    render(voice, text) {
      const key = `${voice}\n${text}`;
      let line = rendered.get(key);
      if (line === undefined) {
        line = renderAnew(voice, text);
        rendered.set(key, line);
        // A failure is not kept: the next ring tries again.
        line.catch(() => rendered.delete(key));
      }
      return line;
    },
  };
}

async function resampled(chunks: Int16Array[], fromHz: number): Promise<Int16Array> {
  const resampler = await createResampler(fromHz, LINE_RATE_HZ);
  const pieces = chunks.map((chunk) => resampler.process(chunk).slice());
  pieces.push(resampler.flush().slice());
  resampler.close();
  return joined(pieces);
}

/** From the first sound to the last. */
function loud(samples: Int16Array): Int16Array {
  let from = 0;
  let to = samples.length;
  while (from < to && Math.abs(samples[from]!) < QUIET_SAMPLE) from++;
  while (to > from && Math.abs(samples[to - 1]!) < QUIET_SAMPLE) to--;
  return samples.subarray(from, to);
}

function joined(pieces: Int16Array[]): Int16Array {
  const whole = new Int16Array(pieces.reduce((samples, piece) => samples + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
