/**
 * Whom control has vouched for lately: keys that were right, where they came from, and addresses of carriers' signed
 * callbacks. They get room of their own, and nothing else: control judges every request as before. Keys are kept as
 * hashes, each with the name of its workspace. Who was quiet longest is forgotten first.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../contract/clock.ts';

const KEY_FOR_MS = 3_600_000;
/** A carrier that had no call for a day is a stranger until its next callback has been checked. */
const CARRIER_FOR_MS = 86_400_000;
const MOST_KEYS = 10_000;
const MOST_CARRIERS = 1_000;
const MOST_CLIENTS = 10_000;

export class KnownClients {
  readonly #keys: Remembered;
  readonly #carriers: Remembered;
  readonly #clients: Remembered;

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#keys = new Remembered(clock, KEY_FOR_MS, MOST_KEYS);
    this.#carriers = new Remembered(clock, CARRIER_FOR_MS, MOST_CARRIERS);
    this.#clients = new Remembered(clock, KEY_FOR_MS, MOST_CLIENTS);
  }

  /** Who shares the key's room: its workspace. Null: the key is not known. */
  holderOfKey(keyName: string): string | null {
    return this.#keys.get(keyName);
  }

  hasCarrier(addressName: string): boolean {
    return this.#carriers.get(addressName) !== null;
  }

  /** A carrier, or a right key, has come from there. */
  hasAddress(addressName: string): boolean {
    return this.hasCarrier(addressName) || this.#clients.get(addressName) !== null;
  }

  vouchedKey(keyName: string, holder: string, addressName: string): void {
    this.#keys.add(keyName, holder);
    this.#clients.add(addressName, '');
  }

  vouchedCarrier(addressName: string): void {
    this.#carriers.add(addressName, '');
  }

  /** It was refused: revoked, expired or switched off. */
  forgetKey(keyName: string): void {
    this.#keys.forget(keyName);
  }
}

/** As control reads it: however it is spelled, a key is one. */
const BEARER = /^Bearer +(\S+)$/i;

/** The name under which a key is remembered; it tells nothing of the key. Null: control would find no key there. */
export function keyNameOf(authorization: string): string | null {
  const text = BEARER.exec(authorization)?.[1];
  return text === undefined ? null : createHash('sha256').update(text).digest('base64');
}

class Remembered {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #forMs: number;
  readonly #most: number;
  /** What is known of it, and when it is forgotten, in the order of last use. */
  readonly #known = new Map<string, { of: string; untilMs: number }>();

  constructor(clock: Pick<Clock, 'nowMs'>, forMs: number, most: number) {
    this.#clock = clock;
    this.#forMs = forMs;
    this.#most = most;
  }

  get(name: string): string | null {
    const known = this.#known.get(name);
    return known !== undefined && known.untilMs > this.#clock.nowMs() ? known.of : null;
  }

  add(name: string, of: string): void {
    this.#known.delete(name);
    this.#known.set(name, { of, untilMs: this.#clock.nowMs() + this.#forMs });
    if (this.#known.size > this.#most) this.#known.delete(this.#known.keys().next().value!);
  }

  forget(name: string): void {
    this.#known.delete(name);
  }
}
