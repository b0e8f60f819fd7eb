/**
 * Requests whose body is still on its way: they take no room among those that are worked on, and they may not stay. A
 * body gets some seconds, and more only as it grows. Where there is no room for a newcomer, the oldest body of whoever
 * has most of them goes, so a body that comes at the speed of an ordinary client is never in the way of being cut by
 * those that come slowly.
 */
import type { Clock } from '../../contract/clock.ts';
import type { Entry } from './room.ts';

export interface OpenBody {
  readonly holder: string;
  readonly beganAtMs: number;
  /** That have come. */
  readonly bytes: number;
  /** It is not read now, because what takes it is full: its silence is ours. */
  readonly isPaused: boolean;
  /** It has been taken out, and its request is to be refused. */
  cut(why: 'slow' | 'outnumbered'): void;
}

export interface OpenBodiesOptions {
  clock: Clock;
  total: number;
  each: number;
  /** Until it must be whole, or have grown by `LEAST_BYTES_PER_SECOND`. */
  firstMs: number;
}

/** As uWebSockets.js demands it by itself, of its own clock of 10 s. */
export const LEAST_BYTES_PER_SECOND = 16 * 1024;
const LOOK_EVERY_MS = 250;
/** Younger than this a body is an ordinary one and gives way to no other of its holder. */
const YOUNG_MS = 1_000;

export class OpenBodies {
  readonly #options: OpenBodiesOptions;
  /** Each holder's in the order in which they began. */
  readonly #byHolder = new Map<string, Set<OpenBody>>();
  #count = 0;
  #cancelLook: (() => void) | null = null;

  constructor(options: OpenBodiesOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  begin(body: OpenBody): Entry {
    const { each, total } = this.#options;
    const held = this.#byHolder.get(body.holder)?.size ?? 0;
    if (held >= each && !this.#cutOldestOf(body.holder, YOUNG_MS)) return 'holder_full';
    if (this.#count >= total && !this.#makeRoomFor(held)) return 'full';
    const bodies = this.#byHolder.get(body.holder);
    if (bodies === undefined) this.#byHolder.set(body.holder, new Set([body]));
    else bodies.add(body);
    this.#count++;
    this.#cancelLook ??= this.#options.clock.after(LOOK_EVERY_MS, () => this.#look());
    return 'entered';
  }

  /** Whole, or gone. Ending twice is fine. */
  end(body: OpenBody): void {
    const bodies = this.#byHolder.get(body.holder);
    if (bodies === undefined || !bodies.delete(body)) return;
    this.#count--;
    if (bodies.size === 0) this.#byHolder.delete(body.holder);
  }

  close(): void {
    this.#cancelLook?.();
    this.#cancelLook = null;
  }

  #makeRoomFor(held: number): boolean {
    let fattest = '';
    let most = 0;
    for (const [holder, { size }] of this.#byHolder) {
      if (size <= most) continue;
      fattest = holder;
      most = size;
    }
    return this.#cutOldestOf(fattest, most > held + 1 ? 0 : YOUNG_MS);
  }

  #cutOldestOf(holder: string, leastAgeMs: number): boolean {
    const [oldest] = this.#byHolder.get(holder) ?? [];
    if (oldest === undefined || this.#options.clock.nowMs() - oldest.beganAtMs < leastAgeMs) return false;
    this.end(oldest);
    oldest.cut('outnumbered');
    return true;
  }

  #look(): void {
    this.#cancelLook = null;
    const nowMs = this.#options.clock.nowMs();
    for (const bodies of this.#byHolder.values()) {
      for (const body of bodies) {
        const mayTakeMs = this.#options.firstMs + (body.bytes / LEAST_BYTES_PER_SECOND) * 1_000;
        if (body.isPaused || nowMs - body.beganAtMs < mayTakeMs) continue;
        this.end(body);
        body.cut('slow');
      }
    }
    if (this.#count > 0) this.#cancelLook = this.#options.clock.after(LOOK_EVERY_MS, () => this.#look());
  }
}
