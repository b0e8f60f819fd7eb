/**
 * `parley agent test FILE…`: scenarios of agents, as text or with sound. `bin/parley.mjs` runs it. Exit codes: 0 all
 * well, 1 something failed, 2 wrong use, 3 not everything could be judged, 130 stopped by Ctrl-C, 143 by SIGTERM.
 */
import { text } from 'node:stream/consumers';
import { readOptions } from '../harness/options.ts';
import { EXIT, testCommand } from './test-command.ts';

const { values, positionals } = readOptions({
  command: 'npx parley agent test FILE… [options]',
  about:
    'Runs scenarios (docs/testing-agents.md) against an agent: as text in seconds, or through the whole media path.',
  options: {
    audio: { type: 'boolean', default: false },
    repeat: { type: 'string' },
    'min-pass-rate': { type: 'string' },
    only: { type: 'string' },
    junit: { type: 'string' },
    keep: { type: 'string', default: 'agent-test-failures' },
    watch: { type: 'boolean', default: false },
    compare: { type: 'boolean', default: false },
  },
  meanings: {
    audio: 'with real sound: carrier emulator, recogniser, voice; as long as the conversation takes',
    repeat: '<N> each scenario so often (else as the file says, or once)',
    'min-pass-rate': '<share> of its runs that must pass, 0 to 1 (else as the file says, or 1)',
    only: '<text> only scenarios with this in their name',
    junit: '<file> for the results as JUnit XML',
    keep: '<folder> for records of what failed',
    watch: 'run again when the scenarios, the agent or the emulated model change',
    compare: 'A B FILE…: two versions (numbers of a stored agent, or definition files); which expectations changed',
  },
  positionals: true,
});

const wrong = (message: string): never => {
  process.stderr.write(`${message}\n`);
  process.exit(EXIT.wrongUse);
};

function numberOf(option: 'repeat' | 'min-pass-rate', isGood: (value: number) => boolean, wanted: string) {
  const given = values[option];
  if (given === undefined) return undefined;
  const value = given.trim() === '' ? Number.NaN : Number(given);
  return isGood(value) ? value : wrong(`--${option} takes ${wanted}, not '${given}'`);
}

const versions = values.compare ? positionals.slice(0, 2) : [];
const files = positionals.slice(versions.length);
if (files.length === 0)
  wrong(`npx parley agent test ${values.compare ? '--compare A B ' : ''}wants at least one scenario FILE (--help)`);
if (values.compare && values.watch) wrong('--compare and --watch exclude each other: one ends, the other does not');

const stopped = new AbortController();
/** Of calls with sound: processes of their own, which must not outlive this one. */
let letGo = async (): Promise<void> => {};
for (const [signal, code] of [
  ['SIGINT', EXIT.interrupted],
  ['SIGTERM', EXIT.terminated],
] as const) {
  process.once(signal, () => {
    stopped.abort();
    void letGo().finally(() => process.exit(code));
  });
}

process.exitCode = await testCommand(
  {
    files,
    audio: values.audio,
    repeat: numberOf('repeat', (value) => Number.isInteger(value) && value >= 1 && value <= 1_000, '1 to 1,000'),
    minPassRate: numberOf('min-pass-rate', (value) => value >= 0 && value <= 1, 'a share from 0 to 1'),
    only: values.only,
    junit: values.junit,
    keep: values.keep,
    watch: values.watch,
    compare: versions.length === 2 ? [versions[0]!, versions[1]!] : null,
  },
  {
    terminal: {
      environment: process.env,
      write: (line) => void process.stdout.write(line),
      writeError: (line) => void process.stderr.write(line),
      readInput: () => text(process.stdin),
    },
    async audioHolder(io) {
      const { createAudioHolder } = await import('./audio-holder.ts');
      const holder = createAudioHolder({ io, environment: process.env });
      letGo = () => holder.close();
      return holder;
    },
    stop: stopped.signal,
  },
);
