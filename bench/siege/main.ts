/**
 * `npm run bench -- siege [options]`: what honest clients and active calls notice of hostile ones. The same traffic
 * runs in peace, beside one address with many slow bodies, beside many addresses with everything that is slow, beside
 * hoarded tokens, and beside files that are hard to read. The real service with a database that waits for its disk;
 * calls of a steady tone from the carrier emulator, in a process of its own.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { freePort } from '../harness/free-port.ts';
import { startGateway } from '../harness/gateway.ts';
import { readOptions } from '../harness/options.ts';
import { percentile } from '../harness/percentile.ts';
import { lossBetween, readFrames } from './frames.ts';
import {
  type Attacker,
  hoardedTokens,
  hostileFiles,
  runSiege,
  type SiegeRun,
  siegeAgent,
  siegePersonas,
  slowClients,
} from './run-siege.ts';
import { loopbackAddresses, WEAPONS } from './slow-clients.ts';

const { values } = readOptions({
  command: 'npm run bench -- siege',
  about: 'What honest clients and live calls notice of hostile ones at the public port.',
  options: {
    connections: { type: 'string', default: '2000' },
    addresses: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '20' },
    calls: { type: 'string', default: '20' },
    files: { type: 'string', default: '2' },
    server: { type: 'string', default: 'auto' },
    only: { type: 'string' },
  },
  meanings: {
    connections: '<N> of the attack, at once (at most 8000)',
    addresses: '<N> that the second attack comes from',
    seconds: '<N> how long each of the five runs',
    calls: '<N> live in each run',
    files: '<N> at a time',
    server: '<name> uws, ws or auto',
    only: '<name> peace, one, many, tokens or files',
  },
});
const atOnce = Math.min(8_000, Number(values.connections));
const seconds = Number(values.seconds);
const calls = Number(values.calls);
const filesAtOnce = Number(values.files);
const COMES_AGAIN_TIMES = 20;
const NO_LIMIT = 1_000;
/**
 * Fewer than a public key may have in a minute, so that the website gets its own; as many as its workspace has calls.
 */
const TOKENS = 40;

const bounds = { atOnce, inAll: COMES_AGAIN_TIMES * atOnce };
const runs: Record<string, Attacker | null> = {
  peace: null,
  one: slowClients({ ...bounds, weapons: [WEAPONS.session], sources: ['127.0.0.2'] }),
  many: slowClients({
    ...bounds,
    weapons: Object.values(WEAPONS),
    sources: loopbackAddresses(Number(values.addresses)),
  }),
  tokens: hoardedTokens(TOKENS),
  files: hostileFiles({ atOnce: filesAtOnce, inAll: COMES_AGAIN_TIMES * filesAtOnce }),
};
const titles: Record<string, string> = {
  peace: 'in peace',
  one: `beside ${atOnce} slow bodies of one address`,
  many: `beside ${atOnce} slow connections of ${values.addresses} addresses`,
  tokens: `beside ${TOKENS} tokens of sessions that nobody uses`,
  files: `beside files of quotes and of nothing, of 7 KB to 10 MB, ${filesAtOnce} at a time`,
};

for (const [name, attack] of Object.entries(runs)) {
  if (values.only !== undefined && values.only !== name) continue;
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-siege-'));
  const metricsPort = await freePort();
  const gateway = await startGateway({
    dataDir,
    agent: siegeAgent,
    // Placed one after the other over the run, each stays to its end.
    personas: siegePersonas(seconds * 1000),
    // What the tokens are after.
    concurrentCalls: name === 'tokens' ? calls : NO_LIMIT,
    callsPerSecond: NO_LIMIT,
    keepAudio: false,
    settings: {
      PARLEY_METRICS_PORT: String(metricsPort),
      PARLEY_LOG_LEVEL: 'error',
      PARLEY_SOCKET_SERVER: values.server,
    },
    log: (line) => process.stderr.write(`${line}\n`),
    childOutput: (text) => process.stderr.write(text),
  });
  try {
    const before = await readFrames(metricsPort);
    // Attack and honest clients are one process: what it is late itself is in every figure.
    const ownDelay = monitorEventLoopDelay({ resolution: 1 });
    ownDelay.enable();
    const run = await runSiege({ gateway, attack, forMs: seconds * 1000, calls });
    ownDelay.disable();
    tell(titles[name]!, run);
    const [p50, p99, max] = [ownDelay.percentile(50), ownDelay.percentile(99), ownDelay.max].map((ns) =>
      (ns / 1e6).toFixed(1).padStart(7),
    );
    console.log(`  own lateness   ms p50${p50} p99${p99} max${max}`);
    for (const line of lossBetween(before, await readFrames(metricsPort))) console.log(line);
  } finally {
    await gateway.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
process.exit(0);

function tell(title: string, { tally, siege }: SiegeRun): void {
  console.log(`\n${title}, ${seconds} s`);
  for (const [kind, { answered, refused, ms }] of tally.kinds) {
    const times = [0.5, 0.99, 1].map((part) => percentile(ms, part).toFixed(1).padStart(7));
    const faults = refused.length === 0 ? '' : `  refused: ${[...new Set(refused)].slice(0, 4).join(', ')}`;
    const [p50, p99, max] = times;
    console.log(
      `  ${kind.padEnd(14)} ${String(answered).padStart(5)} answered, ${refused.length} not; ms p50${p50} p99${p99} max${max}${faults}`,
    );
  }
  const ends = new Map<string, number>();
  for (const { status, endedReason } of tally.calls) {
    const end = `${status}/${endedReason}`;
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  console.log(`  calls          ${[...ends].map(([end, count]) => `${count} × ${end}`).join(', ')}`);
  if (siege === null) return;
  const told = [...siege.ends].map(([end, count]) => `${count} × ${end}`).join(', ');
  console.log(`  the attack     ${siege.opened} connections opened; ${told}`);
}
