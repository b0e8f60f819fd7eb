/**
 * Whose ears, model and voice the free conversation has, by their names: those of the keys in the environment, or,
 * without any, emulated ones on this machine, which speak the same protocols.
 */
import type { CascadeAgent } from '../../../media/contract/agent-definition.ts';
import type { WantedConnection } from '../../harness/gateway.ts';
import { startProvidersProcess } from '../../harness/providers-process.ts';

/** By `--listen`, `--think` and `--speak`. */
export interface ProviderChoice {
  listen: string;
  think: string;
  speak: string;
}

export interface PlayProviders extends Pick<CascadeAgent, 'listen' | 'think' | 'speak'> {
  isEmulated: boolean;
  connections: WantedConnection[];
  /** Of the service. */
  environment: Record<string, string>;
  about: string[];
  close(): Promise<void>;
}

interface Party<Part> {
  /** As people write it. */
  title: string;
  /** Of its connection. */
  provider: string;
  /** Its emulator, and the path below it that the connection names. */
  emulator: string;
  path: string;
  keyVariable: string;
  /** Of the agent, by the name of the connection. */
  part(connection: string, isEmulated: boolean): Part;
}

type Voice = CascadeAgent['speak'][number];
type Model = CascadeAgent['think'][number];

const EMULATED_MODEL = 'emulated-mini';

const DEEPGRAM = { title: 'Deepgram', provider: 'deepgram', keyVariable: 'DEEPGRAM_API_KEY' };

export const LISTENS: Readonly<Record<string, Party<CascadeAgent['listen']>>> = {
  deepgram: ear('deepgram', DEEPGRAM),
  'deepgram-flux': ear('deepgram-flux', DEEPGRAM),
  assemblyai: ear('assemblyai', { title: 'AssemblyAI', provider: 'assemblyai', keyVariable: 'ASSEMBLYAI_API_KEY' }),
  openai: {
    title: 'OpenAI',
    provider: 'openai_compatible',
    emulator: 'openai',
    path: '/v1',
    keyVariable: 'OPENAI_API_KEY',
    part: (connection) => ({ connection, engine: 'openai' }),
  },
};

export const THINKS: Readonly<Record<string, Party<Model>>> = {
  openai: {
    title: 'OpenAI',
    provider: 'openai_compatible',
    emulator: 'openai',
    path: '/v1',
    keyVariable: 'OPENAI_API_KEY',
    part: (connection, isEmulated) => ({
      connection,
      model: isEmulated ? EMULATED_MODEL : process.env['OPENAI_MODEL'] || 'gpt-4.1-mini',
    }),
  },
  anthropic: {
    title: 'Anthropic',
    provider: 'anthropic',
    emulator: 'anthropic',
    path: '',
    keyVariable: 'ANTHROPIC_API_KEY',
    part: (connection, isEmulated) => ({
      connection,
      engine: 'anthropic',
      model: isEmulated ? EMULATED_MODEL : process.env['ANTHROPIC_MODEL'] || 'claude-haiku-4-5',
    }),
  },
  gemini: {
    title: 'Gemini',
    provider: 'gemini',
    emulator: 'gemini',
    path: '',
    keyVariable: 'GEMINI_API_KEY',
    part: (connection, isEmulated) => ({
      connection,
      engine: 'gemini',
      model: isEmulated ? EMULATED_MODEL : process.env['GEMINI_MODEL'] || 'gemini-3.5-flash-lite',
    }),
  },
};

export const SPEAKS: Readonly<Record<string, Party<Voice>>> = {
  elevenlabs: {
    title: 'ElevenLabs',
    provider: 'elevenlabs',
    emulator: 'elevenlabs',
    path: '',
    keyVariable: 'ELEVENLABS_API_KEY',
    part: (connection) => ({
      connection,
      engine: 'elevenlabs',
      voice: process.env['ELEVENLABS_VOICE_ID'] || '21m00Tcm4TlvDq8ikWAM',
      model: 'eleven_flash_v2_5',
    }),
  },
  cartesia: {
    title: 'Cartesia',
    provider: 'cartesia',
    emulator: 'cartesia',
    path: '',
    keyVariable: 'CARTESIA_API_KEY',
    part: (connection) => ({
      connection,
      engine: 'cartesia',
      voice: process.env['CARTESIA_VOICE_ID'] || 'f786b574-daa5-4673-aa0c-cbe3e8534c02',
      model: 'sonic-3',
    }),
  },
  deepgram: {
    ...DEEPGRAM,
    emulator: 'deepgram',
    path: '',
    part: (connection) => ({
      connection,
      engine: 'deepgram',
      voice: process.env['DEEPGRAM_VOICE'] || 'aura-2-thalia-en',
    }),
  },
  openai: {
    title: 'OpenAI',
    provider: 'openai_compatible',
    emulator: 'openai',
    path: '/v1',
    keyVariable: 'OPENAI_API_KEY',
    part: (connection) => ({ connection, engine: 'openai', voice: 'alloy', model: 'gpt-4o-mini-tts' }),
  },
};

