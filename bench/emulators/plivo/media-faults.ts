/** Carries out a persona's media faults on one socket. Called by the media stream with every audio message. */
import { WebSocket } from 'ws';
import type { Clock } from '../../../media/contract/clock.ts';
import { createRandom } from '../../harness/seeded-random.ts';
import type { MediaFault } from '../persona.ts';

const HALF_MESSAGE = '{"event":"media","sequenceNumber":7,"media":{"track":"inbound","payl';
const HUGE_START = '{"event":"media","media":{"track":"inbound","payload":"';

type PoorLine = Extract<MediaFault, { kind: 'poor_line' }>;

export class MediaFaults {
  /** Nothing at all is to be sent. */
  readonly isSilent: boolean;
  readonly #faults: readonly MediaFault[];
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #openTwin: () => void;
  /** Faults that happen once and have not yet. */
  readonly #pending: Set<MediaFault>;
  #held: string[] = [];
  readonly #line: PoorLine | null;
  readonly #random: () => number;
  /** On the poor line, in order. */
  readonly #underWay: string[] = [];
  #arrivesAtMs = 0;

  constructor(faults: readonly MediaFault[], socket: WebSocket, clock: Clock, openTwin: () => void) {
    this.#faults = faults;
    this.#socket = socket;
    this.#clock = clock;
    this.#line = faults.find((fault) => fault.kind === 'poor_line') ?? null;
    this.#random = createRandom(this.#line?.seed ?? 0);
    this.#openTwin = openTwin;
    this.#pending = new Set(faults);
    this.isSilent = faults.some((fault) => fault.kind === 'silence');
  }

  /**
   * Sends `message`, or does to it what a fault that is due at `atMs` of the stream does; a late frame has the time it
   * was due at.
   */
  deliver(message: string, atMs: number): void {
    let holdFrames = 0;
    for (const fault of this.#faults) {
      if (!('atMs' in fault) || atMs < fault.atMs) continue;
      if (fault.kind === 'gap') {
        if (atMs < fault.atMs + fault.lengthMs) return;
      } else if (fault.kind === 'burst') {
        holdFrames = fault.frames;
      } else if (this.#pending.delete(fault)) {
        this.#once(fault);
      }
    }
    this.#held.push(message);
    if (this.#held.length < holdFrames) return;
    for (const held of this.#held) {
      if (this.#line === null) this.#send(held);
      else this.#sendOver(this.#line, held);
    }
    this.#held = [];
  }

  /** A frame waits for the one before it: the carrier keeps the order. */
  #sendOver(line: PoorLine, message: string): void {
    if (this.#random() < line.lossShare) return;
    const nowMs = this.#clock.nowMs();
    this.#arrivesAtMs = Math.max(this.#arrivesAtMs, nowMs + line.delayMs + this.#random() * line.jitterMs);
    this.#underWay.push(message);
    this.#clock.after(this.#arrivesAtMs - nowMs, () => this.#send(this.#underWay.shift()!));
  }

  #once(fault: MediaFault): void {
    if (fault.kind === 'drop') this.#socket.terminate();
    else if (fault.kind === 'reused_token') this.#openTwin();
    else if (fault.kind === 'garbage') this.#send('this is \u0000 not {json');
    else if (fault.kind === 'half_message') this.#send(HALF_MESSAGE);
    else if (fault.kind === 'binary') this.#send(Buffer.from([0, 255, 1, 254, 2, 253, 3, 252]));
    else if (fault.kind === 'huge') this.#send(`${HUGE_START}${'/'.repeat(fault.bytes)}"}}`);
  }

  #send(message: string | Buffer): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(message);
  }
}
