/** Twilio's side of a media stream, message by message; numbers are strings there. Made for each stream. */
import type { SaidFrame } from '../../../far-end/said-sound.ts';
import { fieldsOf, type TargetSays, type Wire, type WireOptions } from '../wire.ts';
import { ACCOUNT_SID, newSid } from './sids.ts';

export class TwilioWire implements Wire {
  readonly #callSid: string;
  readonly #streamSid = newSid('MZ');
  readonly #parameters: Readonly<Record<string, string>>;
  #sequence = 0;
  #chunk = 0;

  constructor({ callId, parameters }: WireOptions) {
    this.#callSid = callId;
    this.#parameters = parameters;
  }

  opening(): string[] {
    const start = {
      accountSid: ACCOUNT_SID,
      streamSid: this.#streamSid,
      callSid: this.#callSid,
      tracks: ['inbound'],
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      customParameters: this.#parameters,
    };
    return [
      JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }),
      this.#message({ event: 'start', start }),
    ];
  }

  media(frame: SaidFrame, streamMs: number): string {
    return `{"event":"media","sequenceNumber":"${++this.#sequence}","media":{"track":"inbound","chunk":"${++this.#chunk}","timestamp":"${streamMs}","payload":"${frame.base64}"},"streamSid":"${this.#streamSid}"}`;
  }

  played(name: string): string {
    return this.#message({ event: 'mark', mark: { name } });
  }

  /** Marks whose audio was dropped come back too. */
  cleared(pending: readonly string[]): string[] {
    return pending.map((name) => this.played(name));
  }

  closing(): string {
    return this.#message({ event: 'stop', stop: { accountSid: ACCOUNT_SID, callSid: this.#callSid } });
  }

  read(message: Record<string, unknown>): TargetSays {
    const { event, streamSid } = message;
    if (event !== 'media' && event !== 'mark' && event !== 'clear') {
      return { says: 'fault', fault: `the event ${JSON.stringify(event)}`, event };
    }
    if (streamSid !== this.#streamSid) return fault(`${event} without the stream's streamSid`);
    if (event === 'clear') return { says: 'clear' };
    if (event === 'mark') {
      const { name } = fieldsOf(message['mark']);
      return typeof name === 'string' ? { says: 'mark', name } : fault('a mark without a name');
    }
    const { payload } = fieldsOf(message['media']);
    return typeof payload === 'string' ? { says: 'audio', base64: payload } : fault('media without a payload');
  }

  #message(fields: Record<string, unknown>): string {
    return JSON.stringify({ ...fields, sequenceNumber: String(++this.#sequence), streamSid: this.#streamSid });
  }
}

function fault(text: string): TargetSays {
  return { says: 'fault', fault: text };
}
