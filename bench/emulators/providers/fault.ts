/**
 * Bad days of an emulated provider. A fault is scripted before it is needed: it waits for the next exchange (a request
 * or a socket) whose path it names, and strikes it when so many messages have left. Or it is made to strike what is
 * open now. The endpoint asks here once an exchange.
 */
import { z } from 'zod';

export const faultSchema = z.strictObject({
  kind: z.enum([
    /** Nothing leaves any more; the peer is alive (answers pings, reads). */
    'stall',
    /** The connection is reset (TCP RST). */
    'reset',
    /** The peer is gone and nobody told: nothing leaves, nothing is read, pings have no answer. */
    'half_open',
    /** The request or the upgrade is refused with `status`. */
    'status',
    /** One message that is none. */
    'garbage',
    /** Bytes leave `bytesPerSecond` at a time. */
    'slow_drip',
    /** The key counts no longer: refused at a request or upgrade, and told as the provider does on an open socket. */
    'revoked_key',
    /** The provider closes the socket with `code` and `reason`; a request's connection ends in the middle. */
    'close',
    /** Each message is one that belongs to another request. */
    'foreign_answer',
    /** Each message has a field that is not known, and one of an unknown kind comes behind it. */
    'newer_protocol',
  ]),
  /** A part of the path, `/v1/listen`. Default: any. */
  on: z.string().default(''),
  /** Messages of the exchange that leave before it strikes. */
  afterMessages: z.int().nonnegative().default(0),
  /** Of a socket: strikes before the upgrade is answered. A stall there is one of the handshake. */
  beforeUpgrade: z.boolean().default(false),
  /** So many exchanges are struck. */
  times: z.int().positive().default(1),
  /** Of `status`: 429 or 5xx as a rule. */
  status: z.int().min(400).max(599).default(503),
  retryAfterSeconds: z.int().nonnegative().optional(),
  /** Of what is open and struck now: one alone, by its place among them (0 the oldest, 1 the newest). Default: all. */
  pick: z.number().min(0).max(1).optional(),
  /** Of `close`. */
  code: z.int().default(1011),
  reason: z.string().default(''),
  /** Of `slow_drip`. */
  bytesPerSecond: z.int().positive().default(64),
});

export type Fault = z.output<typeof faultSchema>;
export type FaultInput = z.input<typeof faultSchema>;

export class FaultScript {
  readonly #waiting: Fault[] = [];

  add(...faults: FaultInput[]): void {
    for (const fault of faults) this.#waiting.push(faultSchema.parse(fault));
  }

  /** The first that names this path; used up when its times are. */
  take(path: string): Fault | null {
    const at = this.#waiting.findIndex((fault) => path.includes(fault.on));
    const fault = this.#waiting[at];
    if (fault === undefined) return null;
    if (--fault.times <= 0) this.#waiting.splice(at, 1);
    return fault;
  }

  clear(): void {
    this.#waiting.length = 0;
  }
}
