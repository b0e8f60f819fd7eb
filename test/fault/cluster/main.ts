/**
 * `npm run bench -- cluster [--quick]`: several nodes behind HAProxy, each in a network namespace of its own, meet one
 * fault after the other under conversations; what became of each call is judged.
 *
 *   --quick            two nodes, the faults that matter most, once: under 10 minutes
 *   --calls N          conversations under each fault (default 100; quick 40)
 *   --only TEXTS       faults whose name has one of them: pulled,sockets
 *   --older FOLDER     a checkout of an older version, built: what it is upgraded from
 *   --seeds 1,2,R      without --quick: three nodes, each fault once a seed, which names who meets it; R is random
 *   --capacity         instead of faults: what two nodes carry against one (`capacity.ts`)
 *
 * Exits with 0 only when nothing was broken. Linux, as root; without root on loopback addresses, and no cable is
 * pulled.
 */
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type MachineTime, readMachineTime } from '../../../bench/harness/machine-time.ts';
import { readNumber, readOptions } from '../../../bench/harness/options.ts';
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import { describeHistory, settledHistory } from '../chaos/random-scenario.ts';
import type { PlacementSeen } from '../judge/history.ts';
import { checkHistory, violationLines } from '../judge/history-checker.ts';
import { measureCapacity } from './capacity.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { PLACE_AT_ONE_EVERY_MS, place, talking } from './conversations.ts';
import type { Fault } from './fault.ts';
import { DATABASE_FAULTS, FAULTS, UPGRADES } from './faults.ts';
import { FAKETIME, hasFaketime } from './joining.ts';

const { values } = readOptions({
  command: 'npm run bench -- cluster',
  about: 'Several nodes meet one fault after the other under conversations, and what became of each call is judged.',
  options: {
    quick: { type: 'boolean', default: false },
    calls: { type: 'string' },
    seeds: { type: 'string', default: '1,2,3,R' },
    only: { type: 'string', default: '' },
    older: { type: 'string' },
    capacity: { type: 'boolean', default: false },
    repeat: { type: 'string', default: '5' },
    'at-once': { type: 'string', default: '12' },
  },
  meanings: {
    quick: 'two nodes, the faults that matter most, once',
    calls: '<N> conversations under each fault',
    seeds: '<list> who meets which fault; R is a random one',
    only: '<texts> faults whose name has one of them: pulled,sockets',
    older: '<folder> a checkout of an older version, built: what is upgraded from',
    capacity: 'instead of faults: what two nodes carry against one, each held to 30 % of a core',
    repeat: '<N> turns of it',
    'at-once': '<N> callers a node',
  },
});

/** After a start, and after it was cut off, nobody judges others for 10 s. */
const GRACE_MS = 11_000;
/** Of each, where what nodes carry is measured. */
const NODE_CORES = 0.3;
const CAPACITY_SECONDS = 40;
/** Into the conversations. */
const TALK_MS = 3_000;

interface Ground {
  /** Default: those of all. */
  names?: readonly string[];
  isReplicated?: boolean;
  /** Only the first runs, and it is of the older version. */
  isOlder?: boolean;
  faults: readonly Fault[];
}

const GROUNDS: readonly Ground[] = [
  { faults: FAULTS },
  { isReplicated: true, faults: DATABASE_FAULTS },
  { names: ['a', 'b'], isOlder: true, faults: UPGRADES },
];
const ENDS = ['SIGINT', 'SIGTERM'] as const;

const say = (line: string): void => console.log(line);
const ONE = { least: 1, isWhole: true };
if (values.capacity) {
  const options = {
    cores: NODE_CORES,
    atOnce: readNumber('at-once', values['at-once'], ONE),
    repeat: readNumber('repeat', values.repeat, ONE),
  };
  process.exit((await measureCapacity({ ...options, seconds: CAPACITY_SECONDS, say })) ? 0 : 1);
}
const names = values.quick ? ['a', 'b'] : ['a', 'b', 'c'];
const calls = readNumber('calls', values.calls ?? (values.quick ? '40' : '100'), ONE);
const olderRoot = values.older === undefined ? null : resolve(values.older);
const seeds = values.quick
  ? [1]
  : values.seeds.split(',').map((seed) => (seed === 'R' ? randomInt(2 ** 31) : Number(seed)));
