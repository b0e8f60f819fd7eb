/**
 * The carrier emulator as a process: `npm run emulator`. Started by the demo and by integration tests, or by hand.
 * Prints one JSON line per event on stdout, the first being `listening`; ends at SIGTERM, SIGINT, or when its parent's
 * IPC channel closes.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EMULATED_CARRIER, EMULATOR_PORT } from '../../src/carriers/emulated-account.ts';
import { apiBaseVariable } from '../../src/carriers/setting-names.ts';
import { packageRoot } from '../../src/config/built-entry.ts';
import { freePort } from '../harness/free-port.ts';
import { readOptions, wrongValue } from '../harness/options.ts';
import { listenFault, portFault } from '../harness/port-option.ts';
import { startLocalEngines } from './callees/local-engines.ts';
import { createRecitingCallee } from './callees/reciting-callee.ts';
import { createSpeakingCallee } from './callees/speaking-callee.ts';
import type { EmulatorOptions } from './emulator-command.ts';
import { EMULATORS } from './emulators.ts';
import { parsePersonas } from './persona.ts';

const carrier = EMULATORS[EMULATED_CARRIER];
const DEMO_PERSONAS = 'bench/emulators/personas/demo.json';

function say(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function main(): Promise<void> {
  const { values } = readOptions({
    command: 'npm run emulator -- [options]',
    about: 'A telephone carrier on this machine; who answers is told by personas (bench/emulators/README.md).',
    options: {
      ...carrier.options,
      personas: { type: 'string', default: join(packageRoot(), DEMO_PERSONAS) },
      port: { type: 'string' },
      host: { type: 'string', default: '127.0.0.1' },
      'no-audio': { type: 'boolean', default: false },
    },
    meanings: {
      ...carrier.meanings,
      personas: '<file> who answers which number',
      port: `<N> 0 takes a free one (default ${EMULATOR_PORT} if that is free)`,
      host: '<address> to listen on',
      'no-audio': 'keep no recordings',
    },
  });
  const wrongPort = values.port === undefined ? null : portFault(values.port);
  if (wrongPort !== null) wrongValue(wrongPort);
  const personas = JSON.parse(await readFile(values.personas, 'utf8'));
  const people = parsePersonas(personas);
  const speaks = people.some(({ kind }) => kind === 'speaking' || kind === 'reciting');
  const listens = people.some((one) => one.kind === 'speaking' && one.listens.length > 0);
  const local = speaks ? await startLocalEngines(fail, listens) : null;
  const options: EmulatorOptions = {
    personas,
    port: values.port === undefined ? await freePort(EMULATOR_PORT) : Number(values.port),
    host: values.host,
    keepAudio: !values['no-audio'],
    onEvent: say,
    ...(local === null
      ? {}
      : {
          createSpeakingCallee: (persona, listener) =>
            persona.kind === 'speaking'
              ? createSpeakingCallee(persona, listener, local.engines)
              : createRecitingCallee(persona, listener, local.engines.renderer),
        }),
  };
  const emulator = await carrier.start(values, options);
  say({ event: 'listening', port: emulator.port, apiBase: emulator.apiBase });
  // Whoever starts it as a part of something else says what there is to say.
  if (process.send === undefined) tellPeople(emulator, personas);
  process.send?.({ type: 'ready', port: emulator.port, apiBase: emulator.apiBase });

  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    Promise.all([emulator.close(), local?.close()]).then(() => process.exit(0), fail);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.once('disconnect', stop);
}

/** On standard error: standard output is for programs. */
function tellPeople(
  { apiBase, port }: { apiBase: string; port: number },
  personas: { name?: string; number?: string }[],
): void {
  const who = personas.map(({ name, number }) => `${name} at ${number}`).join(', ');
  process.stderr.write(`carrier emulator at ${apiBase}; who answers: ${who || 'nobody'}\n`);
  if (port !== EMULATOR_PORT)
    process.stderr.write(
      `port ${EMULATOR_PORT} is taken or was not asked for: use the next line, and not one that names ${EMULATOR_PORT}\n`,
    );
  process.stderr.write(
    `start the service in another terminal: ${apiBaseVariable(EMULATED_CARRIER)}=${apiBase} npm start\n`,
  );
}

function fail(error: unknown): void {
  process.stderr.write(
    `carrier emulator: ${listenFault(error) ?? (error instanceof Error ? error.message : String(error))}\n`,
  );
  process.exit(1);
}

main().catch(fail);
