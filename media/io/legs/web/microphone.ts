/**
 * What a browser's microphone may do before its sound reaches `web-uplink.ts`: be muted, be silent, hold no audio, be
 * faster than real time. Warns through the session's outbound messages; `web-leg.ts` ends the session where this says
 * so. On the frame path.
 */
import { FRAME_MS } from '../../../contract/audio-format.ts';
import { isTooFast } from '../core/pace.ts';
import type { OutboundMessages } from './outbound-messages.ts';
import type { WebUplink } from './web-uplink.ts';

const SILENT_MS = 5_000;
/** Of audio faster than real time. */
const MOST_FAST_MS = 60_000;
/** Sound that does not decode and is overlooked. */
const BAD_SOUND = 500;

/** `fed`: frames were written. The last two end the session. */
export type MicrophoneVerdict = 'fed' | 'dropped' | 'no_audio' | 'flood';

export class Microphone {
  badSounds = 0;
  #tooFastMs = 0;
  #isMuted = false;
  #soundAtMs: number;
  readonly #uplink: WebUplink;
  readonly #outbound: Pick<OutboundMessages, 'warn' | 'warnOnce'>;

  constructor(uplink: WebUplink, outbound: Pick<OutboundMessages, 'warn' | 'warnOnce'>, nowMs: number) {
    this.#uplink = uplink;
    this.#outbound = outbound;
    this.#soundAtMs = nowMs;
  }

  /** Frames that were dropped because they came too fast. */
  get refusedFrames(): number {
    return Math.round(this.#tooFastMs / FRAME_MS);
  }

  mute(isMuted: boolean, nowMs: number): void {
    this.#isMuted = isMuted;
    this.#soundAtMs = nowMs;
  }

  /** `arrivedMs`: ms of session. */
  take(message: Uint8Array, nowMs: number, arrivedMs: number): MicrophoneVerdict {
    const uplink = this.#uplink;
    this.#soundAtMs = nowMs;
    if (this.#isMuted) return 'dropped';
    const lengthMs = uplink.lengthMs(message);
    if (lengthMs <= 0) {
      if (++this.badSounds === 1)
        this.#outbound.warn('bad_audio', 'A binary message holds no audio of the negotiated codec');
      return this.badSounds > BAD_SOUND ? 'no_audio' : 'dropped';
    }
    if (isTooFast(uplink.receivedMs + lengthMs, arrivedMs)) {
      this.#tooFastMs += lengthMs;
      this.#outbound.warnOnce('audio_too_fast', 'Audio comes faster than real time; the excess is dropped');
      return this.#tooFastMs > MOST_FAST_MS ? 'flood' : 'dropped';
    }
    uplink.push(message, lengthMs, arrivedMs);
    return 'fed';
  }

  /** The session goes on: silence is counted from now. */
  goOn(nowMs: number): void {
    this.#soundAtMs = nowMs;
  }

  /** Once a service. */
  watch(nowMs: number): void {
    if (this.#isMuted || nowMs - this.#soundAtMs < SILENT_MS) return;
    this.#soundAtMs = Number.POSITIVE_INFINITY;
    this.#outbound.warn('mic_silent', `No audio received for ${SILENT_MS / 1000} s`);
  }
}
