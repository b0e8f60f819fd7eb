/**
 * A browser's part in a web session, on Node: opens `/ws/live`, speaks what it is given, plays what comes on a clock of
 * its own with a jitter buffer, says what it has played, and keeps every message. Tests, the load bench and the fuzzer
 * talk through it. Its Opus is ours in both directions; the widget has the browser's.
 */
import { WebSocket } from 'ws';
import { decodeMulaw, encodeMulaw } from '../../media/audio/g711.ts';
import {
  loadOpusCodec,
  MAX_OPUS_PACKET_BYTES,
  type OpusDecoder,
  type OpusEncoder,
} from '../../media/audio/opus-codec.ts';
import { PATIENCE_MS } from '../harness/patience.ts';

export interface LiveAudio {
  codec: 'pcm_s16le' | 'opus' | 'mulaw';
  sampleRate: 8000 | 16000 | 24000 | 48000;
}

export interface LiveClientOptions {
  /** `http(s)://host:port` of the gateway. */
  baseUrl: string;
  token: string;
  parentOrigin: string;
  /** The `Origin` header; null sends none. Default: `parentOrigin`. */
  origin?: string | null;
  input?: LiveAudio;
  output?: LiveAudio;
  /** Of `session.start`; null sends none. */
  start?: Record<string, unknown> | null;
  bufferMs?: number;
  /** Whether it reports what it plays. Default true. */
  reports?: boolean;
  /** Beside the `Origin`, of the upgrade. */
  headers?: Readonly<Record<string, string>>;
  /** Load runs: whoever speaks and listens frame by frame, on a clock that all sessions share; no sound is kept. */
  visitor?: LiveVisitor;
}

export interface LiveVisitor {
  /** Instead of `say`: fills the next 20 ms at `micRateHz`, which were due `lateMs` ago. */
  speak(frame: Int16Array, lateMs: number): void;
  /** As it came, at `speakerRateHz`; overwritten afterwards. */
  hear(samples: Int16Array): void;
  /** What was not played was dropped at the agent's word. */
  cleared(): void;
  /** Calls `frame` every 20 ms; returns what ends that. */
  everyFrame(session: { frame(dueAtMs: number, nowMs: number): void }): () => void;
}

// biome-ignore lint/suspicious/noExplicitAny: a message is looked at by its fields
export type LiveMessage = { type: string; atMs: number } & Record<string, any>;

const FRAME_MS = 20;
const JITTER_BUFFER_MS = 60;
const REPORT_EVERY_MS = 250;
const MIC_BITS_PER_SEC = 24_000;

interface Utterance {
  id: string;
  /** Samples received and samples played. */
  received: number;
  played: number;
  hasEnded: boolean;
}

export class LiveClient {
  readonly messages: LiveMessage[] = [];
  /** All that was played, at the output's rate. */
  readonly played: Int16Array[] = [];
  /** First audio of the agent, ms after the socket was asked for; NaN before. */
  firstAudioMs = Number.NaN;
  closeCode = 0;
  isOpen = false;
  bytesReceived = 0;
  readonly input: LiveAudio;
  readonly output: LiveAudio;
  readonly #options: LiveClientOptions;
  readonly #socket: WebSocket;
  readonly #bornAtMs = performance.now();
  readonly #encoder: OpusEncoder | null;
  readonly #decoder: OpusDecoder | null;
  readonly #packet = new Uint8Array(MAX_OPUS_PACKET_BYTES);
  readonly #decoded: Int16Array;
  readonly #queue: { utterance: Utterance; samples: Int16Array }[] = [];
  #utterance: Utterance = { id: '', received: 0, played: 0, hasEnded: false };
  #playing: Utterance | null = null;
  #playFromMs = Number.POSITIVE_INFINITY;
  #speech: Int16Array = new Int16Array(0);
  #spoken = 0;
  #ticks = 0;
  #tickedFromMs = 0;
  #reportedAtMs = 0;
  #endFrames: (() => void) | null = null;
  #waiters: { fits(message: LiveMessage): boolean; done(message: LiveMessage): void }[] = [];
  readonly closed: Promise<number>;

