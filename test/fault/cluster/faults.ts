/**
 * What happens to a node under conversations: its operations are asked for elsewhere and it drains, it is killed, its
 * cable is pulled, it stands still, it is cut off from PostgreSQL or Redis alone, Redis forgets everything.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { percentiles } from '../../../bench/harness/percentile.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterNode } from './cluster-node.ts';
import { ended, place, type TalkingCall, talking } from './conversations.ts';
import { kept, moved, type Verdict } from './verdicts.ts';

interface FaultCase {
  cluster: Cluster;
  /** Whom it meets. */
  victim: ClusterNode;
  calls: readonly TalkingCall[];
}

export interface Fault {
  name: string;
  /** What it cannot be done without. */
  needs?: 'cables';
  /** Also in the quick form. */
  isQuick: boolean;
  /** Resolves when its calls are over and the cluster may be whole again. */
  run(met: FaultCase): Promise<Verdict>;
}

/** Of a machine whose sockets are reset, and of one that says nothing any more. */
const RESET_WORD_MS = 1_500;
const SILENT_WORD_MS = 12_000;
const COMMAND_P99_MS = 50;
const COMMANDS = 100;
const CUT_MS = 20_000;
const LATER_CALLS = 6;

export const FAULTS: readonly Fault[] = [
  { name: 'commands at the other node, then a drain', isQuick: true, run: drained },
  { name: 'killed: sockets are reset', isQuick: true, run: killed },
  { name: 'cable pulled: nothing is reset', needs: 'cables', isQuick: true, run: unplugged },
  { name: 'stands still for 20 s', isQuick: false, run: stoodStill },
  { name: 'cut off from PostgreSQL alone for 20 s', isQuick: true, run: (met) => cutOff(met, 'toDatabase') },
  { name: 'cut off from Redis alone for 20 s', isQuick: false, run: (met) => cutOff(met, 'toRedis') },
  { name: 'Redis forgets everything', isQuick: false, run: forgotten },
];

async function drained({ cluster, victim, calls }: FaultCase): Promise<Verdict> {
  const commands = await commandedElsewhere(cluster, calls);
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

/** One after the other, at a node that does not carry the call; one that changes nothing of what is heard. */
async function commandedElsewhere(cluster: Cluster, calls: readonly TalkingCall[]): Promise<Verdict> {
  const tookMs: number[] = [];
  const refused: string[] = [];
  for (let command = 0; command < COMMANDS; command++) {
    const { callUuid, node } = calls[command % calls.length]!;
    const at = cluster.nodes.find(({ name }) => name !== node)!;
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
    lines: [`${COMMANDS} commands at a node without the call: p50 ${p50} ms, p99 ${p99} ms, longest ${most} ms`],
    broken: [
      ...refused.slice(0, 3),
      ...(p99! <= COMMAND_P99_MS ? [] : [`commands took p99 ${p99} ms, ${COMMAND_P99_MS} ms are allowed`]),
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

async function afterMoving(
  { cluster, victim, calls }: FaultCase,
  atEpochMs: number,
  wordLimitMs: number,
): Promise<Verdict> {
  const seen = await ended(cluster, calls);
  return joined(
    moved(
      seen.filter(({ node }) => node === victim.name),
      atEpochMs,
      wordLimitMs,
    ),
    kept(
      seen.filter(({ node }) => node !== victim.name),
      'of other nodes',
    ),
  );
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

function joined(...verdicts: readonly Verdict[]): Verdict {
  return { lines: verdicts.flatMap(({ lines }) => lines), broken: verdicts.flatMap(({ broken }) => broken) };
}
