/**
 * One web session as its process carries it: a browser's sockets, one after the other, on one side, the call's rings on the other. It
 * speaks the protocol (docs/live-protocol.md), feeds `live-uplink.ts`, is served by the frame clock for `live-playout.ts`, and stands still
 * while the browser is away. `call-life.ts` hears what becomes of it, as of a telephone leg; `live-endpoint.ts` hands it its sockets.
 *
 *   opening ──session.start, or sound──► live ──socket lost──► parked ──resumed──► live
 *      └──5 s──► over                     └──end──► over          └──30 s──► over
 */
import { FRAME_MS } from '../../contract/audio-format.ts';
import type { EndedReason } from '../../contract/call-outcome.ts';
import type { Clock } from '../../contract/clock.ts';
import type { LiveEvent } from '../../contract/conversation.ts';
import type { CallSetup } from '../../contract/link-messages.ts';
import {
  LIVE_CLOSE_CODES,
  type LiveErrorCode,
  type NegotiatedAudio,
  type WebSetup,
} from '../../contract/live-session.ts';
import type { SessionCommand } from '../../contract/session-command.ts';
import { blockShapeOf, CallBlock } from '../../rings/call-block.ts';
import type { FrameRing } from '../../rings/frame-ring.ts';
import { createRecordRing } from '../../rings/record-ring.ts';
import type { CallLeg } from '../call-leg.ts';
import type { FrameClock, FrameClockClient } from '../frame-clock.ts';
import type { LegCounters, LegEnd } from '../leg.ts';
import type { MediaSocket } from '../socket-server/media-socket-server.ts';
import { type AudioWish, type ClientMessage, readClientMessage, type Visitor } from './client-messages.ts';
import { LivePlayout } from './live-playout.ts';
import { LiveTeller } from './live-teller.ts';
import { LiveUplink } from './live-uplink.ts';
import { isResumeTokenOf, resumeTokenOf } from './resume-token.ts';

export interface LiveLegListener {
  /** Formats and the visitor's values are known. */
  negotiated(audio: NegotiatedAudio, visitor: Visitor | null, resumeNumber: number): void;
  started(streamId: string, carrierCallId: string, block: CallBlock, recordRing: SharedArrayBuffer | null): void;
  /** Frames were written for the pipeline. */
  fed(): void;
  digit(digit: string): void;
  command(command: SessionCommand): void;
  recovered(gapMs: number): void;
  /** Exactly once; see `LegListener`. */
  over(why: LegEnd, durationMs: number, detail: string): void;
}

export interface LiveLegOptions {
  setup: CallSetup & { web: WebSetup };
  clock: Clock;
  frameClock: FrameClock;
  listener: LiveLegListener;
  requestId: string;
}

export const RESUME_WINDOW_MS = 30_000;
export const PING_EVERY_MS = 5_000;
const START_LIMIT_MS = 5_000;
const MIC_SILENT_MS = 5_000;
/** Audio faster than real time: by half for ever, and by ten seconds once, after a stall. */
const FAST_AUDIO_RATIO = 1.5;
const FAST_AUDIO_BURST_MS = 10_000;
const MOST_FAST_AUDIO_MS = 60_000;
/** Sound that does not decode, and messages with wrong fields, that are overlooked. */
const BAD_SOUND = 500;
const BAD_MESSAGES = 10;
const TEXT_BURST = 100;
const TEXT_PER_SECOND = 50;
/** A reader for whom this much waits gets no more sound; with this much it is cut. */
const SLOW_BYTES = 256 * 1024;
const TOO_SLOW_BYTES = 1024 * 1024;
const DRAIN_LIMIT_MS = 1_500;
/** A browser that reports its position says nothing at all while it is spoken to: its network is dead, whatever TCP believes. */
const STALLED_MS = 1_500;
const BUFFER_MS = { preset: 200, least: 60, most: 1_000 };
const DEFAULTS: NegotiatedAudio = {
  input: { codec: 'pcm_s16le', rateHz: 16000 },
  output: { codec: 'pcm_s16le', rateHz: 24000 },
};
const CLOSE_NORMAL = 1000;
const CLOSE_GOING_AWAY = 1001;
const CLOSE_NO_CODE = 1005;

