/**
 * What a browser wished for and what it gets: formats of each direction on its own, and how far ahead it is served.
 * Pure.
 */
import type { NegotiatedAudio } from '../../../contract/live-session.ts';
import type { AudioWish } from './client-messages.ts';

const DEFAULTS: NegotiatedAudio = {
  input: { codec: 'pcm_s16le', rateHz: 16000 },
  output: { codec: 'pcm_s16le', rateHz: 24000 },
};
const BUFFER_MS = { preset: 200, least: 60, most: 1_000 };

/** `before`: what the session had in the process that it comes from. Null: no format in common. */
export function agreeOn(wish: AudioWish, before: NegotiatedAudio | null): NegotiatedAudio | null {
  const known = before ?? DEFAULTS;
  const input = wish.input === null ? known.input : wish.input[0];
  const output = wish.output === null ? known.output : wish.output[0];
  return input === undefined || output === undefined ? null : { input, output };
}

export function clampBufferMs(wishedMs: number | null): number {
  return Math.min(BUFFER_MS.most, Math.max(BUFFER_MS.least, wishedMs ?? BUFFER_MS.preset));
}
