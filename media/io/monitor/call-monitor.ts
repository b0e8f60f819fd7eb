/**
 * Those who listen in to one call: the tap on its leg while anybody wants sound, and what is sent to each. It is there
 * while somebody listens, and only then does the leg know of a tap. Served by the frame clock in a slot of its own, so
 * that the leg's own service does nothing but copy frames. Made by `monitor-desk.ts`.
 */
import type { ConversationEvent } from '../../contract/conversation.ts';
import type { MonitorEnd } from '../../contract/monitor.ts';
import type { FrameClock, FrameClockClient } from '../frame-clock.ts';
import type { CallLeg } from '../legs/core/call-leg.ts';
import type { Listener } from './listener.ts';
import { SoundMessage } from './sound-message.ts';

export interface CallMonitorOptions {
  leg: Pick<CallLeg, 'listen' | 'streamMs'>;
  frameClock: Pick<FrameClock, 'add' | 'remove'>;
  /** It is to be shut out. */
  tooSlow(listener: Listener): void;
  failed(error: unknown): void;
}

export class CallMonitor implements FrameClockClient {
  readonly listeners = new Set<Listener>();
  readonly #options: CallMonitorOptions;
  #message: SoundMessage | null = null;

  constructor(options: CallMonitorOptions) {
    this.#options = options;
  }

  /** Ms since the stream began; 0 before. */
  get streamMs(): number {
    return this.#options.leg.streamMs;
  }

  remove(listener: Listener): void {
    this.listeners.delete(listener);
    this.#tapAsWanted();
  }

  setSound(listener: Listener, on: boolean, nowMs: number): void {
    listener.setSound(on, nowMs);
    this.#tapAsWanted();
    listener.tell({ type: 'sound', on });
  }

  event(event: ConversationEvent): void {
    // Whatever ended it: what the person says goes nowhere any more.
    if (event.type === 'takeover' && event.phase === 'ended') for (const one of this.listeners) one.hasCall = false;
    for (const listener of this.listeners) listener.tell({ type: 'event', event });
  }

  /** All of them. */
  shutOut(code: MonitorEnd): void {
    for (const listener of [...this.listeners]) listener.shutOut(code);
  }

  service(nowMs: number): void {
    const message = this.#message;
    if (message === null || message.frames === 0) return;
    const { frames } = message;
    const bytes = message.take(this.streamMs);
    for (const listener of this.listeners) {
      if (listener.wantsSound && !listener.sound(bytes, frames, nowMs)) this.#options.tooSlow(listener);
    }
  }

  /** The call goes on; its listeners do not. */
  failed(error: unknown): void {
    this.#options.failed(error);
    this.shutOut('server');
  }

  #tapAsWanted(): void {
    const { leg, frameClock } = this.#options;
    const isWanted = [...this.listeners].some(({ wantsSound }) => wantsSound);
    if (isWanted === (this.#message !== null)) return;
    if (!isWanted) {
      leg.listen(null);
      frameClock.remove(this);
      this.#message = null;
      return;
    }
    const message = new SoundMessage();
    if (!leg.listen(message)) return;
    this.#message = message;
    frameClock.add(this);
  }
}
