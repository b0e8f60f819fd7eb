/**
 * One web session as its process carries it: a browser's sockets, one after the other, on one side, the call's rings on
 * the other. This file is its life: what opens it, what a message brings about, what a loss means, how it ends. Beside
 * it: `web-line.ts` the socket, `inbound-messages.ts` messages in, `outbound-messages.ts` messages out, `web-sound.ts`
 * sound, `page-orders.ts` what a page asks, `session-watch.ts` what time brings about. `call-life.ts` hears what
 * becomes of it, as of a telephone leg; `web-endpoint.ts` hands it its sockets.
 *
 *   opening ──session.start, or sound──► live ──socket lost──► parked ──resumed──► live
 *      └──5 s──► over                     └──end──► over          └──30 s──► over
 */
import type { EndedReason } from '../../../contract/call-outcome.ts';
import type { Clock } from '../../../contract/clock.ts';
import type { ConversationEvent } from '../../../contract/conversation.ts';
import type { CallSetup } from '../../../contract/link-messages.ts';
import {
  LIVE_CLOSE_CODES,
  type LiveErrorCode,
  type NegotiatedAudio,
  type WebSetup,
} from '../../../contract/live-session.ts';
import type { ToolAsk } from '../../../contract/tools.ts';
import type { CallBlock } from '../../../rings/call-block.ts';
import type { FrameClock } from '../../frame-clock.ts';
import type { MediaSocket } from '../../socket-server/media-socket-server.ts';
import type { CallLeg, LegEnd, LegListener } from '../core/call-leg.ts';
import { type LegCounters, noCounters } from '../core/leg-counters.ts';
import type { SoundTap } from '../core/sound-tap.ts';
import type { AudioWish, ClientMessage, Visitor } from './client-messages.ts';
import { InboundMessages } from './inbound-messages.ts';
import { agreeOn, clampBufferMs } from './negotiation.ts';
import { OutboundMessages } from './outbound-messages.ts';
import { type PageOrderListener, PageOrders } from './page-orders.ts';
import { refuse } from './refusal.ts';
import { ResumeSeries } from './resume-series.ts';
import { SessionTime } from './session-time.ts';
import { PING_EVERY_MS, SessionWatch } from './session-watch.ts';
import { WebLine } from './web-line.ts';
import { WebSound } from './web-sound.ts';

export interface WebLegListener extends LegListener, PageOrderListener {
  /** Formats and the visitor's values are known. */
  negotiated(audio: NegotiatedAudio, visitor: Visitor | null, resumeNumber: number): void;
}

export interface WebLegOptions {
  setup: CallSetup & { web: WebSetup };
  clock: Clock;
  frameClock: FrameClock;
  listener: WebLegListener;
  requestId: string;
}

const RESUME_WINDOW_MS = 30_000;
const START_LIMIT_MS = 5_000;
const DRAIN_LIMIT_MS = 1_500;
const CLOSE_NORMAL = 1000;
const CLOSE_GOING_AWAY = 1001;
const CLOSE_NO_CODE = 1005;

export class WebLeg implements CallLeg {
  readonly canMove = true;
  readonly #options: WebLegOptions;
  readonly #clock: Clock;
  readonly #line = new WebLine();
  readonly #inbound: InboundMessages;
  readonly #outbound: OutboundMessages;
  readonly #orders: PageOrders;
  readonly #watch: SessionWatch;
  readonly #tokens: ResumeSeries;
  readonly #time = new SessionTime();
  #phase: 'opening' | 'live' | 'parked' | 'over' = 'opening';
  #cancelDeadline: () => void = () => {};
  /** Null: not begun. */
  #sound: WebSound | null = null;
  /** The socket at hand came with a resume token. */
  #isResuming = false;
  #draining: { reason: EndedReason; sinceMs: number } | null = null;
  #peerCloseCode = 0;

