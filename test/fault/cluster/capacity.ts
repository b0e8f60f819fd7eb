/**
 * `npm run bench -- cluster --capacity`: what two nodes carry against one, each held to the same share of a core, with
 * database, balancer, carrier and this client on what remains. So many callers a node, each of whom places a call,
 * waits for its end and places the next, so that what counts is how many calls a second come to their end. A turn with
 * both nodes and one with the first alone, again and again; void where what remains was full. Beside it the same piece
 * of work is done all the time: what it costs more in company, a call costs more too, without any doing of the nodes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Pressure, watchPressure } from '../../../bench/api/pressure.ts';
import { processorMs } from '../../../bench/database/processor-time.ts';
import { briefAgent } from '../../../bench/harness/brief-agent.ts';
import { percentiles } from '../../../bench/harness/percentile.ts';
import { type Cluster, startCluster } from './cluster.ts';
import type { ClusterNode } from './cluster-node.ts';
import { type ProcessorQuota, processorQuota } from './processor-quota.ts';
import { type SameWork, startSameWork } from './same-work.ts';

export interface CapacityOptions {
  /** Of each node. */
  cores: number;
  /** Callers a node. */
  atOnce: number;
  repeat: number;
  seconds: number;
  say(line: string): void;
}

interface Measured {
  nodes: number;
  endedPerSecond: number;
  /** Ends that were none of the agent's, by their reason, and refusals by their status. */
  others: Map<string, number>;
  firstWordP95Ms: number;
  /** Of each node: cores that it had, and the share of its slices in which it was made to wait. */
  had: { cores: number; throttled: number }[];
  /** Processor time of one piece of the same work. */
  pieceMs: number;
  isVoid: boolean;
  pressure: Pressure;
}

const AGENT = briefAgent('This takes about three seconds to say, and then it is over.');
/** Not held: until the code of a node that has just started is compiled. One that is held would do that for minutes. */
const WARM_MS = 40_000;
/** Held: until as many calls end as begin. */
const SETTLE_MS = 15_000;
const LOOK_EVERY_MS = 250;
const REFUSED_PAUSE_MS = 500;
/** What remains is full where so much of it is taken. */
const FULL = 0.9;

