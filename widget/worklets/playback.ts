/**
 * The playback worklet: agent speech in, at the format's rate, sound out. Resamples, plays from the jitter buffer, and
 * says where the playhead is each 250 ms, at each end and at each flush: the transcript keeps only what was heard.
 */
import type { FromPlayback, ToPlayback } from './messages.ts';
import { PlayoutBuffer } from './playout-buffer.ts';
import { createResampler, type Resampler } from './resampler.ts';

const POSITION_EVERY_MS = 250;
const LEVEL_EVERY_MS = 66;
/** 120 ms at 48 kHz: the longest Opus packet. */
const MAX_CHUNK_SAMPLES = 5760;

declare const currentTime: number;

export class PlaybackProcessor extends AudioWorkletProcessor {
  readonly #buffer: PlayoutBuffer;
  readonly #float = new Float32Array(MAX_CHUNK_SAMPLES);
  #resampler: Resampler = createResampler(1, 1, 0);
  #sincePosition = 0;
  #sinceLevel = 0;
  #energy = 0;

  constructor() {
    super();
    this.#buffer = new PlayoutBuffer(sampleRate, {
      started: (utterance) => this.#say({ type: 'started', utterance, contextTime: currentTime }),
      done: (utterance, playedMs) => this.#say({ type: 'done', utterance, playedMs }),
      flushed: (utterance, playedMs, droppedMs) => this.#say({ type: 'flushed', utterance, playedMs, droppedMs }),
      underrun: (utterance, targetMs) => this.#say({ type: 'underrun', utterance, targetMs }),
    });
    this.port.onmessage = ({ data }: MessageEvent<ToPlayback>) => this.#take(data);
  }

  process(_inputs: Float32Array[][], outputs: Float32Array[][]): boolean {
    const target = outputs[0]?.[0];
    if (target === undefined) return true;
    const sounds = this.#buffer.render(target);
    const blockMs = (target.length / sampleRate) * 1000;
    if (sounds) for (let i = 0; i < target.length; i++) this.#energy += target[i]! * target[i]!;
    this.#sinceLevel += blockMs;
    if (this.#sinceLevel >= LEVEL_EVERY_MS) {
      this.#say({ type: 'level', level: Math.sqrt(this.#energy / ((this.#sinceLevel * sampleRate) / 1000)) });
      this.#energy = 0;
      this.#sinceLevel = 0;
    }
    this.#sincePosition = sounds ? this.#sincePosition + blockMs : 0;
    if (this.#sincePosition >= POSITION_EVERY_MS) {
      this.#sincePosition = 0;
      const { utterance, playedMs } = this.#buffer.current;
      if (utterance !== 0) this.#say({ type: 'position', utterance, playedMs });
    }
    return true;
  }

  #take(message: ToPlayback): void {
    if (message.type === 'format') this.#resampler = createResampler(message.rateHz, sampleRate, MAX_CHUNK_SAMPLES);
    else if (message.type === 'end') this.#buffer.end(message.utterance);
    else if (message.type === 'flush') this.#buffer.flush();
    else this.#write(message.utterance, message.samples);
  }

  #write(utterance: number, samples: Int16Array | Float32Array): void {
    const count = Math.min(samples.length, MAX_CHUNK_SAMPLES);
    const scale = samples instanceof Int16Array ? 1 / 32768 : 1;
    for (let i = 0; i < count; i++) this.#float[i] = samples[i]! * scale;
    this.#buffer.write(utterance, this.#resampler.push(this.#float.subarray(0, count)));
  }

  #say(message: FromPlayback): void {
    this.port.postMessage(message);
  }
}
