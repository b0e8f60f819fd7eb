/**
 * Emulated providers as a process: `npm run emulator -- providers`. Started by the demo, by tests that need another
 * process, or by hand. Prints one JSON line for each on stdout when all listen; ends at SIGTERM, SIGINT, or when its
 * parent's IPC channel closes. What it received and how it fails is at `/emulator/…` of each (README.md).
 */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../src/config/built-entry.ts';
import { readOptions, wrongValue } from '../../harness/options.ts';
import { listenFault, portFault } from '../../harness/port-option.ts';
import { createCertificate } from './certificate.ts';
import { type KnownSound, soundsOfVoice, startKnownSoundRecogniser } from './known-sound-recogniser.ts';
import { PROVIDERS } from './providers.ts';
import { startEmulatedVoice } from './voice/emulated-voice.ts';
import { startWordRecogniser } from './word-recogniser.ts';

const DEFAULT_KEY = 'emulated-key';
const DEFAULT_SCENARIO = 'bench/emulators/providers/mind/scenarios/restaurant.json';

async function main(): Promise<void> {
  const names = Object.keys(PROVIDERS);
  const { values } = readOptions({
    command: 'npm run emulator -- providers [options]',
    about: 'Speech and language services on this machine, over TLS (bench/emulators/providers/README.md).',
    options: {
      provider: { type: 'string', multiple: true },
      key: { type: 'string', multiple: true },
      port: { type: 'string', multiple: true },
      host: { type: 'string', default: '127.0.0.1' },
      plain: { type: 'boolean', default: false },
      'ca-file': { type: 'string' },
      vocabulary: { type: 'string' },
      exact: { type: 'boolean', default: false },
      'known-voice': { type: 'string' },
      'known-sounds': { type: 'string' },
      scenario: { type: 'string', default: join(packageRoot(), DEFAULT_SCENARIO) },
    },
    meanings: {
      provider: `<name> (repeatable) which of ${names.join(', ')}; default all`,
      key: `<key> (repeatable) that counts (default ${DEFAULT_KEY})`,
      port: '<N> (repeatable) one for each provider, in their order; default free ones',
      host: '<address> to listen on',
      plain: 'no TLS, as servers on a private network speak',
      'ca-file': '<file> where the authority goes that clients must trust; default a temporary one',
      vocabulary: '<file> what callers may say, a phrase a line',
      exact: 'the recogniser tells voices from other sounds',
      'known-voice': '<name> callers are emulated and have this voice: they are heard by their very sound, at no cost',
      'known-sounds': '<file> the same for sounds of other makers: JSON, [{ text, mulaw }] with base64 of 8 kHz',
      scenario: '<file> what the model knows',
    },
  });
  const wanted = values.provider ?? names;
  const unknown = wanted.find((name) => !(name in PROVIDERS));
  if (unknown !== undefined) wrongValue(`no provider is named ${unknown}: there are ${names.join(', ')}`);
  for (const wrong of (values.port ?? []).map(portFault)) if (wrong !== null) wrongValue(wrong);
  const caFile = values['ca-file'] ?? join(await mkdtemp(join(tmpdir(), 'parley-providers-')), 'ca.pem');
  const certificate = createCertificate();
  await writeFile(caFile, certificate.caPem);
  const vocabulary = values.vocabulary === undefined ? [] : await linesOf(values.vocabulary);
  const scenario = JSON.parse(await readFile(values.scenario, 'utf8'));
  const voice = wanted.some((name) => PROVIDERS[name]!.speaks) ? await startEmulatedVoice() : null;
  const sounds = await knownSounds(values['known-voice'], values['known-sounds'], vocabulary);
  const hears = wanted.some((name) => PROVIDERS[name]!.hears);
  const recogniser =
    sounds.length > 0
      ? await startKnownSoundRecogniser(sounds)
      : hears
        ? await startWordRecogniser(fail, { tellsVoices: values.exact })
        : undefined;
  const endpoints = await Promise.all(
    wanted.map(async (name, i) => {
      const port = Number(values.port?.[i] ?? 0);
      const keys = values.key ?? [DEFAULT_KEY];
      const options = {
        keys,
        port,
        host: values.host,
        certificate,
        isPlain: values.plain,
        vocabulary,
        scenario,
        voice,
        recogniser,
      };
      return { name, endpoint: await PROVIDERS[name]!.start(options) };
    }),
  );
  const started = endpoints.map(({ name, endpoint: { port, origin, socketOrigin } }) => ({
    provider: name,
    port,
    origin,
    socketOrigin,
    caFile,
  }));
  for (const one of started) process.stdout.write(`${JSON.stringify({ event: 'listening', ...one })}\n`);
  // Whoever starts it as a part of something else says what there is to say.
  if (process.send === undefined && !values.plain)
    process.stderr.write(`a client trusts them with NODE_EXTRA_CA_CERTS=${caFile} in its environment\n`);
  process.send?.({ type: 'ready', providers: started });

  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    Promise.all(endpoints.map(({ endpoint }) => endpoint.close()))
      .then(() => Promise.all([voice?.close(), recogniser?.close()]))
      .then(() => process.exit(0), fail);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.once('disconnect', stop);
}

async function knownSounds(
  voice: string | undefined,
  file: string | undefined,
  vocabulary: readonly string[],
): Promise<KnownSound[]> {
  const spoken = voice === undefined ? [] : await soundsOfVoice(voice, vocabulary, fail);
  if (file === undefined) return spoken;
  const given: { text: string; mulaw: string }[] = JSON.parse(await readFile(file, 'utf8'));
  return [...spoken, ...given.map(({ text, mulaw }) => ({ text, mulaw: Buffer.from(mulaw, 'base64') }))];
}

async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8');
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function fail(error: unknown): void {
  process.stderr.write(
    `emulated providers: ${listenFault(error) ?? (error instanceof Error ? error.message : String(error))}\n`,
  );
  process.exit(1);
}

main().catch(fail);
