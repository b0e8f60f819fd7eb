/**
 * By what an agent hears, thinks and speaks in calls with sound: emulated providers in a process of their own, where
 * the scenario file's model is emulated, else its own connections. Called by `audio-holder.ts`.
 */
import { PROVIDERS, type ProviderName } from '../../media/contract/providers.ts';
import type { CommandIo } from '../../src/cli/command-io.ts';
import { connectionsNamedIn } from '../../src/connections/connection-uses.ts';
import type { WantedConnection } from '../harness/gateway.ts';
import { startProvidersProcess } from '../harness/providers-process.ts';
import { type Environment, grantsOfUsual, grantsOfWorkspace, usualOf } from './connections-of-test.ts';
import type { Subject } from './subject.ts';

interface AudioProviders {
  connections: WantedConnection[];
  /** Of the service. */
  environment: Record<string, string>;
  close(): Promise<void>;
}

const EMULATOR_OF: Readonly<Record<ProviderName, string>> = {
  deepgram: 'deepgram',
  assemblyai: 'assemblyai',
  openai_compatible: 'openai',
  anthropic: 'anthropic',
  gemini: 'gemini',
  elevenlabs: 'elevenlabs',
  cartesia: 'cartesia',
};

export async function startAudioProviders(
  subject: Subject,
  { io, environment }: { io: CommandIo; environment: Environment },
): Promise<AudioProviders> {
  const { definition, emulated, file } = subject;
  const { model } = file;
  const close = async (): Promise<void> => {};
  const named = connectionsNamedIn(definition);
  if (named.length === 0 || model === undefined) return { connections: [], environment: {}, close };
  if (emulated === null) {
    const grants =
      'workspace' in model
        ? await grantsOfWorkspace(io, model.workspace)
        : grantsOfUsual(usualOf(environment).connections);
    const connections = grants.map(({ name, provider, baseUrl, credentials }) => {
      return { name, provider, baseUrl, credentials: { ...credentials } };
    });
    return { connections, environment: {}, close };
  }
  const vocabulary = file.scenarios.flatMap(({ turns }) => turns.flatMap(({ caller }) => caller ?? []));
  const process = await startProvidersProcess({ vocabulary, scenario: emulated });
  const byName = new Map<string, WantedConnection>();
  for (const { connection: name, engine } of named) {
    const provider = (engine?.provider ?? 'openai_compatible') as ProviderName;
    const path = new URL(PROVIDERS[provider].defaultBaseUrl).pathname.replace(/\/$/, '');
    const baseUrl = `${process.origins[EMULATOR_OF[provider]]}${path}`;
    byName.set(name, { name, provider, baseUrl, credentials: { apiKey: process.key } });
  }
  return {
    connections: [...byName.values()],
    environment: { MODEL_ALLOW_CIDRS: '127.0.0.1/32', NODE_EXTRA_CA_CERTS: process.caFile },
    close: () => process.stop(),
  };
}
