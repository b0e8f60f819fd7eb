/**
 * Lets `uws-server.ts` finish an upgrade outside a callback of uWebSockets.js. Corked on its own response, the upgraded socket may
 * be cut at once (uNetworking/uWebSockets#1928, fixed after the version that runs on Node 20); not corked at all, each upgrade
 * prints a warning. Corked on another response, neither happens: so one request of ours to ourselves is kept unanswered.
 * Without it (not connected yet, or cut) upgrades work all the same, and the warning is printed.
 */
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** What is used of uWebSockets.js' HttpResponse. */
interface KeptResponse {
  cork(run: () => void): unknown;
  onAborted(run: () => void): unknown;
}

const RECONNECT_MS = 1000;
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export class CorkKeeper {
  /** Nobody else can know it. */
  readonly #path = `/${randomUUID()}`;
  #kept: KeptResponse | null = null;
  #client: Socket | null = null;
  #retry: NodeJS.Timeout | null = null;
  #closed = false;

  /** Resolves when the request is kept, or could not be made. */
  start(host: string, port: number): Promise<void> {
    return new Promise((resolve) => {
      const client = connect({ host: LOOPBACK[host] ?? host, port });
      this.#client = client;
      client.unref();
      client.on('error', () => resolve());
      client.on('connect', () => client.write(`GET ${this.#path} HTTP/1.1\r\nhost: localhost\r\n\r\n`));
      client.on('close', () => {
        this.#kept = null;
        resolve();
        if (this.#closed) return;
        this.#retry = setTimeout(() => void this.start(host, port), RECONNECT_MS);
        this.#retry.unref();
      });
      this.#onKept = resolve;
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