let broken = 0;
for (const ground of GROUNDS) {
  const isAsked = (name: string): boolean => values.only.split(',').some((text) => name.includes(text));
  const faults = ground.faults.filter(({ name, isQuick }) => (!values.quick || isQuick) && isAsked(name));
  if (faults.length === 0) continue;
  // A replica is promoted once, and a version comes once.
  const each = seeds.map((seed) => [seed]);
  const turns = ground.isReplicated ? each : ground.isOlder ? each.slice(0, 1) : [seeds];
  for (const its of turns) broken += await judged({ ...ground, faults }, its);
}
say(`${broken} violations`);
process.exit(broken === 0 ? 0 : 1);

/** On a cluster of its own, whose calls are judged together at the end. */
async function judged(
  { names: its, isReplicated, isOlder, faults }: Ground,
  seeds: readonly number[],
): Promise<number> {
  const on = its ?? names;
  if (isOlder === true && olderRoot === null) {
    for (const { name } of faults) say(`${name}: left out, --older names no older version`);
    return 0;
  }
  const begins = isOlder === true ? new Map([[on[0]!, { root: olderRoot! }]]) : undefined;
  const folder = mkdtempSync(join(tmpdir(), 'parley-cluster-'));
  const around = { names: on, folder, calls, say, olderRoot, isReplicated: isReplicated === true };
  const starting = startCluster({ ...around, ...(begins && { begins }) });
  const end = (): void => void starting.then((made) => made.close()).finally(() => process.exit(1));
  // Networks and processes outlive this one: also those that are only being made.
  for (const signal of ENDS) process.once(signal, end);
  let found = 0;
  let isJudged = false;
  let cluster: Cluster | null = null;
  try {
    cluster = await starting;
    say(`${on.length} nodes, ${calls} conversations under each fault; ${cluster.network.kind}`);
    const placed: PlacementSeen[] = [];
    for (const seed of seeds) {
      say(`seed ${seed}`);
      const random = createRandom(seed);
      for (const fault of faults) {
        const victim = cluster.nodes[isOlder === true ? 0 : 1 + Math.floor(random() * (on.length - 1))]!;
        const missing = missingFor(fault, cluster);
        if (missing === null) found += await meet(cluster, fault, { victim, placed, isOlder: isOlder === true });
        else say(`${fault.name}: left out, ${missing}`);
      }
    }
    const history = await settledHistory(cluster, cluster.database, placed);
    const violations = checkHistory(history);
    say('all calls:');
    for (const line of describeHistory(history)) say(`    ${line}`);
    for (const line of violationLines(violations)) say(`    BROKEN ${line}`);
    found += violations.length;
    isJudged = true;
  } finally {
    await cluster?.close();
    for (const signal of ENDS) process.off(signal, end);
    if (isJudged && found === 0) rmSync(folder, { recursive: true, force: true });
    else say(`logs are kept in ${folder}`);
  }
  return found;
}

function missingFor({ needs }: Fault, { network, disks }: Cluster): string | null {
  if (needs === 'cables' && network.pull === null) return 'there are no cables here';
  if (needs === 'disks' && disks.size === 0) return 'nothing can be mounted here';
  if (needs === 'libfaketime' && !hasFaketime()) return `there is no ${FAKETIME} (Debian: apt-get install faketime)`;
  if (needs === 'an older version' && olderRoot === null) return '--older names no older version';
  return null;
}

function restOf(before: MachineTime, after: MachineTime): number {
  return 1 - (after.busyMs - before.busyMs) / (after.totalMs - before.totalMs);
}

async function meet(
  on: Cluster,
  fault: Fault,
  { victim, placed, isOlder }: { victim: Cluster['nodes'][number]; placed: PlacementSeen[]; isOlder: boolean },
): Promise<number> {
  if (!isOlder) {
    await on.balancer.renew();
    await on.whole();
    await fault.prepare?.({ cluster: on, victim });
    await wait(GRACE_MS);
  }
  const asked = await place(on, calls, isOlder ? PLACE_AT_ONE_EVERY_MS : undefined);
  placed.push(...asked);
  const talks = await talking(on, asked, { isOwned: !isOlder });
  const before = readMachineTime();
  await wait(TALK_MS);
  const restShare = restOf(before, readMachineTime());
  const shares = on.nodes.map(({ name }) => `${name} ${talks.filter(({ node }) => node === name).length}`);
  const rest = `${Math.round(100 * restShare)} % of the machine left`;
  say(`${fault.name} (${victim.name}); calls on ${shares.join(', ')}; ${rest}`);
  const verdict = await fault.run({ cluster: on, victim, calls: talks, restShare });
  for (const line of verdict.lines) say(`    ${line}`);
  for (const line of verdict.broken) say(`    BROKEN ${line}`);
  return verdict.broken.length;
}
