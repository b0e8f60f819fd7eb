/**
 * The media side of the control link: connects to control's private socket, greets, and connects again for as long as
 * the process lives. What is said while control is away is kept (bounded, in memory) and said again in order; calls go
 * on meanwhile. Claims are the exception: nobody waits for an old one, so they are sent only while a connection stands
 * and time is left.
 */
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { createBackoff } from '../contract/backoff.ts';
import { type Clock, every, pause } from '../contract/clock.ts';
import { MOST_LINE_BYTES, ReliableLink } from '../contract/link.ts';
import type { ClaimAnswer, ClaimRequest, ToControl, ToMedia } from '../contract/link-messages.ts';

const SPOOL_MESSAGES = 50_000;
const CLAIM_LIMIT_MS = 3000;
const RETRY_PAUSES = { firstMs: 50, longestMs: 1_000 };
const ACK_EVERY_MS = 1000;
/**
 * More than this in the socket's own buffer: control hangs. The connection is dropped; the spool holds what matters.
 */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;
/** Reports that say how it is at this moment. */
const TRUE_NOW: ReadonlySet<ToControl['type']> = new Set(['load', 'room', 'metrics']);
/** A spool this full gives up what only shows the conversation as it goes, and keeps the room for what is stored. */
const EVENT_SPOOL_MESSAGES = 40_000;

export interface ControlLinkOptions {
  socketPath: string;
  clock: Clock;
  log: Logger;
  /** Said first on every connection. */
  hello(): Extract<ToControl, { type: 'hello' }>;
  receive(message: Exclude<ToMedia, { type: 'claim.answer' }>): void;
  /** Control is another run than before: what it was asked, and had not answered, it may not know. */
  controlRestarted?(): void;
}

export interface ControlLink {
  readonly isConnected: boolean;
  /** Messages that control has not acknowledged. */
  readonly unackedCount: number;
  /** Messages that were lost because the spool was full. */
  readonly droppedMessages: number;
  /** May be handed on by itself. */
  readonly send: (message: ToControl) => void;
  /** Resolves with control's answer, or with 503 after 3 s without one. */
  claim(claim: ClaimRequest): Promise<ClaimAnswer>;
  /** Resolves when all is acknowledged, or after `limitMs`. */
  flush(limitMs: number): Promise<void>;
  close(): void;
}

interface PendingClaim {
  requestId: number;
  claim: ClaimRequest;
  wasSent: boolean;
  settle(answer: ClaimAnswer): void;
}

export function createControlLink(options: ControlLinkOptions): ControlLink {
  return new Link(options);
}

class Link implements ControlLink {
  droppedMessages = 0;
  readonly #options: ControlLinkOptions;
  readonly #reliable: ReliableLink<ToControl, ToMedia>;
  readonly #claims = new Map<number, PendingClaim>();
  #socket: Socket | null = null;
  #received: Buffer[] = [];
  #receivedBytes = 0;
  #isConnected = false;
  #wasTold = false;
  readonly #retries = createBackoff(RETRY_PAUSES);
  #nextRequestId = 1;
  #closed = false;
  #cancelRetry: () => void = () => {};
  #cancelAck: () => void = () => {};

