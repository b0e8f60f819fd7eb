/**
 * The agent's uses of tools: begun for it under its own names, and their results told to it when nothing is being said
 * and the caller has finished. Called by the conversation.
 */
import type { AgentAction } from '../../contract/agent.ts';
import type { AgentLine } from '../agent-line.ts';
import type { CallReporter } from '../reporter.ts';
import type { ToolUses } from './tool-uses.ts';

export class AgentTools {
  readonly uses: ToolUses;
  readonly #line: AgentLine;
  readonly #reporter: CallReporter;
  /** What the agent calls its uses. */
  readonly #refs = new Map<string, string>();

  constructor(uses: ToolUses, line: AgentLine, reporter: CallReporter) {
    this.uses = uses;
    this.#line = line;
    this.#reporter = reporter;
  }

  /**
   * `keep`: a checkpoint, before the request, so that whoever goes on after a death asks for the same use, and not for
   * another.
   */
  use({ ref, name, arguments: args }: Extract<AgentAction, { type: 'tool' }>, keep: () => void): void {
    const toolCallId = this.uses.begin(name, args, () => {
      this.#reporter.oweCheckpoint();
      keep();
    });
    this.#refs.set(toolCallId, ref);
  }

  /** The oldest result, if there is one and it does not wait for the caller. */
  tellResult(nowMs: number, callerSpeaks: boolean): void {
    const result = this.uses.take(nowMs, callerSpeaks);
    if (result === null) return;
    const ref = this.#refs.get(result.toolCallId) ?? '';
    this.#refs.delete(result.toolCallId);
    this.#reporter.oweCheckpoint();
    this.#line.tell({ type: 'tool', atMs: this.#reporter.nowMs, ref, result });
  }
}
