/**
 * One web session as its process carries it: a browser's sockets, one after the other, on one side, the call's rings on the other. This file
 * is its life: what opens it, what a message brings about, what a loss means, how it ends. Beside it: `live-line.ts` the socket,
 * `live-inbox.ts` messages in, `live-teller.ts` messages out, `live-chains.ts` sound. `call-life.ts` hears what becomes of it, as of a
 * telephone leg; `live-endpoint.ts` hands it its sockets.
 *
 *   opening ──session.start, or sound──► live ──socket lost──► parked ──resumed──► live
 *      └──5 s──► over                     └──end──► over          └──30 s──► over
 */
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
import { type ToolAnswer, type ToolAsk, toolFailed } from '../../contract/tools.ts';
import type { CallBlock } from '../../rings/call-block.ts';
import type { CallLeg } from '../call-leg.ts';
import type { FrameClock, FrameClockClient } from '../frame-clock.ts';
import type { LegCounters, LegEnd } from '../leg.ts';
import type { MediaSocket } from '../socket-server/media-socket-server.ts';
import type { AudioWish, ClientMessage, Visitor } from './client-messages.ts';
import { LiveChains, NO_COUNTERS } from './live-chains.ts';
import { LiveInbox } from './live-inbox.ts';
import { LiveLine } from './live-line.ts';
import { refuse } from './live-refusal.ts';
import { LiveTeller } from './live-teller.ts';
import { agreeOn, clampBufferMs } from './negotiation.ts';
import { ResumeSeries } from './resume-series.ts';
import { SessionTime } from './session-time.ts';

export interface LiveLegListener {
  /** Formats and the visitor's values are known. */
  negotiated(audio: NegotiatedAudio, visitor: Visitor | null, resumeNumber: number): void;
  started(streamId: string, carrierCallId: string, block: CallBlock, recordRing: SharedArrayBuffer | null): void;
  /** Frames were written for the pipeline. */
  fed(): void;
  digit(digit: string): void;
  command(command: SessionCommand): void;
  toolAnswered(toolCallId: string, answer: ToolAnswer): void;
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

const RESUME_WINDOW_MS = 30_000;
const PING_EVERY_MS = 5_000;
const START_LIMIT_MS = 5_000;
const DRAIN_LIMIT_MS = 1_500;
/** A browser that reports its position says nothing at all while it is spoken to: its network is dead, whatever TCP believes. */
const STALLED_MS = 1_500;
/** Some hours of typing. What is typed while the agent speaks becomes one turn, which has to fit into one message. */
const MOST_TYPED_CHARACTERS = 40_000;
const CLOSE_NORMAL = 1000;
const CLOSE_GOING_AWAY = 1001;
const CLOSE_NO_CODE = 1005;

export class LiveLeg implements CallLeg, FrameClockClient {
  readonly #options: LiveLegOptions;
  readonly #clock: Clock;
  readonly #line = new LiveLine();
  readonly #inbox: LiveInbox;
  readonly #teller: LiveTeller;
  readonly #tokens: ResumeSeries;
  readonly #time = new SessionTime();
  #phase: 'opening' | 'live' | 'parked' | 'over' = 'opening';
  #cancelDeadline: () => void = () => {};
  /** Null: not begun. */
  #chains: LiveChains | null = null;
  /** The socket at hand came with a resume token. */
  #isResuming = false;
  #pingAtMs = 0;
  #typedCharacters = 0;
  #clearReason: 'barge_in' | 'interrupt' | 'held' = 'barge_in';
  #draining: { reason: EndedReason; sinceMs: number } | null = null;
  #peerCloseCode = 0;
  /** Tools that the page was asked for. */
  readonly #toolCalls = new Set<string>();

