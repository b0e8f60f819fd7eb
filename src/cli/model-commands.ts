/**
 * `parley model …`: the OpenAI-compatible chat endpoint that reads a workspace's calls. Its key comes from a file, standard input or the
 * environment, never from the command line.
 */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { systemClock } from '../../media/contract/clock.ts';
import { createAddressGuard } from '../../media/net/address-guard.ts';
import { createGuardedClient } from '../../media/net/guarded-client.ts';
import { systemResolver } from '../../media/net/name-lookup.ts';
import {
  type ModelEndpoint,
  removeModelEndpoint,
  setModelEndpoint,
  showModelEndpoint,
  testModelEndpoint,
} from '../analysis/operator-model.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { type CommandIo, ExitCode, given } from './command-io.ts';

export function addModelCommands(program: Command, io: CommandIo): void {
  const model = program.command('model').description('the language model that reads the calls of a workspace');

  model
    .command('set <slug>')
    .description('set or change it; its key from --key-file, - for standard input, or PARLEY_MODEL_KEY')
    .requiredOption('--url <url>', 'like https://api.openai.com/v1; http inside MODEL_ALLOW_CIDRS')
    .requiredOption('--model <name>', 'as its server names it')
    .option('--key-file <path>', 'a file that holds the API key')
    .option('--no-key', 'the server wants none')
    .action(async (slug: string, options: { url: string; model: string; keyFile?: string; key: boolean }) => {
      const apiKey = await readKey(io, options);
      const check = { guard: guardOf(io), resolveName: systemResolver, clock: systemClock };
      const stored = await setModelEndpoint(io.database(), await io.sealer(), {
        slug,
        baseUrl: options.url,
        model: options.model,
        ...given({ apiKey }),
        by: io.by(),
        check,
      });
      io.print(stored, [...lines(stored), `Try it with: parley model test ${slug}`]);
    });

  model
    .command('show <slug>')
    .description('what is set, without the key')
    .action(async (slug: string) => {
      const endpoint = await showModelEndpoint(io.database(), { slug });
      io.print(endpoint, lines(endpoint));
    });

  model
    .command('remove <slug>')
    .description('from now on the local heuristic reads the calls')
    .action(async (slug: string) => {
      const removed = await removeModelEndpoint(io.database(), { slug, by: io.by() });
      io.print(removed, [`${removed.model} at ${removed.baseUrl} is asked no more; its key is gone.`]);
    });

  model
    .command('test <slug>')
    .description('ask it about a short made-up call')
    .action(async (slug: string) => {
      const http = createGuardedClient({ guard: guardOf(io), clock: systemClock });
      try {
        const trial = await testModelEndpoint(io.database(), io.opener(), { http, clock: systemClock }, { slug });
        io.print(
          trial,
          trial.ok
            ? [`It answered in ${trial.ms} ms (${trial.format}): ${trial.intent}. ${trial.summary}`]
            : [`It did not serve (${trial.fault}) after ${trial.ms} ms: ${trial.problem}.`],
        );
        if (!trial.ok) throw new ExitCode(1);
      } finally {
        await http.close();
      }
    });
}

export function guardOf(io: CommandIo): ReturnType<typeof createAddressGuard> {
  const { webhookAllowCidrs, modelAllowCidrs } = io.settings();
  return createAddressGuard([...webhookAllowCidrs, ...modelAllowCidrs], 'MODEL_ALLOW_CIDRS');
}

async function readKey(io: CommandIo, options: { keyFile?: string; key: boolean }): Promise<string | null | undefined> {
  if (!options.key) return null;
  const fromEnvironment = io.terminal.environment['PARLEY_MODEL_KEY'];
  if (options.keyFile === undefined) return fromEnvironment === '' ? undefined : fromEnvironment;
  const text = options.keyFile === '-' ? await io.terminal.readInput() : await readFile(options.keyFile, 'utf8');
  const key = text.trim();
  if (key === '') throw new OperatorError('invalid', `There is no key in ${options.keyFile}.`);
  return key;
}

function lines({ baseUrl, model, hasKey }: ModelEndpoint): string[] {
  return [`${model} at ${baseUrl}, ${hasKey ? 'with a key' : 'without a key'}`];
}
