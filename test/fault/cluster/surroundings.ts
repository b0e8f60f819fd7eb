/** What stands around the nodes has a fault: the balancer, a disk, the object store, the database's server. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import { ended, place, talking } from './conversations.ts';
import { CUT_MS, type FaultCase, joined, LATER_CALLS, stated } from './fault.ts';
import { allStored, unstored } from './stored-recordings.ts';
import { kept, type Verdict } from './verdicts.ts';

const PLACED_LIMIT_MS = 60_000;
const PLACE_EVERY_MS = 200;

/** All that names no node goes to one of them: its calls, the other nodes' callbacks, every command. */
export async function allToOne({ cluster, victim, calls }: FaultCase): Promise<Verdict> {
  const others = cluster.nodes.filter((node) => node !== victim);
  for (const { name } of others) await cluster.balancer.treat(name, 'maint');
  const later = await talking(cluster, await place(cluster, LATER_CALLS));
  const verdict = kept(await ended(cluster, calls), 'while all went to one node');
  const after = kept(await ended(cluster, later), 'placed meanwhile');
  for (const { name } of others) await cluster.balancer.treat(name, 'ready');
  const strayed = later.filter(({ node }) => node !== victim.name).length;
  return joined(verdict, after, stated(`${strayed} of ${later.length} that it placed landed in others`, strayed > 0));
}

/** It carries nothing, and is about to be gone. */
export async function stopVictim({ cluster, victim }: Pick<FaultCase, 'cluster' | 'victim'>): Promise<void> {
  await victim.drain();
  await cluster.whole(cluster.nodes.length - 1);
}

/**
 * A dead node alone is asked, then it among others, and the balancer believes that it lives: what carriers report
 * meanwhile is lost with what is asked.
 */
export async function allToDead({ cluster, victim, calls }: FaultCase): Promise<Verdict> {
  const others = cluster.nodes.filter((node) => node !== victim);
  await cluster.balancer.treat(victim.name, 'unchecked');
  for (const { name } of others) await cluster.balancer.treat(name, 'maint');
  await wait(CUT_MS);
  for (const { name } of others) await cluster.balancer.treat(name, 'ready');
  const placed = await place(cluster, LATER_CALLS);
  const later = await talking(cluster, placed);
  const verdict = kept(await ended(cluster, calls), 'while a dead node was asked');
  const after = kept(await ended(cluster, later), 'placed after it, past the dead one');
  await cluster.balancer.treat(victim.name, 'ready');
  await victim.start();
  const taken = placed.filter(({ httpStatus }) => httpStatus === 200).length;
  return joined(
    verdict,
    after,
    stated(`${taken} of ${LATER_CALLS} were taken past the dead one`, taken === LATER_CALLS),
  );
}

export async function diskFull({ cluster, victim, calls }: FaultCase): Promise<Verdict> {
  await cluster.disks.get(victim.name)!.fullFor(CUT_MS);
  const verdict = kept(await ended(cluster, calls), 'while a disk was full');
  const there = calls.filter(({ node }) => node !== victim.name);
  const met = calls.filter(({ node }) => node === victim.name);
  const lost = await unstored(cluster, met, { isOrFailed: true });
  const [{ failed } = { failed: 0 }] = await cluster.database.query<{ failed: number }>(
    `SELECT count(*)::int AS failed FROM calls WHERE call_uuid = ANY ($1::uuid[]) AND recording_status <> 'ready'`,
    [met.map(({ callUuid }) => callUuid)],
  );
  const missing = (await unstored(cluster, there)).length;
  return joined(verdict, stated(`${missing} recordings of other nodes are missing`, missing === 0), {
    lines: [`of ${met.length} calls of that node ${failed} have no whole recording, and say so`],
    broken: lost.map((state) => `a recording is neither there nor said to be lost: ${state}`),
  });
}

/** While it is away the calls end, and a node that holds some of their sound is killed and comes back. */
export async function storeAway({ cluster, victim, calls }: FaultCase): Promise<Verdict> {
  cluster.toStore.cut();
  const verdict = kept(await ended(cluster, calls), 'while the object store was away');
  await victim.kill();
  await victim.start();
  await wait(CUT_MS);
  const [{ ready } = { ready: 0 }] = await cluster.database.query<{ ready: number }>(
    `SELECT count(*)::int AS ready FROM calls WHERE call_uuid = ANY ($1::uuid[]) AND recording_status = 'ready'`,
    [calls.map(({ callUuid }) => callUuid)],
  );
  cluster.toStore.mend();
  return joined(
    verdict,
    stated(`${ready} recordings were called ready while the store was away`, ready === 0),
    await allStored(cluster, calls),
  );
}

/** The replica is promoted; calls are placed all the time, each with one key until it is answered. */
export async function failedOver({ cluster, calls }: FaultCase): Promise<Verdict> {
  const acknowledged = new Set<string>();
  const before = await cluster.database.query<{ id: string }>('SELECT id FROM webhook_events');
  const turns = await cluster.database.query<{ id: string }>(
    `SELECT call_uuid || '/' || position AS id FROM call_turns WHERE call_uuid = ANY ($1::uuid[])`,
    [calls.map(({ callUuid }) => callUuid)],
  );
  for (const { id } of turns) acknowledged.add(id);
  const atMs = performance.now();
  await cluster.failOver!();
  const awayMs = Math.round(performance.now() - atMs);
  const placed = await placedWhenTaken(cluster);
  const verdict = kept(await ended(cluster, calls), 'while the database failed over');
  const has = new Set(
    (
      await cluster.database.query<{ id: string }>(
        `SELECT call_uuid || '/' || position AS id FROM call_turns WHERE call_uuid = ANY ($1::uuid[])
         UNION ALL SELECT id::text FROM webhook_events`,
        [calls.map(({ callUuid }) => callUuid)],
      )
    ).map(({ id }) => id),
  );
  for (const { id } of before) acknowledged.add(id);
  const gone = [...acknowledged].filter((id) => !has.has(id));
  return joined(
    verdict,
    stated(`no server took writes for ${awayMs} ms; a call was placed ${placed} ms after it died`, placed !== null),
    stated(
      `${gone.length} of ${acknowledged.size} turns and events that were committed before are gone`,
      gone.length === 0,
    ),
    await allStored(cluster, calls),
  );
}

/** Ms until the API takes one again; null: it does not. */
async function placedWhenTaken(cluster: Cluster): Promise<number | null> {
  const askedAtMs = performance.now();
  for (; performance.now() - askedAtMs < PLACED_LIMIT_MS; await wait(PLACE_EVERY_MS)) {
    const [one] = await place(cluster, 1).catch(() => []);
    if (one?.httpStatus === 200) return Math.round(performance.now() - askedAtMs);
  }
  return null;
}
