/**
 * What was heard at the far end, mu-law 8 kHz, frame by frame from the stream's start: left what the callee sent, right
 * what was played of the agent. Called by the media client for each frame; written out as WAV on request.
 */

import { decodeMulaw } from '../../media/audio/g711.ts';
import { MULAW_SILENCE } from '../../media/contract/audio-format.ts';

const FRAME_BYTES = 160;
const RATE_HZ = 8_000;
const WAV_HEADER_BYTES = 44;

export class StereoTimeline {
  #callee = new Uint8Array(FRAME_BYTES * 512);
  #agent = new Uint8Array(FRAME_BYTES * 512);
  #bytes = 0;

  get durationMs(): number {
    return (this.#bytes * 1000) / RATE_HZ;
  }

  /** Appends one 20 ms frame of each side. */
  append(callee: Uint8Array, agent: Uint8Array): void {
    this.#reserve(this.#bytes + FRAME_BYTES);
    this.#callee.set(callee, this.#bytes);
    this.#agent.set(agent, this.#bytes);
    this.#bytes += FRAME_BYTES;
  }

  /** Both sides silent for so long: between two streams of one call. */
  appendSilence(ms: number): void {
    const bytes = Math.max(0, Math.round(ms / 20)) * FRAME_BYTES;
    this.#reserve(this.#bytes + bytes);
    this.#callee.fill(MULAW_SILENCE, this.#bytes, this.#bytes + bytes);
    this.#agent.fill(MULAW_SILENCE, this.#bytes, this.#bytes + bytes);
    this.#bytes += bytes;
  }

  /** One side's mu-law bytes; a view, valid until the next append. */
  side(side: 'callee' | 'agent'): Uint8Array {
    return (side === 'callee' ? this.#callee : this.#agent).subarray(0, this.#bytes);
  }

  /** A stereo 16-bit WAV file: callee left, agent right. */
  toWav(): Buffer {
    const left = new Int16Array(this.#bytes);
    const right = new Int16Array(this.#bytes);
    decodeMulaw(this.#callee, 0, this.#bytes, left, 0);
    decodeMulaw(this.#agent, 0, this.#bytes, right, 0);
    const wav = Buffer.alloc(WAV_HEADER_BYTES + this.#bytes * 4);
    writeWavHeader(wav, 2);
    for (let i = 0; i < this.#bytes; i++) {
      wav.writeInt16LE(left[i]!, WAV_HEADER_BYTES + i * 4);
      wav.writeInt16LE(right[i]!, WAV_HEADER_BYTES + i * 4 + 2);
    }
    return wav;
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#callee.length) return;
    const grown = Math.max(bytes, this.#callee.length * 2);
    for (const side of ['callee', 'agent'] as const) {
      const bigger = new Uint8Array(grown);
      bigger.set(this.side(side));
      if (side === 'callee') this.#callee = bigger;
      else this.#agent = bigger;
    }
  }
}

function writeWavHeader(wav: Buffer, channels: number): void {
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(channels, 22);
  wav.writeUInt32LE(RATE_HZ, 24);
  wav.writeUInt32LE(RATE_HZ * channels * 2, 28);
  wav.writeUInt16LE(channels * 2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(wav.length - WAV_HEADER_BYTES, 40);
}
