/**
 * Connections that carry no socket of a call: who holds how many, so that one address, or many with a few each, cannot
 * take all file descriptors by holding connections on which nothing is asked. Up to `plenty` nobody is refused one;
 * beyond, each address may hold its equal part of that, and one that holds none always gets in.
 *
 * uWebSockets.js does not say whose connection has closed between two requests. It closes such a one itself within 12 s
 * (as `ws-server.ts` does), so one that waits for a request is counted for that long, or until a request comes.
 */
import { addressName } from '../../contract/address-name.ts';
import type { Clock } from '../../contract/clock.ts';
import type { ConnectionWatch } from '../socket-server/connection-watch.ts';

export interface ConnectionGateOptions {
  clock: Clock;
  /** Connections at once up to which nobody is refused. */
  plenty: number;
  /** Whoever is may hold as many as all strangers together: carriers, clients with a right key, trusted proxies. */
  isKnown(peer: string): boolean;
  refused(addressName: string): void;
}

interface Holder {
  /** Within a request. */
  busy: number;
  /** Wait for a request, by the age of their wait: the youngest first. */
  waiting: number[];
}

const AGE_STEP_MS = 4_000;
/** The last step may begin just before a connection's 12 s are over. */
const AGE_STEPS = 4;

export class ConnectionGate implements ConnectionWatch {
  readonly #options: ConnectionGateOptions;
  readonly #holders = new Map<string, Holder>();
  #count = 0;
  #cancel: (() => void) | null = null;

  constructor(options: ConnectionGateOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  opened(peer: string): boolean {
    const { plenty, isKnown, refused, clock } = this.#options;
    const name = addressName(peer);
    const holder = this.#holders.get(name);
    if (this.#count >= plenty && holder !== undefined) {
      const share = isKnown(peer) ? plenty : Math.max(1, Math.floor(plenty / this.#holders.size));
      if (heldBy(holder) >= share) {
        refused(name);
        return false;
      }
    }
    this.#wait(name, holder);
    this.#cancel ??= clock.after(AGE_STEP_MS, () => this.#age());
    return true;
  }

  asked(peer: string): void {
    const name = addressName(peer);
    const holder = this.#holders.get(name) ?? this.#make(name);
    if (!endWait(holder)) this.#count++;
    holder.busy++;
  }

  answered(peer: string): void {
    const name = addressName(peer);
    const holder = this.#holders.get(name);
    if (!this.#endRequest(holder)) return;
    this.#wait(name, holder);
  }

  gone(peer: string, wasAsking: boolean): void {
    const name = addressName(peer);
    const holder = this.#holders.get(name);
    if (holder === undefined) return;
    if (wasAsking) this.#endRequest(holder);
    else if (endWait(holder)) this.#count--;
    if (heldBy(holder) === 0) this.#holders.delete(name);
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #make(name: string): Holder {
    const holder: Holder = { busy: 0, waiting: new Array<number>(AGE_STEPS).fill(0) };
    this.#holders.set(name, holder);
    return holder;
  }

  #wait(name: string, holder: Holder | undefined): void {
    const { waiting } = holder ?? this.#make(name);
    waiting[0]! += 1;
    this.#count++;
  }

  #endRequest(holder: Holder | undefined): boolean {
    if (holder === undefined || holder.busy === 0) return false;
    holder.busy--;
    this.#count--;
    return true;
  }

  #age(): void {
    this.#cancel = null;
    for (const [name, holder] of this.#holders) {
      this.#count -= holder.waiting.pop() ?? 0;
      holder.waiting.unshift(0);
      if (heldBy(holder) === 0) this.#holders.delete(name);
    }
    if (this.#holders.size > 0) this.#cancel = this.#options.clock.after(AGE_STEP_MS, () => this.#age());
  }
}

function heldBy({ busy, waiting }: Holder): number {
  return waiting.reduce((sum, one) => sum + one, busy);
}

/**
 * Of those that wait the one that has waited longest, since which it was cannot be told: the count then ends too late,
 * never too early.
 */
function endWait({ waiting }: Holder): boolean {
  const at = waiting.findLastIndex((one) => one > 0);
  if (at < 0) return false;
  waiting[at]! -= 1;
  return true;
}
