/**
 * What a script's step means, read from its definition: its lines, what it waits for, the values of its variables.
 * Pure; the machine asks.
 */
import type { Expectation, ScriptedStep } from '../../contract/agent-definition.ts';
import type { ScriptedLine } from '../../contract/clip.ts';
import type { ReplyMatch } from './phrase-match.ts';

/** The first source that has the key itself (not by its prototype). */
export function valueIn(key: string, ...sources: (Readonly<Record<string, string>> | undefined)[]): string | undefined {
  for (const source of sources) {
    if (source !== undefined && Object.hasOwn(source, key)) return source[key];
  }
  return undefined;
}

/** What a step waits for when it does not say: an answer if it has replies, nothing if it only leads on. */
export function expectationOf(step: ScriptedStep): Expectation {
  if (step.expect !== undefined) return step.expect;
  return (step.replies?.length ?? 0) === 0 && step.goto !== undefined ? 'none' : 'open';
}

/** It goes on when its words were heard: nobody has to answer, and the call does not end. */
export const isStatement = (step: ScriptedStep): boolean => step.end === undefined && expectationOf(step) === 'none';

/** What a step says on this visit: the lines of a list in turn. */
export function variantOf(say: ScriptedLine | ScriptedLine[] | undefined, visit: number): ScriptedLine {
  if (say === undefined) return '';
  if (!Array.isArray(say)) return say;
  return say.length === 0 ? '' : say[Math.max(0, visit - 1) % say.length]!;
}

/** A reply's `set`: what was heard, what a class caught, or the text itself. */
export function caughtValue(value: string, text: string, match: ReplyMatch): string {
  if (value === '$heard') return text;
  if (value === '$digits') return match.digits ?? '';
  if (value === '$name') return match.name ?? '';
  return value;
}

/** What is to be said, placeholders filled: by the voice, or by a clip that says this text. */
export interface SaidLine {
  text: string;
  /** As the script calls it. */
  clip?: string;
}

export const saysNothing = ({ text, clip }: SaidLine): boolean => text === '' && clip === undefined;

/** Without what says nothing; texts that follow each other in one breath. */
export function joinedLines(lines: readonly SaidLine[]): SaidLine[] {
  const joined: SaidLine[] = [];
  for (const line of lines) {
    const before = joined.at(-1);
    if (saysNothing(line)) continue;
    if (before === undefined || before.clip !== undefined || line.clip !== undefined) joined.push(line);
    else joined[joined.length - 1] = { text: `${before.text} ${line.text}`.trim() };
  }
  return joined;
}
