/**
 * One carrier leg: the socket's messages in, the rings on the other side. It checks that the stream is the one that was
 * claimed, feeds `uplink.ts`, is served by the frame clock for `playout.ts`, and ends itself when the stream is not what it
 * should be. `call-life.ts` owns it and hears what becomes of it. It knows no thread, no link and no other call.
 */
import { FRAME_MS } from '../contract/audio-format.ts';
import type { Clock } from '../contract/clock.ts';
import type { CallSetup, StreamEnd } from '../contract/link-messages.ts';
import { CallBlock } from '../rings/call-block.ts';
import type { FrameRing } from '../rings/frame-ring.ts';
import { createRecordRing } from '../rings/record-ring.ts';
import type { MediaCodec, MediaCodecFactory, StreamEvents, StreamStart } from './carriers/media-codec.ts';
import type { FrameClock, FrameClockClient } from './frame-clock.ts';
import { Playout } from './playout.ts';
import type { MediaSocket } from './socket-server/media-socket-server.ts';
import { Uplink } from './uplink.ts';

export type LegEnd = StreamEnd;

export interface LegListener {
  started(streamId: string, carrierCallId: string, block: CallBlock, recordRing: SharedArrayBuffer | null): void;
  /** Frames were written for the pipeline. */
  fed(): void;
  digit(digit: string): void;
  /** The carrier says that something is wrong with the stream, which goes on. */
  faulted(detail: string): void;
  /** The pipeline thread that took the call over has caught up, `gapMs` after the other one died. */
  recovered(gapMs: number): void;
  /** Exactly once. `detail` says for the log what was wrong; empty for an ordinary end. */
  over(why: LegEnd, durationMs: number, detail: string): void;
}

export interface LegOptions {
  setup: CallSetup;
  codecFactory: MediaCodecFactory;
  socket: MediaSocket<unknown>;
  clock: Clock;
  frameClock: FrameClock;
  listener: LegListener;
}

export interface LegCounters {
  receivedFrames: number;
  playedFrames: number;
  droppedFrames: number;
  underrunFrames: number;
  uplinkRefusedFrames: number;
  downlinkRefusedFrames: number;
  recordRefusedFrames: number;
  gaps: number;
  gapMs: number;
  wildTimestamps: number;
  badMessages: number;
  sendsDropped: number;
  firstSentMs: number;
  /** How the peer closed the socket; 0 when we did. */
  peerCloseCode: number;
}

const START_LIMIT_MS = 5000;
const MEDIA_LIMIT_MS = 5000;
/** Messages that are no audio: a burst, and then so many a second (reliability.md §5). */
const RARE_BURST = 100;
const RARE_PER_SECOND = 20;
/** Bad audio and unknown events that are overlooked. */
const BAD_MESSAGES = 10;
/** Audio faster than real time: by half for ever, and by ten seconds once, after a stall. */
const FAST_AUDIO_RATIO = 1.5;
const FAST_AUDIO_BURST_MS = 10_000;

const CLOSE_NORMAL = 1000;
const CLOSE_BINARY = 1003;
const CLOSE_FLOOD = 1008;
const CLOSE_BAD_MESSAGE = 4400;
const CLOSE_WRONG_CALL = 4403;
const CLOSE_TOO_LATE = 4408;
const CLOSE_WRONG_FORMAT = 4415;

export class Leg implements StreamEvents, FrameClockClient {
  readonly #options: LegOptions;
  readonly #codec: MediaCodec;
  readonly #clock: Clock;
  readonly #openedAtMs: number;
  #startedAtMs = 0;
  #block: CallBlock | null = null;
  #uplink: Uplink | null = null;
  #playout: Playout | null = null;
  #cancelDeadline: () => void;
  #rareMessages = 0;
  #badMessages = 0;
  #sendsDropped = 0;
  #record: FrameRing | null = null;
  /** Counted by blocks that the call has left. */
  #earlierUnderruns = 0;
  #earlierUplinkRefused = 0;
  #earlierDownlinkRefused = 0;
  #lostThreadAtMs = 0;
  #framesAtRebind = 0;
  #peerCloseCode = 0;
  #isOver = false;