  constructor(options: ControlLinkOptions) {
    this.#options = options;
    this.#reliable = new ReliableLink<ToControl, ToMedia>({
      runId: randomUUID(),
      capacity: SPOOL_MESSAGES,
      mostLineBytes: MOST_LINE_BYTES.toControl,
      tooLong: ({ type }, lineBytes) =>
        options.log.error({ type, lineBytes }, 'a message to control is too long and is given up'),
      write: (line) => this.#write(line),
      receive: (message) => this.#receive(message),
      peerRestarted: () => options.controlRestarted?.(),
    });
    this.#connect();
    this.#cancelAck = every(options.clock, ACK_EVERY_MS, () => this.#reliable.ackNow());
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  get unackedCount(): number {
    return this.#reliable.unackedCount;
  }

  readonly send = (message: ToControl): void => {
    if (this.#closed) return;
    // They are true now or not at all.
    if (TRUE_NOW.has(message.type) && !this.#isConnected) return;
    const isSpoolFull = message.type === 'live' && this.unackedCount >= EVENT_SPOOL_MESSAGES;
    if (isSpoolFull || !this.#reliable.send(message)) {
      this.droppedMessages++;
      if (this.droppedMessages === 1) {
        this.#options.log.error({ unacked: this.unackedCount }, 'the spool to control is full: messages are lost');
      }
    }
  };

  claim(claim: ClaimRequest): Promise<ClaimAnswer> {
    return new Promise((resolve) => {
      const requestId = this.#nextRequestId++;
      const cancel = this.#options.clock.after(CLAIM_LIMIT_MS, () =>
        pending.settle({ ok: false, httpStatus: 503, why: `control did not answer in ${CLAIM_LIMIT_MS} ms` }),
      );
      const pending: PendingClaim = {
        requestId,
        claim,
        wasSent: false,
        settle: (answer) => {
          if (!this.#claims.delete(requestId)) return;
          cancel();
          resolve(answer);
        },
      };
      this.#claims.set(requestId, pending);
      this.#sendClaims();
    });
  }

  async flush(limitMs: number): Promise<void> {
    const { clock } = this.#options;
    const untilMs = clock.nowMs() + limitMs;
    while (this.unackedCount > 0 && clock.nowMs() < untilMs && !this.#closed) {
      await pause(clock, 20);
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelRetry();
    this.#cancelAck();
    for (const pending of [...this.#claims.values()]) {
      pending.settle({ ok: false, httpStatus: 503, why: 'the process is closing' });
    }
    this.#lost();
  }

  #connect(): void {
    const socket = connect(this.#options.socketPath);
    this.#socket = socket;
    socket.on('connect', () => {
      this.#isConnected = true;
      this.#retries.reset();
      this.#options.log.info({ unacked: this.unackedCount }, 'connected to control');
      this.#wasTold = false;
      this.#reliable.connected();
      this.#reliable.send(this.#options.hello());
      this.#sendClaims();
    });
    socket.on('data', (data) => this.#onData(data));
    socket.on('error', (error) => this.#tellOnce(error.message));
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.#tellOnce('the connection was closed');
      this.#lost();
      this.#retry();
    });
  }

  #retry(): void {
    if (this.#closed) return;
    this.#cancelRetry = this.#options.clock.after(this.#retries.nextMs(), () => this.#connect());
  }

  #lost(): void {
    this.#isConnected = false;
    this.#reliable.disconnected();
    this.#received = [];
    this.#receivedBytes = 0;
    const socket = this.#socket;
    this.#socket = null;
    socket?.destroy();
    // A claim that was under way may have burned its token: its answer can still come, by the numbered link.
  }

  #tellOnce(why: string): void {
    if (this.#wasTold || this.#closed) return;
    this.#wasTold = true;
    this.#options.log.warn({ why }, 'no connection to control; calls go on, and this side keeps trying');
  }

  #sendClaims(): void {
    if (!this.#isConnected) return;
    for (const pending of this.#claims.values()) {
      if (pending.wasSent) continue;
      pending.wasSent = true;
      if (!this.#reliable.send({ type: 'claim', requestId: pending.requestId, claim: pending.claim })) {
        pending.settle({ ok: false, httpStatus: 503, why: 'the spool to control is full' });
      }
    }
  }

  #write(line: string): void {
    const socket = this.#socket;
    if (socket === null) return;
    socket.write(`${line}\n`);
    if (socket.writableLength > MAX_UNSENT_BYTES) socket.destroy(new Error('control reads nothing any more'));
  }

  #onData(data: Buffer): void {
    let rest = data;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      this.#received.push(rest.subarray(0, end));
      const line = Buffer.concat(this.#received).toString('utf8');
      this.#received = [];
      this.#receivedBytes = 0;
      rest = rest.subarray(end + 1);
      try {
        this.#reliable.receiveLine(line);
      } catch (error) {
        this.#options.log.error({ err: error }, 'a line from control could not be handled; connecting anew');
        this.#socket?.destroy();
        return;
      }
      if (this.#socket === null) return;
    }
    if (rest.length > 0) this.#received.push(rest);
    this.#receivedBytes += rest.length;
    if (this.#receivedBytes > MOST_LINE_BYTES.toMedia)
      this.#socket?.destroy(new Error('a line from control has no end'));
  }

  #receive(message: ToMedia): void {
    if (message.type !== 'claim.answer') {
      this.#options.receive(message);
      return;
    }
    const pending = this.#claims.get(message.requestId);
    if (pending !== undefined) {
      pending.settle(message.answer);
      return;
    }
    // Too late for its socket. If it was a yes, the call was given to us: say at once that nothing will come of it.
    if (!message.answer.ok) return;
    const { callUuid, epoch } = message.answer.setup;
    this.send({ type: 'media.stopped', callUuid, epoch, why: 'socket_closed', durationMs: 0, latencies: [] });
  }
}
