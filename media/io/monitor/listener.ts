/**
 * One person who listens in: a socket, whether sound is wanted, how well it is read, and whether the person has the
 * call. It begins without sound. Made by `monitor-desk.ts` when control has let it in; `call-monitor.ts` sends to it.
 */
import type { ConversationEvent, Turn } from '../../contract/conversation.ts';
import {
  MONITOR_CLOSE_CODES,
  type MonitorAction,
  type MonitorEnd,
  type MonitorReport,
  type MonitorResult,
} from '../../contract/monitor.ts';
import type { MediaSocket } from '../socket-server/media-socket-server.ts';

/** A reader for whom this much waits gets no more until it has read: two seconds of mu-law, both sides. */
const SLOW_BYTES = 40 * 1024;
/** Of a reader that stays so slow nothing is live any more. */
const TOO_SLOW_MS = 5_000;

export interface LegSound {
  codec: string;
  rateHz: number;
}

export type ToListener =
  | { type: 'monitor.ready'; callUuid: string; streamMs: number; caller: LegSound; agent: LegSound; turns: Turn[] }
  | { type: 'event'; event: ConversationEvent }
  | { type: 'sound'; on: boolean }
  | { type: 'pong'; id: number; streamMs: number }
  | { type: 'answer'; id: number; action: MonitorAction['type']; result: MonitorResult }
  | { type: 'error'; code: MonitorEnd };

export class Listener {
  readonly monitorId: string;
  readonly callUuid: string;
  wantsSound = false;
  /** The person speaks in the agent's place. */
  hasCall = false;
  droppedFrames = 0;
  /** Why we closed its socket; null: we did not. */
  shutOutFor: MonitorEnd | null = null;
  readonly #socket: MediaSocket<unknown>;
  readonly #callLost: () => void;
  #soundMs = 0;
  #soundSinceMs = 0;
  #slowSinceMs: number | null = null;
  #hadCall = false;

  /** `callLost`: the person has the call, and will not be heard any more. */
  constructor(socket: MediaSocket<unknown>, of: { monitorId: string; callUuid: string }, callLost: () => void) {
    this.#socket = socket;
    this.#callLost = callLost;
    this.monitorId = of.monitorId;
    this.callUuid = of.callUuid;
  }

  setSound(on: boolean, nowMs: number): void {
    if (on === this.wantsSound) return;
    if (on) this.#soundSinceMs = nowMs;
    else this.#soundMs += nowMs - this.#soundSinceMs;
    this.wantsSound = on;
  }

  tell(message: ToListener): void {
    this.#socket.send(Buffer.from(JSON.stringify(message), 'utf8'), false);
  }

  /** Frames that it is too slow for are left out, never kept. False: it has been so for too long. */
  sound(message: Uint8Array, frames: number, nowMs: number): boolean {
    if (this.#socket.bufferedBytes <= SLOW_BYTES) {
      this.#slowSinceMs = null;
      if (this.#socket.send(message, true) === 'dropped') this.droppedFrames += frames;
      return true;
    }
    this.droppedFrames += frames;
    this.#slowSinceMs ??= nowMs;
    return nowMs - this.#slowSinceMs < TOO_SLOW_MS;
  }

  /** It is gone, or is being shut out. */
  letGo(): void {
    if (!this.hasCall) return;
    this.hasCall = false;
    this.#hadCall = true;
    this.#callLost();
  }

  /** The socket is closed with the code that goes with it. */
  shutOut(code: MonitorEnd): void {
    this.shutOutFor ??= code;
    this.letGo();
    refuse(this.#socket, code);
  }

  report(why: MonitorReport['why'], nowMs: number): MonitorReport {
    this.setSound(false, nowMs);
    const { monitorId, droppedFrames } = this;
    const report = { monitorId, why, soundMs: Math.round(this.#soundMs), droppedFrames };
    return this.#hadCall ? { ...report, hadCall: true } : report;
  }
}

/** Told in a message, because a page cannot read a failed handshake, and by the code. */
export function refuse(socket: MediaSocket<unknown>, code: MonitorEnd): void {
  socket.send(Buffer.from(JSON.stringify({ type: 'error', code } satisfies ToListener), 'utf8'), false);
  socket.close(MONITOR_CLOSE_CODES[code], code);
}
