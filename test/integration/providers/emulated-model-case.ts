/** A model over its provider's emulator: scenes become scenarios and faults; what came is read off its journal. */
import type { ScenarioInput } from '../../../bench/emulators/providers/mind/scenario.ts';
import { tokensOf } from '../../../bench/emulators/providers/mind/tokens.ts';
import type { ProviderEndpoint } from '../../../bench/emulators/providers/provider-endpoint.ts';
import { trustingFetch } from '../../../bench/harness/trusting-fetch.ts';
import { remoteModelOf } from '../../../media/engines/provider/remote-model.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import type { ModelCase, ModelScene } from '../../unit/media/engines/model-conformance.ts';
import { grantOf, providerHarness } from '../../unit/media/engines/provider-harness.ts';

const MODEL = 'emulated-mini';
const TIMING = { firstTokenMs: 5, tokenMs: 1 };
const FAULTS = { stall: 'stall', garbage: 'garbage', strangers_answer: 'foreign_answer' } as const;
const CUTS = { break: 'end', rate_limit: 'rate_limit' } as const;
/** Questions that are asked at once are struck all. */
const MANY = 100;

/** How a protocol of models is emulated. */
export interface EmulatedModel {
  service: string;
  provider: string;
  path: string;
  /** Messages before an answer's first token. */
  headMessages: number;
}

export async function emulatedModelCase(
  endpoint: ProviderEndpoint,
  { service, provider, path, headMessages }: EmulatedModel,
  key: string,
): Promise<ModelCase> {
  const clock = new VirtualClock();
  const harness = providerHarness({ ca: endpoint.caPem, clock });
  const fetch = trustingFetch(endpoint.caPem);
  harness.grant('call-1', grantOf({ provider, baseUrl: `${endpoint.origin}${path}`, credentials: { apiKey: key } }));
  const port = harness.connect();
  const model = remoteModelOf(service)(() => port)({
    callUuid: 'call-1',
    connection: 'main',
    settings: { model: MODEL },
  });
  endpoint.journal.clear();
  let setting: Promise<unknown> = Promise.resolve();

  function set(scene: ModelScene): Promise<unknown> {
    endpoint.calm();
    if ('status' in scene) endpoint.script({ kind: 'status', status: scene.status, times: MANY });
    if ('isNewer' in scene) endpoint.script({ kind: 'newer_protocol', times: MANY });
    if ('after' in scene && scene.after in FAULTS) {
      const afterMessages = scene.say.length === 0 ? 0 : headMessages + tokensOf(scene.say.join('')).length;
      endpoint.script({ kind: FAULTS[scene.after as keyof typeof FAULTS], afterMessages, times: MANY });
    }
    return fetch(`${endpoint.origin}/emulator/scenario`, { method: 'POST', body: JSON.stringify(scenarioOf(scene)) });
  }
  return {
    model: {
      ask(request, onChunk) {
        let takeBack = (): void => {};
        let isTaken = false;
        void setting.then(() => {
          if (!isTaken) takeBack = model.ask(request, onChunk);
        });
        return () => {
          isTaken = true;
          takeBack();
        };
      },
    },
    countsItself: true,
    scene: (scene) => {
      setting = set(scene);
    },
    requests() {
      const closed = new Set(endpoint.journal.entries('closed').map(({ exchange }) => exchange));
      const told = new Map(endpoint.journal.entries('answered').map((entry) => [entry.exchange, entry]));
      return endpoint.journal.entries('request').map(({ exchange }) => ({
        text: JSON.stringify(told.get(exchange)?.['messages'] ?? ''),
        isClosed: closed.has(exchange),
      }));
    },
    async pass(ms) {
      clock.advanceMs(ms);
      await new Promise((resolve) => setTimeout(resolve, 20));
    },
    die: () => port.close(),
    async close() {
      endpoint.calm();
      harness.close();
    },
  };
}

function scenarioOf(scene: ModelScene): ScenarioInput {
  const say = 'say' in scene ? scene.say.join('') : '';
  const call = 'uses' in scene ? scene.uses : [];
  const by = 'after' in scene && scene.after in CUTS ? CUTS[scene.after as keyof typeof CUTS] : null;
  return {
    models: [MODEL],
    timing: TIMING,
    rules: [],
    otherwise: {
      ...(say === '' ? {} : { say }),
      call: call.map(({ name, argumentParts }) => ({ tool: name, rawArguments: argumentParts.join('') })),
      ...(by === null ? {} : { cut: { afterTokens: tokensOf(say).length, by } }),
      ...('stop' in scene && scene.stop !== undefined
        ? { finishReason: scene.stop === 'filtered' ? ('content_filter' as const) : scene.stop }
        : {}),
    },
  };
}