/** True: no turn was void, and each call came to its end. */
export async function measureCapacity(options: CapacityOptions): Promise<boolean> {
  const { cores, atOnce, repeat, say } = options;
  const folder = mkdtempSync(join(tmpdir(), 'parley-capacity-'));
  const around = { names: ['a', 'b'], folder, calls: 4 * atOnce, agent: AGENT, olderRoot: null, say };
  const cluster = await startCluster(around);
  const quotas = new Map<ClusterNode, ProcessorQuota>();
  const sameWork = await startSameWork();
  try {
    for (const node of cluster.nodes) quotas.set(node, processorQuota(node.name, cores));
    const all: Measured[] = [];
    const slopes: number[] = [];
    const dearer: number[] = [];
    for (let turn = 1; turn <= repeat; turn++) {
      const [both, alone] = [
        await withNodes(cluster, cluster.nodes, { ...options, quotas, sameWork }),
        await withNodes(cluster, cluster.nodes.slice(0, 1), { ...options, quotas, sameWork }),
      ];
      for (const measured of [both, alone]) say(`turn ${turn}, ${lineOf(measured)}`);
      all.push(both, alone);
      if (both.isVoid || alone.isVoid) continue;
      slopes.push(both.endedPerSecond / alone.endedPerSecond);
      dearer.push(both.pieceMs / alone.pieceMs);
    }
    say(`two nodes against one: ${rangeOf(slopes)} times the calls, ${slopes.length} of ${repeat} turns`);
    say(`the same work beside two nodes: ${rangeOf(dearer)} times the processor time that it takes beside one`);
    return all.every(({ isVoid, others }) => !isVoid && others.size === 0);
  } finally {
    sameWork.close();
    await cluster.close();
    for (const quota of quotas.values()) quota.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Around {
  quotas: ReadonlyMap<ClusterNode, ProcessorQuota>;
  sameWork: SameWork;
}

/** The others drain before it, and come back after it. */
async function withNodes(
  cluster: Cluster,
  nodes: readonly ClusterNode[],
  { quotas, sameWork, atOnce, seconds }: CapacityOptions & Around,
): Promise<Measured> {
  const others = cluster.nodes.filter((node) => !nodes.includes(node));
  for (const node of others) await node.drain();
  await cluster.whole(nodes.length);
  const held = nodes.map((node) => ({ node, quota: quotas.get(node)! }));
  try {
    return await measured(cluster, held, { callers: atOnce * nodes.length, seconds, sameWork });
  } finally {
    for (const { quota } of held) quota.lift();
    for (const node of others) await node.start();
    await cluster.whole();
  }
}

async function measured(
  cluster: Cluster,
  held: readonly { node: ClusterNode; quota: ProcessorQuota }[],
  { callers, seconds, sameWork }: { callers: number; seconds: number; sameWork: SameWork },
): Promise<Measured> {
  const others = new Map<string, number>();
  const count = (what: string): void => void others.set(what, (others.get(what) ?? 0) + 1);
  const ends = followEnds(cluster);
  let isOver = false;
  let [isCounted, ended] = [false, 0];
  const calling = Array.from({ length: callers }, async () => {
    while (!isOver) {
      const { agentId, enterprise, lineId: from, client } = cluster;
      const { httpStatus, body } = await client.place({ to: nextNumber(), agentId, enterprise, from });
      if (httpStatus === 200) {
        const reason = await ends.of(body.callUuid!);
        if (reason !== 'agent_hangup') count(reason);
        if (isCounted) ended++;
      } else {
        count(`${httpStatus} ${body.message}`);
        await wait(REFUSED_PAUSE_MS);
      }
    }
  });
  await wait(WARM_MS);
  for (const { node, quota } of held) quota.hold(node.pids());
  await wait(SETTLE_MS);
  const look = () =>
    held.map(({ node, quota }) => ({
      ...quota.slices(),
      spentMs: processorMs(node.pids()[0]!),
      atMs: performance.now(),
    }));
  const before = look();
  const sinceEpochMs = Date.now();
  const watch = watchPressure(cluster.database, [
    { name: 'carrier', pids: () => [cluster.emulator.pid!] },
    { name: 'client', pids: () => [process.pid] },
  ]);
  await sameWork.pieceMs();
  isCounted = true;
  await wait(1_000 * seconds);
  isCounted = false;
  const pieceMs = await sameWork.pieceMs();
  const pressure = await watch.end();
  const had = look().map(({ ran, throttled, spentMs, atMs }, at) => ({
    cores: (spentMs - before[at]!.spentMs) / (atMs - before[at]!.atMs),
    throttled: (throttled - before[at]!.throttled) / (ran - before[at]!.ran),
  }));
  isOver = true;
  await Promise.all(calling);
  ends.close();
  const nodes = held.length;
  const firstWordP95Ms = await firstWords(cluster, sinceEpochMs);
  const isVoid = isFull(pressure);
  return { nodes, endedPerSecond: ended / seconds, others, firstWordP95Ms, had, pieceMs, pressure, isVoid };
}

/** One statement for all calls. */
function followEnds({ database }: Cluster) {
  const waiting = new Map<string, (reason: string) => void>();
  let isClosed = false;
  void (async () => {
    for (; !isClosed; await wait(LOOK_EVERY_MS)) {
      if (waiting.size === 0) continue;
      const rows = await database.query<{ callUuid: string; reason: string }>(
        `SELECT call_uuid AS "callUuid", ended_reason AS reason
           FROM calls WHERE call_uuid = ANY ($1::uuid[]) AND ended_at IS NOT NULL`,
        [[...waiting.keys()]],
      );
      for (const { callUuid, reason } of rows) {
        waiting.get(callUuid)?.(reason);
        waiting.delete(callUuid);
      }
    }
  })();
  return {
    of: (callUuid: string) => new Promise<string>((tell) => waiting.set(callUuid, tell)),
    close() {
      isClosed = true;
    },
  };
}

async function firstWords({ emulator }: Cluster, sinceEpochMs: number): Promise<number> {
  const calls = await emulator.calls();
  const tookMs = calls.flatMap(({ answeredAtEpochMs: answered, firstAgentSoundAtEpochMs: sounded }) =>
    answered === null || answered < sinceEpochMs || sounded === null ? [] : [sounded - answered],
  );
  return percentiles(tookMs, [0.95])[0]!;
}

function isFull({ parts }: Pressure): boolean {
  return parts.some(({ name, ranCores, waitedCores, fullFromMs }) =>
    name === 'carrier' || name === 'client' ? ranCores + waitedCores > FULL : fullFromMs !== null,
  );
}

/** Median, least and most. */
function rangeOf(ratios: readonly number[]): string {
  const [least, median, most] = percentiles(ratios, [0, 0.5, 1]).map((ratio) => ratio.toFixed(2));
  return `${median} [${least}–${most}]`;
}

function lineOf({ nodes, endedPerSecond, others, firstWordP95Ms, had, pieceMs, pressure, isVoid }: Measured): string {
  const cores = had.map((each) => `${each.cores.toFixed(2)} (${Math.round(100 * each.throttled)} % of slices cut)`);
  const parts = pressure.parts.map(({ name, ranCores }) => `${name} ${ranCores.toFixed(2)}`);
  const bad = [...others].map(([what, times]) => `${times} × ${what}`);
  return [
    `${nodes} node${nodes === 1 ? '' : 's'}: ${endedPerSecond.toFixed(2)} calls a second`,
    `first word p95 ${Math.round(firstWordP95Ms)} ms`,
    `cores of nodes ${had.length === 0 ? '–' : cores.join(' and ')}`,
    `of others ${parts.join(', ')}`,
    `a piece of the same work ${pieceMs.toFixed(2)} ms`,
    ...(bad.length === 0 ? [] : [`NOT WELL: ${bad.join(', ')}`]),
    ...(isVoid ? ['VOID: what remains was full'] : []),
  ].join('; ');
}

let dialled = 0;
const nextNumber = (): string => `+1415551${String(dialled++).padStart(4, '0')}`;
