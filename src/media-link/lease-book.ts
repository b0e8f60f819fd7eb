/**
 * How long the leases of one media process's calls still last, as far as this control knows: so that the second's word
 * of which calls it has costs a look here and not a statement. Where one runs short all are renewed together that could
 * be. Made by `media-peer.ts`, anew whenever somebody may have ended the leases: those that are named next are written
 * then. Wall time, as the rows have it: a clock that was set forward makes them short here as it does there.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { LEASE_MS } from '../calls/timers.ts';
import type { NamedCall } from './leases.ts';

/** A lease with less left than this is renewed: what holds up the renewals for so long costs no call its owner. */
const RENEW_WHEN_LEFT_MS = 15_000;
/** With it those that have less left than this, so that they are renewed together from then on. */
const TOGETHER_WHEN_LEFT_MS = 25_000;

export class LeaseBook {
  readonly #clock: Pick<Clock, 'epochMs'>;
  #leases = new Map<string, { epoch: number; untilEpochMs: number }>();

  constructor(clock: Pick<Clock, 'epochMs'>) {
    this.#clock = clock;
  }

  /** Claimed or renewed by a statement that was begun at that time. */
  written(calls: readonly NamedCall[], beganEpochMs: number): void {
    for (const { callUuid, epoch } of calls)
      this.#leases.set(callUuid, { epoch, untilEpochMs: beganEpochMs + LEASE_MS });
  }

  /** The process names the calls that it has: those whose leases are to be written now, often none. */
  due(named: readonly NamedCall[]): readonly NamedCall[] {
    const known = this.#leases;
    // What it does not name any more is over, or another's.
    this.#leases = new Map();
    for (const { callUuid } of named) {
      const lease = known.get(callUuid);
      if (lease !== undefined) this.#leases.set(callUuid, lease);
    }
    const nowEpochMs = this.#clock.epochMs();
    const leftMs = ({ callUuid, epoch }: NamedCall): number => {
      const lease = known.get(callUuid);
      return lease?.epoch === epoch ? lease.untilEpochMs - nowEpochMs : 0;
    };
    if (!named.some((call) => leftMs(call) < RENEW_WHEN_LEFT_MS)) return [];
    return named.filter((call) => leftMs(call) < TOGETHER_WHEN_LEFT_MS);
  }
}
