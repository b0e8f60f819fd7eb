/**
 * A whole gateway on this machine, as a client meets it: the real service, the carrier emulator, a webhook receiver,
 * and a workspace with an agent, a line and a key. The demo, the end-to-end tests and bench scenarios all stand on it.
 */
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { importAgent } from '../../src/agents/stored-agents.ts';
import { EMULATED_CARRIER, EMULATED_LINE_NUMBER } from '../../src/carriers/emulated-account.ts';
import { apiBaseVariable } from '../../src/carriers/setting-names.ts';
import { loadServiceSettings } from '../../src/config/service-settings.ts';
import { addConnection } from '../../src/connections/stored-connections.ts';
import { createWidgetKey } from '../../src/embed/widget-keys.ts';
import { createSealer } from '../../src/sealing/sealer.ts';
import { PortTaken } from '../../src/supervisor/port-check.ts';
import { type Service, startService } from '../../src/supervisor/service.ts';
import { setWebhook } from '../../src/webhooks/operator-webhooks.ts';
import { createApiKey } from '../../src/workspaces/api-keys.ts';
import { addLine, setLineLimits } from '../../src/workspaces/lines.ts';
import { createWorkspace, setApiEnabled, setWorkspaceLimits } from '../../src/workspaces/workspaces.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../demo/webhook-receiver.ts';
import type { PersonaInput } from '../emulators/persona.ts';
import { CallClient } from './call-client.ts';
import { type EmulatorProcess, startEmulatorProcess } from './emulator-process.ts';
import { freePort } from './free-port.ts';
import { openPatientDatabase } from './patient-database.ts';
import { keepLog, keepLogAndWarn, keepsLog } from './suite-log.ts';

export interface GatewayOptions {
  dataDir: string;
  personas: readonly PersonaInput[];
  agent: AgentDefinition;
  /** This one, or none. */
  port?: number;
  /** Taken if it is free. */
  preferredPort?: number;
  concurrentCalls?: number;
  callsPerSecond?: number;
  /** More settings of the service, as environment variables. */
  settings?: Record<string, string>;
  /** What the agent reaches providers by. */
  connections?: readonly WantedConnection[];
  /** Websites whose visitors may talk to the agent. */
  webOrigins?: readonly string[];
  /** Of those at once; absent: what a new workspace has. */
  webSessions?: number;
  /** Variables of all processes of the service. */
  environment?: Readonly<Record<string, string>>;
  /** More variables for control, such as REDIS_URL. */
  controlEnv?: Record<string, string>;
  volatileDatabase?: boolean;
  /** False for load runs: the emulated carrier keeps no sound. */
  keepAudio?: boolean;
  log(line: string): void;
  /** Takes the log lines of control and media. */
  childOutput?(text: string): void;
}

export interface WantedConnection {
  name: string;
  provider: string;
  /** Absent: the provider's own. */
  baseUrl?: string;
  credentials: Record<string, string>;
}

export interface Gateway {
  service: Service;
  emulator: EmulatorProcess;
  receiver: WebhookReceiver;
  client: CallClient;
  apiKey: string;
  enterprise: string;
  agentId: string;
  lineId: string;
  /** Of the web origins; null when there are none. */
  publicKey: string | null;
  /** A recording as a client fetches it; `query` like `variant=mono&part=2`. Null when there is none. */
  recording(callUuid: string, query?: string): Promise<Buffer | null>;
  /** Signs webhooks and requests of tools. */
  webhookSecret: string;
  stop(): Promise<void>;
}

