/** The chat engine over the emulated OpenAI: scenes become scenarios and faults; what came is read off its journal. */
import type { ScenarioInput } from '../../../bench/emulators/providers/openai/scenario.ts';
import { tokensOf } from '../../../bench/emulators/providers/openai/tokens.ts';
import type { ProviderEndpoint } from '../../../bench/emulators/providers/provider-endpoint.ts';
import { trustingFetch } from '../../../bench/harness/trusting-fetch.ts';
import { chatModelOf } from '../../../media/engines/openai/chat-model.ts';
import type { ModelCase, ModelScene } from '../../unit/media/engines/model-conformance.ts';
import { SkippingClock } from '../../unit/media/engines/openai/chat-case.ts';
import { grantOf, providerHarness } from '../../unit/media/engines/provider-harness.ts';

const MODEL = 'emulated-mini';
const TIMING = { firstTokenMs: 5, tokenMs: 1 };
const FAULTS = { stall: 'stall', garbage: 'garbage', strangers_answer: 'foreign_answer' } as const;
/** Questions that are asked at once are struck all. */
const MANY = 100;

export async function emulatedChatCase(openai: ProviderEndpoint, key: string): Promise<ModelCase> {
  const clock = new SkippingClock();
  const harness = providerHarness({ ca: openai.caPem, clock });
  const fetch = trustingFetch(openai.caPem);
  harness.grant('call-1', grantOf({ baseUrl: `${openai.origin}/v1`, credentials: { apiKey: key } }));
  const port = harness.connect();
  const model = chatModelOf(() => port)({ callUuid: 'call-1', connection: 'main', settings: { model: MODEL } });
  openai.journal.clear();
  let setting: Promise<unknown> = Promise.resolve();

  function set(scene: ModelScene): Promise<unknown> {
    openai.calm();
    if ('status' in scene) openai.script({ kind: 'status', status: scene.status, times: MANY });
    if ('after' in scene && scene.after !== 'break') {
      // The first message names the speaker.
      const afterMessages = scene.say.length === 0 ? 0 : 1 + tokensOf(scene.say.join('')).length;
      openai.script({ kind: FAULTS[scene.after], afterMessages, times: MANY });
    }
    return fetch(`${openai.origin}/emulator/scenario`, { method: 'POST', body: JSON.stringify(scenarioOf(scene)) });
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
      const closed = new Set(openai.journal.entries('closed').map(({ exchange }) => exchange));
      const told = new Map(openai.journal.entries('answered').map((entry) => [entry.exchange, entry]));
      return openai.journal.entries('request').map(({ exchange }) => ({
        text: JSON.stringify(told.get(exchange)?.['messages'] ?? ''),
        isClosed: closed.has(exchange),
      }));
    },
    async pass(ms) {
      clock.skip(ms);
      await new Promise((resolve) => setTimeout(resolve, 20));
    },
    die: () => port.close(),
    async close() {
      openai.calm();
      harness.close();
    },
  };
}

function scenarioOf(scene: ModelScene): ScenarioInput {
  const say = 'say' in scene ? scene.say.join('') : '';
  const call = 'uses' in scene ? scene.uses : [];
  const afterTokens = 'after' in scene && scene.after === 'break' ? tokensOf(say).length : null;
  return {
    models: [MODEL],
    timing: TIMING,
    rules: [],
    otherwise: {
      ...(say === '' ? {} : { say }),
      call: call.map(({ name, argumentParts }) => ({ tool: name, rawArguments: argumentParts.join('') })),
      ...(afterTokens === null ? {} : { cut: { afterTokens, by: 'end' as const } }),
      ...('stop' in scene && scene.stop !== undefined
        ? { finishReason: scene.stop === 'filtered' ? ('content_filter' as const) : scene.stop }
        : {}),
    },
  };
}
