/**
 * All who listen in to calls of this process: asks control whose a token is and for what they want of their call, gives
 * each listener its call, brings the call what a person says who has taken it over, and shuts them out when the call
 * ends, when control says that the person may no more, and when control has been away for so long that it could not say
 * so. `monitor-endpoint.ts` brings sockets, `call-life.ts` tells what becomes of calls.
 */
import type { Logger } from 'pino';
import type { CallCommand } from '../../contract/call-command.ts';
import { type Clock, every } from '../../contract/clock.ts';
import type { ConversationEvent } from '../../contract/conversation.ts';
import type { CallSetup, ToControl } from '../../contract/link-messages.ts';
import type { MonitorAction, MonitorAnswer, MonitorEnd, MonitorEnded, MonitorResult } from '../../contract/monitor.ts';
import type { FrameClock } from '../frame-clock.ts';
import type { CallLeg } from '../legs/core/call-leg.ts';
import type { MediaSocket } from '../socket-server/media-socket-server.ts';
import { CallMonitor } from './call-monitor.ts';
import { Listener, refuse } from './listener.ts';

interface ListenedCall {
  leg: Pick<CallLeg, 'listen' | 'streamMs'>;
  setup: Pick<CallSetup, 'format' | 'outputFormat'>;
  command(command: CallCommand): void;
}

export interface MonitorDeskOptions {
  clock: Clock;
  frameClock: FrameClock;
  log: Logger;
  /** A call that this process carries. */
  find(callUuid: string): ListenedCall | undefined;
  link: { readonly isConnected: boolean; send(message: ToControl): void };
}

const CLAIM_LIMIT_MS = 3_000;
/** Control waits 3 s for the call. */
const ASK_LIMIT_MS = 4_000;
const LOOK_EVERY_MS = 500;
/** A right that is taken away holds within 2 s: nobody listens for longer without control. */
const MOST_AWAY_MS = 1_500;
/** Whatever control allows. */
const MOST_LISTENERS = 128;

interface Claim {
  settle(answer: MonitorAnswer): void;
}

export class MonitorDesk {
  readonly #options: MonitorDeskOptions;
  readonly #calls = new Map<string, CallMonitor>();
  readonly #listeners = new Map<string, Listener>();
  readonly #claims = new Map<number, Claim>();
  readonly #asks = new Map<number, (result: MonitorResult) => void>();
  #lastRequestId = 0;
  #awaySinceMs: number | null = null;
  #cancelLook: (() => void) | null = null;

  constructor(options: MonitorDeskOptions) {
    this.#options = options;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Never rejects. */
  claim(token: string): Promise<MonitorAnswer> {
    const { clock, link } = this.#options;
    if (this.#listeners.size >= MOST_LISTENERS) return Promise.resolve({ ok: false, code: 'too_many_listeners' });
    // Not kept for later: nobody waits for an old answer.
    if (!link.isConnected) return Promise.resolve({ ok: false, code: 'service_away' });
    const requestId = ++this.#lastRequestId;
    return new Promise((resolve) => {
      const settle = (answer: MonitorAnswer): void => {
        cancel();
        this.#claims.delete(requestId);
        resolve(answer);
      };
      const cancel = clock.after(CLAIM_LIMIT_MS, () => settle({ ok: false, code: 'service_away' }));
      this.#claims.set(requestId, { settle });
      link.send({ type: 'monitor.claim', requestId, token });
    });
  }

  /** Control's answer to a claim; one that comes too late lets nobody in. */
  answered(requestId: number, answer: MonitorAnswer): void {
    const claim = this.#claims.get(requestId);
    if (claim !== undefined) claim.settle(answer);
    else if (answer.ok) this.neverOpened(answer.monitorId);
  }

  neverOpened(monitorId: string): void {
    this.#options.link.send({
      type: 'monitor.closed',
      report: { monitorId, why: 'left', soundMs: 0, droppedFrames: 0 },
    });
  }

  /** Control let the socket in. Null: the call was over before it opened. */
  open(socket: MediaSocket<unknown>, answer: Extract<MonitorAnswer, { ok: true }>): Listener | null {
    const { find, frameClock, log } = this.#options;
    const { monitorId, callUuid, turns } = answer;
    const life = find(callUuid);
    const callLost = (): void => this.#tellCall(callUuid, { type: 'person.gone' });
    const listener = new Listener(socket, { monitorId, callUuid }, callLost);
    if (life === undefined || life.leg.streamMs === 0) {
      this.#told(listener, 'call_not_live');
      refuse(socket, 'call_not_live');
      return null;
    }
    const { format, outputFormat = format } = life.setup;
    const { leg } = life;
    let call = this.#calls.get(callUuid);
    if (call === undefined) {
      call = new CallMonitor({
        leg,
        frameClock,
        tooSlow: (slow) => slow.shutOut('slow_listener'),
        failed: (error) => log.error({ err: error, callUuid }, 'a fault of ours in listening in'),
      });
      this.#calls.set(callUuid, call);
    }
    call.listeners.add(listener);
    this.#listeners.set(monitorId, listener);
    this.#cancelLook ??= every(this.#options.clock, LOOK_EVERY_MS, () => this.#look());
    listener.tell({
      type: 'monitor.ready',
      callUuid,
      streamMs: leg.streamMs,
      caller: format,
      agent: outputFormat,
      turns,
    });
    return listener;
  }

