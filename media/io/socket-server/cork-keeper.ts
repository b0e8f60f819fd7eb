/**
 * Lets `uws-server.ts` finish an upgrade outside a callback of uWebSockets.js. Corked on its own response, the upgraded
 * socket may be cut at once (uNetworking/uWebSockets#1928, fixed after the version that runs on Node 20); not corked at
 * all, each upgrade prints a warning. Corked on another response, neither happens: so one request of ours to ourselves
 * is kept unanswered. Without it (not connected yet, or cut) upgrades work all the same, and the warning is printed.
 * The request comes in by a door of its own: several media processes share the public port, and the kernel gives it to
 * any of them.
 */
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** What is used of uWebSockets.js' HttpResponse. */
interface KeptResponse {
  cork(run: () => void): unknown;
  onAborted(run: () => void): unknown;
}

const RECONNECT_MS = 1000;
/** Whoever waits to serve is not kept longer: the request is a comfort, not a need. */
const START_LIMIT_MS = 2000;
const DOOR_HOST = '127.0.0.1';

/** A listening socket of the same server that nobody else shares. */
export interface Door {
  port: number;
  /** No more connections; those that stand stay. */
  close(): void;
}

export class CorkKeeper {
  /** Nobody else can know it. */
  readonly #path = `/${randomUUID()}`;
  #kept: KeptResponse | null = null;
  #client: Socket | null = null;
  #retry: NodeJS.Timeout | null = null;
  #closed = false;

  /** Later on it sees to itself. */
  get isStarted(): boolean {
    return this.#client !== null;
  }

  /**
   * Resolves when the request is kept, or could not be made. `open` listens on a free port of the host it is given;
   * null: it cannot.
   */
  start(open: (host: string) => Door | null): Promise<void> {
    return new Promise((resolve) => {
      const door = open(DOOR_HOST);
      if (door === null) {
        resolve();
        return;
      }
      const client = connect({ host: DOOR_HOST, port: door.port });
      this.#client = client;
      client.unref();
      const limit = setTimeout(() => client.destroy(), START_LIMIT_MS);
      client.on('error', () => {});
      client.on('connect', () => client.write(`GET ${this.#path} HTTP/1.1\r\nhost: localhost\r\n\r\n`));
      client.on('close', () => {
        clearTimeout(limit);
        shut();
        this.#kept = null;
        if (this.#closed) return;
        this.#retry = setTimeout(() => void this.start(open), RECONNECT_MS);
        this.#retry.unref();
      });
      let isShut = false;
      const shut = (): void => {
        if (isShut) return;
        isShut = true;
        if (!this.#closed) door.close();
        resolve();
      };
      this.#onKept = () => {
        clearTimeout(limit);
        shut();
      };
    });
  }

  /** True when the request is ours: it is kept, and must not be answered. */
  takes(url: string, response: KeptResponse): boolean {
    if (url !== this.#path || this.#closed) return false;
    this.#kept = response;
    response.onAborted(() => {
      if (this.#kept === response) this.#kept = null;
    });
    this.#onKept();
    return true;
  }

  run(upgrade: () => void): void {
    if (this.#kept === null) upgrade();
    else this.#kept.cork(upgrade);
  }

  close(): void {
    this.#closed = true;
    this.#kept = null;
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#client?.destroy();
  }

  #onKept: () => void = () => {};
}
