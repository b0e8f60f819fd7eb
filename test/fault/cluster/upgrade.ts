/**
 * From a version that knows nothing of nodes to this one, under calls: the new one comes beside the old one and brings
 * the database up to date, the old one drains, and comes back as the new one.
 */
import { type CallSeen, ended, place, talking } from './conversations.ts';
import { type FaultCase, joined, LATER_CALLS, stated } from './fault.ts';
import { allStored } from './stored-recordings.ts';
import { kept, type Verdict } from './verdicts.ts';

/** `calls` are on the victim, which is of the older version; nobody else runs. */
export async function upgraded({ cluster, victim, calls }: FaultCase): Promise<Verdict> {
  const next = cluster.nodes.find((node) => node !== victim)!;
  const beganMs = performance.now();
  await next.start();
  const startedMs = Math.round(performance.now() - beganMs);
  const later = await talking(cluster, await place(cluster, LATER_CALLS), { isOwned: false });
  const drained = victim.drain();
  const seen = await ended(cluster, calls);
  const laterSeen = await ended(cluster, later);
  const code = await drained;
  await victim.start();
  await cluster.whole();
  const last = await talking(cluster, await place(cluster, LATER_CALLS));
  const longestMs = Math.round(Math.max(...[...seen, ...laterSeen].map(silenceMs)));
  return joined(
    {
      lines: [
        `the new version was ready after ${startedMs} ms; the agent was silent between two sentences for ${longestMs} ms at most`,
      ],
      broken: [],
    },
    kept(seen, 'of the older version'),
    kept(laterSeen, 'placed while both ran'),
    stated(`the older version ended with ${code}`, code === 0),
    kept(await ended(cluster, last), 'placed after it'),
    await allStored(cluster, [...calls, ...later, ...last]),
  );
}

/** What the phone heard nothing of the agent for between two things that it said, the longest. */
function silenceMs({ phone }: CallSeen): number {
  const began = phone?.agentBegan ?? [];
  return Math.max(
    0,
    ...began.slice(1).map(({ atEpochMs, playedMs }, at) => {
      const { atEpochMs: beforeEpochMs, playedMs: beforePlayedMs } = began[at]!;
      return atEpochMs - beforeEpochMs - (playedMs - beforePlayedMs);
    }),
  );
}
