/**
 * `parley agent test` as a function: options and a terminal in, exit code out. Reads the files, runs their scenarios,
 * reports. Called by `main.ts` and by tests.
 */
import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type CommandIo, createCommandIo, type Terminal } from '../../src/cli/command-io.ts';
import { makeFolder } from '../harness/make-folder.ts';
import { compare } from './compare.ts';
import { holdTextCall } from './hold-text-call.ts';
import { junitXml } from './junit.ts';
import { keepFailure } from './keep-failure.ts';
import { resultLines, summaryLine } from './report.ts';
import { type HoldCall, runFile, type ScenarioResult } from './run-scenario.ts';
import { filesOf, isTeaching, readScenarioFile, WrongUse } from './scenario-file.ts';
import type { Scenario } from './scenario-schema.ts';
import { type Subject, subjectOf } from './subject.ts';
import { runOnChange } from './watch.ts';

/** All well; something failed; wrong use; nothing failed, but not everything could be judged; Ctrl-C; SIGTERM. */
export const EXIT = { well: 0, failed: 1, wrongUse: 2, notJudged: 3, interrupted: 130, terminated: 143 } as const;

export interface TestOptions {
  files: readonly string[];
  audio: boolean;
  repeat: number | undefined;
  minPassRate: number | undefined;
  only: string | undefined;
  junit: string | undefined;
  /** Of records of what failed. */
  keep: string;
  watch: boolean;
  compare: readonly [string, string] | null;
}

/** Who holds calls with sound, and what is to be let go of afterwards. */
export interface AudioHolder {
  hold: HoldCall;
  /** Why it cannot hold one; null: it can. */
  refusal(scenario: Scenario): string | null;
  close(): Promise<void>;
}

const AS_TEXT: Omit<AudioHolder, 'close'> = { hold: holdTextCall, refusal: () => null };

export interface TestDeps {
  terminal: Terminal;
  /** Asked for with `--audio` alone. */
  audioHolder(io: CommandIo): Promise<AudioHolder>;
  stop: AbortSignal;
}

export async function testCommand(options: TestOptions, deps: TestDeps): Promise<number> {
  const { terminal, stop } = deps;
  const io = createCommandIo(terminal, () => false);
  const audio = options.audio ? await deps.audioHolder(io) : null;
  /** Never rejects; what was started for it is let go of. */
  const once = async (): Promise<number> => {
    const open: Subject[] = [];
    try {
      return await runOnce(options, terminal, audio ?? AS_TEXT, async (file, version) => {
        const subjectDeps = { io, environment: terminal.environment, hasSound: options.audio };
        const made = await subjectOf(readScenarioFile(file), subjectDeps, version);
        open.push(made);
        return made;
      });
    } catch (error) {
      terminal.writeError(`${sentenceOf(error)}\n`);
      return EXIT.wrongUse;
    } finally {
      for (const { models } of open) models.close();
      await audio?.close();
    }
  };
  try {
    if (!options.watch) return await once();
    const watched = new Set(options.files.map((file) => resolve(file)));
    await runOnChange(async () => {
      await once();
      for (const file of options.files) for (const one of watchedOf(file)) watched.add(one);
      terminal.write('Waiting for a change (Ctrl-C ends it).\n');
      return [...watched];
    }, stop);
    return EXIT.interrupted;
  } finally {
    await io.close();
  }
}

/** None beside the file itself where that is at fault: the run has said so. */
function watchedOf(file: string): string[] {
  try {
    return filesOf(readScenarioFile(file));
  } catch {
    return [];
  }
}

/** Of whoever uses it, a sentence; of a fault of this program, where it happened. */
function sentenceOf(error: unknown): string {
  if (isTeaching(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function runOnce(
  options: TestOptions,
  terminal: Terminal,
  { hold, refusal }: Omit<AudioHolder, 'close'>,
  subjectFor: (file: string, version?: string) => Promise<Subject>,
): Promise<number> {
  const { files, repeat, minPassRate, only, compare: versions, junit, keep } = options;
  const write = (lines: readonly string[]): void => terminal.write(lines.map((line) => `${line}\n`).join(''));
  // All of them are checked before the first call.
  const perVersion = await allOf(
    (versions ?? [undefined]).map((version) => allOf(files.map((file) => subjectFor(file, version)))),
  );
  if (junit !== undefined) checkWritable(junit);
  const runAll = async (subjects: readonly Subject[]): Promise<ScenarioResult[]> => {
    const results: ScenarioResult[] = [];
    for (const [index, subject] of subjects.entries()) {
      const path = files[index]!;
      write([`${path}: ${subject.about}`]);
      const own = await runFile(path, subject, {
        repeat,
        minPassRate,
        only,
        hold,
        refusal,
        ran(file, { name }, number, run) {
          if (run.outcome === 'passed') return;
          try {
            run.keptAt = keepFailure(keep, { file, name, number, about: subject.about }, run);
          } catch (error) {
            // The run has its outcome all the same.
            const why = (error as Error).message;
            terminal.writeError(`No record of '${name}' is kept: ${why}; name another folder with --keep\n`);
          }
        },
      });
      write(own.flatMap(resultLines));
      results.push(...own);
    }
    if (results.length === 0) throw new WrongUse(`--only: no scenario has '${only}' in its name`);
    write([summaryLine(results)]);
    return results;
  };

  const report = (results: readonly ScenarioResult[]): void => {
    if (junit !== undefined) writing(junit, () => writeFileSync(junit, junitXml(results)));
  };
  const before = await runAll(perVersion[0]!);
  if (versions === null) {
    report(before);
    return codeOf(before);
  }
  const after = await runAll(perVersion[1]!);
  report(after);
  const { lines, isWorse } = compare(before, after);
  write(['', ...lines]);
  if (isWorse) return EXIT.failed;
  return codeOf(after) === EXIT.notJudged ? EXIT.notJudged : EXIT.well;
}

/** Of several that are wrong use what is wrong with each; a fault of this program goes before. */
async function allOf<Value>(wanted: readonly Promise<Value>[]): Promise<Value[]> {
  const settled = await Promise.allSettled(wanted);
  const faults = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  const strange = faults.find((fault) => !isTeaching(fault));
  if (strange !== undefined) throw strange;
  if (faults.length > 0) throw new WrongUse([...new Set(faults.map(sentenceOf))].join('\n'));
  return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

/** Leaves nothing behind but folders: the results come when there are any. */
function checkWritable(junit: string): void {
  writing(junit, () => {
    makeFolder(dirname(resolve(junit)));
    const wasThere = existsSync(junit);
    closeSync(openSync(junit, 'a'));
    if (!wasThere) rmSync(junit);
  });
}

function writing(junit: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new WrongUse(`--junit: ${junit} cannot be written: ${(error as Error).message}; name another file`);
  }
}

function codeOf(results: readonly ScenarioResult[]): number {
  if (results.some(({ outcome }) => outcome === 'failed')) return EXIT.failed;
  if (results.every(({ outcome }) => outcome === 'skipped')) return EXIT.notJudged;
  return results.some(({ outcome }) => outcome === 'unjudged') ? EXIT.notJudged : EXIT.well;
}
