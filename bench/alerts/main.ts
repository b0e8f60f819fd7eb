/**
 * `npm run bench -- alerts`: what operators load into Prometheus and Grafana (`deploy/`), tried. A service holds two
 * calls; a real Prometheus scrapes it, and beside it one copy of its metrics for each alert, in which that is the
 * matter. Each alert has to fire where it is meant and not at the healthy service; each query of the dashboard has to
 * have an answer. Waits and ranges are shortened. Exits with 0 only when all of it is so.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { EMULATED_CALLEE_NUMBER } from '../../src/carriers/emulated-account.ts';
import { startBookingPlay } from '../demo/booking/booking-play.ts';
import { freePort } from '../harness/free-port.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { readOptions } from '../harness/options.ts';
import { PATIENCE_MS } from '../harness/patience.ts';
import { startExporter } from './exporter.ts';
import { FAULTS } from './faults.ts';
import { type OwnPrometheus, startOwnPrometheus } from './own-prometheus.ts';
import { alertNames, dashboardQueries, shortenedAlerts } from './written.ts';

readOptions({
  command: 'npm run bench -- alerts',
  about: 'Fires each alert of deploy/prometheus once, and asks each query of deploy/grafana, in a real Prometheus.',
  options: {},
  meanings: {},
});

const WINDOW = '20s';
const WAIT = '4s';
/** Of the dashboard's rates: it has to hold what the second call did. */
const RATE_WINDOW = '2m';
const HEALTHY = 'parley-healthy';
/** They tell of the machine on which this runs; said, and no fault of the rules. */
const OF_THE_MACHINE = new Set(['ParleyFramesLate', 'ParleyControlSlow', 'ParleyDatabaseSlow', 'ParleyGapsHeard']);

const say = (line: string): void => console.log(line);
const folder = mkdtempSync(join(tmpdir(), 'parley-alerts-'));
const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
let faults: string[] = [];
try {
  faults = await run();
} finally {
  for (let one = stops.pop(); one !== undefined; one = stops.pop()) await one();
}
for (const fault of faults) say(`FAULT ${fault}`);
say(`${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);

async function run(): Promise<string[]> {
  const names = alertNames();
  const play = await startBookingPlay();
  stops.push(play.close);
  const metricsPort = await freePort();
  const gateway = await startGateway({
    dataDir: join(folder, 'service'),
    agent: play.agent,
    personas: play.personas,
    environment: play.environment,
    settings: { PARLEY_METRICS_PORT: String(metricsPort) },
    volatileDatabase: true,
    log: () => {},
  });
  stops.push(gateway.stop);
  play.endpoint.setSecret(gateway.webhookSecret);
  await hold(gateway, play.metadata);
  say('a call was held; the next one is watched');

  const exporter = await startExporter(`http://127.0.0.1:${metricsPort}/metrics`);
  stops.push(exporter.close);
  const jobs = names.map((name) => ({ name: `parley-${name}`, target: exporter.target, path: `/${name}` }));
  const prometheus = await startOwnPrometheus({
    folder,
    rules: shortenedAlerts(WINDOW, WAIT),
    jobs: [{ name: HEALTHY, target: exporter.target, path: '/healthy' }, ...jobs],
  });
  stops.push(prometheus.close);
  const call = hold(gateway, play.metadata);
  const unfired = await untilFired(prometheus, names);
  await call;
  const healthy = await prometheus.query(`max_over_time(ALERTS{alertstate="firing",job="${HEALTHY}"}[10m])`);
  const atHealthy = healthy.map(({ metric }) => metric['alertname']!);
  for (const name of atHealthy.filter((one) => OF_THE_MACHINE.has(one))) say(`fires at the healthy service: ${name}`);
  return [
    ...names.filter((name) => FAULTS[name] === undefined).map((name) => `nobody knows how ${name} comes about`),
    ...unfired.map((name) => `${name} did not fire`),
    ...atHealthy.filter((one) => !OF_THE_MACHINE.has(one)).map((name) => `${name} fired at a healthy service`),
    ...(await emptyQueries(prometheus)),
  ];
}

async function hold(gateway: Gateway, metadata: Readonly<Record<string, string>>): Promise<void> {
  const { agentId, enterprise, client } = gateway;
  const placed = await client.place({ to: EMULATED_CALLEE_NUMBER, agentId, enterprise, metadata });
  if (placed.body.callUuid === undefined) throw new Error(`the call was refused: ${placed.body.message}`);
  await client.waitFor(placed.body.callUuid, 'an end', ({ endedAt }) => endedAt !== null);
}

/** Those that did not, in time. */
async function untilFired(prometheus: OwnPrometheus, names: readonly string[]): Promise<string[]> {
  const left = new Set(names);
  for (const untilMs = performance.now() + PATIENCE_MS; left.size > 0 && performance.now() < untilMs; ) {
    await wait(1_000);
    for (const { metric } of await prometheus.query('ALERTS{alertstate="firing"}')) {
      const name = metric['alertname'] ?? '';
      if (metric['job'] === `parley-${name}` && left.delete(name)) say(`fires: ${name}`);
    }
  }
  return [...left];
}

async function emptyQueries(prometheus: OwnPrometheus): Promise<string[]> {
  const faulty: string[] = [];
  const queries = dashboardQueries();
  for (const { panel, expr } of queries) {
    const asked = expr
      .replaceAll('$__rate_interval', RATE_WINDOW)
      .replaceAll('$job', HEALTHY)
      .replaceAll('$instance', '.*');
    const answer = await prometheus.query(asked);
    const numbers = answer.filter(({ value }) => Number.isFinite(value));
    if (numbers.length === 0) faulty.push(`"${panel}" shows nothing: ${asked}`);
  }
  say(`${queries.length - faulty.length} of ${queries.length} queries of the dashboard have an answer`);
  return faulty;
}
