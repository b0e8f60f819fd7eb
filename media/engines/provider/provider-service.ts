/**
 * What speaks a provider's protocol, in a provider thread: for each line one handler, made by the service that the line
 * names. Types only; `provider-desk.ts` opens and ends lines.
 */
import type { Transferable } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { Clock } from '../../contract/clock.ts';
import type { ConnectionGrant } from '../../contract/grant.ts';
import type { ProviderFault } from '../../contract/model.ts';
import type { UsageLine } from '../../contract/usage.ts';
import type { GuardedSocket, SocketListener, SocketRequest } from '../../net/guarded-socket.ts';
import type { GuardedStreams } from '../../net/guarded-stream.ts';

/** A line's end in the provider thread. */
export interface ServiceLine {
  readonly callUuid: string;
  readonly grant: ConnectionGrant;
  /** Sockets that calls may share are shared within this alone: a connection's version, of one workspace. */
  readonly pool: string;
  /** The agent's, for its engine. */
  readonly settings: Readonly<Record<string, unknown>>;
  say(body: unknown, transfer?: readonly Transferable[]): void;
  /** The line's last; nothing is said after it. Idempotent. `fault` null: in order. */
  end(fault?: ProviderFault | null, message?: string): void;
  /** For the call's cost; also after the line's end. */
  used(model: string, usage: readonly Pick<UsageLine, 'unit' | 'quantity' | 'speculative'>[]): void;
}

/** A throw of any of these ends the line with `failed`, not the thread. */
export interface LineHandler {
  heard?(body: unknown): void;
  /**
   * The line is over, by whomever but the handler itself: let go of everything at once. `isWithdrawn`: the call is over
   * or may not use the connection any more; false: the pipeline let go of the line, or died.
   */
  closed(isWithdrawn: boolean): void;
}

export interface ServiceDeps {
  clock: Clock;
  log: Logger;
  streams: GuardedStreams;
  openSocket(request: SocketRequest, listener: SocketListener): GuardedSocket;
}

export type ProviderService = (line: ServiceLine, body: unknown) => LineHandler;

export interface ServiceKind {
  /** By which engines open lines. */
  readonly name: string;
  /** A line is one request, whose end says how the connection fares. False: it stays as long as the call. */
  readonly isRequest: boolean;
  /** To which providers it speaks; of `ConnectionGrant`. */
  readonly providers: readonly string[];
  /** Once a thread, at the first line. */
  load(): Promise<(deps: ServiceDeps) => ProviderService>;
}
