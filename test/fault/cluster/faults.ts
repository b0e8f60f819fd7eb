/**
 * What may happen under conversations, and here what happens to a node: its operations are asked for elsewhere and it
 * drains, it is killed, its cable is pulled, it stands still, it is cut off from PostgreSQL or Redis alone, Redis
 * forgets everything.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { percentiles } from '../../../bench/harness/percentile.ts';
import type { Cluster } from './cluster.ts';
import { ended, place, type TalkingCall, talking } from './conversations.ts';
import {
  afterMoving,
  CUT_MS,
  type Fault,
  type FaultCase,
  joined,
  LATER_CALLS,
  RESET_WORD_MS,
  SILENT_WORD_MS,
} from './fault.ts';
import { clockAhead, killedAhead, olderComes, othersKilled, refused } from './joining.ts';
import { allToDead, allToOne, diskFull, failedOver, stopVictim, storeAway } from './surroundings.ts';
import { upgraded } from './upgrade.ts';
import { kept, type Verdict } from './verdicts.ts';

const COMMAND_P99_MS = 50;
const COMMANDS = 100;

export const FAULTS: readonly Fault[] = [
  { name: 'commands at the other node, then a drain', isQuick: true, run: drained },
  { name: 'killed: sockets are reset', isQuick: true, run: killed },
  { name: 'cable pulled: nothing is reset', needs: 'cables', isQuick: true, run: unplugged },
  { name: 'stands still for 20 s', isQuick: false, run: stoodStill },
  { name: 'cut off from PostgreSQL alone for 20 s', isQuick: true, run: (met) => cutOff(met, 'toDatabase') },
  { name: 'cut off from Redis alone for 20 s', isQuick: false, run: (met) => cutOff(met, 'toRedis') },
  { name: 'Redis forgets everything', isQuick: false, run: forgotten },
  { name: 'nodes that may not join', isQuick: true, run: refused },
  { name: 'the balancer sends everything to one node', isQuick: false, run: allToOne },
  { name: 'the balancer sends everything to a dead node', isQuick: false, prepare: stopVictim, run: allToDead },
  { name: 'the disk is full for 20 s', needs: 'disks', isQuick: false, run: diskFull },
  { name: 'the object store is away', isQuick: false, run: storeAway },
  { name: 'clock 30 s ahead, killed', needs: 'libfaketime', isQuick: false, prepare: clockAhead, run: killedAhead },
  {
    name: 'clock 30 s ahead, the other killed',
    needs: 'libfaketime',
    isQuick: false,
    prepare: clockAhead,
    run: othersKilled,
  },
  { name: 'an older version comes', needs: 'an older version', isQuick: false, run: olderComes },
];

/** With a replica of the database. */
export const DATABASE_FAULTS: readonly Fault[] = [
  { name: 'PostgreSQL fails over to its replica', isQuick: false, run: failedOver },
];

/** Of two nodes the victim is of an older version, and the other one has not been started. */
export const UPGRADES: readonly Fault[] = [
  { name: 'upgrade under calls', needs: 'an older version', isQuick: false, run: upgraded },
];

async function drained({ cluster, victim, calls }: FaultCase): Promise<Verdict> {
  const commands = [await commanded(cluster, calls, 'here'), await commanded(cluster, calls, 'elsewhere')];
  const gone = victim.drain();
  await wait(1_000);
  const later = await talking(cluster, await place(cluster, LATER_CALLS));
  const stray = later.filter(({ node }) => node === victim.name);
  const seen = await ended(cluster, calls);
  const code = await gone;
  const verdict = kept(seen, 'while a node drained');
  const after = kept(await ended(cluster, later), 'placed meanwhile');
  await victim.start();
  return joined(...commands, verdict, after, {
    lines: [`the drained node ended with ${code}`],
    broken: [
      ...(code === 0 ? [] : [`the drained node ended with ${code}`]),
      ...(stray.length === 0 ? [] : [`${stray.length} new calls landed in the node that drains`]),
    ],
  });
}

/**
 * One after the other, at the node that carries the call, for comparison, or at one that does not; a command that
 * changes nothing of what is heard.
 */
async function commanded(
  cluster: Cluster,
  calls: readonly TalkingCall[],
  where: 'here' | 'elsewhere',
): Promise<Verdict> {
  const tookMs: number[] = [];
  const refused: string[] = [];
  for (let command = 0; command < COMMANDS; command++) {
    const { callUuid, node } = calls[command % calls.length]!;
    const at = cluster.nodes.find(({ name }) => (name === node) === (where === 'here'))!;
    const askedAtMs = performance.now();
    const answer = await fetch(`${at.url}/api/developer/calls/${callUuid}/control`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cluster.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ action: 'unmute_agent' }),
    });
    const said = await answer.text();
    tookMs.push(performance.now() - askedAtMs);
    if (answer.status !== 200) refused.push(`a command to ${callUuid} at ${at.name}: ${answer.status} ${said}`);
  }
  const [p50, p99, most] = percentiles(tookMs, [0.5, 0.99, 1]).map(Math.round);
  return {
    lines: [
      `${COMMANDS} commands at a node ${where === 'here' ? 'with' : 'without'} the call: p50 ${p50} ms, p99 ${p99} ms, longest ${most} ms`,
    ],
    broken: [
      ...refused.slice(0, 3),
      ...(where === 'here' || p99! <= COMMAND_P99_MS
        ? []
        : [`commands at the other node took p99 ${p99} ms, ${COMMAND_P99_MS} ms are allowed`]),
    ],
  };
}

async function killed({ cluster, victim, calls }: FaultCase): Promise<Verdict> {
  const atEpochMs = Date.now();
  await victim.kill();
  const verdict = await afterMoving({ cluster, victim, calls }, atEpochMs, RESET_WORD_MS);
  await victim.start();
  return verdict;
}

async function unplugged({ cluster, victim, calls }: FaultCase): Promise<Verdict> {
  const atEpochMs = Date.now();
  cluster.network.pull?.(victim.name);
  const verdict = await afterMoving({ cluster, victim, calls }, atEpochMs, SILENT_WORD_MS);
  cluster.network.plug(victim.name);
  return verdict;
}

async function stoodStill({ cluster, victim, calls }: FaultCase): Promise<Verdict> {
  const atEpochMs = Date.now();
  victim.suspend();
  await wait(CUT_MS);
  victim.resume();
  return afterMoving({ cluster, victim, calls }, atEpochMs, SILENT_WORD_MS);
}

async function cutOff({ cluster, victim, calls }: FaultCase, way: 'toDatabase' | 'toRedis'): Promise<Verdict> {
  const cable = cluster[way].get(victim.name)!;
  cable.cut();
  await wait(CUT_MS);
  cable.mend();
  return kept(await ended(cluster, calls), 'while a node was cut off');
}

async function forgotten({ cluster, calls }: FaultCase): Promise<Verdict> {
  await cluster.redis.kill();
  await cluster.redis.start();
  return kept(await ended(cluster, calls), 'while Redis forgot');
}