/** The voice that runs here. The local ear is none of a free conversation: it knows the phrases of scripts alone. */
export const LOCAL = 'local';
const LOCAL_VOICE: Voice = { engine: 'local', voice: 'slt' };

export const USUAL_CHOICE: ProviderChoice = { listen: 'deepgram', think: 'openai', speak: 'elevenlabs' };

/**
 * `vocabulary`: what the callee may say, for the emulated ears. Throws for a name that is none, and when some keys are
 * there and others not.
 */
export async function startPlayProviders(
  vocabulary: readonly string[],
  choice: ProviderChoice = USUAL_CHOICE,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<PlayProviders> {
  const { ears, brain, voice } = partiesOf(choice);
  const parties = { ears, brain, ...(voice === null ? {} : { voice }) };
  const variables = [...new Set(Object.values(parties).map(({ keyVariable }) => keyVariable))];
  const missing = variables.filter((name) => !environment[name]);
  const isEmulated = missing.length === variables.length;
  if (!isEmulated && missing.length > 0) {
    throw new Error(
      `${missing.join(' and ')} missing: with all of ${variables.join(', ')} the demo uses the real providers, with none of them emulated ones.`,
    );
  }
  const titles = Object.values(parties).map(({ title }) => title);
  const named = `${titles.slice(0, -1).join(', ')} and ${titles.at(-1)}`;
  const parts = {
    isEmulated,
    listen: ears.part('ears', isEmulated),
    think: [brain.part('brain', isEmulated)],
    speak: [voice?.part('voice', isEmulated) ?? LOCAL_VOICE],
  };
  const entries = Object.entries(parties);
  if (!isEmulated) {
    const connections = entries.map(([name, { provider, keyVariable }]) => ({
      name,
      provider,
      credentials: { apiKey: environment[keyVariable]! },
    }));
    return { ...parts, connections, environment: {}, about: [`real providers: ${named}`], close: async () => {} };
  }
  const providers = await startProvidersProcess({ vocabulary });
  return {
    ...parts,
    connections: entries.map(([name, { provider, emulator, path }]) => ({
      name,
      provider,
      baseUrl: `${providers.origins[emulator]}${path}`,
      credentials: { apiKey: providers.key },
    })),
    environment: { MODEL_ALLOW_CIDRS: '127.0.0.1/32', NODE_EXTRA_CA_CERTS: providers.caFile },
    about: [
      `emulated ${named}: their protocols, real sound`,
      ...(voice === null ? ['the local voice'] : []),
      `with ${variables.join(', ')} in the environment the same command uses the real ones`,
    ],
    close: () => providers.stop(),
  };
}

/** `voice` is null where it is the local one. Throws for a name that is none. */
export function partiesOf(choice: ProviderChoice) {
  return {
    ears: partyOf(LISTENS, 'listen', choice.listen),
    brain: partyOf(THINKS, 'think', choice.think),
    voice: choice.speak === LOCAL ? null : partyOf(SPEAKS, 'speak', choice.speak, `, ${LOCAL}`),
  };
}

/** Whose emulator has the provider's name. */
function ear(
  engine: string,
  by: Pick<Party<unknown>, 'title' | 'provider' | 'keyVariable'>,
): Party<CascadeAgent['listen']> {
  return { ...by, emulator: by.provider, path: '', part: (connection) => ({ connection, engine }) };
}

function partyOf<Part>(
  known: Readonly<Record<string, Party<Part>>>,
  option: string,
  name: string,
  others = '',
): Party<Part> {
  const party = Object.hasOwn(known, name) ? known[name] : undefined;
  if (party !== undefined) return party;
  throw new Error(
    `--${option} ${name}: there is none of that name; use one of ${Object.keys(known).join(', ')}${others}.`,
  );
}
