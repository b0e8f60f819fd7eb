/** A Parley that runs somewhere, by its address and keys: `--url`. Called by `choose-target.ts`. */
import { EMULATED_CARRIER } from '../../../../src/carriers/emulated-account.ts';
import { TargetFault } from '../../contract/target.ts';
import { assertMayLoad } from '../../run/may-load.ts';
import { listenForWebhooks, type WebhookListener } from '../../run/webhook-listener.ts';
import type { ChoiceOptions, ChosenTarget } from '../chosen-target.ts';
import { listenerOf, originOf } from '../option-values.ts';
import { factsOf, processesHere } from '../target-facts.ts';
import type { Deployment } from '../target-plan.ts';
import { settingsOf } from './check-deployment.ts';
import { plansOf, whoCalls } from './phone-plans.ts';

/** Throws a `TargetFault` where an option is missing or not written as it should be. */
export function chooseDeployment(options: ChoiceOptions, given: string): ChosenTarget {
  const { flags } = options;
  const url = originOf(given);
  assertMayLoad(url, flags.iMayLoadThisTarget);
  const { phones } = whoCalls(options.workload);
  const deployment = deploymentOf(options, url);
  const kind = phones ? 'parley' : 'browser';
  return {
    kind,
    plans: plansOf(options, flags.carrierListen),
    async prepare(carrierBases) {
      const webhooks = await webhooksOf(options);
      return {
        facts: factsOf(kind, url, phones ? EMULATED_CARRIER : '/ws/live'),
        deployment,
        advice: phones ? settingsOf({ deployment, carrierBase: carrierBases[0] ?? '', authId: flags.carrierId }) : null,
        processes: () => processesHere(flags, url),
        beside: [],
        metricsUrl: flags.metrics ?? null,
        databaseUrl: null,
        garbage: null,
        webhooks,
        stop: async () => webhooks?.close(),
      };
    },
  };
}

/** What those need who call it: of phones alone no widget key, of browsers alone no API key. */
function deploymentOf({ flags, workload }: ChoiceOptions, url: string): Deployment {
  const { phones, browsers } = whoCalls(workload);
  const need = (isNeeded: boolean, value: string | undefined, option: string, what: string): string => {
    if (!isNeeded) return '';
    if (value !== undefined && value !== '') return value;
    throw new TargetFault(`${option} is missing: ${what} (npx parley bench --help lists all)`);
  };
  const apiKey = flags.apiKey ?? process.env['PARLEY_LOAD_API_KEY'];
  return {
    url,
    agentId: need(true, flags.agent, '--agent', 'the id of the agent that talks'),
    apiKey: need(phones, apiKey, '--api-key', 'a key of the workspace with the scope calls:write'),
    enterprise: need(phones, flags.enterprise, '--enterprise', 'the slug of the workspace'),
    lineId: need(phones, flags.from, '--from', 'the id of the line that calls'),
    publicKey: need(browsers, flags.publicKey, '--public-key', 'the widget key that browser sessions use'),
    origin: need(browsers, flags.origin, '--origin', 'the origin of the page that has the widget'),
  };
}

async function webhooksOf({ flags, nowMs }: ChoiceOptions): Promise<WebhookListener | null> {
  const { webhookListen } = flags;
  if (webhookListen === undefined) return null;
  const { host, port } = listenerOf(webhookListen, '--webhook-listen');
  return listenForWebhooks(host, port, nowMs);
}
