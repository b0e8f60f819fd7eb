/**
 * What a web session says in words (docs/live-protocol.md, server → client): makes the messages, numbers those that a
 * resumed client may have missed, derives the agent's state from what the pipeline reports, and joins a reply's latency
 * with when it was heard. `web-leg.ts` owns one and sends what it makes.
 */

import { FRAME_MS, type LegFormat } from '../../../contract/audio-format.ts';
import type { EndedReason } from '../../../contract/call-outcome.ts';
import type { Clock } from '../../../contract/clock.ts';
import type { ConversationEvent, Turn, TurnLatency } from '../../../contract/conversation.ts';
import type { NegotiatedAudio } from '../../../contract/live-session.ts';
import type { ToolAsk } from '../../../contract/tools.ts';
import { MessageLog } from './message-log.ts';

export interface OutboundMessagesOptions {
  clock: Clock;
  callUuid: string;
  send(text: string): void;
}

export interface ReadyFacts {
  sessionId: string;
  resumeToken: string;
  resumeWindowMs: number;
  resumed: boolean;
  audio: NegotiatedAudio;
  maxSessionSeconds: number;
  pingIntervalMs: number;
}

const PROTOCOL = '1';
/** A reply's latency waits so long for the browser to say when it was heard. */
const HEARD_WITHIN_MS = 1_500;

export class OutboundMessages {
  /** Round trip, smoothed; 0 before the first pong. */
  rttMs = 0;
  readonly #options: OutboundMessagesOptions;
  readonly #log = new MessageLog(0);
  readonly #warned = new Set<string>();
  #state: 'listening' | 'thinking' | 'speaking' | '' = '';
  /** A user's turn whose words were shown and are not final. */
  #interimTurnId: string | null = null;
  #pendingLatency: { latency: TurnLatency; untilMs: number } | null = null;
  #heardTurn = 0;
  #heardDelayMs = 0;
  #pingId = 0;
  #pingedAtMs = 0;
  /**
   * Between `welcome` and `session.ready` nothing is said of the session itself. What was kept is replayed, this is
   * said after it.
   */
  #clearsHeldBack: string[] | null = null;

  constructor(options: OutboundMessagesOptions) {
    this.#options = options;
  }

  welcome(requestId: string): void {
    this.#clearsHeldBack = [];
    this.#tell({ type: 'welcome', protocol: PROTOCOL, requestId, serverTime: this.#options.clock.epochMs() });
  }

