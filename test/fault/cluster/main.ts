/**
 * `npm run bench -- cluster [--quick]`: several nodes behind HAProxy, each in a network namespace of its own, meet one
 * fault after the other under conversations; what became of each call is judged.
 *
 *   --quick            two nodes, the faults that matter most, once: under 10 minutes
 *   --calls N          conversations under each fault (default 100; quick 40)
 *   --only TEXT        faults whose name has it
 *   --seeds 1,2,R      without --quick: three nodes, each fault once a seed, which names who meets it; R is random
 *
 * Exits with 0 only when nothing was broken. Linux, as root; without root on loopback addresses, and no cable is
 * pulled.
 */
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readOptions } from '../../../bench/harness/options.ts';
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import { describeHistory, settledHistory } from '../chaos/random-scenario.ts';
import type { PlacementSeen } from '../judge/history.ts';
import { checkHistory, violationLines } from '../judge/history-checker.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { place, talking } from './conversations.ts';
import { FAULTS, type Fault } from './faults.ts';

const { values } = readOptions({
  command: 'npm run bench -- cluster',
  about: 'Several nodes meet one fault after the other under conversations, and what became of each call is judged.',
  options: {
    quick: { type: 'boolean', default: false },
    calls: { type: 'string' },
    seeds: { type: 'string', default: '1,2,3,R' },
    only: { type: 'string', default: '' },
  },
  meanings: {
    quick: 'two nodes, the faults that matter most, once',
    calls: '<N> conversations under each fault',
    seeds: '<list> who meets which fault; R is a random one',
    only: '<text> faults whose name has it',
  },
});

/** After a start, and after it was cut off, nobody judges others for 10 s. */
const GRACE_MS = 11_000;
/** Into the conversations. */
const TALK_MS = 3_000;

const say = (line: string): void => console.log(line);
const names = values.quick ? ['a', 'b'] : ['a', 'b', 'c'];
const calls = Number(values.calls ?? (values.quick ? 40 : 100));
const seeds = values.quick
  ? [1]
  : values.seeds.split(',').map((seed) => (seed === 'R' ? randomInt(2 ** 31) : Number(seed)));
const folder = mkdtempSync(join(tmpdir(), 'parley-cluster-'));
let broken = 0;
let isJudged = false;
let cluster: Cluster | null = null;
const starting = startCluster({ names, folder, calls, say });
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Networks and processes outlive this one: also those that are only being made.
  process.once(signal, () => void starting.then((made) => made.close()).finally(() => process.exit(1)));
}
try {
  cluster = await starting;
  say(`${names.length} nodes, ${calls} conversations under each fault; ${cluster.network.kind}`);
  const placed: PlacementSeen[] = [];
  for (const seed of seeds) {
    say(`seed ${seed}`);
    const random = createRandom(seed);
    for (const fault of FAULTS) {
      const victim = cluster.nodes[1 + Math.floor(random() * (names.length - 1))]!;
      if ((values.quick && !fault.isQuick) || !fault.name.includes(values.only)) continue;
      if (fault.needs === 'cables' && cluster.network.pull === null) {
        say(`${fault.name}: left out, there are no cables here`);
        continue;
      }
      broken += await meet(cluster, fault, { victim, placed });
    }
  }
  const history = await settledHistory(cluster, cluster.database, placed);
  const violations = checkHistory(history);
  say('all calls:');
  for (const line of describeHistory(history)) say(`    ${line}`);
  for (const line of violationLines(violations)) say(`    BROKEN ${line}`);
  broken += violations.length;
  isJudged = true;
} finally {
  await cluster?.close();
  if (isJudged && broken === 0) rmSync(folder, { recursive: true, force: true });
  else say(`logs are kept in ${folder}`);
}
say(`${broken} violations`);
process.exit(broken === 0 ? 0 : 1);

async function meet(
  on: Cluster,
  fault: Fault,
  { victim, placed }: { victim: Cluster['nodes'][number]; placed: PlacementSeen[] },
): Promise<number> {
  await on.whole();
  await wait(GRACE_MS);
  const asked = await place(on, calls);
  placed.push(...asked);
  const talks = await talking(on, asked);
  await wait(TALK_MS);
  const shares = on.nodes.map(({ name }) => `${name} ${talks.filter(({ node }) => node === name).length}`);
  say(`${fault.name} (${victim.name}); calls on ${shares.join(', ')}`);
  const verdict = await fault.run({ cluster: on, victim, calls: talks });
  for (const line of verdict.lines) say(`    ${line}`);
  for (const line of verdict.broken) say(`    BROKEN ${line}`);
  return verdict.broken.length;
}
