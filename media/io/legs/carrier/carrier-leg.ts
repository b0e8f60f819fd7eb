/**
 * One carrier leg: the socket's messages in, the rings on the other side. It checks that the stream is the one that was
 * claimed, joins the codec with `core/uplink.ts`, is served by the frame clock for `playout.ts`, and ends itself when
 * the stream is not what it should be. `call-registry.ts` makes it when the stream is claimed, `carrier-endpoint.ts`
 * lets its socket in, `call-life.ts` hears what becomes of it. It knows no thread, no link and no other call.
 */
import { FRAME_MS, type LegFormat } from '../../../contract/audio-format.ts';
import type { Clock } from '../../../contract/clock.ts';
import type { CallSetup } from '../../../contract/link-messages.ts';
import type { CallBlock } from '../../../rings/call-block.ts';
import type { MediaCodec, MediaCodecFactory, StreamEvents, StreamStart } from '../../carriers/media-codec.ts';
import type { FrameClock } from '../../frame-clock.ts';
import type { MediaSocket, SocketEvents } from '../../socket-server/media-socket-server.ts';
import type { CallLeg, LegEnd, LegListener } from '../core/call-leg.ts';
import { CallRings } from '../core/call-rings.ts';
import { type LegCounters, noCounters, soundCounters } from '../core/leg-counters.ts';
import { isTooFast } from '../core/pace.ts';
import type { SoundTap } from '../core/sound-tap.ts';
import { Uplink } from '../core/uplink.ts';
import { Playout } from './playout.ts';
import { RareMessages } from './rare-messages.ts';

export interface CarrierLegListener extends LegListener {
  /** The carrier says that something is wrong with the stream, which goes on. */
  faulted(detail: string): void;
}

export interface CarrierLegOptions {
  setup: CallSetup;
  codecFactory: MediaCodecFactory;
  clock: Clock;
  frameClock: FrameClock;
  listener: CarrierLegListener;
}

const START_LIMIT_MS = 5000;
const MEDIA_LIMIT_MS = 5000;

const CLOSE_NORMAL = 1000;
const CLOSE_BINARY = 1003;
const CLOSE_FLOOD = 1008;
const CLOSE_OUR_FAULT = 1011;
const CLOSE_BAD_MESSAGE = 4400;
const CLOSE_WRONG_CALL = 4403;
const CLOSE_TOO_LATE = 4408;
const CLOSE_WRONG_FORMAT = 4415;

export class CarrierLeg implements CallLeg, StreamEvents {
  readonly canMove = false;
  readonly #options: CarrierLegOptions;
  readonly #codec: MediaCodec;
  readonly #clock: Clock;
  readonly #rare = new RareMessages();
  #socket: MediaSocket<unknown> | null = null;
  #openedAtMs = 0;
  #startedAtMs = 0;
  // All three from the start message on.
  #rings: CallRings | null = null;
  #uplink: Uplink | null = null;
  #playout: Playout | null = null;
  #cancelDeadline: () => void = () => {};
  #framesAtRebind = 0;
  #peerCloseCode = 0;
  #isOver = false;

  constructor(options: CarrierLegOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#codec = options.codecFactory.create(options.setup.format, this);
  }

  get counters(): LegCounters {
    const counters = this.#rings === null ? noCounters() : soundCounters(this.#rings, this.#uplink!, this.#playout!);
    counters.badMessages = this.#rare.badMessages;
    counters.sendsDropped = this.#playout?.sendsDropped ?? 0;
    counters.peerCloseCode = this.#peerCloseCode;
    return counters;
  }

  /** Ms since the stream began; 0 before. */
  get streamMs(): number {
    return this.#rings === null ? 0 : Math.round(this.#clock.nowMs() - this.#startedAtMs);
  }

  // Its socket.

