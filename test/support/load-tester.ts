/**
 * The load tester as a program of its own, run to its end or stopped on its way: what it said, how it ended, and what
 * it left in its folder. For tests that run from `dist/`.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { RunResult } from '../../bench/load/contract/run-result.ts';
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
  /** Ctrl-C a moment after this is said for the first time; an array: once for each. */
  interruptAt?: RegExp | readonly RegExp[];
  /** Before the program, such as a shell that sets limits; default: none. */
  under?: readonly string[];
  /** Instead of the built one. */
  program?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  workFolder?: string;
}

/** Signals that come together are taken for one. */
const A_MOMENT_MS = 500;
const TOGETHER_MS = 50;

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
  let said = '';
  child.stderr.on('data', (data: Buffer) => {
    said += data.toString();
    for (let at = 0; waiting[0]?.test(said) === true; at++) {
      waiting.shift();
      setTimeout(() => child.kill('SIGINT'), A_MOMENT_MS + at * TOGETHER_MS);
    }
  });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const [shown, code] = await Promise.all([text(child.stdout), ended]);
  const written = readdirSync(out);
  const json = written.find((file) => file.endsWith('.json'));
  const html = written.find((file) => file.endsWith('.html'));
  const result = json === undefined ? null : (JSON.parse(readFileSync(join(out, json), 'utf8')) as RunResult);
  return { code, said, shown, result, html };
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