export class LiveLeg implements CallLeg, FrameClockClient {
  readonly #options: LiveLegOptions;
  readonly #clock: Clock;
  readonly #teller: LiveTeller;
  #socket: MediaSocket<unknown> | null = null;
  #phase: 'opening' | 'live' | 'parked' | 'over' = 'opening';
  #cancelDeadline: () => void = () => {};
  #openedAtMs: number;
  #startedAtMs = 0;
  #audio: NegotiatedAudio = DEFAULTS;
  #block: CallBlock | null = null;
  #uplink: LiveUplink | null = null;
  #playout: LivePlayout | null = null;
  #record: FrameRing | null = null;
  #resumeNumber = 0;
  /** The client has this token, or a later one: what was sent last may have been lost on the way. */
  #provenNumber = 1;
  /** The socket at hand came with a resume token. */
  #isResuming = false;
  #parkedAtMs = 0;
  #isStalled = false;
  #isMuted = false;
  #isSlow = false;
  #heardAtMs = 0;
  #micAtMs = 0;
  #pingAtMs = 0;
  #clearReason: 'barge_in' | 'interrupt' | 'held' = 'barge_in';
  #draining: { reason: EndedReason; sinceMs: number } | null = null;
  #textMessages = 0;
  #badMessages = 0;
  #badSounds = 0;
  #tooFastMs = 0;
  #sendsDropped = 0;
  #peerCloseCode = 0;
  #earlierUnderruns = 0;
  #earlierUplinkRefused = 0;
  #earlierDownlinkRefused = 0;
  #lostThreadAtMs = 0;