  constructor(options: LegOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#codec = options.codecFactory.create(options.setup.format, this);
    this.#openedAtMs = this.#clock.nowMs();
    this.#cancelDeadline = this.#clock.after(START_LIMIT_MS, () =>
      this.#end('bad_stream', CLOSE_TOO_LATE, `no start message in ${START_LIMIT_MS} ms`),
    );
  }

  get counters(): LegCounters {
    const uplink = this.#uplink;
    const playout = this.#playout;
    return {
      receivedFrames: uplink?.receivedFrames ?? 0,
      playedFrames: playout?.playedFrames ?? 0,
      droppedFrames: playout?.droppedFrames ?? 0,
      underrunFrames: this.#earlierUnderruns + (this.#block?.underrunFrames ?? 0),
      uplinkRefusedFrames: this.#earlierUplinkRefused + (this.#block?.uplink.droppedFrames ?? 0),
      downlinkRefusedFrames: this.#earlierDownlinkRefused + (this.#block?.downlink.droppedFrames ?? 0),
      recordRefusedFrames: this.#record?.droppedFrames ?? 0,
      gaps: uplink?.timeline.gaps ?? 0,
      gapMs: Math.round(uplink?.timeline.gapMs ?? 0),
      wildTimestamps: uplink?.timeline.wildTimestamps ?? 0,
      badMessages: this.#badMessages,
      sendsDropped: this.#sendsDropped,
      firstSentMs: Math.round(playout?.firstSentMs ?? -1),
      peerCloseCode: this.#peerCloseCode,
    };
  }

  /** Ms since the stream began; 0 before. */
  get streamMs(): number {
    return this.#block === null ? 0 : Math.round(this.#clock.nowMs() - this.#startedAtMs);
  }

  /** One message of the socket. */
  message(message: Uint8Array, isBinary: boolean): void {
    if (this.#isOver) return;
    if (isBinary) {
      this.#end('bad_stream', CLOSE_BINARY, 'a binary message on a stream of text messages');
      return;
    }
    const decoded = this.#codec.decode(message, isBinary);
    if (decoded === 'audio') return;
    if (decoded === 'malformed') {
      this.#end('bad_stream', CLOSE_BAD_MESSAGE, `a message of ${message.length} bytes that is no JSON object`);
      return;
    }
    if (decoded !== 'event' && ++this.#badMessages > BAD_MESSAGES) {
      this.#end('bad_stream', CLOSE_BAD_MESSAGE, `more than ${BAD_MESSAGES} messages of no known kind`);
      return;
    }
    const openSeconds = (this.#clock.nowMs() - this.#openedAtMs) / 1000;
    if (++this.#rareMessages > RARE_BURST + openSeconds * RARE_PER_SECOND) {
      this.#end('bad_stream', CLOSE_FLOOD, 'too many messages that are no audio');
    }
  }

  /** The socket is gone. */
  socketClosed(code: number): void {
    this.#peerCloseCode = code;
    this.#end('socket_closed', CLOSE_NORMAL, '');
  }

  /** Ends the leg from our side. */
  stop(why: LegEnd = 'stopped', code: number = CLOSE_NORMAL, detail = ''): void {
    this.#end(why, code, detail);
  }

  /** Presses keys towards the far end. False: the carrier's stream has no such message. */
  sendDigits(digits: string): boolean {
    const message = this.#isOver ? undefined : this.#codec.digitsMessage?.(digits);
    if (message === undefined) return false;
    if (this.#options.socket.send(message, false) === 'dropped') this.#sendsDropped++;
    return true;
  }

  /** The pipeline thread died at `lostAtMs`. A new block for its successor, with what it had not read. */
  rebind(lostAtMs: number): CallBlock | null {
    const old = this.#block;
    if (old === null || this.#isOver) return null;
    this.#earlierUnderruns += old.underrunFrames;
    this.#earlierUplinkRefused += old.uplink.droppedFrames;
    this.#earlierDownlinkRefused += old.downlink.droppedFrames;
    const block = CallBlock.create(this.#options.setup.format);
    old.uplink.takeOver();
    while (old.uplink.peek()) {
      const { bytes, payloadStart, lengthBytes, generation, frameSeq, atMs } = old.uplink;
      block.uplink.tryWrite(bytes, payloadStart, lengthBytes, generation, frameSeq, atMs);
      old.uplink.release();
    }
    block.streamMs = Math.round(this.#clock.nowMs() - this.#startedAtMs);
    this.#block = block;
    this.#uplink?.rebind(block.uplink);
    this.#playout?.rebind(block);
    this.#lostThreadAtMs = lostAtMs;
    this.#framesAtRebind = this.#uplink?.receivedFrames ?? 0;
    return block;
  }

  /** The frame clock, once in 20 ms. */
  service(nowMs: number): void {
    const block = this.#block;
    if (block === null || this.#isOver) return;
    block.streamMs = Math.round(nowMs - this.#startedAtMs);
    const playout = this.#playout!;
    playout.service(nowMs);
    const dueAtMs = playout.nextDueAtMs(nowMs);
    if (dueAtMs < nowMs + FRAME_MS) this.#options.frameClock.again(this, dueAtMs);
    if (this.#lostThreadAtMs > 0) this.#watchRecovery(block, nowMs);
  }

  /** The pipeline has rung: a clear or an utterance's first frames do not wait for the slot. */
  serviceIfUrgent(nowMs: number): void {
    if (!this.#isOver && this.#playout?.isUrgent(nowMs)) this.#playout.service(nowMs);
  }

  // What the codec finds in a message.

  started(start: StreamStart): void {
    if (this.#block !== null) {
      this.#badMessages++;
      return;
    }
    const { setup, listener, frameClock, codecFactory, socket } = this.#options;
    if (setup.carrierCallId !== null && start.carrierCallId !== setup.carrierCallId) {
      this.#end('bad_stream', CLOSE_WRONG_CALL, 'the start message names another call than the one that was claimed');
      return;
    }
    const { format } = start;
    if (
      format === 'unsupported' ||
      (format !== null && (format.codec !== setup.format.codec || format.rateHz !== setup.format.rateHz))
    ) {
      this.#end('bad_stream', CLOSE_WRONG_FORMAT, 'the start message names another audio format than was asked for');
      return;
    }
    this.#cancelDeadline();
    this.#startedAtMs = this.#clock.nowMs();
    const block = CallBlock.create(setup.format);
    const record = setup.record ? createRecordRing(setup.format) : null;
    this.#block = block;
    this.#record = record?.ring ?? null;
    this.#uplink = new Uplink(setup.format, block.uplink, record?.ring ?? null);
    this.#playout = new Playout(
      {
        format: setup.format,
        framesPerMessage: codecFactory.framesPerMessage,
        codec: this.#codec,
        send: (message) => {
          if (socket.send(message, false) === 'dropped') this.#sendsDropped++;
        },
        record: record?.ring ?? null,
        startedAtMs: this.#startedAtMs,
      },
      block,
    );
    this.#cancelDeadline = this.#clock.after(MEDIA_LIMIT_MS, () => {
      if (this.#uplink?.receivedFrames === 0) {
        this.#end('no_media', CLOSE_TOO_LATE, `no audio in ${MEDIA_LIMIT_MS} ms after the start message`);
      }
    });
    frameClock.add(this);
    listener.started(start.streamId, start.carrierCallId, block, record?.memory ?? null);
  }

  audio(bytes: Uint8Array, start: number, lengthBytes: number, timestampMs: number): void {
    const uplink = this.#uplink;
    if (uplink === null) {
      this.#badMessages++;
      return;
    }
    const arrivedMs = this.#clock.nowMs() - this.#startedAtMs;
    uplink.push(bytes, start, lengthBytes, timestampMs, arrivedMs);
    if (uplink.receivedMs > arrivedMs * FAST_AUDIO_RATIO + FAST_AUDIO_BURST_MS) {
      this.#end('bad_stream', CLOSE_FLOOD, 'audio far faster than real time');
      return;
    }
    this.#options.listener.fed();
  }

  digit(digit: string): void {
    if (this.#block !== null) this.#options.listener.digit(digit);
  }

  played(name: string): void {
    this.#playout?.acknowledged(name, this.#clock.nowMs());
  }

  /** Checkpoints that a clear has dropped are settled when it is sent: nothing is left to do. */
  cleared(): void {}

  stopped(): void {
    this.#end('socket_closed', CLOSE_NORMAL, '');
  }

  faulted(detail: string): void {
    this.#options.listener.faulted(detail);
  }

  #watchRecovery(block: CallBlock, nowMs: number): void {
    if (this.#uplink!.receivedFrames <= this.#framesAtRebind || block.uplink.queuedFrames > 0) return;
    const gapMs = Math.round(nowMs - this.#lostThreadAtMs);
    this.#lostThreadAtMs = 0;
    this.#options.listener.recovered(gapMs);
  }

  #end(why: LegEnd, code: number, detail: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelDeadline();
    this.#options.frameClock.remove(this);
    const nowMs = this.#clock.nowMs();
    this.#uplink?.finish();
    this.#playout?.finish(nowMs);
    const durationMs = this.#block === null ? 0 : Math.round(nowMs - this.#startedAtMs);
    this.#options.socket.close(code, why);
    this.#options.listener.over(why, durationMs, detail);
  }
}
