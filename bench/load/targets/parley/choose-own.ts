/** The service that the tool starts itself, where no target is named. Called by `choose-target.ts`. */
import { EMULATED_CARRIER } from '../../../../src/carriers/emulated-account.ts';
import { TargetFault } from '../../contract/target.ts';
import { toolFacts } from '../../run/tool-facts.ts';
import { listenForWebhooks } from '../../run/webhook-listener.ts';
import type { WatchedProcess } from '../../usage/process-usage.ts';
import type { ChoiceOptions, ChosenTarget } from '../chosen-target.ts';
import { factsOf } from '../target-facts.ts';
import { AGENT_KINDS } from './own-agents.ts';
import { startOwnService } from './own-service.ts';
import { plansOf } from './phone-plans.ts';

const SOCKET_SERVERS = ['uws', 'ws'];
/** A carrier that nobody else asks for: any port will do. */
const ANY_PORT = '127.0.0.1:0';
/** Where only browsers call, no carrier is ever asked. */
const NO_CARRIER = 'http://127.0.0.1:9';
/** Browser sessions of the tool's own service count against its workspace as calls do. */
const ROOM = 2;
const LEAST_CALLS = 100;

/** Throws a `TargetFault` for a kind that there is not. */
export function chooseOwn(options: ChoiceOptions): ChosenTarget {
  const { flags, nowMs, say, mostAtOnce } = options;
  const agentKind = AGENT_KINDS.find((name) => name === flags.agentKind);
  if (agentKind === undefined) {
    throw new TargetFault(`--agent-kind ${flags.agentKind}: take one of ${AGENT_KINDS.join(', ')}`);
  }
  const { socketServer } = flags;
  if (socketServer !== undefined && !SOCKET_SERVERS.includes(socketServer)) {
    throw new TargetFault(`--socket-server ${socketServer}: take one of ${SOCKET_SERVERS.join(', ')}`);
  }
  return {
    kind: 'own',
    plans: plansOf(options, ANY_PORT),
    async prepare(carrierBases) {
      const webhooks = await listenForWebhooks('127.0.0.1', 0, nowMs);
      say('starting a service of its own (--url loads one that runs)');
      const service = await startOwnService({
        agentKind,
        socketServer: socketServer ?? null,
        carrier: {
          apiBase: carrierBases[0] ?? NO_CARRIER,
          credentials: { authId: flags.carrierId, authToken: flags.carrierToken } as never,
        },
        dataDir: flags.dataDir,
        concurrentCalls: Math.max(LEAST_CALLS, mostAtOnce * ROOM),
        webhooks: { url: webhooks.url, setSecret: () => {} },
        log: say,
        output: (text) => void process.stderr.write(text),
      });
      const names = [...service.pids().keys()];
      return {
        facts: { ...factsOf('own', service.deployment.url, EMULATED_CARRIER), version: toolFacts().version },
        deployment: service.deployment,
        advice: null,
        processes: () =>
          names.map((name) => ({ name, pid: () => service.pids().get(name), withChildren: name === 'postgres' })),
        beside: besideOf(service.providersPid),
        metricsUrl: service.metricsUrl,
        databaseUrl: service.databaseUrl,
        garbage: service.garbage,
        webhooks,
        async stop() {
          await service.stop();
          webhooks.close();
        },
      };
    },
  };
}

function besideOf(providersPid: number | null): WatchedProcess[] {
  return providersPid === null
    ? []
    : [{ name: 'tool: emulated providers', pid: () => providersPid, withChildren: false }];
}
