/**
 * Plivo's bidirectional audio stream (plivo.com/docs, "Audio streaming: protocol reference"): JSON text messages, audio
 * in base64. Inbound audio is found in the bytes and never parsed as JSON; outbound messages are assembled once for
 * each size, and only their payload is rewritten. They name no stream, so all sockets of one format share them.
 */

import { base64LengthOf, decodeBase64, encodeBase64 } from '../../../audio/base64.ts';
import { frameBytesOf, type LegFormat } from '../../../contract/audio-format.ts';
import type { FramesPerMessage } from '../../../contract/carriers.ts';
import type { Decoded, MediaCodec, MediaCodecFactory, StreamEvents, StreamStart } from '../media-codec.ts';
import { MediaScan } from '../media-scan.ts';
import { CheckpointMessages } from './checkpoint-messages.ts';

const MOST_FRAMES = 3;
/** Room for the largest message that the socket server delivers: 64 KiB of base64 are 48 KiB of audio. */
const MAX_AUDIO_BYTES = 49_152;
const INBOUND_TRACK = 'i'.charCodeAt(0);
const DIGIT = /^[0-9*#A-Da-d]$/;

interface AudioTemplate {
  message: Uint8Array;
  payloadAt: number;
}

export function createPlivoCodecFactory(settings: { framesPerMessage: FramesPerMessage }): MediaCodecFactory {
  // Shared by all sockets: a message is decoded and handed on before the next one comes.
  const scratch = new Uint8Array(MAX_AUDIO_BYTES);
  const scan = new MediaScan();
  const templatesByFormat = new Map<string, AudioTemplate[]>();
  return {
    carrier: 'plivo',
    framesPerMessage: settings.framesPerMessage,
    create(format, events) {
      const key = `${format.codec}/${format.rateHz}`;
      const templates = templatesByFormat.get(key) ?? makeTemplates(format);
      templatesByFormat.set(key, templates);
      return new PlivoCodec(events, templates, frameBytesOf(format), scratch, scan);
    },
  };
}

class PlivoCodec implements MediaCodec {
  readonly #events: StreamEvents;
  readonly #templates: AudioTemplate[];
  readonly #frameBytes: number;
  readonly #scratch: Uint8Array;
  readonly #scan: MediaScan;
  #streamId = '';
  #checkpoints = new CheckpointMessages('');

  constructor(
    events: StreamEvents,
    templates: AudioTemplate[],
    frameBytes: number,
    scratch: Uint8Array,
    scan: MediaScan,
  ) {
    this.#events = events;
    this.#templates = templates;
    this.#frameBytes = frameBytes;
    this.#scratch = scratch;
    this.#scan = scan;
  }

  decode(message: Uint8Array, isBinary: boolean): Decoded {
    if (isBinary) return 'malformed';
    const scan = this.#scan;
    const scanned = scan.scan(message);
    if (scanned === 'malformed') return 'malformed';
    if (scanned === 'other') return this.#decodeRare(message);
    // The agent's own voice comes back as `outbound` where both tracks were asked for.
    if (scan.trackByte !== 0 && scan.trackByte !== INBOUND_TRACK) return 'ignored';
    let lengthBytes = -1;
    if (scan.payloadEscaped) lengthBytes = this.#decodeEscaped(message);
    else lengthBytes = decodeBase64(message, scan.payloadStart, scan.payloadEnd, this.#scratch, 0);
    // The remembered place may have been wrong: a shorter payload can leave a quote where the last one had its own.
    if (lengthBytes < 0 && !scan.payloadEscaped && scan.walk(message) === 'media') {
      lengthBytes = scan.payloadEscaped
        ? this.#decodeEscaped(message)
        : decodeBase64(message, scan.payloadStart, scan.payloadEnd, this.#scratch, 0);
    }
    if (lengthBytes <= 0) return 'bad_audio';
    this.#events.audio(this.#scratch, 0, lengthBytes, scan.timestampMs);
    return 'audio';
  }

  audioMessage(frames: Uint8Array, start: number, lengthBytes: number): Uint8Array {
    const template = this.#templates[lengthBytes / this.#frameBytes - 1]!;
    encodeBase64(frames, start, lengthBytes, template.message, template.payloadAt);
    return template.message;
  }

  checkpointMessage(name: string): Uint8Array {
    return this.#checkpoints.named(name);
  }

  clearMessage(): Uint8Array {
    return utf8(JSON.stringify({ event: 'clearAudio', streamId: this.#streamId }));
  }

  digitsMessage(digits: string): Uint8Array {
    return utf8(JSON.stringify({ event: 'sendDTMF', dtmf: digits }));
  }

  /** A JSON writer may put `\/` for each slash of the base64. */
  #decodeEscaped(message: Uint8Array): number {
    const quoted = textOf(message.subarray(this.#scan.payloadStart - 1, this.#scan.payloadEnd + 1));
    try {
      const payload = utf8(String(JSON.parse(quoted)));
      return decodeBase64(payload, 0, payload.length, this.#scratch, 0);
    } catch {
      return -1;
    }
  }

  #decodeRare(message: Uint8Array): Decoded {
    let body: unknown;
    try {
      body = JSON.parse(textOf(message));
    } catch {
      return 'malformed';
    }
    const events = this.#events;
    switch (field(body, 'event')) {
      case 'start': {
        const start = startOf(field(body, 'start'));
        this.#streamId = start.streamId;
        this.#checkpoints = new CheckpointMessages(start.streamId);
        events.started(start);
        return 'event';
      }
      case 'dtmf': {
        const digit = String(field(field(body, 'dtmf'), 'digit') ?? '');
        if (!DIGIT.test(digit)) return 'ignored';
        events.digit(digit.toUpperCase());
        return 'event';
      }
      // `played` is an older page's name for it.
      case 'playedStream':
      case 'played':
        events.played(String(field(body, 'name') ?? ''));
        return 'event';
      case 'clearedAudio':
        events.cleared();
        return 'event';
      case 'stop':
        events.stopped();
        return 'event';
      case 'playFailed':
      case 'error':
        events.faulted(String(field(body, 'reason') ?? field(body, 'message') ?? 'no reason given').slice(0, 200));
        return 'event';
      default:
        return 'ignored';
    }
  }
}

function startOf(start: unknown): StreamStart {
  const mediaFormat = field(start, 'mediaFormat');
  return {
    carrierCallId: String(field(start, 'callId') ?? ''),
    streamId: String(field(start, 'streamId') ?? ''),
    format: mediaFormat === undefined ? null : formatOf(mediaFormat),
  };
}

/**
 * `audio/x-mulaw` and `audio/x-l16`, with or without a `;rate=`. L16's byte order is undocumented; its SDK assumes
 * little-endian.
 */
function formatOf(mediaFormat: unknown): LegFormat | 'unsupported' {
  const encoding = String(field(mediaFormat, 'encoding') ?? '').split(';', 1)[0];
  const rateHz = Number(field(mediaFormat, 'sampleRate'));
  if (encoding === 'audio/x-mulaw' && rateHz === 8000) return { codec: 'mulaw', rateHz };
  if (encoding === 'audio/x-l16' && (rateHz === 8000 || rateHz === 16_000)) return { codec: 'pcm_s16le', rateHz };
  return 'unsupported';
}

function makeTemplates(format: LegFormat): AudioTemplate[] {
  const contentType = format.codec === 'mulaw' ? 'audio/x-mulaw' : 'audio/x-l16';
  const head = utf8(
    `{"event":"playAudio","media":{"contentType":"${contentType}","sampleRate":${format.rateHz},"payload":"`,
  );
  const tail = utf8('"}}');
  const templates: AudioTemplate[] = [];
  for (let frames = 1; frames <= MOST_FRAMES; frames++) {
    const payloadBytes = base64LengthOf(frames * frameBytesOf(format));
    const message = new Uint8Array(head.length + payloadBytes + tail.length);
    message.set(head);
    message.set(tail, head.length + payloadBytes);
    templates.push({ message, payloadAt: head.length });
  }
  return templates;
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function utf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8');
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}
