/**
 * The carrier emulator as a process: `node dist/bench/carrier-emulator/main.js --port 4010 --auth-id … --auth-token …
 * --personas file.json`. Started by the demo and by integration tests, or by hand. Prints one JSON line per event on stdout,
 * the first being `listening`; ends at SIGTERM, SIGINT, or when its parent's IPC channel closes.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startLocalEngines } from './callees/local-engines.ts';
import { createSpeakingCallee } from './callees/speaking-callee.ts';
import { parsePersonas } from './persona.ts';
import { type PlivoEmulatorOptions, startPlivoEmulator } from './plivo/plivo-emulator.ts';

const USAGE =
  'usage: main.js --auth-id ID --auth-token TOKEN [--personas FILE] [--port 0] [--host 127.0.0.1] ' +
  '[--own-number +1…]… [--limit-requests N] [--different-uuids] [--upgrade-signed-as dialled|https] [--no-audio]';

function say(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      'auth-id': { type: 'string' },
      'auth-token': { type: 'string' },
      personas: { type: 'string' },
      port: { type: 'string', default: '0' },
      host: { type: 'string', default: '127.0.0.1' },
      'own-number': { type: 'string', multiple: true },
      'limit-requests': { type: 'string' },
      'different-uuids': { type: 'boolean', default: false },
      'upgrade-signed-as': { type: 'string', default: 'dialled' },
      'no-audio': { type: 'boolean', default: false },
    },
  });
  const authId = values['auth-id'];
  const authToken = values['auth-token'];
  if (authId === undefined || authToken === undefined)
    throw new Error(`--auth-id and --auth-token are needed\n${USAGE}`);
  const personas = values.personas === undefined ? [] : JSON.parse(await readFile(values.personas, 'utf8'));
  const speaks = parsePersonas(personas).some((persona) => persona.kind === 'speaking');
  const local = speaks ? await startLocalEngines(fail) : null;
  const options: PlivoEmulatorOptions = {
    authId,
    authToken,
    personas,
    port: Number(values.port),
    host: values.host,
    sameUuids: !values['different-uuids'],
    upgradeSignedAs: values['upgrade-signed-as'] === 'https' ? 'https' : 'dialled',
    keepAudio: !values['no-audio'],
    onEvent: say,
    ...(local === null
      ? {}
      : { createSpeakingCallee: (persona, listener) => createSpeakingCallee(persona, listener, local.engines) }),
    ...(values['own-number'] === undefined ? {} : { ownNumbers: values['own-number'] }),
    ...(values['limit-requests'] === undefined ? {} : { requestsPer5Seconds: Number(values['limit-requests']) }),
  };
  const emulator = await startPlivoEmulator(options);
  say({ event: 'listening', port: emulator.port, apiBase: emulator.apiBase });
  process.send?.({ type: 'ready', port: emulator.port, apiBase: emulator.apiBase });

  const stop = (): void => {
    Promise.all([emulator.close(), local?.close()]).then(() => process.exit(0), fail);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  process.once('disconnect', stop);
}

function fail(error: unknown): void {
  process.stderr.write(`carrier emulator: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

main().catch(fail);
