/**
 * The two chains of a web session, built top to bottom: microphone → uplink → ring to the pipeline, and ring from it →
 * playout → browser, with the record ring beside both. `web-leg.ts` makes them when the formats are known; they outlive
 * sockets and pipeline threads.
 */
import type { NegotiatedAudio, WebSetup } from '../../../contract/live-session.ts';
import type { CallBlock } from '../../../rings/call-block.ts';
import { CallRings } from '../core/call-rings.ts';
import { type LegCounters, soundCounters } from '../core/leg-counters.ts';
import type { SoundTap } from '../core/sound-tap.ts';
import { Microphone } from './microphone.ts';
import type { OutboundMessages } from './outbound-messages.ts';
import type { WebLine } from './web-line.ts';
import { WebPlayout, type WebPlayoutEvents } from './web-playout.ts';
import { WebUplink } from './web-uplink.ts';

export interface WebSoundOptions {
  audio: NegotiatedAudio;
  web: WebSetup;
  isRecorded: boolean;
  /** How much unplayed sound the browser may hold. */
  bufferMs: number;
  outbound: OutboundMessages;
  line: WebLine;
  events: Pick<WebPlayoutEvents, 'cleared'>;
}

export class WebSound {
  readonly microphone: Microphone;
  readonly playout: WebPlayout;
  readonly audio: NegotiatedAudio;
  readonly rings: CallRings;
  readonly #uplink: WebUplink;

  constructor({ audio, web, isRecorded, bufferMs, outbound, line, events }: WebSoundOptions, nowMs: number) {
    const { input, output } = audio;
    this.audio = audio;
    this.rings = new CallRings({ format: input, outputFormat: output, web }, isRecorded);
    const { block, record } = this.rings;
    this.#uplink = new WebUplink(input, block.uplink, record);
    this.microphone = new Microphone(this.#uplink, outbound, nowMs);
    const told: WebPlayoutEvents = {
      utteranceStarted: (utterance, turn, resumes) => outbound.utteranceStarted(utterance, turn, resumes),
      utteranceEnded: (utterance, turn, audioMs) => outbound.utteranceEnded(utterance, turn, audioMs),
      heard: (turn, delayMs) => outbound.heard(turn, delayMs),
      ...events,
    };
    this.playout = new WebPlayout({ output, bufferMs, record, line, events: told }, block, nowMs);
  }

  /** Another pipeline thread goes on. */
  rebind(streamMs: number, lostAtMs: number): CallBlock {
    return this.rings.rebind(streamMs, lostAtMs, { uplink: this.#uplink, playout: this.playout });
  }

  /** Somebody listens in; null: nobody any more. */
  listen(tap: SoundTap | null): void {
    this.#uplink.listen(tap);
    this.playout.listen(tap);
  }

  finish(nowMs: number): void {
    this.#uplink.finish();
    this.playout.finish(nowMs);
  }

  get counters(): LegCounters {
    const counters = soundCounters(this.rings, this.#uplink, this.playout);
    counters.droppedFrames += this.playout.skippedFrames;
    counters.uplinkRefusedFrames += this.microphone.refusedFrames;
    return counters;
  }
}
