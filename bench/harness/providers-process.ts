/** The emulated providers as a process of their own, so that their work does not disturb the gateway's clock. */
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtEntry } from '../../src/config/built-entry.ts';
import { endChild } from './end-child.ts';
import { trustingFetch } from './trusting-fetch.ts';

export interface ProvidersProcess {
  pid: number;
  /** By the emulator's name of the provider: `https://localhost:PORT`. */
  origins: Readonly<Record<string, string>>;
  /** Their authority, for NODE_EXTRA_CA_CERTS. */
  caFile: string;
  key: string;
  /** Another that counts: of what stands by when the first is revoked. */
  backupKey: string;
  /** Faults for what comes (or with `now` for what is open): `bench/emulators/providers/README.md`. */
  fault(provider: string, faults: readonly object[], now?: boolean): Promise<void>;
  /** A key that was revoked counts again. */
  allow(provider: string, key: string): Promise<void>;
  /** Since it was cleared last. */
  journal(provider: string): Promise<ProviderJournal>;
  clearJournal(provider: string): Promise<void>;
  stop(): Promise<void>;
}

/** What a provider received and sent, without sound and keys. */
export interface ProviderJournal {
  entries: JournalEntry[];
  /** How late it said what it had to say, at worst: where that is much, silences are its own. */
  maxLatenessMs: number;
}

export interface JournalEntry {
  atEpochMs: number;
  exchange: string;
  type: string;
  message?: unknown;
  /** Of a model: what it was asked with. */
  messages?: unknown;
}

const KEY = 'emulated-key';
const BACKUP_KEY = 'emulated-backup-key';
const STOP_LIMIT_MS = 5_000;

/**
 * `vocabulary`: what callers may say, a phrase each. `scenario`: what the model knows; absent, the restaurant.
 * `isExact`: the recogniser tells voices from other sounds.
 */
export async function startProvidersProcess(options: {
  vocabulary: readonly string[];
  scenario?: object;
  /** Absent: keys that look like what they are. */
  key?: string;
  backupKey?: string;
  isExact?: boolean;
  /** Callers are emulated and all of this voice: they are heard at no cost. */
  knownVoice?: string;
  /** The same of callers who are of no voice here: mu-law of 8 kHz. */
  knownSounds?: readonly { text: string; mulaw: Uint8Array }[];
}): Promise<ProvidersProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-providers-'));
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const caFile = join(folder, 'ca.pem');
  const { key = KEY, backupKey = BACKUP_KEY } = options;
  const args = ['--key', key, '--key', backupKey, '--ca-file', caFile];
  args.push('--vocabulary', file('vocabulary.txt', options.vocabulary.join('\n')));
  if (options.knownVoice !== undefined) args.push('--known-voice', options.knownVoice);
  if (options.knownSounds !== undefined) {
    const sounds = options.knownSounds.map(({ text, mulaw }) => ({
      text,
      mulaw: Buffer.from(mulaw).toString('base64'),
    }));
    args.push('--known-sounds', file('sounds.json', JSON.stringify(sounds)));
  }
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
  const ask = async (
    provider: string,
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<unknown> => {
    const answer = await trusting(`${origins[provider]}/emulator${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const said = await answer.json();
    if (!answer.ok) throw new Error(`the emulated ${provider} refused: ${JSON.stringify(said)}`);
    return said;
  };
  return {
    pid: child.pid ?? 0,
    origins,
    caFile,
    key,
    backupKey,
    fault: async (provider, faults, now = false) => {
      await ask(provider, 'POST', `/faults${now ? '?now' : ''}`, faults);
    },
    async allow(provider, revoked) {
      await ask(provider, 'POST', '/keys', { allow: revoked });
    },
    async journal(provider) {
      const { epochAtZeroMs, maxLatenessMs, entries } = (await ask(provider, 'GET', '/journal')) as {
        epochAtZeroMs: number;
        maxLatenessMs: number;
        entries: (Omit<JournalEntry, 'atEpochMs'> & { atMs: number })[];
      };
      const timed = entries.map(({ atMs, ...entry }) => ({ ...entry, atEpochMs: epochAtZeroMs + atMs }));
      return { entries: timed, maxLatenessMs };
    },
    async clearJournal(provider) {
      await ask(provider, 'DELETE', '/journal');
    },
    async stop() {
      await endChild(child, STOP_LIMIT_MS);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
