/**
 * From options to what is called: the plans of the far-end processes, and what must be found or started before they are
 * told where it is. Called by the run command. Each fault names the option and the way out (`TargetFault`).
 */
import { EMULATED_CARRIER } from '../../../src/carriers/emulated-account.ts';
import { startNaiveGateway } from '../../calls/subjects.ts';
import type { RunResult } from '../contract/run-result.ts';
import { TargetFault } from '../contract/target.ts';
import type { Workload } from '../contract/workload.ts';
import { assertMayLoad, isLoopback } from '../run/may-load.ts';
import { listenForWebhooks, type WebhookListener } from '../run/webhook-listener.ts';
import type { RunFlags } from '../run-flags.ts';
import { processesAt, processesOf } from '../usage/find-processes.ts';
import type { WatchedProcess } from '../usage/process-usage.ts';
import { settingsOf } from './parley/check-deployment.ts';
import { AGENT_KINDS } from './parley/own-agents.ts';
import { startOwnService } from './parley/own-service.ts';
import { PROTOCOLS, type ProtocolName } from './stream/protocols.ts';
import { addressOf, type StreamPlan } from './stream/stream-plan.ts';
import type { BrowserPlan, Deployment, ParleyPlan, TargetPlan } from './target-plan.ts';

export interface ChoiceOptions {
  flags: RunFlags;
  workload: Workload;
  soundFolder: string | null;
  processes: number;
  mostAtOnce: number;
  nowMs: () => number;
  say(line: string): void;
  /** What is started at once must be stopped, however far the run comes. */
  onStop(stop: () => unknown): void;
}

export interface ChosenTarget {
  kind: RunResult['target']['kind'];
  /** One for each far-end process. */
  plans: TargetPlan[];
  /** Once the far ends listen: a service needs to know its carrier. */
  prepare(carrierBases: readonly (string | null)[]): Promise<PreparedTarget>;
}

export interface PreparedTarget {
  facts: RunResult['target'];
  /** What far ends are told; null: their plans say it. */
  deployment: Deployment | null;
  /** What to set there, for a person; null: nothing. */
  advice: string | null;
  processes(): WatchedProcess[];
  metricsUrl: string | null;
  databaseUrl: string | null;
  webhooks: WebhookListener | null;
  stop(): Promise<void>;
}

/** Browser sessions of the tool's own service count against its workspace as calls do. */
const ROOM = 2;

export async function chooseTarget(options: ChoiceOptions): Promise<ChosenTarget> {
  const { flags } = options;
  if (flags.stream !== undefined || flags.answerUrl !== undefined) return chooseStream(options, streamPlanOf(options));
  if (flags.against !== undefined) return chooseNaive(options);
  return flags.url === undefined ? chooseOwn(options) : chooseDeployment(options, flags.url);
}

function chooseDeployment(options: ChoiceOptions, given: string): ChosenTarget {
  const { flags, workload, nowMs } = options;
  const url = originOf(given);
  assertMayLoad(url, flags.iMayLoadThisTarget);
  const { phones, browsers } = whoCalls(workload);
  const apiKey = flags.apiKey ?? process.env['PARLEY_LOAD_API_KEY'];
  const need = (value: string | undefined, option: string, what: string): string => {
    if (value !== undefined && value !== '') return value;
    throw new TargetFault(`${option} is missing: ${what} (npx parley bench --help lists all)`);
  };
  const deployment: Deployment = {
    url,
    agentId: need(flags.agent, '--agent', 'the id of the agent that talks'),
    apiKey: phones ? need(apiKey, '--api-key', 'a key of the workspace with the scope calls:write') : '',
    enterprise: phones ? need(flags.enterprise, '--enterprise', 'the slug of the workspace') : '',
    lineId: phones ? need(flags.from, '--from', 'the id of the line that calls') : '',
    publicKey: browsers ? need(flags.publicKey, '--public-key', 'the widget key that browser sessions use') : '',
    origin: browsers ? need(flags.origin, '--origin', 'the origin of the page that has the widget') : '',
  };
  const kind = phones ? 'parley' : 'browser';
  const plans = plansOf(options);
  return {
    kind,
    plans,
    async prepare(carrierBases) {
      const webhooks = await webhooksOf(flags, nowMs);
      return {
        facts: factsOf(kind, url, phones ? EMULATED_CARRIER : '/ws/live'),
        deployment,
        advice: phones ? settingsOf({ deployment, carrierBase: carrierBases[0] ?? '', authId: flags.carrierId }) : null,
        processes: () => processesHere(flags, url),
        metricsUrl: flags.metrics ?? null,
        databaseUrl: null,
        webhooks,
        stop: async () => webhooks?.close(),
      };
    },
  };
}

