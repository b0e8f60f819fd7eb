/**
 * A carrier's credentials at the command line: the options that every command which takes them has, and how they are
 * read. A secret comes from a file, standard input or the environment, never from the command line, where the process
 * list and the shell's history would show it. Which there are, the carriers declare.
 */
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import {
  CARRIER_NAMES,
  CARRIERS,
  type CarrierName,
  type CredentialField,
  isCarrierName,
} from '../../media/contract/carriers.ts';
import { credentialOption, credentialVariable } from '../carriers/setting-names.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { CommandIo } from './command-io.ts';

/** By the options' names as Commander gives them: `authId`, `authTokenFile`; `authToken` is there to be refused. */
export type CredentialOptions = Record<string, unknown>;

const fieldsOf = (carrier: CarrierName): readonly CredentialField[] => CARRIERS[carrier].credentials;

export function withCredentials(command: Command): Command {
  const variables = new Map<string, { field: CredentialField; names: string[] }>();
  for (const carrier of CARRIER_NAMES) {
    for (const field of fieldsOf(carrier)) {
      const known = variables.get(field.name) ?? { field, names: [] };
      known.names.push(credentialVariable(carrier, field));
      variables.set(field.name, known);
    }
  }
  for (const { field, names } of variables.values()) {
    const option = credentialOption(field);
    const or = names.join(', ');
    if (!field.secret) command.option(`${option} <${option.split('-').at(-1)}>`, `${field.about} (or ${or})`);
    else {
      command
        .option(`${option} <file>`, `a file with ${field.about}, - for standard input (or ${or})`)
        .addOption(new Option(`${option.replace(/-file$/, '')} <value>`).hideHelp());
    }
  }
  return command;
}

/**
 * Undefined when none of them was given at all. Throws for a carrier that does not exist only when credentials are
 * given.
 */
export async function readCredentials(
  io: CommandIo,
  carrier: string,
  options: CredentialOptions,
): Promise<Record<string, string> | undefined> {
  const { environment } = io.terminal;
  const found: Record<string, string> = {};
  for (const field of isCarrierName(carrier) ? fieldsOf(carrier) : []) {
    const variable = credentialVariable(carrier, field);
    if (field.secret && options[field.name] !== undefined) throw onTheCommandLine(field, variable);
    const given = options[field.secret ? `${field.name}File` : field.name] as string | undefined;
    const value =
      given === undefined ? environment[variable] : field.secret ? await readSecret(io, field, given) : given;
    if (value !== undefined) found[field.name] = value;
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

/** What to give, for who gave nothing. */
export function credentialAdvice(carrier: string): string {
  const fields = isCarrierName(carrier) ? fieldsOf(carrier) : [];
  const options = fields.map(credentialOption).join(' and ');
  const variables = fields.map((field) => credentialVariable(carrier, field)).join(' and ');
  return `Give ${options}, or ${variables}.`;
}

function onTheCommandLine(field: CredentialField, variable: string): OperatorError {
  return new OperatorError(
    'refused',
    `A token on the command line can be read in the process list and the shell history. Put it into a file and use ${credentialOption(field)} (- reads standard input), or set ${variable}. If it was a real one, change it at the carrier.`,
  );
}

async function readSecret(io: CommandIo, field: CredentialField, file: string): Promise<string> {
  const text =
    file === '-'
      ? await io.terminal.readInput()
      : await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
          throw new OperatorError('invalid', `${file} cannot be read (${error.code ?? error.message}).`);
        });
  if (text.trim() === '') throw new OperatorError('invalid', `The ${field.about.replace(/^its /, '')} is empty.`);
  return text.trim();
}