  /** The socket is open. */
  attach(socket: MediaSocket<unknown>): void {
    if (this.#isOver) {
      socket.close(CLOSE_NORMAL, 'stopped');
      return;
    }
    this.#socket = socket;
    this.#openedAtMs = this.#clock.nowMs();
    this.#cancelDeadline = this.#clock.after(START_LIMIT_MS, () =>
      this.#end('bad_stream', CLOSE_TOO_LATE, `no start message in ${START_LIMIT_MS} ms`),
    );
  }

  /** Though the call was claimed: its client had gone. */
  socketNeverOpened(): void {
    this.#end('socket_closed', CLOSE_NORMAL, 'the client left before the upgrade was answered');
  }

  /** One message of the socket. */
  message(message: Uint8Array, isBinary: boolean): void {
    if (this.#isOver) return;
    if (isBinary) {
      this.#end('bad_stream', CLOSE_BINARY, 'a binary message on a stream of text messages');
      return;
    }
    const uplink = this.#uplink;
    if (uplink !== null) this.#arrived(uplink);
    const decoded = this.#codec.decode(message, isBinary);
    if (decoded === 'audio') {
      if (uplink !== null) this.#fed(uplink);
      return;
    }
    const verdict = this.#rare.judge(decoded, this.#clock.nowMs() - this.#openedAtMs);
    if (verdict === 'fine') return;
    const code = verdict === 'flood' ? CLOSE_FLOOD : CLOSE_BAD_MESSAGE;
    this.#end('bad_stream', code, RareMessages.told(verdict, message.length));
  }

  /** The socket is gone. */
  socketClosed(code: number): void {
    this.#peerCloseCode = code;
    this.#end('socket_closed', CLOSE_NORMAL, '');
  }

  // The call's life, and the pipeline's side of it. Nobody listens on a carrier's stream but the far end, and nothing
  // there has tools.

  stop(why: LegEnd = 'stopped', code: number = CLOSE_NORMAL, detail = ''): void {
    this.#end(why, code, detail);
  }

  failed(error: unknown): void {
    this.#options.listener.failed(error);
    this.#end('failed', CLOSE_OUR_FAULT, '');
  }

  superseded(): void {
    this.stop();
  }

  /** The carrier then asks what to do next, and whoever answers opens another stream. */
  handOver(): void {
    this.stop();
  }

  conversationEvent(): void {}

  toolAsked(): boolean {
    return false;
  }

  toolCancelled(): void {}

  /** Control hangs up, and the carrier closes the socket. */
  agentEnded(): void {}

  sendDigits(digits: string): boolean {
    return !this.#isOver && this.#playout !== null && this.#playout.sendDigits(digits);
  }

  listen(tap: SoundTap | null): boolean {
    if (this.#uplink === null || this.#playout === null || this.#isOver) return false;
    this.#uplink.tap = tap;
    this.#playout.listen(tap);
    return true;
  }

  rebind(lostAtMs: number): CallBlock | null {
    if (this.#rings === null || this.#isOver) return null;
    const uplink = this.#uplink!;
    this.#framesAtRebind = uplink.receivedFrames;
    return this.#rings.rebind(this.streamMs, lostAtMs, { uplink, playout: this.#playout! });
  }

  /** The frame clock, once in 20 ms. */
  service(nowMs: number): void {
    const rings = this.#rings;
    if (rings === null || this.#isOver) return;
    rings.block.streamMs = Math.round(nowMs - this.#startedAtMs);
    const playout = this.#playout!;
    playout.service(nowMs);
    const dueAtMs = playout.nextDueAtMs(nowMs);
    if (dueAtMs < nowMs + FRAME_MS) this.#options.frameClock.again(this, dueAtMs);
    if (rings.isRecovering) this.#watchRecovery(rings, nowMs);
  }

  /** The pipeline has rung: a clear or an utterance's first frames do not wait for the slot. */
  serviceIfUrgent(nowMs: number): void {
    if (!this.#isOver && this.#playout?.isUrgent(nowMs)) this.#playout.service(nowMs);
  }

  // What the codec finds in a message.

  /** The uplink's, once there is one. */
  audio: StreamEvents['audio'] = () => {
    this.#rare.badMessages++;
  };

  started(start: StreamStart): void {
    if (this.#rings !== null) {
      this.#rare.badMessages++;
      return;
    }
    const { setup } = this.#options;
    if (setup.carrierCallId !== null && start.carrierCallId !== setup.carrierCallId) {
      this.#end('bad_stream', CLOSE_WRONG_CALL, 'the start message names another call than the one that was claimed');
    } else if (!isFormat(start.format, setup.format)) {
      this.#end('bad_stream', CLOSE_WRONG_FORMAT, 'the start message names another audio format than was asked for');
    } else this.#begin(start);
  }

  digit(digit: string): void {
    if (this.#rings !== null) this.#options.listener.command({ type: 'key', key: digit });
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

  #begin(start: StreamStart): void {
    const { setup, listener, frameClock, codecFactory } = this.#options;
    this.#cancelDeadline();
    this.#startedAtMs = this.#clock.nowMs();
    const rings = new CallRings(setup, setup.record);
    const { block, record } = rings;
    this.#rings = rings;
    this.#uplink = new Uplink(setup.format, block.uplink, record);
    this.audio = this.#uplink.audio;
    this.#playout = new Playout(
      {
        format: setup.format,
        framesPerMessage: codecFactory.framesPerMessage,
        codec: this.#codec,
        socket: this.#socket!,
        record,
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
    listener.started(start.streamId, start.carrierCallId, block, rings.recordMemory);
  }

  #arrived(uplink: Uplink): void {
    uplink.arrivedMs = this.#clock.nowMs() - this.#startedAtMs;
    // The pipeline reads it with the frame.
    this.#rings!.block.streamMs = Math.round(uplink.arrivedMs);
  }

  #fed(uplink: Uplink): void {
    if (isTooFast(uplink.receivedMs, uplink.arrivedMs)) {
      this.#end('bad_stream', CLOSE_FLOOD, 'audio far faster than real time');
    } else this.#options.listener.fed();
  }

  /** A carrier sends without end: who has read something new has caught up. */
  #watchRecovery(rings: CallRings, nowMs: number): void {
    if (this.#uplink!.receivedFrames <= this.#framesAtRebind) return;
    const gapMs = rings.recoveredInMs(nowMs);
    if (gapMs > 0) this.#options.listener.recovered(gapMs);
  }

  #end(why: LegEnd, code: number, detail: string): void {
    if (this.#isOver) return;
    const durationMs = this.streamMs;
    this.#isOver = true;
    this.#cancelDeadline();
    this.#options.frameClock.remove(this);
    this.#uplink?.finish();
    this.#playout?.finish(this.#clock.nowMs());
    this.#socket?.close(code, why);
    this.#options.listener.over(why, durationMs, detail);
  }
}

/** What a socket that was let in to a leg does, the leg hears. */
export const LEG_OF_SOCKET: SocketEvents<CarrierLeg> = {
  open: (socket) => socket.data.attach(socket),
  message({ data: leg }, message, isBinary) {
    try {
      leg.message(message, isBinary);
    } catch (error) {
      leg.failed(error);
    }
  },
  drained() {},
  closed: ({ data: leg }, code) => leg.socketClosed(code),
};

/** A carrier that names no format sends what was asked for. */
function isFormat(said: StreamStart['format'], asked: LegFormat): boolean {
  if (said === null) return true;
  return said !== 'unsupported' && said.codec === asked.codec && said.rateHz === asked.rateHz;
}
