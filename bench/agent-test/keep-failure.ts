/**
 * Keeps the record of a run that did not pass: the conversation, the tools, what was expected, and the sound where
 * there was one. Called by `test-command.ts` after each run.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../harness/make-folder.ts';
import { transcriptLines } from './held-call.ts';
import type { ScenarioRun } from './run-scenario.ts';

/**
 * Where it lies, by the scenario's name and the number of the run: the next run of the same puts its own there, another
 * whose name is written with the same letters does not. Throws where the folder cannot be written.
 */
export function keepFailure(
  folder: string,
  { file, name, number, about }: { file: string; name: string; number: number; about: string },
  run: ScenarioRun,
): string {
  makeFolder(folder);
  const own = createHash('sha256')
    .update(JSON.stringify([file, name, about]))
    .digest('hex')
    .slice(0, 8);
  const stem = `${slugOf(file.replace(/\.json$/, ''))}-${own}-${slugOf(name)}-${number}`;
  const { recording, ...held } = run.held;
  const path = join(folder, `${stem}.json`);
  const sound = recording === undefined ? {} : { recording: `${stem}.ogg` };
  const record = { file, scenario: name, run: number, agent: about, ...sound, outcome: run.outcome };
  const content = { ...record, transcript: transcriptLines(held), checks: run.checks, call: held };
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
  if (recording !== undefined) writeFileSync(join(folder, `${stem}.ogg`), recording);
  return path;
}

function slugOf(text: string): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? ['unnamed'];
  return words.join('-').slice(-60);
}
