/**
 * The load tester as a program of its own, run to its end or stopped on its way: what it said, how it ended, and what
 * it left in its folder; and its refusals without a process. For tests that run from `dist/`.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import type { RunResult } from '../../bench/load/contract/run-result.ts';
import { loadTester } from '../../bench/load/program.ts';
import { EXIT } from '../../bench/load/run/exit-code.ts';
import { runCommand } from '../../bench/load/run-command.ts';
import { builtEntry } from '../../src/config/built-entry.ts';

export interface BenchEnd {
  code: number | null;
  /** On standard error. */
  said: string;
  /** On standard output. */
  shown: string;
  /** Null: there is no JSON. */
  result: RunResult | null;
  html: string | undefined;
}

export interface BenchOptions {
  /** Ctrl-C a moment after this is said for the first time; an array: each after the one before. */
  interruptAt?: RegExp | readonly RegExp[];
  /** What must have come besides before a Ctrl-C, and may come later than what is said. */
  interruptAfter?: () => Promise<unknown>;
  /** How many each time, with nothing between them; default 1. */
  signals?: number;
  /** Before the program, such as a shell that sets limits; default: none. */
  under?: readonly string[];
  /** Instead of the built one. */
  program?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  workFolder?: string;
}

const A_MOMENT_MS = 500;

/** `folder`: where it may write. */
export async function runBench(folder: string, args: readonly string[], options: BenchOptions = {}): Promise<BenchEnd> {
  mkdirSync(folder, { recursive: true });
  const out = mkdtempSync(join(folder, 'out-'));
  const program = options.program ?? [builtEntry('bench/load/main.js')];
  const [command = '', ...words] = [...(options.under ?? []), process.execPath, ...program, '--out', out, ...args];
  const child = spawn(command, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.environment },
    ...(options.workFolder === undefined ? {} : { cwd: options.workFolder }),
  });
  const waiting = [options.interruptAt ?? []].flat();
  const interrupt = (): void => {
    for (let left = options.signals ?? 1; left > 0; left--) child.kill('SIGINT');
  };
  let said = '';
  child.stderr.on('data', (data: Buffer) => {
    said += data.toString();
    if (waiting[0]?.test(said) !== true) return;
    waiting.shift();
    setTimeout(() => void Promise.resolve(options.interruptAfter?.()).finally(interrupt), A_MOMENT_MS);
  });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const [shown, code] = await Promise.all([text(child.stdout), ended]);
  return { code, said, shown, ...leftIn(out) };
}

/**
 * The same without a process of its own, for what is refused before anything is started: the program's own commands and
 * codes, as `bench/load/main.ts` runs them.
 */
export async function refuseBench(folder: string, args: readonly string[]): Promise<BenchEnd> {
  mkdirSync(folder, { recursive: true });
  const out = mkdtempSync(join(folder, 'out-'));
  const written = { said: '', shown: '' };
  const catching = (stream: NodeJS.WriteStream, as: keyof typeof written) =>
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      written[as] += String(text);
      return true;
    });
  const caught = [catching(process.stderr, 'said'), catching(process.stdout, 'shown')];
  let code: number | null = null;
  const program = loadTester(async (flags) => {
    code = await runCommand(flags);
  });
  program.exitOverride((refusal) => {
    code = refusal.exitCode === 0 ? EXIT.well : EXIT.wrongUse;
    throw refusal;
  });
  for (const command of program.commands) command.copyInheritedSettings(program);
  try {
    await program.parseAsync(['--out', out, ...args], { from: 'user' });
  } catch (error) {
    if (code === null) throw error;
  } finally {
    for (const one of caught) one.mockRestore();
  }
  return { code, ...written, ...leftIn(out) };
}

function leftIn(out: string): Pick<BenchEnd, 'result' | 'html'> {
  const written = readdirSync(out);
  const json = written.find((file) => file.endsWith('.json'));
  const html = written.find((file) => file.endsWith('.html'));
  const result = json === undefined ? null : (JSON.parse(readFileSync(join(out, json), 'utf8')) as RunResult);
  return { result, html };
}

/** A workload file of one burst of calls in `folder`; its path. */
export function writeBurst(
  folder: string,
  name: string,
  burst: { calls: number; overSeconds: number; callers: readonly object[]; restSeconds?: number; mayFail?: boolean },
): string {
  mkdirSync(folder, { recursive: true });
  const { calls, overSeconds, callers, restSeconds = 0, mayFail = false } = burst;
  const phases = [{ arrivals: 'burst', calls, overSeconds, restSeconds }];
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify({ version: 1, name, phases, callers, mayFail }));
  return path;
}
