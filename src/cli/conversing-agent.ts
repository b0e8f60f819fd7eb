/**
 * What `parley quickstart --agent cascade` begins with: a prepared agent that converses, and the connections that the
 * keys of the environment make.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CascadeAgent } from '../../media/contract/agent-definition.ts';
import { packageRoot } from '../config/built-entry.ts';
import { KEY_VARIABLES, type UsualProviders, usualProviders } from '../connections/usual-keys.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { readJsonFile } from './agent-commands.ts';
import type { CommandIo } from './command-io.ts';

const PREPARED_AGENT = 'bench/demo/desk/agent.json';

export interface Conversing {
  definition: CascadeAgent;
  connections: UsualProviders['connections'];
}

export async function conversingAgent(io: CommandIo): Promise<Conversing> {
  const { environment } = io.terminal;
  const keys = new Map<string, string>();
  for (const name of KEY_VARIABLES) {
    const file = environment[`${name}_FILE`];
    if (!environment[name] && file) keys.set(name, await readKey(`${name}_FILE`, file));
  }
  const providers = usualProviders((name) => environment[name] || keys.get(name));
  if (providers === null) {
    throw new OperatorError(
      'invalid',
      `--agent cascade wants keys of providers in the environment: DEEPGRAM_API_KEY or ASSEMBLYAI_API_KEY, and OPENAI_API_KEY (or OPENAI_BASE_URL of a server of its protocol that wants none), ANTHROPIC_API_KEY or GEMINI_API_KEY. With ELEVENLABS_API_KEY ElevenLabs speaks, with CARTESIA_API_KEY Cartesia, without them the local voice. A key may lie in a file: DEEPGRAM_API_KEY_FILE. Without keys, see it with: npm run demo -- --agent cascade`,
    );
  }
  const { connections, listen, think, speak } = providers;
  const prepared = (await readJsonFile(join(packageRoot(), PREPARED_AGENT))) as CascadeAgent;
  return { definition: { ...prepared, listen: { ...prepared.listen, ...listen }, think, speak }, connections };
}

async function readKey(variable: string, file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError('invalid', `${variable}: ${file} cannot be read (${error.code ?? error.message}).`);
  });
  if (text.trim() !== '') return text.trim();
  throw new OperatorError('invalid', `${variable}: there is no key in ${file}.`);
}
