/**
 * The emulated chat endpoint as a process: `node dist/bench/provider-emulators/main.js --port 4020 --api-key sk-test`.
 * Prints one JSON line per event on stdout, the first being `listening`; ends at SIGTERM or SIGINT. The model
 * `emulated-1` answers, and `emulated-stalls`, `emulated-nonsense`, … have a bad day (`chat/chat-behaviour.ts`).
 */

import { readOptions } from '../harness/options.ts';
import { startChatEmulator } from './chat/chat-emulator.ts';

const USAGE =
  'usage: main.js --api-key KEY [--port 0] [--host 127.0.0.1] [--requests-per-minute N] [--formats text,json_object,json_schema]';

function say(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function main(): Promise<void> {
  const { values } = readOptions({
    command: 'node dist/bench/provider-emulators/main.js',
    about: "A language model's chat endpoint on this machine.",
    options: {
      'api-key': { type: 'string' },
      port: { type: 'string', default: '0' },
      host: { type: 'string', default: '127.0.0.1' },
      'requests-per-minute': { type: 'string' },
      formats: { type: 'string', default: 'text,json_object,json_schema' },
    },
    meanings: {
      'api-key': '<key> that it wants',
      port: '<N> 0 takes a free one',
      host: '<address> to listen on',
      'requests-per-minute': '<N> 429 after so many',
      formats: '<list> of text, json_object, json_schema',
    },
  });
  if (values['api-key'] === undefined) throw new Error(`--api-key is needed\n${USAGE}`);
  const emulator = await startChatEmulator({
    apiKey: values['api-key'],
    port: Number(values.port),
    host: values.host,
    formats: values.formats.split(',') as ('text' | 'json_object' | 'json_schema')[],
    ...(values['requests-per-minute'] === undefined
      ? {}
      : { requestsPerMinute: Number(values['requests-per-minute']) }),
    onRequest: ({ model, behaviour }) => say({ event: 'asked', model, behaviour }),
  });
  say({ event: 'listening', port: emulator.port, baseUrl: emulator.baseUrl });
  const stop = (): void => void emulator.close().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

main().catch((error: unknown) => {
  process.stderr.write(`provider emulator: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
