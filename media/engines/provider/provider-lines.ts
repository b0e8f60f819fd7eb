/**
 * The pipeline's end of lines to the provider threads. An engine that uses a connection makes one `ProviderLines` with
 * the way to the port of now, and opens a line for each use. When the thread dies its lines are over with `failed`, and
 * new ones go to its successor; a request of which nothing had come waits for it.
 */
import type { MessagePort, Transferable } from 'node:worker_threads';
import { type Clock, systemClock } from '../../contract/clock.ts';
import type { CallUse } from '../../contract/engine-kinds.ts';
import type { ProviderFault } from '../../contract/model.ts';
import type { FromProvider, ToProvider } from './provider-messages.ts';

export interface LineListener {
  /** Later, never from within `open` or `say`. */
  said(body: unknown): void;
  /** Once, and nothing after it; not where the pipeline closed the line. */
  over(fault: ProviderFault | null, message: string): void;
}

export interface ProviderLine {
  say(body: unknown, transfer?: readonly Transferable[]): void;
  /** Idempotent. */
  close(): void;
}

export class ProviderLines {
  readonly #portNow: () => MessagePort;
  readonly #service: string;
  readonly #clock: Clock;
  #client: PortClient | null = null;

  /** `service`: by its name in `services.ts`. */
  constructor(portNow: () => MessagePort, service: string, clock: Clock = systemClock) {
    this.#portNow = portNow;
    this.#service = service;
    this.#clock = clock;
  }

  /** As `open`, for one request: where the thread dies before a word of the answer, its successor is asked. */
  request(use: CallUse, body: unknown, listener: LineListener): ProviderLine {
    let line: ProviderLine;
    let hasSpoken = false;
    let untilMs = Number.NaN;
    let cancel = (): void => {};
    const ask = (): void => {
      line = this.open(use, body, {
        said: (said) => {
          hasSpoken = true;
          listener.said(said);
        },
        over: (fault, message) => {
          const nowMs = this.#clock.nowMs();
          if (Number.isNaN(untilMs)) untilMs = nowMs + SUCCESSOR_WITHIN_MS;
          if (message !== GONE || hasSpoken || nowMs >= untilMs) listener.over(fault, message);
          else cancel = this.#clock.after(ASKED_AGAIN_AFTER_MS, again);
        },
      });
    };
    const again = (): void => {
      try {
        ask();
      } catch (error) {
        listener.over('failed', (error as Error).message);
      }
    };
    ask();
    return {
      say: (said, transfer) => line.say(said, transfer),
      close: () => {
        cancel();
        line.close();
      },
    };
  }

  /** `body`: the service's own opening. Throws where there are no provider threads. */
  open(use: CallUse, body: unknown, listener: LineListener): ProviderLine {
    const port = this.#portNow();
    if (this.#client?.port !== port) this.#client = clientOf(port);
    return this.#client.open(this.#service, use, body, listener);
  }
}

/** From a thread's death until its successor serves: some 0.5 s, more where the machine is busy. */
const SUCCESSOR_WITHIN_MS = 2_500;
const ASKED_AGAIN_AFTER_MS = 100;

/** All engines of a thread share its port. */
const clients = new WeakMap<MessagePort, PortClient>();

function clientOf(port: MessagePort): PortClient {
  const known = clients.get(port);
  if (known !== undefined) return known;
  const client = new PortClient(port);
  clients.set(port, client);
  return client;
}

class PortClient {
  readonly port: MessagePort;
  readonly #listeners = new Map<number, LineListener>();
  /** What all lines say in one go of the thread is one message. */
  #waiting: ToProvider[] = [];
  #transfers: Transferable[] = [];
  #lastLine = 0;
  #isGone = false;

  constructor(port: MessagePort) {
    this.port = port;
    port.on('message', (message: FromProvider) => this.#heard(message));
    port.on('close', () => this.#gone());
    port.unref();
  }

  open(service: string, use: CallUse, body: unknown, listener: LineListener): ProviderLine {
    const line = ++this.#lastLine;
    this.#listeners.set(line, listener);
    const { callUuid, connection, settings } = use;
    if (this.#isGone) queueMicrotask(() => this.#end(line, 'failed', GONE));
    else this.#post({ type: 'open', line, service, callUuid, connection: connection ?? '', settings, body });
    this.port.ref();
    return {
      say: (said, transfer = []) => {
        if (this.#listeners.has(line)) this.#post({ type: 'say', line, body: said }, transfer);
      },
      close: () => {
        if (!this.#forget(line)) return;
        this.#post({ type: 'close', line });
      },
    };
  }

  #post(message: ToProvider, transfer: readonly Transferable[] = []): void {
    if (this.#waiting.push(message) === 1) queueMicrotask(() => this.#flush());
    this.#transfers.push(...transfer);
  }

  #flush(): void {
    this.port.postMessage(this.#waiting, this.#transfers);
    this.#waiting = [];
    this.#transfers = [];
  }

  #heard(message: FromProvider): void {
    if (message.type === 'over') this.#end(message.line, message.fault, message.message);
    else this.#listeners.get(message.line)?.said(message.body);
  }

  #end(line: number, fault: ProviderFault | null, message: string): void {
    const listener = this.#listeners.get(line);
    if (this.#forget(line)) listener?.over(fault, message);
  }

  #forget(line: number): boolean {
    const wasOpen = this.#listeners.delete(line);
    if (this.#listeners.size === 0) this.port.unref();
    return wasOpen;
  }

  #gone(): void {
    this.#isGone = true;
    for (const line of [...this.#listeners.keys()]) this.#end(line, 'failed', GONE);
  }
}

const GONE = 'the provider thread is gone';
