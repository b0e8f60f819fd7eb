/**
 * The connections that a scenario file's models are reached by: those of the usual variables of the environment, or of
 * a workspace. Called by `subject.ts` and `audio-providers.ts`.
 */
import type { ConnectionGrant } from '../../media/contract/grant.ts';
import { PROVIDERS, type ProviderName } from '../../media/contract/providers.ts';
import type { CommandIo } from '../../src/cli/command-io.ts';
import { listNewest } from '../../src/connections/connection-rows.ts';
import { connectionsOf } from '../../src/connections/grants.ts';
import { type UsualProviders, usualProviders, usualThinkers } from '../../src/connections/usual-keys.ts';
import { findWorkspace } from '../../src/workspaces/workspaces.ts';
import { WrongUse } from './scenario-file.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const MODEL_KEYS =
  'OPENAI_API_KEY (or OPENAI_BASE_URL of a server that wants none), ANTHROPIC_API_KEY or GEMINI_API_KEY';
const WAY_OUT = 'set them, or write "model": { "emulated": … }';

/** Of calls with sound. Throws `WrongUse` where they are not there. */
export function usualOf(environment: Environment): UsualProviders {
  const usual = usualProviders((name) => environment[name]);
  if (usual !== null) return usual;
  throw new WrongUse(`model.environment: wants DEEPGRAM_API_KEY or ASSEMBLYAI_API_KEY, and ${MODEL_KEYS}; ${WAY_OUT}`);
}

/** Of calls as text, in which nobody has to hear. Throws `WrongUse` where there is no model. */
export function usualThinkersOf(environment: Environment): Omit<UsualProviders, 'listen'> {
  const usual = usualThinkers((name) => environment[name]);
  if (usual !== null) return usual;
  throw new WrongUse(`model.environment: wants ${MODEL_KEYS}; ${WAY_OUT}`);
}

export function grantsOfUsual(connections: UsualProviders['connections']): ConnectionGrant[] {
  return connections.map(({ name, provider, baseUrl, credentials }) => ({
    name,
    version: 1,
    provider,
    baseUrl: baseUrl ?? PROVIDERS[provider as ProviderName].defaultBaseUrl,
    credentials,
    limits: {},
    settings: {},
  }));
}

/** All that can be opened; throws an `OperatorError` where there is no such workspace. */
export async function grantsOfWorkspace(io: CommandIo, slug: string): Promise<ConnectionGrant[]> {
  const { id } = await findWorkspace(io.database(), slug);
  const names = (await listNewest(io.database(), id)).map(({ name }) => name);
  return (await connectionsOf(io.database(), io.opener(), id, names)).grants;
}
