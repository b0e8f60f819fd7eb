/**
 * What Parley's own processes log while the whole suite runs, kept in one file: `npm test` looks through it for planted
 * secrets when all is done (`scripts/suite-log.mjs`). Called by whoever starts such processes in tests; elsewhere
 * nothing is kept.
 */
import { appendFileSync } from 'node:fs';

const file = process.env['PARLEY_SUITE_LOG'] ?? '';
/** Begin the lines of pino that a reader of the tests' output does not want. */
const QUIET_LINE = /^\{"level":[123]0,/;

/** Lines for the file alone come too. */
export const keepsLog = file !== '';

export function keepLog(text: string): void {
  if (keepsLog) appendFileSync(file, text);
}

/** Keeps the text and passes on its warnings and worse. */
export function keepLogAndWarn(text: string): void {
  keepLog(text);
  const lines = text.split('\n').filter((line) => !QUIET_LINE.test(line));
  if (lines.some((line) => line !== '')) process.stdout.write(lines.join('\n'));
}
