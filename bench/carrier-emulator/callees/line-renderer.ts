/**
 * Turns a callee's lines into mu-law 8 kHz before they are needed, and keeps them: a load of calls to one persona renders each
 * line once. Called while phones ring, so that the voice engine's work falls into no conversation.
 */
import { encodeMulaw } from '../../../media/audio/g711.ts';
import { createResampler } from '../../../media/audio/resampler.ts';
import type { TextToSpeech } from '../../../media/contract/engines.ts';

const LINE_RATE_HZ = 8_000;

export interface LineRenderer {
  /** Mu-law bytes of a line; rejects with the engine's error. */
  render(voice: string, text: string): Promise<Uint8Array>;
}

export function createLineRenderer(textToSpeech: TextToSpeech): LineRenderer {
  const rendered = new Map<string, Promise<Uint8Array>>();

  async function renderAnew(voice: string, text: string): Promise<Uint8Array> {
    const chunks: Int16Array[] = [];
    const signal = new AbortController().signal;
    await textToSpeech.synthesize({ text, voice, signal }, ({ samples }) => chunks.push(samples.slice()));
    const whole =
      textToSpeech.outputRateHz === LINE_RATE_HZ ? joined(chunks) : await resampled(chunks, textToSpeech.outputRateHz);
    const mulaw = new Uint8Array(whole.length);
    encodeMulaw(whole, 0, whole.length, mulaw, 0);
    return mulaw;
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

function joined(pieces: Int16Array[]): Int16Array {
  const whole = new Int16Array(pieces.reduce((samples, piece) => samples + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