const DRAIN_LIMIT_MS = 5_000;
/** On a busy machine a stream may open late; a carrier that gave it up would judge the machine. */
const HANDSHAKE_TIMEOUT_MS = 60_000;

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  // The newest first: what was started is stopped, however far the start has come.
  const stops: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    for (let one = stops.pop(); one !== undefined; one = stops.pop()) await one();
  };
  try {
    const emulator = await startEmulatorProcess(options.personas, options.keepAudio, HANDSHAKE_TIMEOUT_MS);
    stops.push(() => emulator.stop());
    const receiver = await startWebhookReceiver();
    stops.push(() => receiver.close());
    const service = await startServiceFor(options, emulator);
    stops.push(() => service.stop(DRAIN_LIMIT_MS));
    const made = await makeWorkspace(service, emulator, receiver, options);
    return {
      service,
      emulator,
      receiver,
      ...made,
      client: new CallClient(service.publicUrl, made.apiKey),
      async recording(callUuid, query = '') {
        const url = `${service.publicUrl}/api/developer/calls/${callUuid}/recording?${query}`;
        const answer = await fetch(url, { headers: { authorization: `Bearer ${made.apiKey}` } });
        if (answer.status === 404) return null;
        if (!answer.ok) throw new Error(`the recording of ${callUuid} was answered with ${answer.status}`);
        return Buffer.from(await answer.arrayBuffer());
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What of the carrier the service and its line are told. */
export type CarrierOfGateway = Pick<EmulatorProcess, 'apiBase' | 'credentials'>;

export async function startServiceFor(
  options: Omit<GatewayOptions, 'personas'>,
  emulator: CarrierOfGateway,
): Promise<Service> {
  for (let preferred = options.preferredPort; ; preferred = 0) {
    const port = options.port ?? (await freePort(preferred));
    try {
      return await startServiceOn(port, options, emulator);
    } catch (error) {
      // Somebody took it between the look and the start; another is as good.
      if (!(error instanceof PortTaken) || options.port !== undefined) throw error;
    }
  }
}

function startServiceOn(
  port: number,
  options: Omit<GatewayOptions, 'personas'>,
  emulator: CarrierOfGateway,
): Promise<Service> {
  const settings = loadServiceSettings({
    PARLEY_LOG_LEVEL: keepsLog ? 'info' : 'warn',
    HOST: '127.0.0.1',
    // Several gateways may stand on one machine.
    PARLEY_METRICS_PORT: '0',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    ...options.settings,
    PORT: String(port),
    PARLEY_DATA_DIR: options.dataDir,
  });
  return startService({
    settings,
    environment: options.environment ?? {},
    controlEnv: {
      [apiBaseVariable(EMULATED_CARRIER)]: emulator.apiBase,
      WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32',
      // What else runs on the machine is not what scenarios are about; `bench/overload` is.
      PARLEY_ADMISSION: 'counted',
      ...options.controlEnv,
    },
    volatileDatabase: options.volatileDatabase ?? false,
    log: options.log,
    ...outputOf(options),
  });
}

function outputOf({ childOutput }: Pick<GatewayOptions, 'childOutput'>): Pick<GatewayOptions, 'childOutput'> {
  if (!keepsLog) return childOutput === undefined ? {} : { childOutput };
  if (childOutput === undefined) return { childOutput: keepLogAndWarn };
  return {
    childOutput(text) {
      keepLog(text);
      childOutput(text);
    },
  };
}

/** A fresh workspace each time, so that one data folder serves many demos. */
export async function makeWorkspace(
  service: Pick<Service, 'databaseUrl' | 'masterKeyHex'>,
  emulator: CarrierOfGateway,
  receiver: Pick<WebhookReceiver, 'url' | 'setSecret'>,
  options: Omit<GatewayOptions, 'personas' | 'dataDir' | 'log'>,
): Promise<Pick<Gateway, 'apiKey' | 'enterprise' | 'agentId' | 'lineId' | 'publicKey' | 'webhookSecret'>> {
  const database = openPatientDatabase(service.databaseUrl);
  const sealer = createSealer(service.masterKeyHex);
  const slug = `demo-${Date.now().toString(36)}`;
  const concurrentCalls = options.concurrentCalls ?? 10;
  const callsPerSecond = options.callsPerSecond ?? 5;
  const { webSessions } = options;
  try {
    await createWorkspace(database, { slug, name: 'River Dental' });
    await setApiEnabled(database, { slug, enabled: true });
    await setWorkspaceLimits(database, {
      slug,
      limits: {
        ...{ concurrentCalls, callsPerSecond, apiRequestsPerSecond: 500, apiBurst: 1000 },
        ...(webSessions === undefined ? {} : { webSessions }),
      },
    });
    for (const connection of options.connections ?? []) await addConnection(database, sealer, { slug, ...connection });
    const agent = await importAgent(database, { slug, definition: options.agent });
    const line = await addLine(database, sealer, {
      slug,
      number: EMULATED_LINE_NUMBER,
      carrier: EMULATED_CARRIER,
      credentials: { ...emulator.credentials },
    });
    await setLineLimits(database, { slug, lineId: line.id, limits: { concurrentCalls, callsPerSecond } });
    const key = await createApiKey(database, { slug, name: 'demo', scopes: ['calls:write', 'calls:read'] });
    const { secret } = await setWebhook(database, sealer, { slug, url: receiver.url });
    receiver.setSecret(secret ?? '');
    const allow = options.webOrigins ?? [];
    const widgetKey = allow.length === 0 ? null : await createWidgetKey(database, { slug, name: 'demo', allow });
    const publicKey = widgetKey?.publicKey ?? null;
    return {
      apiKey: key.text,
      enterprise: slug,
      agentId: agent.id,
      lineId: line.id,
      publicKey,
      webhookSecret: secret ?? '',
    };
  } finally {
    await database.close();
  }
}
