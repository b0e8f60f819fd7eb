/**
 * The uses of tools that a model asks for: each gets exactly one result, whatever it is. What can not be carried out is
 * answered at once; what can is begun and waited for. How many rounds of it the caller waits for is bounded. Pure.
 */
import { isTooDeep } from '../../contract/json-depth.ts';
import type { ModelToolUse } from '../../contract/model.ts';
import type { ToolAnswer } from '../../contract/tools.ts';

/** After so many rounds without a word of the caller, the model must answer in words. */
export const MOST_ROUNDS = 5;
const MOST_USES = 8;
/** Longer than any tool may take, its page's way included. */
const LATEST_MS = 70_000;

export interface OpenUse {
  useId: string;
  name: string;
  args: Record<string, unknown>;
}

/** What is to be done about a use: it is begun, or answered at once. */
export type Judged = { begin: OpenUse } | { result: string };

export class ToolRound {
  /** Begun, in order, without a result. */
  open: OpenUse[] = [];
  rounds = 0;
  /** For ids that are unique in a call, whatever the model calls its uses. */
  numbered = 0;
  #sinceMs = 0;

  get isBusy(): boolean {
    return this.open.length > 0;
  }

  /** Under an id of our own: some models call each first use the same. Nine characters, which suits every provider. */
  named(use: ModelToolUse): ModelToolUse {
    return { ...use, useId: `u${String(++this.numbered).padStart(8, '0')}` };
  }

  /** `known`: the names that there are. `index`: of the use in its answer. */
  judge(use: ModelToolUse, index: number, known: readonly string[]): Judged {
    const { useId, name, argumentsText } = use;
    if (!known.includes(name))
      return failed('unknown_tool', `There is no tool '${name}'. There are: ${known.join(', ')}.`);
    if (index >= MOST_USES) return failed('busy', `At most ${MOST_USES} tools at once; use this one again later.`);
    const args = objectOf(argumentsText);
    if (args === null) return failed('bad_arguments', 'The arguments are no JSON object.');
    return { begin: { useId, name, args } };
  }

  begin(use: OpenUse, atMs: number): void {
    if (this.open.length === 0) this.#sinceMs = atMs;
    this.open.push(use);
  }

  /** False: it was not waited for. */
  done(useId: string): boolean {
    const before = this.open.length;
    this.open = this.open.filter((use) => use.useId !== useId);
    return this.open.length < before;
  }

  /** Uses whose result never came: whoever owed it is gone. */
  overdue(atMs: number): readonly OpenUse[] {
    return this.open.length > 0 && atMs - this.#sinceMs >= LATEST_MS ? [...this.open] : [];
  }
}

/** As a model is told of it. */
export function resultText(answer: ToolAnswer): string {
  if (!answer.ok) return errorText(answer.code, answer.message);
  return typeof answer.result === 'string' ? answer.result : (JSON.stringify(answer.result) ?? 'null');
}

export function errorText(code: string, message: string): string {
  return JSON.stringify({ error: code, message });
}

function failed(code: string, message: string): Judged {
  return { result: errorText(code, message) };
}

/** No text at all is what many models write for no arguments. */
function objectOf(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && !isTooDeep(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
