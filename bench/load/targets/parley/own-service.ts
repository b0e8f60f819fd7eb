/**
 * The service that the tool starts itself: a whole Parley on this machine with a workspace, an agent, a line and keys,
 * whose carrier is the tool. Started by `main.ts` where no address is given.
 */
import { freePort } from '../../../harness/free-port.ts';
import { type CarrierOfGateway, makeWorkspace, startServiceFor } from '../../../harness/gateway.ts';
import type { Deployment } from '../target-plan.ts';
import { type AgentKind, startOwnAgent } from './own-agents.ts';

export interface OwnServiceOptions {
  agentKind: AgentKind;
  /** `uws` or `ws`; null: whichever loads. */
  socketServer: string | null;
  carrier: CarrierOfGateway;
  dataDir: string;
  /** Limits of the workspace and the line: these alone should never be what a run finds. */
  concurrentCalls: number;
  /** Where webhooks go. */
  webhooks: { url: string; setSecret(secret: string): void };
  log(line: string): void;
  /** What the service's processes write. */
  output(text: string): void;
}

export interface OwnService {
  deployment: Deployment;
  metricsUrl: string;
  databaseUrl: string;
  /** By name: `control`, `media-0`, `postgres`; as they are now. */
  pids(): Map<string, number>;
  stop(): Promise<void>;
}

const ORIGIN = 'http://localhost:3000';
const CALLS_PER_SECOND = 1_000;
const DRAIN_LIMIT_MS = 5_000;

export async function startOwnService(options: OwnServiceOptions): Promise<OwnService> {
  const { agent, connections, environment, stop: stopAgent } = await startOwnAgent(options.agentKind);
  const metricsPort = await freePort();
  const wanted = {
    dataDir: options.dataDir,
    agent,
    connections,
    environment,
    concurrentCalls: options.concurrentCalls,
    callsPerSecond: CALLS_PER_SECOND,
    webOrigins: [ORIGIN],
    settings: {
      PARLEY_METRICS_PORT: String(metricsPort),
      PARLEY_LOG_LEVEL: 'warn',
      PARLEY_MEDIA_CAPACITY: String(options.concurrentCalls),
      ...(options.socketServer === null ? {} : { PARLEY_SOCKET_SERVER: options.socketServer }),
      // Browser sessions come from addresses of their own, as visitors do.
      TRUSTED_PROXIES: '127.0.0.1/32',
    },
    // As anybody runs it: it refuses calls that it cannot talk to.
    controlEnv: { PARLEY_ADMISSION: 'measured' },
    log: options.log,
    childOutput: options.output,
  };
  try {
    const service = await startServiceFor(wanted, options.carrier);
    try {
      const made = await makeWorkspace(service, options.carrier, options.webhooks, wanted);
      return {
        deployment: {
          url: service.publicUrl,
          apiKey: made.apiKey,
          enterprise: made.enterprise,
          agentId: made.agentId,
          lineId: made.lineId,
          publicKey: made.publicKey ?? '',
          origin: ORIGIN,
        },
        metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
        databaseUrl: service.databaseUrl,
        pids() {
          const pids = new Map<string, number>();
          const add = (name: string, pid: number | undefined): void => void (pid !== undefined && pids.set(name, pid));
          add('control', service.control.pid());
          for (const [at, media] of service.media.entries()) add(`media-${at}`, media.pid());
          add('postgres', service.postgres?.pid());
          return pids;
        },
        async stop() {
          await service.stop(DRAIN_LIMIT_MS);
          await stopAgent();
        },
      };
    } catch (error) {
      await service.stop(0);
      throw error;
    }
  } catch (error) {
    await stopAgent();
    throw error;
  }
}
