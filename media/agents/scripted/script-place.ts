/**
 * Where a script stands: its step, its variables, how often it has been where, and the misses in a row. The part of the
 * machine that goes into a checkpoint. Pure; the machine moves it.
 */
import type { ScriptedAgent, ScriptedStep } from '../../contract/agent-definition.ts';
import type { ToolDefinition } from '../../contract/tools.ts';
import { PhraseBook, type ReplyMatch } from './phrase-match.ts';
import type { ScriptState } from './script-types.ts';
import { valueIn } from './step-reading.ts';

const NO_PHRASES = new PhraseBook([]);

export class ScriptPlace {
  /** Null until the greeting has been said. */
  stepId: string | null = null;
  misses = 0;
  readonly #agent: ScriptedAgent;
  readonly #placeholders: Readonly<Record<string, string>>;
  readonly #steps = new Map<string, ScriptedStep>();
  readonly #books = new Map<string, PhraseBook>();
  readonly #tools = new Map<string, ToolDefinition>();
  #variables: Record<string, string> = {};
  #visits: Record<string, number> = {};

  constructor(agent: ScriptedAgent, placeholders: Readonly<Record<string, string>>) {
    this.#agent = agent;
    this.#placeholders = placeholders;
    for (const tool of agent.tools ?? []) this.#tools.set(tool.name, tool);
    for (const step of agent.steps) {
      this.#steps.set(step.id, step);
      this.#books.set(step.id, new PhraseBook(step.replies ?? []));
    }
  }

  get firstStepId(): string {
    return this.#agent.steps[0]?.id ?? '';
  }

  get variables(): Readonly<Record<string, string>> {
    return this.#variables;
  }

  step(stepId: string): ScriptedStep | undefined {
    return this.#steps.get(stepId);
  }

  tool(name: string): ToolDefinition | undefined {
    return this.#tools.get(name);
  }

  bookOf(stepId: string): PhraseBook {
    return this.#books.get(stepId) ?? NO_PHRASES;
  }

  bookOfNow(): PhraseBook {
    return this.bookOf(this.stepId ?? this.firstStepId);
  }

  match(text: string): ReplyMatch | null {
    return this.bookOfNow().match(text);
  }

  valueOf(key: string): string | undefined {
    return valueIn(key, this.#variables, this.#placeholders, this.#agent.defaults);
  }

  set(name: string, value: string | null): void {
    if (value === null) delete this.#variables[name];
    else this.#variables[name] = value;
  }

  /** Counts a visit to a step, or a turn of a list; the number of it. `again`: the one before is not over. */
  visit(name: string, again = false): number {
    const visit = (this.#visits[name] ?? 0) + (again ? 0 : 1);
    this.#visits[name] = visit;
    return visit;
  }

  snapshot(): ScriptState {
    return {
      stepId: this.stepId,
      variables: { ...this.#variables },
      misses: this.misses,
      visits: { ...this.#visits },
    };
  }

  /** Variables and visits of another thread's; its step is entered by the machine. */
  restore({ variables, visits }: ScriptState): void {
    this.#variables = { ...variables };
    this.#visits = { ...visits };
  }
}