  constructor(options: WebLegOptions) {
    const { clock, setup } = options;
    const { callUuid, epoch, web } = setup;
    this.#options = options;
    this.#clock = clock;
    this.#outbound = new OutboundMessages({ clock, callUuid, send: (text) => this.#line.text(text) });
    this.#inbound = new InboundMessages({
      warn: (why) => this.#outbound.warn('bad_message', why),
      broken: (detail) => this.#fail('bad_message', 'bad_stream', detail),
    });
    this.#orders = new PageOrders(options.listener, this.#outbound);
    this.#watch = new SessionWatch(this.#line, this.#outbound);
    this.#tokens = new ResumeSeries({ callUuid, epoch, keyHex: web.resumeKeyHex });
  }

  get counters(): LegCounters {
    const counters = this.#sound?.counters ?? noCounters();
    counters.badMessages = this.#inbound.badMessages + (this.#sound?.microphone.badSounds ?? 0);
    counters.sendsDropped = this.#line.sendsDropped;
    counters.peerCloseCode = this.#peerCloseCode;
    return counters;
  }

  /** Ms of session, without the time in which it stood still. */
  get streamMs(): number {
    return Math.round(this.#time.atMs(this.#clock.nowMs()));
  }

  get isOver(): boolean {
    return this.#phase === 'over';
  }

  acceptsResume(token: string): boolean {
    return this.#tokens.accepts(token);
  }

  // ── Its sockets. ──────────────────────────────────────────────────────────────────────────────────────

  /** A socket with a good token is open. The one before it, if there is one, has lost the session. */
  attach(socket: MediaSocket<unknown>): void {
    if (this.#phase === 'over') {
      socket.close(LIVE_CLOSE_CODES.session_over, 'session_over');
      return;
    }
    this.#isResuming = this.#phase !== 'opening' || this.#line.isUp;
    this.#line.refuse('replaced');
    const nowMs = this.#clock.nowMs();
    if (this.#phase === 'live') this.#park(nowMs);
    this.#line.open(socket, nowMs);
    this.#inbound.opened(nowMs);
    this.#outbound.welcome(this.#options.requestId);
    this.#cancelDeadline();
    this.#cancelDeadline = this.#clock.after(START_LIMIT_MS, () => this.#startIsLate());
  }

  /**
   * The client went before its socket was open. Its token is used up; a session that was alive may be resumed again.
   */
  socketNeverOpened(): void {
    if (this.#sound === null)
      this.#end('socket_closed', CLOSE_NORMAL, 'the client left before it was let in', 'user_hangup');
  }

  message(socket: MediaSocket<unknown>, message: Uint8Array, isBinary: boolean): void {
    if (!this.#line.has(socket) || this.#phase === 'over') return;
    const nowMs = this.#clock.nowMs();
    this.#line.heard(nowMs);
    if (this.#phase === 'live') {
      // It stood still for a browser that said nothing, and here it is again.
      if (this.#time.isHeld) this.#goOn(nowMs);
      this.#tokens.lastHasArrived();
    }
    if (isBinary) this.#soundCame(message, nowMs);
    else {
      const read = this.#inbound.read(message, nowMs);
      if (read !== null) this.#take(read, nowMs);
    }
    if (this.#line.isTooSlow) this.#cutSlow();
  }

  /** The socket is gone, by whomever. */
  socketClosed(socket: MediaSocket<unknown>, code: number): void {
    if (!this.#line.has(socket) || this.#phase === 'over') return;
    this.#line.release();
    this.#peerCloseCode = code;
    const isMeant = code === CLOSE_NORMAL || code === CLOSE_GOING_AWAY || code === CLOSE_NO_CODE;
    if (this.#sound === null || (isMeant && this.#phase === 'live')) {
      this.#end('socket_closed', CLOSE_NORMAL, '', 'user_hangup');
    } else this.#park(this.#clock.nowMs());
  }

  // ── The pipeline's side. ──────────────────────────────────────────────────────────────────────────────

  conversationEvent(event: ConversationEvent): void {
    if (this.#phase !== 'over') this.#outbound.conversationEvent(event);
  }

  toolAsked(ask: ToolAsk, timeoutMs: number): boolean {
    if (this.#phase === 'over') return false;
    this.#orders.askTool(ask, timeoutMs);
    return true;
  }

  toolCancelled(toolCallId: string): void {
    this.#orders.cancelTool(toolCallId);
  }

  /** The agent has said its last word: what the browser still has may be played. */
  agentEnded(reason: EndedReason): void {
    if (this.#draining === null) this.#draining = { reason, sinceMs: this.#clock.nowMs() };
  }

  stop(why: LegEnd = 'stopped', code: number = CLOSE_NORMAL, detail = '', reason: EndedReason | null = null): void {
    if (why === 'failed') this.#fail('server', why, detail);
    else this.#end(why, code, detail, reason ?? 'api_hangup');
  }

  failed(error: unknown): void {
    this.#options.listener.failed(error);
    this.stop('failed');
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
    const socket = this.#line.release();
    this.#finish('stopped', 'handed over');
    socket?.close(CLOSE_GOING_AWAY, 'draining');
  }

  listen(tap: SoundTap | null): boolean {
    if (this.#sound === null || this.#phase === 'over') return false;
    this.#sound.listen(tap);
    return true;
  }

  rebind(lostAtMs: number): CallBlock | null {
    if (this.#sound === null || this.#phase === 'over') return null;
    return this.#sound.rebind(this.streamMs, lostAtMs);
  }

  // ── The frame clock. ──────────────────────────────────────────────────────────────────────────────────

  service(nowMs: number): void {
    const sound = this.#sound;
    if (sound === null || this.#phase === 'over') return;
    const { isHeld } = this.#time;
    if (!isHeld) sound.rings.block.streamMs = Math.round(this.#time.atMs(nowMs));
    sound.playout.service(nowMs, !isHeld);
    if (this.#draining !== null) this.#drain(this.#draining, nowMs);
    if (isHeld || !this.#line.isUp) return;
    const verdict = this.#watch.look(sound, nowMs);
    if (verdict === 'too_slow') this.#cutSlow();
    else if (verdict === 'stalled') this.#hold(nowMs);
    const gapMs = sound.rings.recoveredInMs(nowMs);
    if (gapMs > 0) this.#options.listener.recovered(gapMs);
  }

  serviceIfUrgent(nowMs: number): void {
    const playout = this.#sound?.playout;
    if (this.#phase !== 'over' && playout?.isUrgent(nowMs)) playout.service(nowMs, !this.#time.isHeld);
  }

  // ── What the browser sends. ───────────────────────────────────────────────────────────────────────────

  #soundCame(message: Uint8Array, nowMs: number): void {
    if (this.#phase !== 'live' && !this.#begin({ input: null, output: null }, null, null, null)) return;
    const verdict = this.#sound!.microphone.take(message, nowMs, this.#time.atMs(nowMs));
    if (verdict === 'fed') this.#options.listener.fed();
    else if (verdict === 'no_audio') this.#fail('bad_message', 'bad_stream', 'binary messages that are no audio');
    else if (verdict === 'flood') this.#fail('audio_flood', 'bad_stream', 'audio far faster than real time');
  }

  #take(message: ClientMessage, nowMs: number): void {
    switch (message.type) {
      case 'session.start':
      case 'session.resume':
        this.#opened(message);
        break;
      case 'ping':
        this.#outbound.pong(message.id);
        break;
      case 'pong':
        this.#outbound.ponged(message.id, nowMs);
        break;
      case 'session.end':
        this.#end('socket_closed', CLOSE_NORMAL, '', 'user_hangup');
        break;
      default:
        if (this.#phase === 'live') this.#orders.take(message, this.#sound!, nowMs);
        else this.#inbound.wrong(`${message.type}: the session has not begun; send session.start first`);
    }
  }

  #opened(message: Extract<ClientMessage, { type: 'session.start' | 'session.resume' }>): void {
    if (this.#phase === 'live') {
      this.#inbound.wrong(`${message.type}: the session has begun already`);
      return;
    }
    const visitor = message.type === 'session.start' ? message.visitor : null;
    const lastOrdinal = message.type === 'session.resume' ? message.lastOrdinal : null;
    this.#begin(message.audio, message.bufferMs, visitor, lastOrdinal);
  }

  // ── Beginning, and beginning again. ───────────────────────────────────────────────────────────────────

  /** False: there is no session, or none any more. */
  #begin(wish: AudioWish, bufferMs: number | null, visitor: Visitor | null, lastOrdinal: number | null): boolean {
    this.#cancelDeadline();
    if (this.#sound !== null) {
      this.#resume(this.#sound, lastOrdinal);
      return true;
    }
    const { resumed } = this.#options.setup.web;
    const audio = agreeOn(wish, resumed?.audio ?? null);
    if (audio === null) {
      this.#fail('unsupported_audio', 'bad_stream', 'no audio format in common');
      return false;
    }
    this.#isResuming = resumed !== null;
    this.#outbound.skipTo(lastOrdinal ?? 0);
    this.#start(audio, clampBufferMs(bufferMs), visitor);
    if (resumed !== null) for (const turn of resumed.turns) this.#outbound.turn(turn);
    this.#outbound.status();
    return true;
  }

  #start(audio: NegotiatedAudio, bufferMs: number, visitor: Visitor | null): void {
    const { setup, listener, frameClock } = this.#options;
    const nowMs = this.#clock.nowMs();
    this.#phase = 'live';
    this.#time.start(nowMs);
    this.#watch.begin(nowMs);
    const { web, record: isRecorded } = setup;
    const events = { cleared: (utterance: number) => this.#orders.cleared(utterance) };
    const ways = { outbound: this.#outbound, line: this.#line, events };
    const sound = new WebSound({ audio, web, isRecorded, bufferMs, ...ways }, nowMs);
    this.#sound = sound;
    this.#ready(audio);
    listener.negotiated(audio, visitor, this.#tokens.provenNumber);
    frameClock.add(this);
    listener.started(setup.callUuid, '', sound.rings.block, sound.rings.recordMemory);
  }

  #ready(audio: NegotiatedAudio): void {
    const { callUuid, epoch, web } = this.#options.setup;
    this.#outbound.ready({
      sessionId: `${callUuid}.${epoch}`,
      resumeToken: this.#tokens.next(),
      resumeWindowMs: RESUME_WINDOW_MS,
      resumed: this.#isResuming,
      audio,
      maxSessionSeconds: web.maxSessionSeconds,
      pingIntervalMs: PING_EVERY_MS,
    });
  }

  /** On a new socket, in the process that has the session. */
  #resume({ audio }: WebSound, lastOrdinal: number | null): void {
    this.#phase = 'live';
    this.#isResuming = true;
    this.#ready(audio);
    if (lastOrdinal !== null) for (const text of this.#outbound.missed(lastOrdinal)) this.#line.text(text);
    this.#outbound.status();
    this.#options.listener.negotiated(audio, null, this.#tokens.provenNumber);
    this.#goOn(this.#clock.nowMs());
  }

  #goOn(nowMs: number): void {
    const { playout, microphone } = this.#sound!;
    playout.shift(this.#time.goOn(nowMs));
    microphone.goOn(nowMs);
    this.#watch.begin(nowMs);
    this.#options.listener.command({ type: 'hold', held: false });
  }

  // ── Loss. ─────────────────────────────────────────────────────────────────────────────────────────────

  #park(nowMs: number): void {
    this.#phase = 'parked';
    this.#hold(nowMs);
    this.#cancelDeadline();
    this.#cancelDeadline = this.#clock.after(RESUME_WINDOW_MS, () =>
      this.#end('socket_closed', CLOSE_NORMAL, '', 'user_hangup'),
    );
  }

  /** Everything stands still from now on. */
  #hold(nowMs: number): void {
    if (!this.#time.hold(nowMs)) return;
    this.#orders.held();
    this.#options.listener.command({ type: 'hold', held: true });
  }

  #startIsLate(): void {
    if (this.#sound === null) this.#fail('start_timeout', 'no_media', `no session.start in ${START_LIMIT_MS} ms`);
    else if (this.#line.isUp) {
      this.#line.refuse('start_timeout');
      this.#park(this.#clock.nowMs());
    }
  }

  /** It may come back on a better network. */
  #cutSlow(): void {
    this.#line.refuse('slow_client');
    if (this.#sound === null) this.#end('socket_closed', CLOSE_NORMAL, 'the client does not read', 'user_hangup');
    else this.#park(this.#clock.nowMs());
  }

  // ── The end. ──────────────────────────────────────────────────────────────────────────────────────────

  #drain({ reason, sinceMs }: { reason: EndedReason; sinceMs: number }, nowMs: number): void {
    const drainMs = nowMs - sinceMs;
    if (drainMs < DRAIN_LIMIT_MS && !this.#sound!.playout.isIdle(nowMs)) return;
    this.#end('stopped', CLOSE_NORMAL, '', reason, Math.round(drainMs));
  }

  #end(why: LegEnd, code: number, detail: string, reason: EndedReason, drainMs = 0): void {
    if (this.#phase === 'over') return;
    if (this.#sound !== null) this.#outbound.ended(reason, this.streamMs, drainMs);
    const socket = this.#line.release();
    this.#finish(why, detail);
    socket?.close(code, reason);
  }

  #fail(code: LiveErrorCode, why: LegEnd, detail: string): void {
    if (this.#phase === 'over') return;
    const socket = this.#line.release();
    this.#finish(why, detail);
    if (socket !== null) refuse(socket, code);
  }

  #finish(why: LegEnd, detail: string): void {
    const durationMs = this.streamMs;
    this.#phase = 'over';
    this.#cancelDeadline();
    this.#options.frameClock.remove(this);
    this.#sound?.finish(this.#clock.nowMs());
    this.#options.listener.over(why, durationMs, detail);
  }
}