  setSound(listener: Listener, on: boolean): void {
    this.#calls.get(listener.callUuid)?.setSound(listener, on, this.#options.clock.nowMs());
  }

  /** What it wants of its call, by way of control; it is answered in any case, with the `id` that it gave. */
  ask(listener: Listener, id: number, action: MonitorAction): void {
    const { clock, link } = this.#options;
    const requestId = ++this.#lastRequestId;
    const settle = (result: MonitorResult): void => {
      cancel();
      if (!this.#asks.delete(requestId)) return;
      if (action.type === 'takeover' && result === 'done') this.#taken(listener);
      listener.tell({ type: 'answer', id, action: action.type, result });
    };
    const cancel = clock.after(ASK_LIMIT_MS, () => settle('unanswered'));
    this.#asks.set(requestId, settle);
    if (link.isConnected) link.send({ type: 'monitor.ask', requestId, monitorId: listener.monitorId, action });
    else settle('unanswered');
  }

  /** Control's answer to `ask`. */
  asked(requestId: number, result: MonitorResult): void {
    this.#asks.get(requestId)?.(result);
  }

  /** Sound of who has the call: mono, 16 kHz, little-endian. Of others it is dropped: it may have been on its way. */
  personSound(listener: Listener, bytes: Uint8Array): void {
    if (!listener.hasCall) return;
    const samples = new Int16Array(bytes.length >> 1);
    for (let i = 0; i < samples.length; i++) samples[i] = bytes[2 * i]! | (bytes[2 * i + 1]! << 8);
    this.#tellCall(listener.callUuid, { type: 'person.sound', samples });
  }

  #taken(listener: Listener): void {
    listener.hasCall = true;
    // It left while it was being answered.
    if (!this.#listeners.has(listener.monitorId) || listener.shutOutFor !== null) listener.letGo();
  }

  #tellCall(callUuid: string, command: CallCommand): void {
    this.#options.find(callUuid)?.command(command);
  }

  streamMs(listener: Listener): number {
    return this.#calls.get(listener.callUuid)?.streamMs ?? 0;
  }

  /** Its socket is gone. */
  closed(listener: Listener): void {
    if (!this.#listeners.delete(listener.monitorId)) return;
    listener.letGo();
    const call = this.#calls.get(listener.callUuid);
    call?.remove(listener);
    if (call?.listeners.size === 0) this.#calls.delete(listener.callUuid);
    this.#told(listener, listener.shutOutFor ?? 'left');
    if (this.#listeners.size > 0) return;
    this.#cancelLook?.();
    this.#cancelLook = null;
    this.#awaySinceMs = null;
  }

  /** Control takes the right away. */
  end(monitorId: string, why: MonitorEnd): void {
    this.#listeners.get(monitorId)?.shutOut(why);
  }

  /** What is seen of the conversation. */
  event(callUuid: string, event: ConversationEvent): void {
    this.#calls.get(callUuid)?.event(event);
  }

  /** Its leg is over. */
  callOver(callUuid: string, goesOnElsewhere: boolean): void {
    this.#calls.get(callUuid)?.shutOut(goesOnElsewhere ? 'call_moved' : 'call_over');
  }

  /** Control is another run: it knows none of them. */
  controlRestarted(): void {
    this.#shutOutAll('service_away');
  }

  #look(): void {
    const { clock, link } = this.#options;
    if (link.isConnected) {
      this.#awaySinceMs = null;
      return;
    }
    this.#awaySinceMs ??= clock.nowMs();
    if (clock.nowMs() - this.#awaySinceMs >= MOST_AWAY_MS - LOOK_EVERY_MS) this.#shutOutAll('service_away');
  }

  #shutOutAll(why: MonitorEnd): void {
    for (const listener of [...this.#listeners.values()]) listener.shutOut(why);
  }

  #told(listener: Listener, why: MonitorEnded): void {
    this.#options.link.send({ type: 'monitor.closed', report: listener.report(why, this.#options.clock.nowMs()) });
  }
}
