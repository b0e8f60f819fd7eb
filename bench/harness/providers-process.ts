/** The emulated providers as a process of their own, so that their work does not disturb the gateway's clock. */
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtEntry } from '../../src/config/built-entry.ts';
import { endChild } from './end-child.ts';
import { trustingFetch } from './trusting-fetch.ts';

export interface ProvidersProcess {
  /** By the emulator's name of the provider: `https://localhost:PORT`. */
  origins: Readonly<Record<string, string>>;
  /** Their authority, for NODE_EXTRA_CA_CERTS. */
  caFile: string;
  key: string;
  /** Faults for what comes (or with `now` for what is open): `bench/emulators/providers/README.md`. */
  fault(provider: string, faults: readonly object[], now?: boolean): Promise<void>;
  /** What a provider received and sent, without sound and keys. */
  journal(provider: string): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

const KEY = 'emulated-key';
const STOP_LIMIT_MS = 5_000;

/**
 * `vocabulary`: what callers may say, a phrase each. `scenario`: what the model knows; absent, the restaurant.
 * `isExact`: the recogniser tells voices from other sounds, and does not give way to the rest of the machine.
 */
export async function startProvidersProcess(options: {
  vocabulary: readonly string[];
  scenario?: object;
  isExact?: boolean;
}): Promise<ProvidersProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-providers-'));
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const caFile = join(folder, 'ca.pem');
  const args = ['--key', KEY, '--ca-file', caFile];
  args.push('--vocabulary', file('vocabulary.txt', options.vocabulary.join('\n')));
  if (options.scenario !== undefined) args.push('--scenario', file('scenario.json', JSON.stringify(options.scenario)));
  if (options.isExact === true) args.push('--exact');
  const child = fork(builtEntry('bench/emulators/providers/main.js'), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  });
  const started = await new Promise<{ provider: string; origin: string; port: number }[]>((ready, failed) => {
    child.once('exit', (code) => failed(new Error(`the emulated providers ended with code ${code}`)));
    child.once('message', (message) => ready((message as { providers: never[] }).providers));
  });
  const origins = Object.fromEntries(started.map(({ provider, origin }) => [provider, origin]));
  const trusting = trustingFetch(readFileSync(caFile, 'utf8'));
  const ask = async (provider: string, method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> => {
    const answer = await trusting(`${origins[provider]}/emulator${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const said = await answer.json();
    if (!answer.ok) throw new Error(`the emulated ${provider} refused: ${JSON.stringify(said)}`);
    return said;
  };
  return {
    origins,
    caFile,
    key: KEY,
    fault: async (provider, faults, now = false) => {
      await ask(provider, 'POST', `/faults${now ? '?now' : ''}`, faults);
    },
    async journal(provider) {
      return ((await ask(provider, 'GET', '/journal')) as { entries: Record<string, unknown>[] }).entries;
    },
    async stop() {
      await endChild(child, STOP_LIMIT_MS);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
