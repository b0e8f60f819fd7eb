/**
 * Where the master key comes from: the environment, a file, or a command that fetches it from a key service. Read by
 * the supervisor, by control and by the command line. A key is 64 hexadecimal digits; while a rotation is under way
 * there are two, the new one first. What a command printed is never shown, not even when it is no key.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isMasterKeyHex } from '../sealing/master-keys.ts';

export type MasterKeySetting =
  | { from: 'environment'; keys: readonly string[] }
  | { from: 'file'; path: string }
  | { from: 'command'; command: readonly string[] };

type Environment = Readonly<Record<string, string | undefined>>;

const COMMAND_LIMIT_MS = 30_000;
/** Two keys and line ends are 132 bytes. */
const MOST_BYTES = 4_096;
const KEY_FAULT = 'must be 64 hexadecimal digits (openssl rand -hex 32)';
const SOURCES = ['PARLEY_MASTER_KEY', 'PARLEY_MASTER_KEY_FILE', 'PARLEY_MASTER_KEY_COMMAND'] as const;

/** Null: none is given. `faults` are sentences that name a variable and never show its value. */
export function masterKeySetting(environment: Environment): { setting: MasterKeySetting | null; faults: string[] } {
  const given = SOURCES.filter((name) => environment[name]);
  const previous = environment['PARLEY_MASTER_KEY_PREVIOUS'] || undefined;
  const faults: string[] = [];
  if (given.length > 1) faults.push(`${given.join(' and ')} are both set: the key comes from one place; leave one out`);
  const [key, path, commandLine] = SOURCES.map((name) => environment[name] || undefined);
  if (key !== undefined && !isMasterKeyHex(key)) faults.push(`PARLEY_MASTER_KEY ${KEY_FAULT}`);
  if (previous !== undefined) {
    if (!isMasterKeyHex(previous)) faults.push(`PARLEY_MASTER_KEY_PREVIOUS ${KEY_FAULT}`);
    else if (key === undefined) {
      faults.push(
        'PARLEY_MASTER_KEY_PREVIOUS goes with PARLEY_MASTER_KEY; a file or a command gives the previous key on a second line',
      );
    }
  }
  const command = commandLine === undefined ? null : commandOf(commandLine);
  if (typeof command === 'string') faults.push(`PARLEY_MASTER_KEY_COMMAND ${command}`);
  if (faults.length > 0) return { setting: null, faults };
  if (key !== undefined) {
    return { setting: { from: 'environment', keys: previous === undefined ? [key] : [key, previous] }, faults };
  }
  if (path !== undefined) return { setting: { from: 'file', path }, faults };
  if (command !== null && typeof command !== 'string') return { setting: { from: 'command', command }, faults };
  return { setting: null, faults };
}

/**
 * Program and parameters, separated by blanks, or a JSON array of them; there is no shell. A text says what is wrong.
 */
function commandOf(line: string): string[] | string {
  if (!line.trimStart().startsWith('[')) return line.trim().split(/\s+/);
  try {
    const parts: unknown = JSON.parse(line);
    if (Array.isArray(parts) && parts.length > 0 && parts.every((part) => typeof part === 'string' && part !== '')) {
      return parts as string[];
    }
  } catch {
    // Said below.
  }
  return 'must be a program and its parameters, separated by blanks, or as a JSON array like ["/usr/bin/vault","read","…"]';
}

/** Runs the command, or reads the file; the newest key first. Throws one sentence for the operator. */
export function readMasterKeys(
  setting: MasterKeySetting,
  environment: Environment = process.env,
  commandLimitMs = COMMAND_LIMIT_MS,
): readonly string[] {
  if (setting.from === 'environment') return setting.keys;
  if (setting.from === 'file') return keysInFile(setting.path);
  return keysIn(printedBy(setting.command, environment, commandLimitMs), 'PARLEY_MASTER_KEY_COMMAND printed');
}

export function keysInFile(path: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`The master key file ${path} cannot be read (${code}): restore it, or correct its path and owner.`);
  }
  return keysIn(text, `${path} holds`);
}

function keysIn(text: string, what: string): readonly string[] {
  const lines = text
    .slice(0, MOST_BYTES)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.length < 1 || lines.length > 2 || !lines.every(isMasterKeyHex)) {
    throw new Error(
      `${what} no master key: it must be one line of 64 hexadecimal digits, or two while a rotation is under way, the new key first.`,
    );
  }
  return lines;
}

/** Its words on standard error are dropped too: key services quote what they were asked. */
function printedBy(
  [program = '', ...parameters]: readonly string[],
  environment: Environment,
  limitMs: number,
): string {
  const run = spawnSync(program, parameters, {
    env: environment as NodeJS.ProcessEnv,
    shell: false,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: limitMs,
    killSignal: 'SIGKILL',
    maxBuffer: MOST_BYTES,
    encoding: 'utf8',
  });
  const { code } = (run.error ?? {}) as NodeJS.ErrnoException;
  const failed = (why: string): Error =>
    new Error(
      `PARLEY_MASTER_KEY_COMMAND ${why}. Run it by hand as the user of the service; its output is never logged.`,
    );
  if (code === 'ETIMEDOUT') throw failed(`gave no key within ${limitMs / 1000} s and was ended`);
  if (code === 'ENOBUFS') throw failed(`printed more than ${MOST_BYTES} bytes, which is no key`);
  if (code !== undefined) throw failed(`could not be run (${code}): name the program by its absolute path`);
  if (run.signal !== null) throw failed(`was ended by ${run.signal}`);
  if (run.status !== 0) throw failed(`ended with exit code ${run.status}`);
  return run.stdout;
}
