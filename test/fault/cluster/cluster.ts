/**
 * Several nodes and all that stands around them, each in its place: PostgreSQL, Redis, HAProxy, an object store, the
 * carrier and the receiver of webhooks on the hub, each node in a network of its own, with a way to the database and
 * one to Redis that can be cut, and a disk of its own that can be filled.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startWebhookReceiver } from '../../../bench/demo/webhook-receiver.ts';
import { CallClient } from '../../../bench/harness/call-client.ts';
import { startEmulatorProcess } from '../../../bench/harness/emulator-process.ts';
import { freePort } from '../../../bench/harness/free-port.ts';
import { type Gateway, makeWorkspace } from '../../../bench/harness/gateway.ts';
import type { ScriptedAgent } from '../../../media/contract/agent-definition.ts';
import { EMULATED_CARRIER } from '../../../src/carriers/emulated-account.ts';
import { apiBaseVariable } from '../../../src/carriers/setting-names.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { startEmbeddedPostgres } from '../../../src/supervisor/postgres/embedded-postgres.ts';
import { type Cable, layCable } from '../../harness/cable.ts';
import { NO_REDIS, type OwnRedis, startOwnRedis } from '../../harness/redis-server.ts';
import { startS3 } from '../../harness/s3-server.ts';
import { mountSmallDisk, type SmallDisk } from '../nemesis/small-disk.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { type ClusterNode, clusterNode, type StartedOtherwise } from './cluster-node.ts';
import { type ClusterNetwork, layNetwork } from './network.ts';
import { startPostgresPair } from './postgres-pair.ts';
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
  /** Of all nodes. */
  toStore: Cable;
  /** By node; empty where nothing may be mounted. */
  disks: ReadonlyMap<string, SmallDisk>;
  balancer: Balancer;
  /** In a network of its own, behind no balancer, not started. */
  spare: ClusterNode;
  /** The database's server dies and its replica takes its place; null where there is none. */
  failOver: (() => Promise<void>) | null;
  /** A folder with an older version, built; null: none was given. */
  olderRoot: string | null;
  /** Until each of so many nodes knows that there are others, and all are ready. Default: all. */
  whole(nodes?: number): Promise<void>;
  close(): Promise<void>;
}

const WHOLE_LIMIT_MS = 60_000;
/** As a node's name, and no other's. */
const SPARE = 'spare';
/** Of a node, which may have to hold the recordings of all calls: of two minutes in mu-law, both sides. */
const DISK_MB = { least: 96, aCall: 2 };
const MASTER_KEY = 'ab'.repeat(32);

export async function startCluster(options: {
  names: readonly string[];
  folder: string;
  calls: number;
  /** Default: one that talks for some 40 s. */
  agent?: ScriptedAgent;
  /** With a replica that can be promoted. */
  isReplicated?: boolean;
  /** See `Cluster`. */
  olderRoot: string | null;
  /** Those that run at first, and how. Default: all, as they are. */
  begins?: ReadonlyMap<string, StartedOtherwise>;
  say(line: string): void;
}): Promise<Cluster> {
  const { names, folder, say, olderRoot } = options;
  const begins = options.begins ?? new Map(names.map((name) => [name, {}]));
  const stops: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (let one = stops.pop(); one !== undefined; one = stops.pop()) await one();
  };
  try {
    const network = layNetwork([...names, SPARE]);
    stops.push(network.close);
    const disks = new Map<string, SmallDisk>();
    for (const name of network.pull === null ? [] : names) {
      const disk = mountSmallDisk(join(folder, name), Math.max(DISK_MB.least, DISK_MB.aCall * options.calls));
      disks.set(name, disk);
      stops.push(disk.unmount);
    }
    const pair = options.isReplicated === true ? await startPostgresPair() : null;
    // Not durable: nothing here kills it, and the nodes need more sessions than the small one has.
    const postgres =
      pair ?? (await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), volatile: true, log: say }));
    stops.push(postgres.stop);
    const objects = await startS3();
    stops.push(objects.close);
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
    const { s3 } = objects.settings;
    const store = await onHub(s3.endpoint);
    for (const name of [...names, SPARE]) {
      const [own, ownRedis] = [await onHub(postgres.connectionString), await onHub(redis.url)];
      toDatabase.set(name, own.cable);
      toRedis.set(name, ownRedis.cable);
      const settings = {
        DATABASE_URL: own.url,
        REDIS_URL: ownRedis.url,
        RECORDING_STORE: 's3',
        RECORDING_S3_ENDPOINT: store.url,
        RECORDING_S3_BUCKET: s3.bucket,
        RECORDING_S3_ACCESS_KEY_ID: s3.accessKeyId,
        RECORDING_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
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
    const spare = nodes.pop()!;
    const places = new Map(nodes.map(({ name, url }) => [name, new URL(url).host]));
    const balancer = await startBalancer({ address: network.hub, port }, places, folder);
    stops.push(balancer.close);
    stops.push(() => Promise.all([...nodes, spare].map((node) => node.kill())));
    // One after the other: the first brings the database up to date.
    for (const node of nodes) {
      const otherwise = begins.get(node.name);
      if (otherwise !== undefined) await node.start(otherwise);
    }

    const ours = await onHub(postgres.connectionString);
    const database = openDatabase({ connectionString: ours.url, maxConnections: 2, onIdleError: () => {} });
    stops.push(database.close);
    const failOver =
      pair &&
      (async () => {
        const to = await pair.failOver();
        for (const cable of [ours.cable, ...toDatabase.values()]) cable.lead(to);
      });
    const made = await makeWorkspace(
      { databaseUrl: postgres.connectionString, masterKeyHex: MASTER_KEY },
      emulator,
      { url: webhook.url, setSecret: receiver.setSecret },
      { agent: options.agent ?? talkingAgent, concurrentCalls: options.calls * 2, callsPerSecond: 500 },
    );
    const whole = async (wanted = names.length): Promise<void> => {
      for (const untilMs = performance.now() + WHOLE_LIMIT_MS; ; await wait(200)) {
        const [row] = await database.query<{ beating: number }>(
          `SELECT count(DISTINCT node)::int AS beating FROM media_runs
            WHERE dead_at IS NULL AND lease_ms = 8000 AND NOT is_draining
              AND beat_at > clock_timestamp() - interval '3 seconds'`,
        );
        if (row?.beating === wanted) return;
        if (performance.now() > untilMs) throw new Error(`only ${row?.beating} of ${wanted} nodes beat`);
      }
    };
    const client = new CallClient(`http://${network.hub}:${port}`, made.apiKey);
    const around = { emulator, receiver, network, database, redis, toDatabase, toRedis, toStore: store.cable, disks };
    return { ...made, ...around, nodes, client, balancer, spare, failOver, olderRoot, whole, close };
  } catch (error) {
    await close();
    throw error;
  }
}