  constructor(options: LiveLegOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#openedAtMs = options.clock.nowMs();
    this.#teller = new LiveTeller({
      clock: options.clock,
      callUuid: options.setup.callUuid,
      send: (text) => this.#sendText(text),
    });
  }

  get counters(): LegCounters {
    const uplink = this.#uplink;
    const playout = this.#playout;
    return {
      receivedFrames: uplink?.receivedFrames ?? 0,
      playedFrames: playout?.playedFrames ?? 0,
      droppedFrames: (playout?.droppedFrames ?? 0) + (playout?.skippedFrames ?? 0),
      underrunFrames: this.#earlierUnderruns + (this.#block?.underrunFrames ?? 0),
      uplinkRefusedFrames:
        this.#earlierUplinkRefused + (this.#block?.uplink.droppedFrames ?? 0) + Math.round(this.#tooFastMs / FRAME_MS),
      downlinkRefusedFrames: this.#earlierDownlinkRefused + (this.#block?.downlink.droppedFrames ?? 0),
      recordRefusedFrames: this.#record?.droppedFrames ?? 0,
      gaps: uplink?.timeline.gaps ?? 0,
      gapMs: Math.round(uplink?.timeline.gapMs ?? 0),
      wildTimestamps: 0,
      badMessages: this.#badMessages + this.#badSounds,
      sendsDropped: this.#sendsDropped,
      firstSentMs: Math.round(playout?.firstSentMs ?? -1),
      peerCloseCode: this.#peerCloseCode,
    };
  }

  /** Ms of session, without the time in which it stood still. */
  get streamMs(): number {
    if (this.#block === null) return 0;
    return Math.round((this.#isHeld ? this.#parkedAtMs : this.#clock.nowMs()) - this.#startedAtMs);
  }

  get isOver(): boolean {
    return this.#phase === 'over';
  }

  /** Is it a resume token of this session that no later one has taken the place of, as far as the client knows? */
  acceptsResume(token: string): boolean {
    for (let number = this.#provenNumber; number <= this.#resumeNumber; number++) {
      if (!isResumeTokenOf(token, { ...this.#resumeFacts(), number })) continue;
      this.#provenNumber = number;
      return true;
    }
    return false;
  }

  // ── Its sockets. ──────────────────────────────────────────────────────────────────────────────────────

  /** A socket with a good token is open. The one before it, if there is one, has lost the session. */
  attach(socket: MediaSocket<unknown>): void {
    if (this.#phase === 'over') {
      socket.close(LIVE_CLOSE_CODES.session_over, 'session_over');
      return;
    }
    const before = this.#socket;
    this.#isResuming = this.#phase !== 'opening' || before !== null;
    this.#socket = null;
    if (before !== null) this.#refuse(before, 'replaced');
    const nowMs = this.#clock.nowMs();
    if (this.#phase === 'live') this.#park(nowMs);
    this.#socket = socket;
    this.#openedAtMs = nowMs;
    this.#heardAtMs = nowMs;
    this.#textMessages = 0;
    this.#teller.welcome(this.#options.requestId);
    this.#cancelDeadline();
    this.#cancelDeadline = this.#clock.after(START_LIMIT_MS, () => this.#startIsLate());
  }

  /** The client went before its socket was open. Its token is used up; a session that was alive may be resumed again. */
  socketNeverOpened(): void {
    if (this.#block === null)
      this.#end('socket_closed', CLOSE_NORMAL, 'the client left before it was let in', 'user_hangup');
  }

  message(socket: MediaSocket<unknown>, message: Uint8Array, isBinary: boolean): void {
    if (socket !== this.#socket || this.#phase === 'over') return;
    const nowMs = this.#clock.nowMs();
    this.#heardAtMs = nowMs;
    if (this.#isStalled) this.#resumeInPlace(nowMs);
    if (this.#phase === 'live') this.#provenNumber = this.#resumeNumber;
    if (isBinary) this.#sound(message, nowMs);
    else this.#text(message, nowMs);
    if (socket.bufferedBytes > TOO_SLOW_BYTES) this.#cutSlow(socket);
  }

  /** The socket is gone, by whomever. */
  socketClosed(socket: MediaSocket<unknown>, code: number): void {
    if (socket !== this.#socket || this.#phase === 'over') return;
    this.#socket = null;
    this.#peerCloseCode = code;
    this.#lost(code);
  }

  // ── The pipeline's side. ──────────────────────────────────────────────────────────────────────────────

  live(event: LiveEvent): void {
    if (this.#phase !== 'over') this.#teller.live(event);
  }

  /** The agent has said its last word: what the browser still has may be played. */
  agentEnded(reason: EndedReason): void {
    if (this.#draining === null) this.#draining = { reason, sinceMs: this.#clock.nowMs() };
  }

  stop(why: LegEnd = 'stopped', code: number = CLOSE_NORMAL, detail = '', reason: EndedReason | null = null): void {
    if (why === 'failed') this.#fail('server', why, detail);
    else this.#end(why, code, detail, reason ?? 'api_hangup');
  }

  /** A page dials nothing. */
  sendDigits(): boolean {
    return false;
  }

  /** Another process has the session. */
  superseded(): void {
    this.#fail('replaced', 'stopped', '');
  }

  /** This process is being stopped: the browser takes its session elsewhere. */
  handOver(): void {
    if (this.#phase === 'over') return;
    const socket = this.#socket;
    this.#finish('stopped', 'handed over');
    socket?.close(CLOSE_GOING_AWAY, 'draining');
  }

  rebind(lostAtMs: number): CallBlock | null {
    const old = this.#block;
    if (old === null || this.#phase === 'over') return null;
    this.#earlierUnderruns += old.underrunFrames;
    this.#earlierUplinkRefused += old.uplink.droppedFrames;
    this.#earlierDownlinkRefused += old.downlink.droppedFrames;
    const block = CallBlock.create(blockShapeOf(this.#negotiatedSetup()));
    old.uplink.takeOver();
    while (old.uplink.peek()) {
      const { bytes, payloadStart, lengthBytes, generation, frameSeq, atMs } = old.uplink;
      block.uplink.tryWrite(bytes, payloadStart, lengthBytes, generation, frameSeq, atMs);
      old.uplink.release();
    }
    this.#block = block;
    block.streamMs = this.streamMs;
    this.#uplink?.rebind(block.uplink);
    this.#playout?.rebind(block);
    this.#lostThreadAtMs = lostAtMs;
    return block;
  }

  // ── The frame clock. ──────────────────────────────────────────────────────────────────────────────────

  service(nowMs: number): void {
    const block = this.#block;
    if (block === null || this.#phase === 'over') return;
    const isHeld = this.#isHeld;
    if (!isHeld) block.streamMs = Math.round(nowMs - this.#startedAtMs);
    this.#playout!.service(nowMs, !isHeld);
    if (this.#draining !== null) this.#drain(this.#draining, nowMs);
    if (isHeld || this.#socket === null) return;
    this.#watch(nowMs);
    if (this.#lostThreadAtMs > 0 && block.uplink.queuedFrames === 0) {
      const gapMs = Math.round(nowMs - this.#lostThreadAtMs);
      this.#lostThreadAtMs = 0;
      this.#options.listener.recovered(gapMs);
    }
  }

  serviceIfUrgent(nowMs: number): void {
    if (this.#phase !== 'over' && this.#playout?.isUrgent(nowMs)) this.#playout.service(nowMs, !this.#isHeld);
  }

  /** Once a service: what time alone brings about. */
  #watch(nowMs: number): void {
    if (nowMs - this.#pingAtMs >= PING_EVERY_MS) {
      this.#pingAtMs = nowMs;
      this.#teller.ping(nowMs);
    }
    this.#teller.tick(nowMs);
    if (!this.#isMuted && nowMs - this.#micAtMs >= MIC_SILENT_MS) {
      this.#micAtMs = Number.POSITIVE_INFINITY;
      this.#teller.warn('mic_silent', `No audio received for ${MIC_SILENT_MS / 1000} s`);
    }
    const isSlow = this.#socket!.bufferedBytes > (this.#isSlow ? SLOW_BYTES / 4 : SLOW_BYTES);
    if (isSlow && !this.#isSlow) this.#teller.warnOnce('slow_client', 'The client reads too slowly; audio is left out');
    this.#isSlow = isSlow;
    if (this.#socket !== null && this.#socket.bufferedBytes > TOO_SLOW_BYTES) this.#cutSlow(this.#socket);
    else if (nowMs - this.#heardAtMs > STALLED_MS && this.#playout!.expectsReports(nowMs)) this.#stall(nowMs);
  }

  // ── What the browser sends. ───────────────────────────────────────────────────────────────────────────

  #sound(message: Uint8Array, nowMs: number): void {
    if (this.#phase !== 'live' && !this.#begin({ input: null, output: null }, null, null, null)) return;
    const uplink = this.#uplink!;
    this.#micAtMs = nowMs;
    if (this.#isMuted) return;
    const lengthMs = uplink.lengthMs(message);
    if (lengthMs <= 0) {
      if (++this.#badSounds === 1)
        this.#teller.warn('bad_audio', 'A binary message holds no audio of the negotiated codec');
      if (this.#badSounds > BAD_SOUND) this.#fail('bad_message', 'bad_stream', 'binary messages that are no audio');
      return;
    }
    const arrivedMs = nowMs - this.#startedAtMs;
    if (uplink.receivedMs + lengthMs > arrivedMs * FAST_AUDIO_RATIO + FAST_AUDIO_BURST_MS) {
      this.#tooFastMs += lengthMs;
      this.#teller.warnOnce('audio_too_fast', 'Audio comes faster than real time; the excess is dropped');
      if (this.#tooFastMs > MOST_FAST_AUDIO_MS)
        this.#fail('audio_flood', 'bad_stream', 'audio far faster than real time');
      return;
    }
    uplink.push(message, lengthMs, arrivedMs);
    this.#options.listener.fed();
  }

  #text(bytes: Uint8Array, nowMs: number): void {
    if (++this.#textMessages > TEXT_BURST + ((nowMs - this.#openedAtMs) / 1000) * TEXT_PER_SECOND) {
      this.#fail('bad_message', 'bad_stream', 'too many text messages');
      return;
    }
    const read = readClientMessage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'));
    if (read.kind === 'unknown') return;
    if (read.kind === 'malformed') {
      this.#fail('bad_message', 'bad_stream', `a text message of ${bytes.length} bytes that is no message`);
      return;
    }
    if (read.kind === 'wrong') {
      this.#wrong(read.why);
      return;
    }
    const { message } = read;
    if (message.type === 'session.start' || message.type === 'session.resume') this.#opened(message);
    else if (message.type === 'ping') this.#teller.pong(message.id);
    else if (message.type === 'pong') this.#teller.ponged(message.id, nowMs);
    else if (message.type === 'session.end') this.#end('socket_closed', CLOSE_NORMAL, '', 'user_hangup');
    else if (this.#phase === 'live') this.#asked(message, nowMs);
    else this.#wrong(`${message.type}: the session has not begun; send session.start first`);
  }

  #wrong(why: string): void {
    if (++this.#badMessages > BAD_MESSAGES) this.#fail('bad_message', 'bad_stream', 'too many wrong messages');
    else this.#teller.warn('bad_message', why);
  }

  #opened(message: Extract<ClientMessage, { type: 'session.start' | 'session.resume' }>): void {
    if (this.#phase === 'live') {
      this.#wrong(`${message.type}: the session has begun already`);
      return;
    }
    const visitor = message.type === 'session.start' ? message.visitor : null;
    const lastOrdinal = message.type === 'session.resume' ? message.lastOrdinal : null;
    this.#begin(message.audio, message.bufferMs, visitor, lastOrdinal);
  }

  #asked(message: ClientMessage, nowMs: number): void {
    const { listener } = this.#options;
    switch (message.type) {
      case 'playback.position':
        this.#playout!.position(message.utterance, message.playedMs, nowMs);
        break;
      case 'audio.mute':
        this.#isMuted = message.muted;
        this.#micAtMs = nowMs;
        break;
      case 'user.text':
        if (message.interrupt) this.#clearReason = 'interrupt';
        listener.command({ type: 'text', text: message.text, interrupt: message.interrupt });
        break;
      case 'interrupt':
        this.#clearReason = 'interrupt';
        listener.command({ type: 'interrupt' });
        break;
      case 'dtmf':
        for (const digit of message.digits) listener.digit(digit);
        break;
      case 'tool.result':
        this.#teller.warn('unknown_tool_call', 'No tool call of this id waits for a result');
        break;
    }
  }

  // ── Beginning, and beginning again. ───────────────────────────────────────────────────────────────────

  /** False: there is no session, or none any more. */
  #begin(wish: AudioWish, bufferMs: number | null, visitor: Visitor | null, lastOrdinal: number | null): boolean {
    this.#cancelDeadline();
    if (this.#block !== null) {
      this.#resume(lastOrdinal);
      return true;
    }
    const { resumed } = this.#options.setup.web;
    const known = resumed?.audio ?? DEFAULTS;
    const input = wish.input === null ? known.input : wish.input[0];
    const output = wish.output === null ? known.output : wish.output[0];
    if (input === undefined || output === undefined) {
      this.#fail('unsupported_audio', 'bad_stream', 'no audio format in common');
      return false;
    }
    this.#audio = { input, output };
    this.#isResuming = resumed !== null;
    this.#teller.skipTo(lastOrdinal ?? 0);
    this.#start(clampBuffer(bufferMs), visitor);
    if (resumed !== null) for (const turn of resumed.turns) this.#teller.turn(turn);
    this.#teller.status();
    return true;
  }

  #start(bufferMs: number, visitor: Visitor | null): void {
    const { setup, listener, frameClock } = this.#options;
    const { input, output } = this.#audio;
    const nowMs = this.#clock.nowMs();
    this.#phase = 'live';
    this.#startedAtMs = nowMs;
    this.#micAtMs = nowMs;
    this.#pingAtMs = nowMs;
    const block = CallBlock.create(blockShapeOf(this.#negotiatedSetup()));
    const record = setup.record ? createRecordRing(input, output) : null;
    this.#block = block;
    this.#record = record?.ring ?? null;
    this.#uplink = new LiveUplink(input, block.uplink, this.#record);
    const events = {
      utteranceStarted: (utterance: number, turn: number, resumes: number) =>
        this.#teller.utteranceStarted(utterance, turn, resumes),
      utteranceEnded: (utterance: number, turn: number, audioMs: number) =>
        this.#teller.utteranceEnded(utterance, turn, audioMs),
      cleared: (utterance: number) => this.#cleared(utterance),
      heard: (turn: number, delayMs: number) => this.#teller.heard(turn, delayMs),
      send: (bytes: Uint8Array, start: number, lengthBytes: number) => this.#sendSound(bytes, start, lengthBytes),
    };
    this.#playout = new LivePlayout({ output, bufferMs, record: this.#record, events }, block, nowMs);
    this.#ready();
    listener.negotiated(this.#audio, visitor, this.#provenNumber);
    frameClock.add(this);
    listener.started(setup.callUuid, '', block, record?.memory ?? null);
  }

  #ready(): void {
    this.#resumeNumber++;
    const { setup } = this.#options;
    this.#teller.ready({
      sessionId: `${setup.callUuid}.${setup.epoch}`,
      resumeToken: resumeTokenOf({ ...this.#resumeFacts(), number: this.#resumeNumber }),
      resumeWindowMs: RESUME_WINDOW_MS,
      resumed: this.#isResuming,
      audio: this.#audio,
      maxSessionSeconds: setup.web.maxSessionSeconds,
      pingIntervalMs: PING_EVERY_MS,
    });
  }

  /** On a new socket, in the process that has the session. */
  #resume(lastOrdinal: number | null): void {
    const nowMs = this.#clock.nowMs();
    this.#phase = 'live';
    this.#isResuming = true;
    this.#ready();
    if (lastOrdinal !== null) for (const text of this.#teller.missed(lastOrdinal)) this.#sendText(text);
    this.#teller.status();
    this.#options.listener.negotiated(this.#audio, null, this.#provenNumber);
    this.#goOn(nowMs);
  }

  #resumeInPlace(nowMs: number): void {
    this.#isStalled = false;
    this.#goOn(nowMs);
  }

  #goOn(nowMs: number): void {
    const stoodStillMs = nowMs - this.#parkedAtMs;
    this.#startedAtMs += stoodStillMs;
    this.#playout!.shift(stoodStillMs);
    this.#parkedAtMs = 0;
    this.#micAtMs = nowMs;
    this.#pingAtMs = nowMs;
    this.#options.listener.command({ type: 'hold', held: false });
  }

  // ── Loss. ─────────────────────────────────────────────────────────────────────────────────────────────

  get #isHeld(): boolean {
    return this.#phase === 'parked' || this.#isStalled;
  }

  #lost(code: number): void {
    const meant = code === CLOSE_NORMAL || code === CLOSE_GOING_AWAY || code === CLOSE_NO_CODE;
    if (this.#block === null || (meant && this.#phase === 'live')) {
      this.#end('socket_closed', CLOSE_NORMAL, '', 'user_hangup');
      return;
    }
    this.#park(this.#clock.nowMs());
  }

  #park(nowMs: number): void {
    this.#phase = 'parked';
    this.#hold(nowMs);
    this.#isStalled = false;
    this.#cancelDeadline();
    this.#cancelDeadline = this.#clock.after(RESUME_WINDOW_MS, () =>
      this.#end('socket_closed', CLOSE_NORMAL, '', 'user_hangup'),
    );
  }

  #stall(nowMs: number): void {
    this.#isStalled = true;
    this.#hold(nowMs);
  }

  /** Everything stands still from now on. */
  #hold(nowMs: number): void {
    if (this.#parkedAtMs > 0) return;
    this.#parkedAtMs = nowMs;
    this.#clearReason = 'held';
    this.#options.listener.command({ type: 'hold', held: true });
  }

  #startIsLate(): void {
    if (this.#block === null) this.#fail('start_timeout', 'no_media', `no session.start in ${START_LIMIT_MS} ms`);
    else if (this.#socket !== null) {
      const socket = this.#socket;
      this.#socket = null;
      this.#refuse(socket, 'start_timeout');
      this.#park(this.#clock.nowMs());
    }
  }

  /** It may come back on a better network. */
  #cutSlow(socket: MediaSocket<unknown>): void {
    this.#socket = null;
    this.#refuse(socket, 'slow_client');
    if (this.#block === null) this.#end('socket_closed', CLOSE_NORMAL, 'the client does not read', 'user_hangup');
    else this.#park(this.#clock.nowMs());
  }

  // ── Out. ──────────────────────────────────────────────────────────────────────────────────────────────

  #sendSound(bytes: Uint8Array, start: number, lengthBytes: number): boolean {
    if (this.#isSlow || this.#socket === null) return false;
    // The socket copies; a view over shared memory is what neither library takes.
    const message = this.#soundMessage(lengthBytes);
    for (let i = 0; i < lengthBytes; i++) message[i] = bytes[start + i]!;
    if (this.#socket.send(message, true) === 'dropped') this.#sendsDropped++;
    return true;
  }

  #message = new Uint8Array(0);
  #soundMessage(lengthBytes: number): Uint8Array {
    if (this.#message.length !== lengthBytes) {
      // Opus packets differ in length: a view of one room, made anew only when the length changes.
      if (this.#message.buffer.byteLength < lengthBytes) this.#message = new Uint8Array(new ArrayBuffer(4096));
      this.#message = new Uint8Array(this.#message.buffer, 0, lengthBytes);
    }
    return this.#message;
  }

  #sendText(text: string): void {
    if (this.#socket === null) return;
    if (this.#socket.send(Buffer.from(text, 'utf8'), false) === 'dropped') this.#sendsDropped++;
  }

  #cleared(utterance: number): void {
    this.#teller.cleared(utterance, this.#clearReason);
    this.#clearReason = 'barge_in';
  }

  #refuse(socket: MediaSocket<unknown>, code: LiveErrorCode): void {
    socket.send(Buffer.from(errorText(code), 'utf8'), false);
    socket.close(LIVE_CLOSE_CODES[code], code);
  }

  // ── The end. ──────────────────────────────────────────────────────────────────────────────────────────

  #drain({ reason, sinceMs }: { reason: EndedReason; sinceMs: number }, nowMs: number): void {
    const drainMs = nowMs - sinceMs;
    if (drainMs < DRAIN_LIMIT_MS && !this.#playout!.isIdle(nowMs)) return;
    this.#end('stopped', CLOSE_NORMAL, '', reason, Math.round(drainMs));
  }

  #end(why: LegEnd, code: number, detail: string, reason: EndedReason, drainMs = 0): void {
    if (this.#phase === 'over') return;
    if (this.#block !== null) this.#teller.ended(reason, this.streamMs, drainMs);
    const socket = this.#socket;
    this.#finish(why, detail);
    socket?.close(code, reason);
  }

  #fail(code: LiveErrorCode, why: LegEnd, detail: string): void {
    if (this.#phase === 'over') return;
    const socket = this.#socket;
    this.#finish(why, detail);
    if (socket !== null) this.#refuse(socket, code);
  }

  #finish(why: LegEnd, detail: string): void {
    const durationMs = this.streamMs;
    const nowMs = this.#clock.nowMs();
    this.#phase = 'over';
    this.#socket = null;
    this.#cancelDeadline();
    this.#options.frameClock.remove(this);
    this.#uplink?.finish();
    this.#playout?.finish(nowMs);
    this.#options.listener.over(why, durationMs, detail);
  }

  #negotiatedSetup(): Pick<CallSetup, 'format' | 'outputFormat' | 'web'> {
    return { format: this.#audio.input, outputFormat: this.#audio.output, web: this.#options.setup.web };
  }

  #resumeFacts(): { callUuid: string; epoch: number; keyHex: string } {
    const { callUuid, epoch, web } = this.#options.setup;
    return { callUuid, epoch, keyHex: web.resumeKeyHex };
  }
}

/** What is said before a socket is closed with one of the 44xx codes. */
export function errorText(code: LiveErrorCode): string {
  return JSON.stringify({ type: 'error', code, message: MESSAGES[code], fatal: true });
}

const MESSAGES: Readonly<Record<LiveErrorCode, string>> = {
  token_invalid: 'Invalid token',
  token_expired: 'Token expired',
  token_used: 'Token already used',
  origin_not_allowed: 'Origin not allowed',
  agent_not_found: 'Agent not found',
  concurrency_limit: 'Too many sessions',
  draining: 'Service temporarily unavailable',
  session_over: 'Session is over',
  server: 'Internal server error',
  bad_message: 'Bad message',
  unsupported_audio: 'Unsupported audio format',
  audio_flood: 'Audio faster than real time',
  message_too_big: 'Message too big',
  start_timeout: 'No session.start in time',
  slow_client: 'Client reads too slowly',
  replaced: 'Replaced by a newer connection',
};

function clampBuffer(bufferMs: number | null): number {
  return Math.min(BUFFER_MS.most, Math.max(BUFFER_MS.least, bufferMs ?? BUFFER_MS.preset));
}
