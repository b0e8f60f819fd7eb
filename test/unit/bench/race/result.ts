import type { RungResult } from '../../../../bench/race/rung.ts';

/** A run that held. */
export function result(conversations: number, given: Partial<RungResult> = {}): RungResult {
  return {
    ...{
      subject: 'one',
      conversations,
      repetition: 1,
      cpuMs: 1,
      threadsMs: [1],
      coreShare: 0.5,
      memoryBytes: 0,
      idleBytes: 0,
    },
    ...{
      processes: 1,
      closedEarly: 0,
      otherShare: 0.2,
      sendLatenessP99Ms: 1,
      providersLatenessP99Ms: 1,
      intrudersShare: 0,
    },
    ...{ voidBecause: null, isAtRest: false },
    heard: {
      ...{ turns: 2, repliesMs: [900, 910], unanswered: 0, tooEarly: 0, silencedMs: [], talkedOver: 0 },
      ...{ lateMs: 0, playedMs: 5_000 },
    },
    ...given,
  };
}
