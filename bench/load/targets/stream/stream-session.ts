/**
 * The carrier's side of one open stream, with a phone at its far end: sends the start and then the phone's frames on
 * the process's frame clock, gives it what the target sends, answers marks when their audio has been played, and
 * hangs up when the call has been long enough. Made by the stream call; what the target does against the protocol is
 * counted, never corrected.
 */
import type { WebSocket } from 'ws';
import type { Clock } from '../../../../media/contract/clock.ts';
import type { FrameClock, FrameSession } from '../../../emulators/frame-clock.ts';
import type { SendFrame } from '../../far-end/line-impairments.ts';
import type { Phone } from '../../far-end/phone.ts';
import { PROTOCOLS, protocolOfEvent } from './protocols.ts';
import { TargetMessages } from './target-messages.ts';
import type { Wire } from './wire.ts';

const OPEN = 1;
const BINARY = { says: 'fault', fault: 'a binary message' } as const;
const CLOSE_GRACE_MS = 2_000;
/** A minute of frames: the target reads no more. */
const MOST_WAITING_BYTES = 1_000_000;

export interface SessionEnd {
  endedAtMs: number;
  endedBy: 'far_end' | 'target';
  /** Of the socket; null: the far end hung up. */
  closeCode: number | null;
  /** The target stopped reading. */
  isStalled: boolean;
  faults: number;
  firstFault: string | null;
}

export interface SessionOptions {
  /** Open and paused. */
  socket: WebSocket;
  wire: Wire;
  clock: Clock;
  frameClock: FrameClock;
  lengthMs: number;
  /** The phone that sends with `send`. */
  answer(send: SendFrame): Phone;
  onEnd(end: SessionEnd): void;
}

export class StreamSession implements FrameSession {
  readonly #options: SessionOptions;
  readonly #messages: TargetMessages;
  readonly #phone: Phone;
  readonly #removeFromClock: () => void;
  readonly #cancelHangUp: () => void;
  /** Those that wait for the audio before them, in order. */
  #marks: { name: string; dueAtMs: number }[] = [];
  #faults = 0;
  #firstFault: string | null = null;
  #isStalled = false;
  #isOver = false;

  constructor(options: SessionOptions) {
    const { socket, wire, clock, frameClock, lengthMs } = options;
    this.#options = options;
    this.#messages = new TargetMessages(wire);
    for (const message of wire.opening()) socket.send(message);
    this.#phone = options.answer((frame, streamMs) => this.#send(wire.media(frame, streamMs)));
    socket.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary));
    socket.on('close', (code) => this.#end('target', code));
    this.#removeFromClock = frameClock.add(this);
    this.#cancelHangUp = clock.after(lengthMs, () => this.hangUp());
    socket.resume();
  }

  /** The far end does. Idempotent. */
  hangUp(): void {
    if (this.#isOver) return;
    const { socket, wire, clock } = this.#options;
    const closing = wire.closing();
    if (closing !== null) this.#send(closing);
    this.#end('far_end', null);
    socket.close(1000);
    const cancel = clock.after(CLOSE_GRACE_MS, () => socket.terminate());
    socket.once('close', cancel);
  }

  frame(dueAtMs: number, nowMs: number): void {
    this.#phone.frame(dueAtMs, nowMs);
    while (this.#marks.length > 0 && this.#marks[0]!.dueAtMs <= nowMs) {
      this.#send(this.#options.wire.played(this.#marks.shift()!.name));
    }
  }

  #send(message: string): void {
    const { socket } = this.#options;
    if (this.#isOver || socket.readyState !== OPEN) return;
    if (socket.bufferedAmount > MOST_WAITING_BYTES) {
      this.#isStalled = true;
      socket.terminate();
    } else socket.send(message);
  }

  #receive(message: Buffer, isBinary: boolean): void {
    if (this.#isOver) return;
    const nowMs = this.#options.clock.nowMs();
    const heard = isBinary ? BINARY : this.#messages.read(message);
    if ('heard' in heard) this.#phone.heard(nowMs, heard.mulaw);
    else if (heard.says === 'mark') this.#mark(heard.name, nowMs);
    else if (heard.says === 'clear') this.#clear(nowMs);
    else if (heard.says === 'fault') this.#fault(heard);
  }

  #mark(name: string, nowMs: number): void {
    const dueAtMs = this.#phone.playedOutAtMs;
    if (dueAtMs > nowMs) this.#marks.push({ name, dueAtMs });
    else this.#send(this.#options.wire.played(name));
  }

  #clear(nowMs: number): void {
    this.#phone.cleared(nowMs);
    const pending = this.#marks.map(({ name }) => name);
    this.#marks = [];
    for (const message of this.#options.wire.cleared(pending)) this.#send(message);
  }

  #fault({ fault, event }: { fault: string; event?: unknown }): void {
    this.#faults++;
    if (this.#firstFault !== null) return;
    const whose = protocolOfEvent(event);
    const hint = whose === null ? '' : `, which is ${PROTOCOLS[whose].name}: --protocol ${whose}?`;
    this.#firstFault = `${fault.slice(0, 200)}${hint}`;
  }

  #end(endedBy: SessionEnd['endedBy'], closeCode: number | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#removeFromClock();
    this.#cancelHangUp();
    const endedAtMs = this.#options.clock.nowMs();
    const { onEnd } = this.#options;
    const faults = { faults: this.#faults, firstFault: this.#firstFault };
    onEnd({ endedAtMs, endedBy, closeCode, isStalled: this.#isStalled, ...faults });
  }
}