function chooseOwn(options: ChoiceOptions): ChosenTarget {
  const { flags, nowMs, say, mostAtOnce } = options;
  const agentKind = AGENT_KINDS.find((name) => name === flags.agentKind);
  if (agentKind === undefined) {
    throw new TargetFault(`--agent-kind ${flags.agentKind}: take one of ${AGENT_KINDS.join(', ')}`);
  }
  const { socketServer } = flags;
  if (socketServer !== undefined && !['uws', 'ws'].includes(socketServer)) {
    throw new TargetFault(`--socket-server ${socketServer}: take uws or ws`);
  }
  return {
    kind: 'own',
    // A carrier that nobody else asks for: any port will do.
    plans: plansOf({ ...options, flags: { ...flags, carrierListen: '127.0.0.1:0' } }),
    async prepare(carrierBases) {
      const webhooks = await listenForWebhooks('127.0.0.1', 0, nowMs);
      say('starting a service of its own (--url loads one that runs)');
      const service = await startOwnService({
        agentKind,
        socketServer: socketServer ?? null,
        carrier: {
          // Where only browsers call, no carrier is ever asked.
          apiBase: carrierBases[0] ?? 'http://127.0.0.1:9',
          credentials: { authId: flags.carrierId, authToken: flags.carrierToken } as never,
        },
        dataDir: flags.dataDir,
        concurrentCalls: Math.max(100, mostAtOnce * ROOM),
        webhooks: { url: webhooks.url, setSecret: () => {} },
        log: say,
        output: (text) => void process.stderr.write(text),
      });
      const names = [...service.pids().keys()];
      return {
        facts: factsOf('own', service.deployment.url, EMULATED_CARRIER),
        deployment: service.deployment,
        advice: null,
        processes: () =>
          names.map((name) => ({ name, pid: () => service.pids().get(name), withChildren: name === 'postgres' })),
        metricsUrl: service.metricsUrl,
        databaseUrl: service.databaseUrl,
        webhooks,
        async stop() {
          await service.stop();
          webhooks.close();
        },
      };
    },
  };
}

function chooseStream(options: ChoiceOptions, plan: StreamPlan): ChosenTarget {
  const { flags, processes } = options;
  const address = addressOf(plan);
  assertMayLoad(address, flags.iMayLoadThisTarget);
  const kind = 'streamUrl' in plan.address ? 'stream' : 'answer-url';
  return {
    kind,
    plans: Array.from({ length: processes }, () => plan),
    prepare: async () => ({
      facts: factsOf(kind, address, plan.protocol),
      deployment: null,
      advice: null,
      processes: () => processesHere(flags, address),
      metricsUrl: flags.metrics ?? null,
      databaseUrl: null,
      webhooks: null,
      stop: async () => {},
    }),
  };
}

/** A gateway as most are written, in a process of its own. */
async function chooseNaive(options: ChoiceOptions): Promise<ChosenTarget> {
  const { flags, onStop } = options;
  if (flags.against !== 'naive') throw new TargetFault(`--against ${flags.against}: there is naive alone`);
  const gateway = await startNaiveGateway();
  onStop(() => gateway.stop());
  const stream = chooseStream(
    options,
    streamPlanOf({ ...options, flags: { ...flags, stream: gateway.urlPrefix, protocol: 'plivo' } }),
  );
  return {
    ...stream,
    kind: 'naive',
    async prepare(carrierBases) {
      const prepared = await stream.prepare(carrierBases);
      const processes = [{ name: 'naive', pid: () => gateway.pid, withChildren: false }];
      return { ...prepared, facts: { ...prepared.facts, kind: 'naive' }, processes: () => processes };
    },
  };
}

