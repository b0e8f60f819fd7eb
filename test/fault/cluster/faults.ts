/**
 * What may happen under conversations, and here what happens to a node: its operations are asked for elsewhere and it
 * drains, it is killed, its cable is pulled, it stands still, it is cut off from PostgreSQL or Redis alone, Redis
 * forgets everything.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { percentile, percentiles } from '../../../bench/harness/percentile.ts';
import { ended, place, talking } from './conversations.ts';
import {
  afterMoving,
  asLeft,
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
/** So many that the hundredth part of them is more than one bad moment. */
const COMMANDS = 350;

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

async function drained(met: FaultCase): Promise<Verdict> {
  const { cluster, victim, calls } = met;
  const commands = await commanded(met);
  const gone = victim.drain();
  await wait(1_000);
  const later = await talking(cluster, await place(cluster, LATER_CALLS));
  const stray = later.filter(({ node }) => node === victim.name);
  const seen = await ended(cluster, calls);
  const code = await gone;
  const verdict = kept(seen, 'while a node drained');
  const after = kept(await ended(cluster, later), 'placed meanwhile');
  await victim.start();
  return joined(commands, verdict, after, {
    lines: [`the drained node ended with ${code}`],
    broken: [
      ...(code === 0 ? [] : [`the drained node ended with ${code}`]),
      ...(stray.length === 0 ? [] : [`${stray.length} new calls landed in the node that drains`]),
    ],
  });
}

/**
 * Commands that change nothing of what is heard, one after the other, in turn at the node that carries the call and at
 * one that does not. Where a machine that is full makes the first ones slow, the others may be half as slow again.
 */
async function commanded({ cluster, calls, restShare }: FaultCase): Promise<Verdict> {
  const tookMs = { with: [] as number[], without: [] as number[] };
  const refused: string[] = [];
  for (let command = 0; command < COMMANDS; command++) {
    const { callUuid, node } = calls[command % calls.length]!;
    for (const where of ['with', 'without'] as const) {
      const at = cluster.nodes.find(({ name }) => (name === node) === (where === 'with'))!;
      const askedAtMs = performance.now();
      const answer = await fetch(`${at.url}/api/developer/calls/${callUuid}/control`, {
        method: 'POST',
        headers: { authorization: `Bearer ${cluster.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ action: 'unmute_agent' }),
      });
      const said = await answer.text();
      tookMs[where].push(performance.now() - askedAtMs);
      if (answer.status !== 200) refused.push(`a command to ${callUuid} at ${at.name}: ${answer.status} ${said}`);
    }
  }
  const p99Of = (where: 'with' | 'without'): number => percentile(tookMs[where], 0.99);
  const allowedMs = Math.max(asLeft(COMMAND_P99_MS, { restShare }), Math.round(1.5 * p99Of('with')));
  return {
    lines: (['with', 'without'] as const).map((where) => {
      const [p50, p99, most] = percentiles(tookMs[where], [0.5, 0.99, 1]).map(Math.round);
      return `${COMMANDS} commands at a node ${where} the call: p50 ${p50} ms, p99 ${p99} ms, longest ${most} ms`;
    }),
    broken: [
      ...refused.slice(0, 3),
      ...(p99Of('without') <= allowedMs
        ? []
        : [`commands at the other node took p99 ${Math.round(p99Of('without'))} ms, ${allowedMs} ms are allowed`]),
    ],
  };
}

async function killed(met: FaultCase): Promise<Verdict> {
  const atEpochMs = Date.now();
  await met.victim.kill();
  const verdict = await afterMoving(met, atEpochMs, asLeft(RESET_WORD_MS, met));
  await met.victim.start();
  return verdict;
}

async function unplugged(met: FaultCase): Promise<Verdict> {
  const { cluster, victim } = met;
  const atEpochMs = Date.now();
  cluster.network.pull?.(victim.name);
  const verdict = await afterMoving(met, atEpochMs, SILENT_WORD_MS);
  cluster.network.plug(victim.name);
  return verdict;
}

async function stoodStill(met: FaultCase): Promise<Verdict> {
  const { victim } = met;
  const atEpochMs = Date.now();
  victim.suspend();
  await wait(CUT_MS);
  victim.resume();
  return afterMoving(met, atEpochMs, SILENT_WORD_MS);
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
