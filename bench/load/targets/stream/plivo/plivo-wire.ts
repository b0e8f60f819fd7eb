/** Plivo's side of an audio stream, message by message. Made for each stream by the Plivo protocol. */
import { randomUUID } from 'node:crypto';
import type { SaidFrame } from '../../../far-end/said-sound.ts';
import { fieldsOf, type TargetSays, type Wire, type WireOptions } from '../wire.ts';

export const ACCOUNT_ID = 'MALOADTEST0000000000';
const MOST_PAYLOAD_CHARS = 16_384;

export class PlivoWire implements Wire {
  readonly #callId: string;
  readonly #streamId = randomUUID();
  readonly #beganAtEpochMs: number;
  /** JSON of a string. */
  readonly #extraHeaders: string;
  #sequence = 0;
  #chunk = 0;

  constructor({ callId, parameters, epochMs }: WireOptions) {
    this.#callId = callId;
    this.#beganAtEpochMs = Math.round(epochMs());
    const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
    this.#extraHeaders = JSON.stringify(pairs.join(','));
  }

  opening(): string[] {
    const start = {
      callId: this.#callId,
      streamId: this.#streamId,
      accountId: ACCOUNT_ID,
      tracks: ['inbound'],
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000 },
    };
    const message = { event: 'start', sequenceNumber: ++this.#sequence, start };
    return [JSON.stringify({ ...message, extra_headers: JSON.parse(this.#extraHeaders) })];
  }

  media(frame: SaidFrame, streamMs: number): string {
    return `{"event":"media","sequenceNumber":${++this.#sequence},"streamId":"${this.#streamId}","media":{"track":"inbound","timestamp":"${this.#beganAtEpochMs + streamMs}","chunk":${++this.#chunk},"payload":"${frame.base64}"},"extra_headers":${this.#extraHeaders}}`;
  }

  played(name: string): string {
    const sequenceNumber = ++this.#sequence;
    return JSON.stringify({ event: 'playedStream', sequenceNumber, streamId: this.#streamId, name });
  }

  /** A checkpoint that was dropped is never answered. */
  cleared(): string[] {
    return [JSON.stringify({ event: 'clearedAudio', sequenceNumber: 0, streamId: this.#streamId })];
  }

  closing(): null {
    return null;
  }

  read(message: Record<string, unknown>): TargetSays {
    const { event, streamId } = message;
    if (event === 'playAudio') return audioOf(fieldsOf(message['media']));
    if (event === 'sendDTMF') return { says: 'nothing' };
    if (event !== 'checkpoint' && event !== 'clearAudio') {
      return { says: 'fault', fault: `the event ${JSON.stringify(event)}`, event };
    }
    if (streamId !== this.#streamId) return fault(`${event} without the stream's streamId`);
    if (event === 'clearAudio') return { says: 'clear' };
    const { name } = message;
    return typeof name === 'string' ? { says: 'mark', name } : fault('a checkpoint without a name');
  }
}

function audioOf({ contentType, sampleRate, payload }: Record<string, unknown>): TargetSays {
  if (contentType !== 'audio/x-mulaw' || Number(sampleRate) !== 8000) {
    return fault(`playAudio of ${String(contentType)} at ${String(sampleRate)}: the stream is audio/x-mulaw at 8000`);
  }
  if (typeof payload !== 'string') return fault('playAudio without a payload');
  if (payload.length > MOST_PAYLOAD_CHARS) return fault(`a payload of ${payload.length} characters`);
  return { says: 'audio', base64: payload };
}

function fault(text: string): TargetSays {
  return { says: 'fault', fault: text };
}
