/**
 * Who is struck, and when: a schedule drawn from a seed, so that a run can be repeated. Pure; `run.ts` carries it out. Every kind comes
 * at least once in a schedule, in a random order and at random moments.
 */

export type Strike =
  /** SIGKILL; the supervisor starts it again. */
  | { kind: 'control' | 'media' | 'database' | 'queue' }
  /** The receiver refuses connections, answers 500 or lets requests hang, for so long. */
  | { kind: 'receiver'; mode: 'refuse' | 'fail' | 'hang'; forMs: number };

export type ScheduledStrike = Strike & { atMs: number };

export function drawSchedule(
  random: () => number,
  options: { lengthMs: number; hasQueueServer: boolean },
): ScheduledStrike[] {
  const outage = (mode: 'refuse' | 'fail' | 'hang'): Strike => ({
    kind: 'receiver',
    mode,
    forMs: Math.round(options.lengthMs * (0.05 + 0.1 * random())),
  });
  const strikes: Strike[] = [
    { kind: 'control' },
    { kind: 'media' },
    { kind: 'database' },
    ...(options.hasQueueServer ? [{ kind: 'queue' } as const] : []),
    outage('refuse'),
    outage('fail'),
    outage('hang'),
  ];
  shuffle(strikes, random);
  // One in each equal part, anywhere in it: so they come apart, and yet may meet.
  const partMs = options.lengthMs / strikes.length;
  return strikes.map((strike, index) => ({ ...strike, atMs: Math.round((index + random()) * partMs) }));
}

function shuffle<Item>(items: Item[], random: () => number): void {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [items[last], items[other]] = [items[other]!, items[last]!];
  }
}