  constructor(options: LiveClientOptions) {
    this.#options = options;
    this.input = options.input ?? { codec: 'pcm_s16le', sampleRate: 16000 };
    this.output = options.output ?? { codec: 'pcm_s16le', sampleRate: 24000 };
    const opus = this.input.codec === 'opus' || this.output.codec === 'opus' ? loadOpusCodec() : null;
    this.#encoder =
      this.input.codec === 'opus'
        ? opus!.createEncoder({ rateHz: 16000, channels: 1, bitsPerSec: MIC_BITS_PER_SEC, complexity: 1 })
        : null;
    this.#decoder = this.output.codec === 'opus' ? opus!.createDecoder({ rateHz: 16000, channels: 1 }) : null;
    this.#decoded = new Int16Array(16000 * 0.12);
    const url = `${options.baseUrl.replace(/^http/, 'ws')}/ws/live?token=${encodeURIComponent(options.token)}&parentOrigin=${encodeURIComponent(options.parentOrigin)}`;
    const origin = options.origin === undefined ? options.parentOrigin : options.origin;
    this.#socket = new WebSocket(url, {
      perMessageDeflate: false,
      headers: { ...options.headers },
      ...(origin === null ? {} : { origin }),
    });
    this.#socket.binaryType = 'nodebuffer';
    this.#socket.on('open', () => {
      this.isOpen = true;
    });
    this.#socket.on('message', (data: Buffer, isBinary: boolean) => this.#received(data, isBinary));
    this.#socket.on('error', () => {});
    this.closed = new Promise((done) => {
      this.#socket.on('close', (code) => {
        this.isOpen = false;
        this.closeCode = code;
        this.#endFrames?.();
        this.#encoder?.close();
        this.#decoder?.close();
        done(code);
      });
    });
  }

  /** Of PCM that the microphone and the speaker work with: Opus at 16 kHz, others at their own rate. */
  get micRateHz(): number {
    return this.input.codec === 'opus' ? 16000 : this.input.sampleRate;
  }

  get speakerRateHz(): number {
    return this.output.codec === 'opus' ? 16000 : this.output.sampleRate;
  }

  send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  sendRaw(data: string | Uint8Array): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(data);
  }

  /** Speaks after what is being said; mono samples at `micRateHz`. */
  say(samples: Int16Array): void {
    const rest = this.#speech.subarray(this.#spoken);
    const joined = new Int16Array(rest.length + samples.length);
    joined.set(rest);
    joined.set(samples, rest.length);
    this.#speech = joined;
    this.#spoken = 0;
  }

  get isSpeaking(): boolean {
    return this.#spoken < this.#speech.length;
  }

  /** Microphone and speaker run from now on: a frame each 20 ms, silence when there is nothing to say. */
  begin(): void {
    if (this.#endFrames !== null) return;
    const { visitor } = this.#options;
    if (visitor !== undefined) {
      this.#endFrames = visitor.everyFrame({ frame: (dueAtMs, nowMs) => this.#frame(nowMs - dueAtMs) });
      return;
    }
    this.#tickedFromMs = performance.now();
    const timer = setInterval(() => {
      const due = Math.floor((performance.now() - this.#tickedFromMs) / FRAME_MS);
      while (this.#ticks < due) {
        this.#ticks++;
        this.#frame(0);
      }
    }, FRAME_MS / 2);
    this.#endFrames = () => clearInterval(timer);
  }

  #frame(lateMs: number): void {
    this.#speakFrame(lateMs);
    this.#playFrame();
  }

  /** The first message, heard already or to come, that fits. */
  waitFor(what: string, fits: (message: LiveMessage) => boolean, limitMs = PATIENCE_MS): Promise<LiveMessage> {
    const known = this.messages.find(fits);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((done, failed) => {
      const limit = setTimeout(() => {
        const seen = this.messages
          .map(({ type }) => type)
          .slice(-12)
          .join(' ');
        failed(new Error(`waited ${limitMs} ms for ${what}; closed ${this.closeCode}; the last messages: ${seen}`));
      }, limitMs);
      this.#waiters.push({
        fits,
        done: (message) => {
          clearTimeout(limit);
          done(message);
        },
      });
    });
  }

  waitForType(type: string, limitMs?: number): Promise<LiveMessage> {
    return this.waitFor(type, (message) => message.type === type, limitMs);
  }

  /** Final turns as they stand, in order. */
  get transcript(): string[] {
    const finals = new Map<string, string>();
    for (const { type, final, role, turnId, text } of this.messages) {
      if (type === 'transcript' && final === true) finals.set(turnId, `${role}: ${text}`);
    }
    return [...finals.values()].filter((line) => !line.endsWith(': '));
  }

  get lastOrdinal(): number {
    return this.messages.reduce((last, { ordinal }) => Math.max(last, typeof ordinal === 'number' ? ordinal : 0), 0);
  }

  close(code = 1000): void {
    this.#socket.close(code);
  }

  /** As a network that goes away: no close frame. */
  cut(): void {
    this.#socket.terminate();
  }

  /** Reads nothing any more, or again. */
  setReading(isReading: boolean): void {
    if (isReading) this.#socket.resume();
    else this.#socket.pause();
  }

  #received(data: Buffer, isBinary: boolean): void {
    this.bytesReceived += data.length;
    if (isBinary) {
      if (Number.isNaN(this.firstAudioMs)) this.firstAudioMs = performance.now() - this.#bornAtMs;
      this.#soundReceived(data);
      return;
    }
    const message = { ...JSON.parse(data.toString('utf8')), atMs: performance.now() - this.#bornAtMs } as LiveMessage;
    this.messages.push(message);
    if (message.type === 'welcome') this.#welcomed();
    else if (message.type === 'ping') this.send({ type: 'pong', id: message['id'] });
    else if (message.type === 'agent.audio' && message['phase'] === 'start') {
      this.#utterance = { id: message['utteranceId'], received: 0, played: 0, hasEnded: false };
    } else if (message.type === 'agent.audio') this.#utterance.hasEnded = true;
    else if (message.type === 'playback.clear') this.#cleared();
    const ready = this.#waiters.filter(({ fits }) => fits(message));
    this.#waiters = this.#waiters.filter((waiter) => !ready.includes(waiter));
    for (const { done } of ready) done(message);
  }

  #welcomed(): void {
    const { start = {}, bufferMs } = this.#options;
    if (start === null) return;
    const audio = { input: { ...this.input, frameMs: 20 }, output: this.output };
    this.send({
      type: 'session.start',
      protocol: '1',
      audio,
      ...(bufferMs === undefined ? {} : { bufferMs }),
      ...start,
    });
  }

  #soundReceived(data: Buffer): void {
    let samples: Int16Array;
    if (this.#decoder !== null) {
      const count = this.#decoder.decode(data, 0, data.length, this.#decoded);
      if (count <= 0) return;
      samples = this.#decoded.slice(0, count);
    } else if (this.output.codec === 'mulaw') {
      samples = new Int16Array(data.length);
      decodeMulaw(data, 0, data.length, samples, 0);
    } else {
      samples = new Int16Array(data.length >> 1);
      for (let i = 0; i < samples.length; i++) samples[i] = data.readInt16LE(2 * i);
    }
    this.#utterance.received += samples.length;
    this.#options.visitor?.hear(samples);
    if (this.#queue.length === 0 && this.#playing === null) this.#playFromMs = performance.now() + JITTER_BUFFER_MS;
    this.#queue.push({ utterance: this.#utterance, samples });
  }

  #playFrame(): void {
    if (performance.now() < this.#playFromMs) return;
    const next = this.#queue.shift();
    if (next === undefined) {
      if (this.#playing !== null) this.#report(this.#playing);
      this.#playing = null;
      return;
    }
    if (this.#playing !== null && this.#playing !== next.utterance) this.#report(this.#playing);
    this.#playing = next.utterance;
    next.utterance.played += next.samples.length;
    if (this.#options.visitor === undefined) this.played.push(next.samples);
    if (performance.now() - this.#reportedAtMs >= REPORT_EVERY_MS) this.#report(next.utterance);
  }

  #cleared(): void {
    this.#queue.length = 0;
    this.#playing = null;
    this.#options.visitor?.cleared();
    this.#report(this.#utterance);
  }

  #report({ id, played }: Utterance): void {
    this.#reportedAtMs = performance.now();
    if (this.#options.reports === false || id === '') return;
    this.send({ type: 'playback.position', utteranceId: id, playedMs: (played * 1000) / this.speakerRateHz });
  }

  #speakFrame(lateMs: number): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const count = (this.micRateHz * FRAME_MS) / 1000;
    const frame = new Int16Array(count);
    frame.set(this.#speech.subarray(this.#spoken, this.#spoken + count));
    this.#spoken = Math.min(this.#spoken + count, this.#speech.length);
    this.#options.visitor?.speak(frame, lateMs);
    this.#socket.send(this.#encoded(frame));
  }

  #encoded(frame: Int16Array): Uint8Array {
    if (this.#encoder !== null) return this.#packet.slice(0, this.#encoder.encode(frame, this.#packet, 0));
    if (this.input.codec === 'mulaw') {
      const bytes = new Uint8Array(frame.length);
      encodeMulaw(frame, 0, frame.length, bytes, 0);
      return bytes;
    }
    return new Uint8Array(frame.buffer);
  }
}
