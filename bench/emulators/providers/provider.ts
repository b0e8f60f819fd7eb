/**
 * What an emulated provider is to the endpoint that serves it: how its keys come, what its refusals look like, and
 * what it answers. A provider implements `Provider`; the endpoint does TLS, sockets, keys, faults and the journal.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Timetable } from './timetable.ts';

export interface ProviderRequest {
  /** `deepgram-3`: also the name in the journal. */
  id: string;
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON. */
  body?: object | string | Buffer;
}

/** An object is sent as JSON, a text as it is, bytes as bytes (a binary message). */
export type Message = object | string | Buffer;

/** What requests and sockets have in common. */
export interface Exchange extends ProviderRequest {
  /** Latencies; closed when the exchange is over. */
  timetable: Timetable;
  /** Fires when the exchange is over, whoever ended it. */
  signal: AbortSignal;
  /** One message; to a request, one piece of the body. After the end it is dropped. */
  send(message: Message): void;
  /** Into the journal. */
  note(type: string, detail?: Record<string, unknown>): void;
}

export interface HttpExchange extends Exchange {
  /** The whole body. */
  body(): Promise<Buffer>;
  /** Before the first `send`; leaves with it. Default: 200 without headers. */
  head(status: number, headers?: Record<string, string>): void;
  end(): void;
  /** The connection ends, whatever was said. */
  breakOff(): void;
  /** `head`, `send` and `end` at once. */
  answer(answer: Answer): void;
}

export interface SocketExchange extends Exchange {
  /** Text comes as a string. One listener; set it before `open` returns. */
  onMessage(listener: (message: string | Buffer) => void): void;
  /** Without a code the close frame has none. */
  close(code?: number, reason?: string): void;
}

export type Upgrade =
  | { refuse: Answer }
  | {
      /** Of the answer to the upgrade. */
      headers?: Record<string, string>;
      /** Subprotocol to answer with. */
      protocol?: string;
      open(socket: SocketExchange): void;
    };

export interface Provider {
  /** `deepgram`: in ids and on the command line. */
  readonly name: string;
  /** The credential of a request; null when there is none. */
  keyOf(request: ProviderRequest): string | null;
  /** Refuses a credential that is missing, unknown or revoked. */
  unauthorized(request: ProviderRequest, key: string | null): Answer;
  /** Refuses because of a scripted `status`. The endpoint adds `retry-after`. */
  failure(request: ProviderRequest, status: number): Answer;
  /** The key of an open socket was revoked: tells it as the provider does. */
  revoked(socket: SocketExchange): void;
  /** The same message as though it belonged to another request. */
  foreign(message: Message): Message;
  request(exchange: HttpExchange): void | Promise<void>;
  /** Absent: the provider has no sockets. */
  upgrade?(request: ProviderRequest): Upgrade;
  /**
   * Of a provider that opens a socket although its key is none (or comes in the first message, where `key` is null):
   * what is opened then. Absent: the upgrade is refused by `unauthorized`.
   */
  unauthorizedUpgrade?(request: ProviderRequest, key: string | null, counts: (key: string) => boolean): Upgrade;
  /** What the journal keeps of a message of JSON: neither sound nor keys. Absent: all of it. */
  journaled?(message: unknown): unknown;
  /** `METHOD /emulator/…` of its own, with its JSON body: what to answer, or null for what it does not know. */
  control?(route: string, body: unknown): object | null;
  close?(): void | Promise<void>;
}
