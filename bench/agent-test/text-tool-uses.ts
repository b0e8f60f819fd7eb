/**
 * The uses of tools in one text call: begun by the agent, answered by the test, each with exactly one result, which the
 * agent is told when it is silent. Owned by `text-call.ts`.
 */
import type { AgentAction } from '../../media/contract/agent.ts';
import type { Clock } from '../../media/contract/clock.ts';
import { type ToolAnswer, type ToolResult, toolFailed } from '../../media/contract/tools.ts';
import type { HeldToolUse } from './held-call.ts';

export interface TextToolUsesDeps {
  /** Of the agent's tools. */
  names: readonly string[];
  clock: Clock;
  useTool(name: string, args: Record<string, unknown>): Promise<ToolAnswer>;
}

export class TextToolUses {
  readonly #deps: TextToolUsesDeps;
  readonly #results: { ref: string; result: ToolResult }[] = [];
  #open = 0;
  #begun = 0;

  constructor(deps: TextToolUsesDeps) {
    this.#deps = deps;
  }

  /** Begun, and its result not yet taken. */
  get isAtWork(): boolean {
    return this.#open > 0;
  }

  /** What was asked; its answer is filled in when it is there. */
  use({ ref, name, arguments: args }: Extract<AgentAction, { type: 'tool' }>, exchange: number): HeldToolUse {
    const { names, clock } = this.#deps;
    const use: HeldToolUse = { name, arguments: args, answer: null, exchange };
    const toolCallId = `tc_test_${++this.#begun}`;
    const askedAtMs = clock.nowMs();
    this.#open++;
    const told = (answer: ToolAnswer): void => {
      use.answer = answer;
      const ms = Math.round(clock.nowMs() - askedAtMs);
      this.#results.push({ ref, result: { ...answer, toolCallId, name, ms } });
    };
    if (names.includes(name)) void this.#ask(name, args).then(told);
    else told(toolFailed('unknown_tool', `The agent has no tool '${name}'.`));
    return use;
  }

  takeResult(): { ref: string; result: ToolResult } | null {
    const next = this.#results.shift() ?? null;
    if (next !== null) this.#open--;
    return next;
  }

  /** Never rejects. */
  async #ask(name: string, args: Record<string, unknown>): Promise<ToolAnswer> {
    try {
      return await this.#deps.useTool(name, args);
    } catch (error) {
      return toolFailed('failed', (error as Error).message);
    }
  }
}