function plansOf(options: ChoiceOptions): TargetPlan[] {
  const { flags, workload, soundFolder, processes } = options;
  const { phones, browsers } = whoCalls(workload);
  const gapBufferMs = Number(flags.gapBufferMs);
  if (phones && processes > 1) {
    throw new TargetFault(
      '--processes: a Parley has one carrier, which is one process; leave it out, or load with several runs',
    );
  }
  const { host, port } = listenerOf(flags.carrierListen, '--carrier-listen');
  return Array.from({ length: processes }, (_one, process): TargetPlan => {
    const phone: ParleyPlan = {
      kind: 'parley',
      carrierHost: host,
      carrierPort: port,
      authId: flags.carrierId,
      authToken: flags.carrierToken,
      numbers: flags.to,
      gapBufferMs,
      expectSignal: flags.expectSignal,
      soundFolder,
      process,
      of: processes,
    };
    const browser: BrowserPlan = { kind: 'browser', gapBufferMs, soundFolder, process };
    if (phones && browsers) return { kind: 'mixed', phone, browser };
    return phones ? phone : browser;
  });
}

function streamPlanOf({ flags, soundFolder }: ChoiceOptions): StreamPlan {
  const { stream, answerUrl, protocol } = flags;
  if (stream !== undefined && answerUrl !== undefined) {
    throw new TargetFault('--stream and --answer-url: say one of them');
  }
  const names = Object.keys(PROTOCOLS);
  if (!names.includes(protocol)) throw new TargetFault(`--protocol ${protocol}: take one of ${names.join(', ')}`);
  if (stream !== undefined && !(URL.canParse(stream) && /^wss?:/.test(stream))) {
    throw new TargetFault(`--stream ${stream}: write an address that begins with ws:// or wss://`);
  }
  if (answerUrl !== undefined && !(URL.canParse(answerUrl) && /^https?:/.test(answerUrl))) {
    throw new TargetFault(`--answer-url ${answerUrl}: write an address that begins with http:// or https://`);
  }
  return {
    kind: 'stream',
    protocol: protocol as ProtocolName,
    address:
      stream === undefined
        ? { answerUrl: answerUrl!, answerMethod: flags.answerMethod.toUpperCase() === 'GET' ? 'GET' : 'POST' }
        : { streamUrl: stream },
    headers: pairsOf(flags.header, ':', '--header'),
    parameters: pairsOf(flags.parameter, '=', '--parameter'),
    authToken: flags.authToken ?? null,
    gapBufferMs: Number(flags.gapBufferMs),
    expectSignal: flags.expectSignal,
    soundFolder,
  };
}

function pairsOf(given: readonly string[], between: ':' | '=', option: string): Record<string, string> {
  return Object.fromEntries(
    given.map((pair) => {
      const at = pair.indexOf(between);
      if (at > 0) return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
      throw new TargetFault(`${option} ${pair}: write name${between}value`);
    }),
  );
}

function whoCalls({ callers }: Workload): { phones: boolean; browsers: boolean } {
  return { phones: callers.some(({ by }) => by === 'phone'), browsers: callers.some(({ by }) => by === 'browser') };
}

async function webhooksOf({ webhookListen }: RunFlags, nowMs: () => number): Promise<WebhookListener | null> {
  if (webhookListen === undefined) return null;
  const { host, port } = listenerOf(webhookListen, '--webhook-listen');
  return listenForWebhooks(host, port, nowMs);
}

function listenerOf(given: string, option: string): { host: string; port: number } {
  const [, host, digits] = /^(?:\[?([^\]]*?)\]?:)?(\d{1,5})$/.exec(given) ?? [];
  const port = Number(digits);
  if (digits !== undefined && port < 65_536) return { host: host || '127.0.0.1', port };
  throw new TargetFault(`${option} ${given}: write host:port, as in 127.0.0.1:4010`);
}

function processesHere({ pid }: RunFlags, url: string): WatchedProcess[] {
  if (pid.length === 0) return processesAt(url);
  try {
    return processesOf(pid);
  } catch (error) {
    throw new TargetFault((error as Error).message);
  }
}

function factsOf(kind: RunResult['target']['kind'], address: string, protocol: string): RunResult['target'] {
  const { protocol: scheme, host, pathname } = new URL(address);
  const shown = `${scheme}//${host}${pathname === '/' ? '' : pathname}`;
  return { kind, address: shown, protocol, onThisMachine: isLoopback(address), version: null };
}

function originOf(given: string): string {
  if (URL.canParse(given) && /^https?:/.test(given)) return new URL(given).origin;
  throw new TargetFault(
    `--url ${given}: write the address of the API with its scheme, as in https://voice.example.com`,
  );
}
