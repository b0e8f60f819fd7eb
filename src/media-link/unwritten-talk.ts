/**
 * What media processes have said of calls and control has not yet written, asked by whoever reads or ends a call: as
 * somebody asks, it is written now, at the node that carries the call too. Made in `control.ts`, of the link server's
 * runs and those of other nodes.
 */
import { type Clock, pause } from '../../media/contract/clock.ts';

export interface UnwrittenTalk {
  /** Of all calls; waits for nothing. */
  hurry(): void;
  /** Resolves when all of this call is written that was said before; at the limit all the same. Never rejects. */
  allWritten(callUuid: string, limitMs?: number): Promise<void>;
}

/** For other nodes that ask. */
export interface UnwrittenHere {
  /** As `allWritten`, of what this node's processes have said. */
  writtenHere(callUuid: string, limitMs?: number): Promise<void>;
}

/** Where other nodes' processes are asked. */
export interface UnwrittenElsewhere {
  hurry(): void;
  /** Within `limitMs`. Never rejects. */
  written(callUuid: string, limitMs: number): Promise<void>;
}

/** A claim is answered within 3 s, or refused. */
const LIMIT_MS = 2_000;
const POLL_MS = 10;

export function createUnwrittenTalk(deps: {
  clock: Clock;
  hurry(): void;
  /** Something is not written yet; it is now. */
  hasUnwritten(callUuid: string): boolean;
  /** Absent: there are no other nodes. */
  elsewhere?: UnwrittenElsewhere;
}): UnwrittenTalk & UnwrittenHere {
  const { clock, hasUnwritten, elsewhere } = deps;

  async function writtenHere(callUuid: string, limitMs = LIMIT_MS): Promise<void> {
    for (const untilMs = clock.nowMs() + limitMs; hasUnwritten(callUuid); ) {
      if (clock.nowMs() >= untilMs) return;
      await pause(clock, POLL_MS);
    }
  }

  return {
    hurry() {
      deps.hurry();
      elsewhere?.hurry();
    },
    async allWritten(callUuid, limitMs = LIMIT_MS) {
      await Promise.all([writtenHere(callUuid, limitMs), elsewhere?.written(callUuid, limitMs)]);
    },
    writtenHere,
  };
}