  ready(facts: ReadyFacts): void {
    const { sessionId, resumeToken, resumeWindowMs, resumed, audio, maxSessionSeconds, pingIntervalMs } = facts;
    this.#tell({
      type: 'session.ready',
      callUuid: this.#options.callUuid,
      sessionId,
      resumeToken,
      resumeWindowMs,
      resumed,
      audio: { input: shown(audio.input), output: shown(audio.output) },
      limits: { maxSessionSeconds, pingIntervalMs },
    });
    const clears = this.#clearsHeldBack ?? [];
    this.#clearsHeldBack = null;
    for (const text of clears) this.#options.send(text);
  }

  status(): void {
    this.#tell({ type: 'status', status: 'connected' });
    if (this.#state !== '') this.#tell({ type: 'state', state: this.#state, turnId: null });
  }

  /** What a client that has seen `lastOrdinal` has missed. */
  missed(lastOrdinal: number): string[] {
    return this.#log.since(lastOrdinal);
  }

  skipTo(ordinal: number): void {
    this.#log.skipTo(ordinal);
  }

  ping(nowMs: number): void {
    this.#pingedAtMs = nowMs;
    this.#tell({ type: 'ping', id: ++this.#pingId, serverTime: this.#options.clock.epochMs() });
  }

  pong(id: number | string | null): void {
    this.#tell({ type: 'pong', id, serverTime: this.#options.clock.epochMs() });
  }

  ponged(id: number, nowMs: number): void {
    if (id !== this.#pingId) return;
    const rttMs = nowMs - this.#pingedAtMs;
    this.rttMs = this.rttMs === 0 ? rttMs : this.rttMs * 0.75 + rttMs * 0.25;
  }

  warn(code: string, message: string): void {
    this.#tell({ type: 'warning', code, message });
  }

  warnOnce(code: string, message: string): void {
    if (this.#warned.has(code)) return;
    this.#warned.add(code);
    this.warn(code, message);
  }

  utteranceStarted(utterance: number, turn: number, resumes: number): void {
    this.#report({
      type: 'agent.audio',
      phase: 'start',
      utteranceId: `u${utterance}`,
      turnId: turnIdOf(turn),
      ...(resumes > 0 ? { resumes: `u${resumes}` } : {}),
    });
  }

  utteranceEnded(utterance: number, turn: number, audioMs: number): void {
    this.#report({ type: 'agent.audio', phase: 'end', utteranceId: `u${utterance}`, turnId: turnIdOf(turn), audioMs });
  }

  cleared(utterance: number, reason: string): void {
    const text = JSON.stringify({ type: 'playback.clear', utteranceId: `u${utterance}`, reason });
    if (this.#clearsHeldBack === null) this.#options.send(text);
    else this.#clearsHeldBack.push(text);
  }

  /**
   * The browser has begun to play this turn, so long after its first frame was sent; half the way there lies in the
   * report.
   */
  heard(turn: number, delayMs: number): void {
    this.#heardTurn = turn;
    this.#heardDelayMs = Math.max(0, delayMs - this.rttMs / 2);
    if (this.#pendingLatency?.latency.turnId === turnIdOf(turn)) this.#tellLatency();
  }

  tick(nowMs: number): void {
    if (this.#pendingLatency !== null && nowMs >= this.#pendingLatency.untilMs) this.#tellLatency();
  }

  conversationEvent(event: ConversationEvent): void {
    switch (event.type) {
      case 'speech':
        if (event.who === 'user') this.#userSpeaks(event);
        else {
          if (event.phase === 'start') this.#settleInterim(null);
          this.#setState(event.phase === 'start' ? 'speaking' : 'listening', event.turnId ?? null);
        }
        break;
      case 'partial':
        this.#interimTurnId = event.turnId ?? null;
        this.#keep(
          { type: 'transcript', role: 'user', turnId: event.turnId ?? null, text: event.text, final: false },
          event.turnId ?? null,
        );
        break;
      case 'agent_text':
        this.#keep({ type: 'transcript', role: 'agent', turnId: event.turnId, delta: event.delta, final: false });
        break;
      case 'turn':
        this.turn(event.turn);
        if (event.turn.role === 'user' && event.turn.kind !== 'backchannel')
          this.#setState('thinking', event.turn.turnId);
        break;
      case 'latency':
        this.#pendingLatency = { latency: event.latency, untilMs: this.#options.clock.nowMs() + HEARD_WITHIN_MS };
        if (turnIdOf(this.#heardTurn) === event.latency.turnId) this.#tellLatency();
        break;
      case 'tool': {
        const { type, phase, name, toolCallId } = event;
        this.#keep({ type, phase, name, toolCallId });
        break;
      }
      case 'warning':
        this.warn(event.code, event.message);
        break;
    }
  }

  toolCall({ toolCallId, name, arguments: args }: ToolAsk, timeoutMs: number): void {
    this.#keep({ type: 'tool.call', toolCallId, name, arguments: args, timeoutMs });
  }

  turn(turn: Turn): void {
    const { role, turnId, heardText, interrupted } = turn;
    if (role === 'user') {
      this.#settleInterim(turnId);
      this.#keep({ type: 'transcript', role, turnId, text: heardText, final: true });
    } else this.#keep({ type: 'transcript', role, turnId, text: heardText, final: true, interrupted });
  }

  ended(reason: EndedReason, durationMs: number, drainMs: number): void {
    this.#clearsHeldBack = null;
    this.#settleInterim(null);
    this.#keep({ type: 'session.ended', reason, callUuid: this.#options.callUuid, durationMs, drainMs });
  }

  #userSpeaks(event: Extract<ConversationEvent, { type: 'speech' }>): void {
    const turnId = event.turnId ?? null;
    if (event.phase === 'start') {
      if (this.#interimTurnId !== turnId) this.#settleInterim(null);
      if (this.#state === 'thinking') this.#setState('listening', null);
    }
    this.#report({ type: 'speech', who: 'user', phase: event.phase, turnId, atMs: event.atMs });
  }

  /** Words that were shown of a turn that came to nothing are taken back; those of `final` get their final text. */
  #settleInterim(final: string | null): void {
    const turnId = this.#interimTurnId;
    this.#interimTurnId = null;
    if (turnId === null || turnId === final) return;
    this.#keep({ type: 'transcript', role: 'user', turnId, text: '', final: true });
  }

  #setState(state: 'listening' | 'thinking' | 'speaking', turnId: string | null): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#report({ type: 'state', state, turnId });
  }

  #tellLatency(): void {
    const pending = this.#pendingLatency;
    if (pending === null) return;
    this.#pendingLatency = null;
    const { turnId, eouMs, sttMs, ttsMs, agentMs } = pending.latency;
    const isHeard = turnIdOf(this.#heardTurn) === turnId;
    const heardMs = isHeard ? Math.round(agentMs + this.#heardDelayMs) : null;
    this.#keep({ type: 'latency', turnId, eouMs, sttMs, llmMs: 0, ttsMs, agentMs, heardMs });
  }

  /** Of the session itself, and worth nothing later. */
  #report(message: object): void {
    if (this.#clearsHeldBack === null) this.#tell(message);
  }

  #tell(message: object): void {
    this.#options.send(JSON.stringify(message));
  }

  #keep(message: object, interimTurn: string | null = null): void {
    const text = this.#log.add(message, interimTurn);
    if (this.#clearsHeldBack === null) this.#options.send(text);
  }
}

function turnIdOf(turn: number): string | null {
  return turn === 0 ? null : `t${turn}`;
}

function shown({ codec, rateHz }: LegFormat): { codec: string; sampleRate: number; frameMs: number } {
  return { codec, sampleRate: rateHz, frameMs: FRAME_MS };
}