  constructor(options: LiveLegOptions) {
    const { clock, setup } = options;
    const { callUuid, epoch, web } = setup;
    this.#options = options;
    this.#clock = clock;
    this.#teller = new LiveTeller({ clock, callUuid, send: (text) => this.#line.text(text) });
    this.#inbox = new LiveInbox({
      warn: (why) => this.#teller.warn('bad_message', why),
      broken: (detail) => this.#fail('bad_message', 'bad_stream', detail),
    });
    this.#tokens = new ResumeSeries({ callUuid, epoch, keyHex: web.resumeKeyHex });
  }

  get counters(): LegCounters {
    return {
      ...(this.#chains?.counters ?? NO_COUNTERS),
      badMessages: this.#inbox.badMessages + (this.#chains?.microphone.badSounds ?? 0),
      sendsDropped: this.#line.sendsDropped,
      peerCloseCode: this.#peerCloseCode,
    };
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
    this.#inbox.opened(nowMs);
    this.#teller.welcome(this.#options.requestId);
    this.#cancelDeadline();
    this.#cancelDeadline = this.#clock.after(START_LIMIT_MS, () => this.#startIsLate());
  }

  /** The client went before its socket was open. Its token is used up; a session that was alive may be resumed again. */
  socketNeverOpened(): void {
    if (this.#chains === null)
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
    if (isBinary) this.#sound(message, nowMs);
    else {
      const read = this.#inbox.read(message, nowMs);
      if (read !== null) this.#take(read, nowMs);
    }
    if (this.#line.isTooSlow) this.#cutSlow();
  }

  /** The socket is gone, by whomever. */
  socketClosed(socket: MediaSocket<unknown>, code: number): void {
    if (!this.#line.has(socket) || this.#phase === 'over') return;
    this.#line.leave();
    this.#peerCloseCode = code;
    const isMeant = code === CLOSE_NORMAL || code === CLOSE_GOING_AWAY || code === CLOSE_NO_CODE;
    if (this.#chains === null || (isMeant && this.#phase === 'live')) {
      this.#end('socket_closed', CLOSE_NORMAL, '', 'user_hangup');
    } else this.#park(this.#clock.nowMs());
  }

  // ── The pipeline's side. ──────────────────────────────────────────────────────────────────────────────

  live(event: LiveEvent): void {
    if (this.#phase !== 'over') this.#teller.live(event);
  }

  toolAsked(ask: ToolAsk, timeoutMs: number): boolean {
    if (this.#phase === 'over') return false;
    // A thread that goes on for a dead one asks again; the page is at it already.
    if (this.#toolCalls.has(ask.toolCallId)) return true;
    this.#toolCalls.add(ask.toolCallId);
    this.#teller.toolCall(ask, timeoutMs);
    return true;
  }

  toolCancelled(toolCallId: string): void {
    this.#toolCalls.delete(toolCallId);
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
    const socket = this.#line.leave();
    this.#finish('stopped', 'handed over');
    socket?.close(CLOSE_GOING_AWAY, 'draining');
  }

  rebind(lostAtMs: number): CallBlock | null {
    if (this.#chains === null || this.#phase === 'over') return null;
    return this.#chains.rebind(this.streamMs, lostAtMs);
  }

  // ── The frame clock. ──────────────────────────────────────────────────────────────────────────────────

  service(nowMs: number): void {
    const chains = this.#chains;
    if (chains === null || this.#phase === 'over') return;
    const { isHeld } = this.#time;
    if (!isHeld) chains.block.streamMs = Math.round(this.#time.atMs(nowMs));
    chains.playout.service(nowMs, !isHeld);
    if (this.#draining !== null) this.#drain(this.#draining, nowMs);
    if (isHeld || !this.#line.isUp) return;
    this.#watch(chains, nowMs);
    const gapMs = chains.recoveredInMs(nowMs);
    if (gapMs > 0) this.#options.listener.recovered(gapMs);
  }

  serviceIfUrgent(nowMs: number): void {
    const { playout } = this.#chains ?? {};
    if (this.#phase !== 'over' && playout?.isUrgent(nowMs)) playout.service(nowMs, !this.#time.isHeld);
  }

  /** Once a service: what time alone brings about. */
  #watch({ microphone, playout }: LiveChains, nowMs: number): void {
    if (nowMs - this.#pingAtMs >= PING_EVERY_MS) {
      this.#pingAtMs = nowMs;
      this.#teller.ping(nowMs);
    }
    this.#teller.tick(nowMs);
    microphone.watch(nowMs);
    if (this.#line.fellBehind()) this.#teller.warnOnce('slow_client', 'The client reads too slowly; audio is left out');
    if (this.#line.isTooSlow) this.#cutSlow();
    else if (this.#line.silentMs(nowMs) > STALLED_MS && playout.expectsReports(nowMs)) this.#hold(nowMs);
  }

  // ── What the browser sends. ───────────────────────────────────────────────────────────────────────────

  #sound(message: Uint8Array, nowMs: number): void {
    if (this.#phase !== 'live' && !this.#begin({ input: null, output: null }, null, null, null)) return;
    const verdict = this.#chains!.microphone.take(message, nowMs, this.#time.atMs(nowMs));
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
        this.#teller.pong(message.id);
        break;
      case 'pong':
        this.#teller.ponged(message.id, nowMs);
        break;
      case 'session.end':
        this.#end('socket_closed', CLOSE_NORMAL, '', 'user_hangup');
        break;
      default:
        if (this.#phase === 'live') this.#asked(message, this.#chains!, nowMs);
        else this.#inbox.wrong(`${message.type}: the session has not begun; send session.start first`);
    }
  }

  #opened(message: Extract<ClientMessage, { type: 'session.start' | 'session.resume' }>): void {
    if (this.#phase === 'live') {
      this.#inbox.wrong(`${message.type}: the session has begun already`);
      return;
    }
    const visitor = message.type === 'session.start' ? message.visitor : null;
    const lastOrdinal = message.type === 'session.resume' ? message.lastOrdinal : null;
    this.#begin(message.audio, message.bufferMs, visitor, lastOrdinal);
  }

  /** Of a session that is live. */
  #asked(message: ClientMessage, { microphone, playout }: LiveChains, nowMs: number): void {
    const { listener } = this.#options;
    switch (message.type) {
      case 'playback.position':
        playout.position(message.utterance, message.playedMs, nowMs);
        break;
      case 'audio.mute':
        microphone.mute(message.muted, nowMs);
        break;
      case 'user.text':
        this.#typedCharacters += message.text.length;
        if (this.#typedCharacters > MOST_TYPED_CHARACTERS) {
          this.#teller.warnOnce('too_much_text', `A session takes ${MOST_TYPED_CHARACTERS} characters of typed text`);
          break;
        }
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
      case 'tool.result': {
        const { toolCallId, result, error } = message;
        if (!this.#toolCalls.delete(toolCallId)) {
          this.#teller.warn('unknown_tool_call', 'No tool call of this id waits for a result');
        } else if (error === null) listener.toolAnswered(toolCallId, { ok: true, status: null, result });
        else listener.toolAnswered(toolCallId, toolFailed('client_error', error));
        break;
      }
    }
  }

  // ── Beginning, and beginning again. ───────────────────────────────────────────────────────────────────

  /** False: there is no session, or none any more. */
  #begin(wish: AudioWish, bufferMs: number | null, visitor: Visitor | null, lastOrdinal: number | null): boolean {
    this.#cancelDeadline();
    if (this.#chains !== null) {
      this.#resume(this.#chains, lastOrdinal);
      return true;
    }
    const { resumed } = this.#options.setup.web;
    const audio = agreeOn(wish, resumed?.audio ?? null);
    if (audio === null) {
      this.#fail('unsupported_audio', 'bad_stream', 'no audio format in common');
      return false;
    }
    this.#isResuming = resumed !== null;
    this.#teller.skipTo(lastOrdinal ?? 0);
    this.#start(audio, clampBufferMs(bufferMs), visitor);
    if (resumed !== null) for (const turn of resumed.turns) this.#teller.turn(turn);
    this.#teller.status();
    return true;
  }

  #start(audio: NegotiatedAudio, bufferMs: number, visitor: Visitor | null): void {
    const { setup, listener, frameClock } = this.#options;
    const nowMs = this.#clock.nowMs();
    this.#phase = 'live';
    this.#time.start(nowMs);
    this.#pingAtMs = nowMs;
    const teller = this.#teller;
    const events = {
      utteranceStarted: (utterance: number, turn: number, resumes: number) =>
        teller.utteranceStarted(utterance, turn, resumes),
      utteranceEnded: (utterance: number, turn: number, audioMs: number) =>
        teller.utteranceEnded(utterance, turn, audioMs),
      cleared: (utterance: number) => this.#cleared(utterance),
      heard: (turn: number, delayMs: number) => teller.heard(turn, delayMs),
      send: (bytes: Uint8Array, start: number, lengthBytes: number) => this.#line.sound(bytes, start, lengthBytes),
    };
    const { web, record: isRecorded } = setup;
    const chains = new LiveChains({ audio, web, isRecorded, bufferMs, teller, events }, nowMs);
    this.#chains = chains;
    this.#ready(audio);
    listener.negotiated(audio, visitor, this.#tokens.provenNumber);
    frameClock.add(this);
    listener.started(setup.callUuid, '', chains.block, chains.recordMemory);
  }

  #ready(audio: NegotiatedAudio): void {
    const { callUuid, epoch, web } = this.#options.setup;
    this.#teller.ready({
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
  #resume({ audio }: LiveChains, lastOrdinal: number | null): void {
    this.#phase = 'live';
    this.#isResuming = true;
    this.#ready(audio);
    if (lastOrdinal !== null) for (const text of this.#teller.missed(lastOrdinal)) this.#line.text(text);
    this.#teller.status();
    this.#options.listener.negotiated(audio, null, this.#tokens.provenNumber);
    this.#goOn(this.#clock.nowMs());
  }

  #goOn(nowMs: number): void {
    const { playout, microphone } = this.#chains!;
    playout.shift(this.#time.goOn(nowMs));
    microphone.goOn(nowMs);
    this.#pingAtMs = nowMs;
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
    this.#clearReason = 'held';
    this.#options.listener.command({ type: 'hold', held: true });
  }

  #startIsLate(): void {
    if (this.#chains === null) this.#fail('start_timeout', 'no_media', `no session.start in ${START_LIMIT_MS} ms`);
    else if (this.#line.isUp) {
      this.#line.refuse('start_timeout');
      this.#park(this.#clock.nowMs());
    }
  }

  /** It may come back on a better network. */
  #cutSlow(): void {
    this.#line.refuse('slow_client');
    if (this.#chains === null) this.#end('socket_closed', CLOSE_NORMAL, 'the client does not read', 'user_hangup');
    else this.#park(this.#clock.nowMs());
  }

  #cleared(utterance: number): void {
    this.#teller.cleared(utterance, this.#clearReason);
    this.#clearReason = 'barge_in';
  }

  // ── The end. ──────────────────────────────────────────────────────────────────────────────────────────

  #drain({ reason, sinceMs }: { reason: EndedReason; sinceMs: number }, nowMs: number): void {
    const drainMs = nowMs - sinceMs;
    if (drainMs < DRAIN_LIMIT_MS && !this.#chains!.playout.isIdle(nowMs)) return;
    this.#end('stopped', CLOSE_NORMAL, '', reason, Math.round(drainMs));
  }

  #end(why: LegEnd, code: number, detail: string, reason: EndedReason, drainMs = 0): void {
    if (this.#phase === 'over') return;
    if (this.#chains !== null) this.#teller.ended(reason, this.streamMs, drainMs);
    const socket = this.#line.leave();
    this.#finish(why, detail);
    socket?.close(code, reason);
  }

  #fail(code: LiveErrorCode, why: LegEnd, detail: string): void {
    if (this.#phase === 'over') return;
    const socket = this.#line.leave();
    this.#finish(why, detail);
    if (socket !== null) refuse(socket, code);
  }

  #finish(why: LegEnd, detail: string): void {
    const durationMs = this.streamMs;
    this.#phase = 'over';
    this.#cancelDeadline();
    this.#options.frameClock.remove(this);
    this.#chains?.finish(this.#clock.nowMs());
    this.#options.listener.over(why, durationMs, detail);
  }
}
