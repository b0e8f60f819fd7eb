/**
 * Whom the agent and the judge ask: the emulated model, on the call's own clock, or real ones over the connections of
 * the environment or a workspace, by the very service that calls use. Made once a scenario file by `subject.ts`.
 */
import { pino } from 'pino';
import type { AgentDefinition, CascadeModel } from '../../media/contract/agent-definition.ts';
import { type Clock, systemClock } from '../../media/contract/clock.ts';
import { DEFAULT_MODEL_ENGINE } from '../../media/contract/engine-list.ts';
import type { ConnectionGrant } from '../../media/contract/grant.ts';
import type { LanguageModel, ModelChunk, ModelRequest } from '../../media/contract/model.ts';
import { withoutSecrets } from '../../media/engines/provider/provider-error.ts';
import type { ServiceDeps } from '../../media/engines/provider/provider-service.ts';
import { SERVICES } from '../../media/engines/provider/services.ts';
import { createAddressGuard } from '../../media/net/address-guard.ts';
import { openGuardedSocket } from '../../media/net/guarded-socket.ts';
import { createGuardedStreams, type GuardedStreams } from '../../media/net/guarded-stream.ts';
import type { Scenario as EmulatedScenario } from '../emulators/providers/mind/scenario.ts';
import { emulatedModel } from './emulated-model.ts';
import { WrongUse } from './scenario-file.ts';

type Asked = Pick<CascadeModel, 'connection' | 'engine' | 'model' | 'temperature' | 'settings'>;

export interface ModelsOfTest {
  /** In the order of the agent's own; throws `WrongUse` for a connection that is not there. */
  openFor(definition: AgentDefinition, clock: Clock): LanguageModel[];
  open(asked: Asked, clock: Clock): LanguageModel;
  /** A real one is thinking. */
  readonly waitsForOthers: boolean;
  close(): void;
}

export function emulatedModels(scenario: EmulatedScenario): ModelsOfTest {
  const open = ({ model }: Asked, clock: Clock): LanguageModel => emulatedModel(scenario, model, clock);
  return {
    openFor: (definition, clock) => thinkersOf(definition).map((asked) => open(asked, clock)),
    open,
    waitsForOthers: false,
    close() {},
  };
}

/** A script asks nobody. */
export const NO_MODELS: ModelsOfTest = {
  openFor: () => [],
  open(asked) {
    throw new WrongUse(
      `nothing says whom to ask as '${asked.model}': add "model" to the file: { "emulated": … }, { "environment": true } or { "workspace": … }`,
    );
  },
  waitsForOthers: false,
  close() {},
};

const SERVICE_OF_ENGINE: Readonly<Record<string, string>> = {
  openai: 'openai-chat',
  anthropic: 'anthropic-messages',
  gemini: 'gemini-generate',
};

export function realModels(grants: readonly ConnectionGrant[], allowCidrs: readonly string[]): ModelsOfTest {
  const guard = createAddressGuard([...allowCidrs], 'MODEL_ALLOW_CIDRS');
  const streams: GuardedStreams = createGuardedStreams({ guard, clock: systemClock });
  const deps: ServiceDeps = {
    clock: systemClock,
    log: pino({ level: 'silent' }),
    streams,
    openSocket: (request, listener) => openGuardedSocket(request, { guard, clock: systemClock }, listener),
  };
  let thinking = 0;
  const open = ({ connection, engine = DEFAULT_MODEL_ENGINE, model, temperature, settings }: Asked): LanguageModel => {
    const grant = grants.find(({ name }) => name === connection);
    if (grant === undefined) {
      const known = grants.map(({ name }) => name).join(', ') || 'none';
      throw new WrongUse(`there is no connection '${connection}' for the model '${model}'; there are: ${known}`);
    }
    const kind = SERVICES.find(({ name }) => name === SERVICE_OF_ENGINE[engine]);
    if (kind === undefined) {
      const known = Object.keys(SERVICE_OF_ENGINE).join(', ');
      throw new WrongUse(`tests cannot ask models of the engine '${engine}': they know ${known}`);
    }
    const asked = { ...settings, model, ...(temperature === undefined ? {} : { temperature }) };
    const opened = kind.load().then((make) => make(deps));
    return {
      ask(request: ModelRequest, onChunk: (chunk: ModelChunk) => void) {
        let isOver = false;
        thinking++;
        const over = (): boolean => {
          if (isOver) return false;
          isOver = true;
          thinking--;
          return true;
        };
        const tell = (chunk: ModelChunk): void => {
          if (isOver) return;
          if (chunk.type === 'done' || chunk.type === 'failed') over();
          onChunk(chunk);
        };
        let callOff = (): void => {};
        const begin = opened.then((service) => {
          if (isOver) return;
          const line = {
            callUuid: 'test',
            grant,
            pool: grant.name,
            settings: asked,
            say: (body: unknown) => tell(body as ModelChunk),
            end: (fault?: string | null, message = 'the answer broke off') =>
              tell({
                type: 'failed',
                fault: (fault ?? 'failed') as 'failed',
                message: withoutSecrets(message, grant),
              }),
            used() {},
          };
          const handler = service(line, request);
          callOff = () => handler.closed(false);
        });
        begin.catch((error: Error) => tell({ type: 'failed', fault: 'failed', message: error.message }));
        return () => {
          if (over()) callOff();
        };
      },
    };
  };
  return {
    openFor: (definition) => thinkersOf(definition).map(open),
    open,
    get waitsForOthers() {
      return thinking > 0;
    },
    close: () => streams.close(),
  };
}

function thinkersOf(definition: AgentDefinition): readonly CascadeModel[] {
  return definition.kind === 'cascade' ? definition.think : [];
}
