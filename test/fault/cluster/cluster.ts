/**
 * Several nodes and all that stands around them, each in its place: PostgreSQL, Redis, HAProxy, the carrier and the
 * receiver of webhooks on the hub, each node in a network of its own, with a way to the database and one to Redis that
 * can be cut.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startWebhookReceiver } from '../../../bench/demo/webhook-receiver.ts';
import { CallClient } from '../../../bench/harness/call-client.ts';
import { startEmulatorProcess } from '../../../bench/harness/emulator-process.ts';
import { freePort } from '../../../bench/harness/free-port.ts';
import { type Gateway, makeWorkspace } from '../../../bench/harness/gateway.ts';
import { EMULATED_CARRIER } from '../../../src/carriers/emulated-account.ts';
import { apiBaseVariable } from '../../../src/carriers/setting-names.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { startEmbeddedPostgres } from '../../../src/supervisor/postgres/embedded-postgres.ts';
import { type Cable, layCable } from '../../harness/cable.ts';
import { NO_REDIS, type OwnRedis, startOwnRedis } from '../../harness/redis-server.ts';
import { startBalancer } from './balancer.ts';
import { type ClusterNode, clusterNode } from './cluster-node.ts';
import { type ClusterNetwork, layNetwork } from './network.ts';
import { talkingAgent } from './talking-agent.ts';

export interface Cluster
  extends Pick<Gateway, 'emulator' | 'receiver' | 'apiKey' | 'agentId' | 'enterprise' | 'lineId'> {
  network: ClusterNetwork;
  nodes: readonly ClusterNode[];
  /** Asks the balancer. */
  client: CallClient;
  database: Database;
  redis: OwnRedis;
  /** By node. */
  toDatabase: ReadonlyMap<string, Cable>;
  toRedis: ReadonlyMap<string, Cable>;
  /** Until each node knows that there are others, and all are ready. */
  whole(): Promise<void>;
  close(): Promise<void>;
}

const WHOLE_LIMIT_MS = 60_000;
const MASTER_KEY = 'ab'.repeat(32);

export async function startCluster(options: {
  names: readonly string[];
  folder: string;
  calls: number;
  say(line: string): void;
}): Promise<Cluster> {
  const { names, folder, say } = options;
  const stops: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (let one = stops.pop(); one !== undefined; one = stops.pop()) await one();
  };
  try {
    const network = layNetwork(names);
    stops.push(network.close);
    // Not durable: nothing here kills it, and the nodes need more sessions than the small one has.
    const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), volatile: true, log: say });
    stops.push(postgres.stop);
    const redis = await startOwnRedis();
    if (redis === null) throw new Error(NO_REDIS);
    stops.push(redis.close);
    const receiver = await startWebhookReceiver();
    stops.push(receiver.close);
    const personas = [{ kind: 'silent' as const, name: 'silent', number: '+1415551*', ringMs: 200 }];
    const emulator = await startEmulatorProcess(personas, false);
    stops.push(emulator.stop);

    const onHub = async (url: string): Promise<{ url: string; cable: Cable }> => {
      const own = new URL(url);
      const cable = await layCable({ host: own.hostname, port: Number(own.port) }, network.hub);
      stops.push(cable.close);
      own.host = `${network.hub}:${cable.port}`;
      return { url: own.href.replace(/\/$/, ''), cable };
    };
    const carrier = await onHub(emulator.apiBase);
    const webhook = await onHub(receiver.url);
    const port = await freePort();
    const nodes: ClusterNode[] = [];
    const toDatabase = new Map<string, Cable>();
    const toRedis = new Map<string, Cable>();
    for (const name of names) {
      const [own, ownRedis] = [await onHub(postgres.connectionString), await onHub(redis.url)];
      toDatabase.set(name, own.cable);
      toRedis.set(name, ownRedis.cable);
      const settings = {
        DATABASE_URL: own.url,
        REDIS_URL: ownRedis.url,
        PUBLIC_URL: `http://${network.hub}:${port}`,
        STREAM_URL: `ws://${network.hub}:${port}/n/{node}`,
        TRUSTED_PROXIES: network.hub,
        PARLEY_MASTER_KEY: MASTER_KEY,
        PARLEY_PIPELINE_THREADS: '1',
        PARLEY_LISTEN_THREADS: '1',
        PARLEY_PROVIDER_THREADS: '0',
        PARLEY_METRICS_PORT: '0',
        // What else runs on the machine is not what this is about.
        PARLEY_ADMISSION: 'counted',
        WEBHOOK_ALLOW_CIDRS: network.range,
        [apiBaseVariable(EMULATED_CARRIER)]: carrier.url,
      };
      nodes.push(clusterNode({ name, folder, network, settings }));
    }
    const places = new Map(nodes.map(({ name, url }) => [name, new URL(url).host]));
    const balancer = await startBalancer({ address: network.hub, port }, places, folder);
    stops.push(balancer.close);
    stops.push(() => Promise.all(nodes.map((node) => node.kill())));
    // One after the other: the first brings the database up to date.
    for (const node of nodes) await node.start();

    const database = openDatabase({
      connectionString: postgres.connectionString,
      maxConnections: 2,
      onIdleError: () => {},
    });
    stops.push(database.close);
    const made = await makeWorkspace(
      { databaseUrl: postgres.connectionString, masterKeyHex: MASTER_KEY },
      emulator,
      { url: webhook.url, setSecret: receiver.setSecret },
      { agent: talkingAgent, concurrentCalls: options.calls * 2, callsPerSecond: 500 },
    );
    const whole = async (): Promise<void> => {
      for (const untilMs = performance.now() + WHOLE_LIMIT_MS; ; await wait(200)) {
        const [row] = await database.query<{ beating: number }>(
          `SELECT count(DISTINCT node)::int AS beating FROM media_runs
            WHERE dead_at IS NULL AND lease_ms = 8000 AND NOT is_draining
              AND beat_at > clock_timestamp() - interval '3 seconds'`,
        );
        if (row?.beating === names.length) return;
        if (performance.now() > untilMs) throw new Error(`only ${row?.beating} of ${names.length} nodes beat`);
      }
    };
    const client = new CallClient(`http://${network.hub}:${port}`, made.apiKey);
    return { ...made, emulator, receiver, network, nodes, client, database, redis, toDatabase, toRedis, whole, close };
  } catch (error) {
    await close();
    throw error;
  }
}
