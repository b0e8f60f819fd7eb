/**
 * The way out of one exchange, where its fault strikes: counts what leaves, and from the scripted message on does what
 * the fault says. Made by the endpoint once a request and once a socket.
 */
import type { Socket } from 'node:net';
import type { Fault } from './fault.ts';
import { newerProtocol } from './newer-protocol.ts';
import type { Message } from './provider.ts';

/** A request's or a socket's own way of doing what an outlet decides. */
export interface Wire {
  write(data: string | Buffer): void;
  /** The connection below TLS. */
  readonly raw: Socket;
  /** What bytes are written to: TLS. */
  readonly secure: Socket;
  /** Something that is no message here, in the place of `data`. */
  garbage(data: string | Buffer): string | Buffer;
  foreign(message: Message): Message;
  revoke(): void;
  close(code: number, reason: string): void;
  note(type: string, detail?: Record<string, unknown>): void;
}

const DRIP_EVERY_MS = 50;

export class Outlet {
  readonly #wire: Wire;
  #fault: Fault | null;
  #sent = 0;
  #isSilent = false;
  #isForeign = false;
  #isNewer = false;
  #garbageIsDue = false;

  constructor(wire: Wire, fault: Fault | null) {
    this.#wire = wire;
    this.#fault = fault;
  }

  /** Nothing leaves any more, not even an end. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** Call when the exchange is open: a fault that waits for no message strikes here. */
  opened(): void {
    if (this.#fault !== null && this.#fault.afterMessages <= this.#sent) this.strike(this.#fault);
  }

  send(message: Message): void {
    if (this.#isSilent) return;
    const own = this.#isForeign ? this.#wire.foreign(message) : message;
    for (const one of this.#isNewer ? newerProtocol(own) : [own]) this.#write(one);
    this.#sent++;
    this.opened();
  }

  #write(message: Message): void {
    const data = typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message);
    const isGarbage = this.#garbageIsDue;
    this.#garbageIsDue = false;
    this.#wire.write(isGarbage ? this.#wire.garbage(data) : data);
  }

  strike(fault: Fault): void {
    this.#fault = null;
    this.#wire.note('fault', { kind: fault.kind, afterMessages: this.#sent });
    switch (fault.kind) {
      case 'stall':
        this.#isSilent = true;
        return;
      case 'half_open':
        this.#isSilent = true;
        this.#wire.secure.pause();
        this.#wire.raw.pause();
        this.#wire.secure.write = () => true;
        return;
      case 'reset':
        this.#isSilent = true;
        this.#wire.raw.resetAndDestroy();
        return;
      case 'garbage':
        this.#garbageIsDue = true;
        return;
      case 'slow_drip':
        drip(this.#wire.secure, fault.bytesPerSecond);
        return;
      case 'revoked_key':
        this.#wire.revoke();
        return;
      case 'close':
        this.#wire.close(fault.code, fault.reason);
        this.#isSilent = true;
        return;
      case 'foreign_answer':
        this.#isForeign = true;
        return;
      case 'newer_protocol':
        this.#isNewer = true;
        return;
      case 'status':
        // Answered before there was an outlet; an open exchange has its status.
        return;
    }
  }
}

/** From here on, what is written to the socket leaves so many bytes a second, and its end waits for them. */
function drip(socket: Socket, bytesPerSecond: number): void {
  const write = socket.write.bind(socket);
  const end = socket.end.bind(socket);
  let waiting = Buffer.alloc(0);
  let allowance = 0;
  let hasEnded = false;
  const timer = setInterval(() => {
    allowance = Math.min(allowance + (bytesPerSecond * DRIP_EVERY_MS) / 1000, bytesPerSecond);
    const bytes = Math.min(Math.floor(allowance), waiting.length);
    if (bytes > 0) write(waiting.subarray(0, bytes));
    allowance -= bytes;
    waiting = waiting.subarray(bytes);
    if (hasEnded && waiting.length === 0) {
      clearInterval(timer);
      end();
    }
  }, DRIP_EVERY_MS);
  socket.once('close', () => clearInterval(timer));
  type Done = (error?: Error | null) => void;
  const take = (data: string | Uint8Array, encoding?: BufferEncoding | Done, done?: Done): boolean => {
    const bytes = typeof data === 'string' ? Buffer.from(data, typeof encoding === 'string' ? encoding : 'utf8') : data;
    waiting = Buffer.concat([waiting, bytes]);
    const written = typeof encoding === 'function' ? encoding : done;
    if (typeof written === 'function') queueMicrotask(() => written());
    return true;
  };
  socket.write = take as Socket['write'];
  socket.end = (() => {
    hasEnded = true;
    return socket;
  }) as Socket['end'];
}
