/**
 * Whom the agent and the judge ask: the emulated model, on the call's own clock, or real ones over the connections of
 * the environment or a workspace, by the very service that calls use. Made once a scenario file by `subject.ts`.
 */
import { pino } from 'pino';
import type { AgentDefinition, CascadeModel } from '../../media/contract/agent-definition.ts';
import { type Clock, systemClock } from '../../media/contract/clock.ts';
import { DEFAULT_MODEL_ENGINE, ENGINES, type EngineName } from '../../media/contract/engine-list.ts';
import type { ConnectionGrant } from '../../media/contract/grant.ts';
import type { LanguageModel, ModelChunk, ModelRequest } from '../../media/contract/model.ts';
import { isProviderName, PROVIDERS } from '../../media/contract/providers.ts';
import { withoutSecrets } from '../../media/engines/provider/provider-error.ts';
import type { ServiceDeps, ServiceKind } from '../../media/engines/provider/provider-service.ts';
import { SERVICES } from '../../media/engines/provider/services.ts';
import { createAddressGuard } from '../../media/net/address-guard.ts';
import { openGuardedSocket } from '../../media/net/guarded-socket.ts';
import { createGuardedStreams, type GuardedStreams } from '../../media/net/guarded-stream.ts';
import type { Scenario as EmulatedScenario } from '../emulators/providers/mind/scenario.ts';
import { emulatedModel } from './emulated-model.ts';
import { WrongUse } from './scenario-file.ts';

type Asked = Pick<CascadeModel, 'connection' | 'model' | 'temperature' | 'settings'> & {
  engine?: string | undefined;
};

export interface ModelsOfTest {
  /**
   * In the order of the agent's own; throws `WrongUse` for one that cannot be asked. `unfitted` is called where no rule
   * of an emulated one fits.
   */
  openFor(definition: AgentDefinition, clock: Clock, unfitted?: () => void): LanguageModel[];
  /** Without an engine: that of the connection's provider. */
  open(asked: Asked, clock: Clock): LanguageModel;
  /** A real one is thinking. */
  readonly waitsForOthers: boolean;
  close(): void;
}

/** Of an agent that names none. */
export const EMULATED_CONNECTION = 'brain';

/** By the connections that the agent thinks with. */
export function emulatedModels(scenario: EmulatedScenario, definition: AgentDefinition): ModelsOfTest {
  const known = [...new Set([...thinkersOf(definition).map(({ connection }) => connection), EMULATED_CONNECTION])];
  const open = ({ connection, model }: Asked, clock: Clock, unfitted?: () => void): LanguageModel => {
    if (!known.includes(connection)) throw connectionMissing(connection, model, known);
    return emulatedModel(scenario, model, clock, unfitted);
  };
  return {
    openFor: (definition, clock, unfitted) => thinkersOf(definition).map((asked) => open(asked, clock, unfitted)),
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

const SERVICE_OF_ENGINE: Readonly<Record<EngineName<'think'>, string>> = {
  openai: 'openai-chat',
  anthropic: 'anthropic-messages',
  gemini: 'gemini-generate',
};
const THINK_ENGINES = Object.keys(ENGINES.think) as EngineName<'think'>[];

function connectionMissing(connection: string, model: string, known: readonly string[]): WrongUse {
  return new WrongUse(
    `there is no connection '${connection}' for the model '${model}'; there are: ${known.join(', ') || 'none'}`,
  );
}

/** Throws `WrongUse` where the connection has no model of that engine, or none at all. */
function serviceFor({ connection, engine, model }: Asked, { provider }: ConnectionGrant): ServiceKind {
  const title = isProviderName(provider) ? PROVIDERS[provider].title : provider;
  const own = THINK_ENGINES.find((name) => ENGINES.think[name].provider === provider);
  if (own === undefined) {
    const others = THINK_ENGINES.map((name) => PROVIDERS[ENGINES.think[name].provider].title).join('; ');
    throw new WrongUse(
      `the connection '${connection}' for the model '${model}' is one to ${title}, which has no language models; these have: ${others}`,
    );
  }
  if (engine !== undefined && engine !== own) {
    throw new WrongUse(
      `the model '${model}' is asked by the engine '${engine}', and its connection '${connection}' is one to ${title}: write "engine": "${own}", or name another connection`,
    );
  }
  return SERVICES.find(({ name }) => name === SERVICE_OF_ENGINE[own])!;
}

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
  const open = (wanted: Asked): LanguageModel => {
    const { connection, model, temperature, settings } = wanted;
    const grant = grants.find(({ name }) => name === connection);
    if (grant === undefined) {
      const names = grants.map(({ name }) => name);
      throw connectionMissing(connection, model, names);
    }
    const kind = serviceFor(wanted, grant);
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
    openFor: (definition) => thinkersOf(definition).map((asked) => open(asked)),
    open,
    get waitsForOthers() {
      return thinking > 0;
    },
    close: () => streams.close(),
  };
}

function thinkersOf(definition: AgentDefinition): readonly CascadeModel[] {
  const own = definition.kind === 'cascade' ? definition.think : [];
  return own.map((one) => ({ engine: DEFAULT_MODEL_ENGINE, ...one }));
}
