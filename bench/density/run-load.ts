/**
 * One run of the load tester, as a process of its own and as anybody runs it: a workload file in, its JSON out. Called
 * for each row and repetition.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtEntry } from '../../src/config/built-entry.ts';
import type { RunResult } from '../load/contract/run-result.ts';
import type { WorkloadInput } from '../load/contract/workload.ts';
import { readResult } from '../load/result/read-result.ts';
import { EXIT } from '../load/run/exit-code.ts';
import type { DensityKind } from './kinds.ts';
import { environmentOf } from './opus-builds.ts';

/** Of what the load tester said last, for whoever looks why it gave no result. */
const LAST_WORDS = 1_500;

/** Rejects where there is no result; a run that could not be judged is one. */
export async function runLoad(
  kind: DensityKind,
  workload: WorkloadInput,
  dataDir: string,
  environment: Record<string, string> = environmentOf(kind),
): Promise<RunResult> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-density-'));
  try {
    const file = join(folder, 'workload.json');
    const out = join(folder, 'out');
    mkdirSync(out);
    writeFileSync(file, JSON.stringify(workload));
    const options = ['load', '--workload', file, '--agent-kind', kind.agentKind, '--no-sound'];
    const { code, said } = await ended([...options, '--data-dir', dataDir, '--out', out], environment);
    if (code === EXIT.interrupted) throw new Error('it was stopped');
    const [json] = readdirSync(out).filter((name) => name.endsWith('.json'));
    if (json === undefined)
      throw new Error(`the load tester ended with ${code} and without a result: ${reasonIn(said)}`);
    return readResult(join(out, json));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The last line that is none of a stack. */
const reasonIn = (said: string): string =>
  said.split('\n').findLast((line) => line.trim() !== '' && !line.trimStart().startsWith('at ')) ?? 'it said nothing';

function ended(options: string[], environment: Record<string, string>): Promise<{ code: number | null; said: string }> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [builtEntry('bench/load/main.js'), ...options], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-LAST_WORDS);
    });
    child.once('error', failed);
    child.once('close', (code) => done({ code, said }));
  });
}
