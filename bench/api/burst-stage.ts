/**
 * What bursts are offered to: several nodes of the real service on one PostgreSQL that waits for its disk, an emulated
 * carrier whose callees are busy, a receiver of webhooks, and workspaces whose limits are out of the way. No call is
 * answered, so there is no sound and nothing for an object store, which several nodes have to name all the same.
 */
import { join } from 'node:path';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/supervisor/postgres/embedded-postgres.ts';
import type { Service } from '../../src/supervisor/service.ts';
import { setWorkspaceLimits } from '../../src/workspaces/workspaces.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../demo/webhook-receiver.ts';
import { type EmulatorProcess, startEmulatorProcess } from '../harness/emulator-process.ts';
import { freePort } from '../harness/free-port.ts';
import { type Gateway, makeWorkspace, startServiceFor } from '../harness/gateway.ts';

export type BurstWorkspace = Pick<Gateway, 'apiKey' | 'enterprise' | 'agentId' | 'lineId'>;

export interface BurstStage {
  nodes: readonly { name: string; service: Service }[];
  workspaces: readonly BurstWorkspace[];
  postgres: EmbeddedPostgres;
  emulator: EmulatorProcess;
  receiver: WebhookReceiver;
  /** For looks at what happens. */
  database: Database;
  stop(): Promise<void>;
}

/** Sessions that the embedded PostgreSQL has, less what a node takes at most (`docs/scale.md`). */
export const MOST_NODES = 2;
const WORKSPACES = 4;
const NO_LIMIT = 100_000;
/** From the carrier's acceptance to its word that the callee is busy: later than the burst's own work. */
const DIAL_MS = 3_000;
const MASTER_KEY = 'ab'.repeat(32);
const NOWHERE = 'http://127.0.0.1:9';
const agent: AgentDefinition = { kind: 'tone', name: 'Tone', direction: 'outbound', toneHz: 440 };

export async function startBurstStage(options: {
  folder: string;
  nodes: number;
  log(line: string): void;
}): Promise<BurstStage> {
  const { folder, log } = options;
  const stops: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    for (let one = stops.pop(); one !== undefined; one = stops.pop()) await one();
  };
  try {
    const emulator = await startEmulatorProcess(
      [{ kind: 'silent', name: 'busy', number: '+1415*', dialMs: DIAL_MS, outcome: 'busy' }],
      false,
    );
    stops.push(() => emulator.stop());
    const receiver = await startWebhookReceiver();
    stops.push(() => receiver.close());
    const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'database'), volatile: false, log });
    stops.push(() => postgres.stop());
    const nodes: { name: string; service: Service }[] = [];
    for (let index = 0; index < options.nodes; index++) {
      const name = String.fromCharCode(97 + index);
      const service = await startNode(name, { folder, databaseUrl: postgres.connectionString, emulator, log });
      nodes.push({ name, service });
      stops.push(() => service.kill());
    }
    const database = openDatabase({
      connectionString: postgres.connectionString,
      maxConnections: 2,
      onIdleError: () => {},
    });
    stops.push(database.close);
    const workspaces: BurstWorkspace[] = [];
    const where = { databaseUrl: postgres.connectionString, masterKeyHex: MASTER_KEY };
    while (workspaces.length < WORKSPACES) {
      const limits = { concurrentCalls: NO_LIMIT, callsPerSecond: NO_LIMIT };
      const made = await makeWorkspace(where, emulator, receiver, { agent, ...limits });
      const ofRequests = { apiRequestsPerSecond: NO_LIMIT, apiBurst: NO_LIMIT };
      await setWorkspaceLimits(database, { slug: made.enterprise, limits: ofRequests });
      workspaces.push(made);
    }
    return { nodes, workspaces, postgres, emulator, receiver, database, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startNode(
  name: string,
  around: { folder: string; databaseUrl: string; emulator: EmulatorProcess; log(line: string): void },
): Promise<Service> {
  const port = await freePort();
  const settings = {
    DATABASE_URL: around.databaseUrl,
    PARLEY_MASTER_KEY: MASTER_KEY,
    PARLEY_NODE: name,
    PARLEY_NODE_ADDRESS: `http://127.0.0.1:${port}`,
    RECORDING_STORE: 's3',
    RECORDING_S3_ENDPOINT: NOWHERE,
    RECORDING_S3_BUCKET: 'none',
    RECORDING_S3_ACCESS_KEY_ID: 'none',
    RECORDING_S3_SECRET_ACCESS_KEY: 'none',
    PARLEY_MEDIA_CAPACITY: String(NO_LIMIT),
    PARLEY_PIPELINE_THREADS: '1',
    PARLEY_SPEECH_THREADS: '0',
    PARLEY_LISTEN_THREADS: '0',
    PARLEY_LOG_LEVEL: 'error',
  };
  return startServiceFor(
    {
      dataDir: join(around.folder, name),
      port,
      agent,
      settings,
      controlEnv: { ...settings, WEBHOOK_PER_SECOND: '10000', WEBHOOK_AT_ONCE: '200' },
      keepAudio: false,
      log: around.log,
      childOutput: (text) => process.stderr.write(text),
    },
    around.emulator,
  );
}
