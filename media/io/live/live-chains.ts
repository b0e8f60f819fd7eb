/**
 * The two chains of a web session, built top to bottom: microphone → uplink → ring to the pipeline, and ring from it → playout → browser,
 * with the record ring beside both. `live-leg.ts` makes them when the formats are known; they outlive sockets and pipeline threads.
 */
import type { NegotiatedAudio, WebSetup } from '../../contract/live-session.ts';
import { blockShapeOf, CallBlock } from '../../rings/call-block.ts';
import type { FrameRing } from '../../rings/frame-ring.ts';
import { createRecordRing } from '../../rings/record-ring.ts';
import type { LegCounters } from '../leg.ts';
import { LiveMicrophone } from './live-microphone.ts';
import { LivePlayout, type LivePlayoutEvents } from './live-playout.ts';
import type { LiveTeller } from './live-teller.ts';
import { LiveUplink } from './live-uplink.ts';

export interface LiveChainsOptions {
  audio: NegotiatedAudio;
  web: WebSetup;
  isRecorded: boolean;
  /** How much unplayed sound the browser may hold. */
  bufferMs: number;
  teller: LiveTeller;
  events: LivePlayoutEvents;
}

export class LiveChains {
  readonly microphone: LiveMicrophone;
  readonly playout: LivePlayout;
  /** Of the record ring, for the recorder; null: it is not recorded. */
  readonly recordMemory: SharedArrayBuffer | null;
  readonly audio: NegotiatedAudio;
  readonly #web: WebSetup;
  readonly #uplink: LiveUplink;
  readonly #record: FrameRing | null;
  #block: CallBlock;
  #lostThreadAtMs = 0;
  #earlierUnderruns = 0;
  #earlierUplinkRefused = 0;
  #earlierDownlinkRefused = 0;

  constructor({ audio, web, isRecorded, bufferMs, teller, events }: LiveChainsOptions, nowMs: number) {
    const { input, output } = audio;
    this.audio = audio;
    this.#web = web;
    this.#block = this.#newBlock();
    const record = isRecorded ? createRecordRing(input, output) : null;
    this.recordMemory = record?.memory ?? null;
    this.#record = record?.ring ?? null;
    this.#uplink = new LiveUplink(input, this.#block.uplink, this.#record);
    this.microphone = new LiveMicrophone(this.#uplink, teller, nowMs);
    this.playout = new LivePlayout({ output, bufferMs, record: this.#record, events }, this.#block, nowMs);
  }

  get block(): CallBlock {
    return this.#block;
  }

  /** Another pipeline thread goes on: it gets rings of its own, with what the dead one had not read. */
  rebind(streamMs: number, lostAtMs: number): CallBlock {
    const old = this.#block;
    this.#earlierUnderruns += old.underrunFrames;
    this.#earlierUplinkRefused += old.uplink.droppedFrames;
    this.#earlierDownlinkRefused += old.downlink.droppedFrames;
    const block = this.#newBlock();
    old.uplink.takeOver();
    while (old.uplink.peek()) {
      const { bytes, payloadStart, lengthBytes, generation, frameSeq, atMs } = old.uplink;
      block.uplink.tryWrite(bytes, payloadStart, lengthBytes, generation, frameSeq, atMs);
      old.uplink.release();
    }
    this.#block = block;
    block.streamMs = streamMs;
    this.#uplink.rebind(block.uplink);
    this.playout.rebind(block);
    this.#lostThreadAtMs = lostAtMs;
    return block;
  }

  /** Ms from a thread's death to the moment at which the next has read everything, once; else 0. */
  recoveredInMs(nowMs: number): number {
    if (this.#lostThreadAtMs === 0 || this.#block.uplink.queuedFrames > 0) return 0;
    const gapMs = Math.round(nowMs - this.#lostThreadAtMs);
    this.#lostThreadAtMs = 0;
    return gapMs;
  }

  finish(nowMs: number): void {
    this.#uplink.finish();
    this.playout.finish(nowMs);
  }

  get counters(): Omit<LegCounters, 'badMessages' | 'sendsDropped' | 'peerCloseCode'> {
    const { microphone, playout } = this;
    const { timeline, receivedFrames } = this.#uplink;
    const { uplink, downlink, underrunFrames } = this.#block;
    return {
      receivedFrames,
      playedFrames: playout.playedFrames,
      droppedFrames: playout.droppedFrames + playout.skippedFrames,
      underrunFrames: this.#earlierUnderruns + underrunFrames,
      uplinkRefusedFrames: this.#earlierUplinkRefused + uplink.droppedFrames + microphone.refusedFrames,
      downlinkRefusedFrames: this.#earlierDownlinkRefused + downlink.droppedFrames,
      recordRefusedFrames: this.#record?.droppedFrames ?? 0,
      gaps: timeline.gaps,
      gapMs: Math.round(timeline.gapMs),
      wildTimestamps: 0,
      firstSentMs: Math.round(playout.firstSentMs),
    };
  }

  #newBlock(): CallBlock {
    const { input, output } = this.audio;
    return CallBlock.create(blockShapeOf({ format: input, outputFormat: output, web: this.#web }));
  }
}

/** Of a session that has not begun. */
export const NO_COUNTERS: LiveChains['counters'] = {
  receivedFrames: 0,
  playedFrames: 0,
  droppedFrames: 0,
  underrunFrames: 0,
  uplinkRefusedFrames: 0,
  downlinkRefusedFrames: 0,
  recordRefusedFrames: 0,
  gaps: 0,
  gapMs: 0,
  wildTimestamps: 0,
  firstSentMs: -1,
};
